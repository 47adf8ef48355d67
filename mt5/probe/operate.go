package probe

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf16"

	"creditonce/credit"
	"creditonce/mt5"
)

// comment is a question about comments: tail follows the mark of 22 characters. needed tells that the client relies
// on its being kept.
type comment struct {
	id, tail string
	needed   bool
}

var comments = []comment{
	{"comment.reference", "", true},
	{"comment.31", "123456789", true},
	{"comment.32", "1234567890", false},
	{"comment.40", "123456789012345678", false},
	{"comment.plain", " a:B._-z", true},
	{"comment.escapes", `a|b=c\d`, false},
	{"comment.letters", "é€ж", false},
	{"comment.astral", "a😀b", false},
}

// operate makes the balance operations, each of the smallest amount, and takes each back.
func (r *run) operate(ctx context.Context) {
	if !r.o.Operate {
		return
	}
	before := r.standing(ctx)
	for i := 0; i < r.o.Operations && r.may(ctx); i++ {
		c := comment{id: "deal.visible"}
		if i < len(comments) {
			c = comments[i]
		}
		op := r.pair(ctx, c.id, r.units(1), r.reference()+c.tail)
		if i == 0 && !r.mayBook(op) {
			break
		}
		if i < len(comments) {
			r.judgeComment(c, op)
		}
	}
	for _, step := range []func(context.Context){r.askZero, r.askDecimals, r.askExponent, r.askOverdraw, r.askUnknownBalance} {
		if r.may(ctx) {
			step(ctx)
		}
	}
	r.judgeDeals()
	if _, known := r.report.Found("page.order"); !known {
		r.askOrder(ctx)
	}
	r.judgeStanding(context.WithoutCancel(ctx), before)
}

// may tells whether another operation may be made.
func (r *run) may(ctx context.Context) bool { return !r.stopped && ctx.Err() == nil }

// mayBook judges the manager's right by the first operation.
func (r *run) mayBook(op Operation) bool {
	if op.Ticket != 0 {
		r.found("rights.balance", AsAssumed, "yes")
		return true
	}
	r.stopped = true
	r.differs("rights.balance", op.Reply, "give the manager the Accountant right, and the login's group; then probe again")
	return false
}

func (r *run) judgeComment(c comment, op Operation) {
	switch {
	case op.Ticket == 0:
		r.found(c.id, NoAnswer, "%s", op.Reply)
	case op.Booked == "":
		r.found(c.id, NoAnswer, "the deal did not show")
	case c.needed:
		r.judge(c.id, op.Kept == op.Comment, kept(op), "do not go live: deals could not be told apart. Find what changes comments (a plugin), or write to the makers of this program")
	default:
		r.found(c.id, Learned, "%s", kept(op))
	}
}

// kept says what became of a comment.
func kept(op Operation) string {
	units := len(utf16.Encode([]rune(op.Kept)))
	switch {
	case op.Kept == op.Comment:
		return "kept unaltered"
	case op.Kept != "" && strings.HasPrefix(op.Comment, op.Kept):
		return fmt.Sprintf("cut after %d UTF-16 units, without an error", units)
	}
	return fmt.Sprintf("%q became %q", op.Comment, op.Kept)
}

// settled says what became of an odd operation.
func settled(op Operation) string {
	switch {
	case op.Ticket != 0 && op.Booked != "":
		return fmt.Sprintf("booked as %s: %s", op.Booked, op.Reply)
	case op.Ticket != 0:
		return "booked, and the deal did not show: " + op.Reply
	}
	return string(op.Outcome) + ": " + op.Reply
}

func (r *run) askZero(ctx context.Context) {
	r.found("amount.zero", Learned, "%s", settled(r.pair(ctx, "amount.zero", r.units(0), r.reference())))
}

// askDecimals sends 1.6 smallest units: rounded they are 2, cut they are 1.
func (r *run) askDecimals(ctx context.Context) {
	sent := "1.6"
	if r.report.Digits > 0 {
		sent = "0." + strings.Repeat("0", r.report.Digits-1) + "16"
	}
	r.found("amount.decimals", Learned, "%s sent; %s", sent, settled(r.pair(ctx, "amount.decimals", sent, r.reference())))
}

func (r *run) askExponent(ctx context.Context) {
	sent := fmt.Sprintf("1e-%d", r.report.Digits)
	r.found("amount.exponent", Learned, "%s sent; %s", sent, settled(r.pair(ctx, "amount.exponent", sent, r.reference())))
}

// askOverdraw tries to take one unit more than there is.
func (r *run) askOverdraw(ctx context.Context) {
	if !r.o.Overdraw {
		return
	}
	balance, err := credit.ParseAmount(string(r.balance(ctx)), r.report.Currency, r.report.Digits)
	if err != nil {
		r.found("amount.overdraw", NoAnswer, "the balance cannot be read")
		return
	}
	one, err := credit.Minor(1, r.report.Currency, r.report.Digits)
	if err != nil {
		return
	}
	more, err := balance.Add(one)
	if err != nil || balance.Sign() < 0 {
		r.found("amount.overdraw", NoAnswer, "the balance is %s", balance)
		return
	}
	op := r.pair(ctx, "amount.overdraw", more.Neg().Decimal(), r.reference())
	r.judge("amount.overdraw", op.Ticket == 0 && op.Outcome == credit.OutcomeRefused, settled(op),
		"a reversal can take an account below zero on this server: refunds need a person until that is changed at MT5")
}

func (r *run) balance(ctx context.Context) text {
	var u user
	if reply := r.ask(ctx, "user/get", "login", number(r.o.Login)); ok(reply) && decode(reply.Answer, &u) == nil {
		return u.Balance
	}
	return ""
}

// askUnknownBalance books on a login that user/get has said does not exist.
func (r *run) askUnknownBalance(ctx context.Context) {
	login := r.o.UnknownLogin
	if login == 0 {
		r.found("unknown.balance", NotAsked, "no login is known not to exist: user/get did not say so with code 13")
		return
	}
	r.say("book %s %s on login %d, which does not exist", r.units(1), r.report.Currency, login)
	if r.fit(ctx) != nil {
		return
	}
	t := mt5.Trial{Login: login, Amount: r.units(1), Comment: r.reference()}
	reply, outcome, ticket := r.q.Operate(ctx, t)
	r.note(reply)
	r.keep(Operation{Purpose: "unknown.balance", Login: login, Amount: t.Amount, Comment: t.Comment, Outcome: outcome, Reply: reply.String(), Took: reply.Took, Ticket: ticket})
	if outcome == credit.OutcomeApplied {
		r.attention("MT5 booked %s %s on login %d, which it had said does not exist: deal %d, comment %q. Look at it at MT5, and take it back by hand",
			t.Amount, r.report.Currency, login, ticket, t.Comment)
	}
	r.judgeMild("unknown.balance", outcome == credit.OutcomeRefused, reply.String(), "such a call counts as unknown, and is settled by looking")
}

// judgeDeals judges what the deals of all operations carry.
func (r *run) judgeDeals() {
	if len(r.made) == 0 {
		for _, id := range []string{"deal.action", "deal.amount", "deal.dealer", "deal.reason", "deal.visible"} {
			r.found(id, NoAnswer, "no deal was made that showed")
		}
		return
	}
	actions, dealers, reasons := r.values(func(d deal) text { return d.Action }), r.values(func(d deal) text { return d.Dealer }), r.values(func(d deal) text { return d.Reason })
	r.judge("deal.action", slices.Equal(actions, []string{"2"}), strings.Join(actions, " and "), "do not go live: the client finds its deals by action 2")
	r.judgeAmounts()
	r.judgeDealer(dealers)
	r.found("deal.reason", Learned, "%s", strings.Join(reasons, " and "))
	r.judgeVisible()
}

// values are the distinct values of a field over all deals made, sorted.
func (r *run) values(of func(deal) text) []string {
	var out []string
	for _, m := range r.made {
		out = append(out, string(of(m.deal)))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// judgeAmounts compares what was sent with what was booked, for the operations of plain amounts.
func (r *run) judgeAmounts() {
	plain := 0
	for _, m := range r.made {
		sent, err := credit.ParseAmount(m.op.Amount, r.report.Currency, r.report.Digits)
		if err != nil {
			continue
		}
		plain++
		booked, err := credit.ParseAmount(string(m.deal.Profit), r.report.Currency, r.report.Digits)
		if err != nil || !booked.Equal(sent) {
			r.differs("deal.amount", fmt.Sprintf("%s was sent, and deal %s has %q", m.op.Amount, m.deal.Deal, m.deal.Profit),
				"do not go live: amounts are changed on the way (a plugin?), or do not stand in Profit")
			return
		}
	}
	r.found("deal.amount", AsAssumed, "Profit, signed, as sent, in %d deals", plain)
}

func (r *run) judgeDealer(dealers []string) {
	if len(dealers) != 1 {
		r.differs("deal.dealer", strings.Join(dealers, " and "), "find out why the number changes; until then another dealer only warns")
		return
	}
	dealer := text(dealers[0]).uint()
	r.report.Facts.Dealer = &dealer
	r.judgeMild("deal.dealer", slices.Equal(dealers, []string{number(r.o.Manager)}), strings.Join(dealers, " and "),
		"once the report is in the store, a deal of any other dealer than this counts as odd")
}

// judgeVisible sums up how long deals took to show.
func (r *run) judgeVisible() {
	var most time.Duration
	samples, never := 0, 0
	each := map[string]time.Duration{}
	for _, op := range r.report.Operations {
		if op.Visible == nil {
			continue
		}
		samples++
		for _, name := range watched {
			took, seen := op.Visible[name]
			if !seen {
				never, took = never+1, r.o.Patience
			}
			each[name] = max(each[name], took)
			most = max(most, took)
		}
	}
	if samples == 0 {
		r.found("deal.visible", NoAnswer, "no operation was answered with success")
		return
	}
	r.report.Facts.VisibleMost, r.report.Facts.Samples = &most, samples
	said := fmt.Sprintf("by %d operations at most: get %s, get_total %s, get_page %s", samples, brief(each["get"]), brief(each["get_total"]), brief(each["get_page"]))
	if never > 0 {
		said += fmt.Sprintf("; %d times not within %s", never, brief(r.o.Patience))
	}
	r.judge("deal.visible", never == 0 && r.o.LongestAct+most < r.o.Quarantine, said,
		fmt.Sprintf("set credit.quarantine to more than the longest call and this together; twice %s is a start", brief(r.o.LongestAct+most)))
}

// brief rounds a duration to what people read.
func brief(d time.Duration) string {
	if d >= time.Second {
		return d.Round(10 * time.Millisecond).String()
	}
	return d.Round(time.Millisecond).String()
}

// standing is what the account has, to the last digit that the server shows.
func (r *run) standing(ctx context.Context) string {
	reply := r.ask(ctx, "user/check_balance", "login", number(r.o.Login))
	var s sums
	if ok(reply) && decode(reply.Answer, &s) == nil && s.Balance.User != "" {
		return fmt.Sprintf("balance %s, by history %s; credit %s", s.Balance.User, s.Balance.History, s.Credit.User)
	}
	return "balance " + string(r.balance(ctx))
}

func (r *run) judgeStanding(ctx context.Context, before string) {
	after := r.standing(ctx)
	if before == after {
		r.found("account.restored", AsAssumed, "yes: %s", after)
		return
	}
	r.differs("account.restored", fmt.Sprintf("before: %s; after: %s", before, after),
		"compare the operations below with the login's deals at MT5; where nobody else worked on the login, correct the rest by hand")
	r.attention("login %d is not as it was: before %s, after %s. Compare its deals at MT5 with the operations of the report", r.o.Login, before, after)
}
