package probe

import (
	"context"
	"io"
	"strings"
	"time"

	"creditonce/credit"
	"creditonce/mt5"
)

const (
	firstWait = 20 * time.Millisecond // between the first looks for a new deal; longer each time
	mostWait  = time.Second
	windowAgo = 600 // seconds before now that the window for new deals reaches
	markLen   = 22  // of the mark that begins every comment
)

// The endpoints that are watched for a new deal.
var watched = []string{"get", "get_total", "get_page"}

// reference draws a mark for a comment: as long as a reference, and none of a kind that the service makes.
func (r *run) reference() string {
	const letters = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	b := make([]byte, markLen-len(mt5.TrialPrefix))
	if _, err := io.ReadFull(r.o.Rand, b); err != nil {
		panic("probe: no randomness: " + err.Error()) // comments that repeat would make one deal look like another
	}
	for i := range b {
		b[i] = letters[b[i]%32]
	}
	return mt5.TrialPrefix + string(b)
}

// units writes minor units of the login's currency as a decimal.
func (r *run) units(n int64) string {
	a, err := credit.Minor(n, r.report.Currency, r.report.Digits)
	if err != nil {
		return "" // admit has made sure of currency and digits; the trial would be refused
	}
	return a.Decimal()
}

// book makes one operation and watches for its deal. Money steps end (r.stopped) where it is not known what became of
// it; that is said as attention.
func (r *run) book(ctx context.Context, t mt5.Trial, purpose string) Operation {
	op := Operation{Purpose: purpose, Login: t.Login, Amount: t.Amount, Comment: t.Comment, Outcome: credit.OutcomeNotSent}
	r.say("book %s %s on login %d, comment %q", t.Amount, r.report.Currency, t.Login, t.Comment)
	w := r.view(ctx)
	if err := r.fit(ctx); err != nil {
		op.Reply, r.stopped = err.Error(), true
		return r.keep(op)
	}
	reply, outcome, ticket := r.q.Operate(ctx, t)
	since := r.o.Clock.Boot()
	r.note(reply)
	op.Outcome, op.Reply, op.Took, op.Ticket = outcome, reply.String(), reply.Took, ticket
	switch outcome {
	case credit.OutcomeApplied:
		r.watch(ctx, &op, w, since)
	case credit.OutcomeUnknown:
		r.search(ctx, &op, w)
	case credit.OutcomeNotSent:
		r.stopped = true
	case credit.OutcomeRefused:
	}
	return r.keep(op)
}

func (r *run) keep(op Operation) Operation {
	r.report.Operations = append(r.report.Operations, op)
	return op
}

// view is the window in which a new deal must show, and how many deals it had before.
type view struct {
	from, to string
	before   int
}

func (r *run) view(ctx context.Context) view {
	v := view{from: seconds(max(r.now()-windowAgo, 0)), to: seconds(r.now() + day)}
	v.before = r.totalIn(ctx, v)
	return v
}

func (r *run) totalIn(ctx context.Context, v view) int {
	reply := r.ask(ctx, "deal/get_total", "login", number(r.o.Login), "from", v.from, "to", v.to)
	var answer struct{ Total text }
	if !ok(reply) || reply.Answer == nil || decode(reply.Answer, &answer) != nil {
		return 0
	}
	return int(answer.Total.uint())
}

// rowsIn reads the rows of the window among which new ones are.
func (r *run) rowsIn(ctx context.Context, v view) []deal {
	offset := 0
	if v.before >= 90 && !r.newestFirst {
		offset = v.before - 10
	}
	reply := r.ask(ctx, "deal/get_page", "login", number(r.o.Login), "from", v.from, "to", v.to, "offset", count(offset), "total", "100")
	rows, err := deals(reply.Answer)
	if err != nil || !ok(reply) {
		return nil
	}
	return rows
}

// watch waits until every endpoint shows the deal, and learns what it carries.
func (r *run) watch(ctx context.Context, op *Operation, v view, since time.Duration) {
	op.Visible = map[string]time.Duration{}
	wait := firstWait
	r.urgent = true // the first look is to be as early as can be
	for {
		for _, name := range watched {
			if _, seen := op.Visible[name]; seen {
				continue
			}
			if r.shows(ctx, name, op, v) {
				op.Visible[name] = r.o.Clock.Boot() - since
			}
		}
		r.urgent = false
		if len(op.Visible) == len(watched) || r.o.Clock.Boot()-since >= r.o.Patience || ctx.Err() != nil {
			return
		}
		if r.o.Clock.Wait(ctx, r.o.Clock.Boot()+wait, nil) != nil {
			return
		}
		wait = min(wait*3/2, mostWait)
	}
}

// shows tells whether one endpoint shows the deal of op by now.
func (r *run) shows(ctx context.Context, name string, op *Operation, v view) bool {
	switch name {
	case "get_total":
		return r.totalIn(ctx, v) > v.before
	case "get_page":
		for _, d := range r.rowsIn(ctx, v) {
			if d.Deal.uint() == op.Ticket {
				r.learn(op, d)
				return true
			}
		}
		return false
	}
	reply := r.ask(ctx, "deal/get", "ticket", number(op.Ticket))
	var d deal
	if !ok(reply) || decode(reply.Answer, &d) != nil || d.Deal.uint() != op.Ticket {
		return false
	}
	r.learn(op, d)
	return true
}

// learn keeps what the deal of op carries, once.
func (r *run) learn(op *Operation, d deal) {
	if op.Booked != "" {
		return
	}
	op.Booked, op.Kept = string(d.Profit), string(d.Comment)
	r.made = append(r.made, made{op: *op, deal: d})
	r.known = &d
}

// search looks for the deal of an operation whose outcome is unknown. It is never repeated.
func (r *run) search(ctx context.Context, op *Operation, v view) {
	r.say("the outcome is unknown (%s): look for the deal, for up to %s", op.Reply, r.o.Patience)
	mark := op.Comment[:min(len(op.Comment), markLen)]
	since, wait := r.o.Clock.Boot(), firstWait
	for r.o.Clock.Boot()-since < r.o.Patience && ctx.Err() == nil {
		for _, d := range r.rowsIn(ctx, v) {
			if strings.HasPrefix(string(d.Comment), mark) {
				op.Ticket = d.Deal.uint()
				op.Reply += "; found by looking"
				r.learn(op, d)
				return
			}
		}
		if r.o.Clock.Wait(ctx, r.o.Clock.Boot()+wait, nil) != nil {
			break
		}
		wait = min(wait*3/2, mostWait)
	}
	if text(op.Amount).isZero() {
		return // whatever became of it, there is nothing to take back
	}
	r.stopped = true
	r.attention("it is not known whether %s %s was booked on login %d: %s. No deal showed within %s, and the server may still book it. "+
		"Look at the login's deals at MT5 for the comment %q in %s from now; where it is, take it back with a balance operation of %s",
		op.Amount, r.report.Currency, op.Login, op.Reply, r.o.Patience, op.Comment, max(r.o.Quarantine, time.Minute), negated(op.Amount))
}

// pair makes an operation on the login and takes back what it booked. A stop that is asked for in between takes effect
// after both: it must not leave the amount on the account.
func (r *run) pair(ctx context.Context, purpose, amount, comment string) Operation {
	ctx = context.WithoutCancel(ctx)
	op := r.book(ctx, mt5.Trial{Login: r.o.Login, Amount: amount, Comment: comment}, purpose)
	r.reverse(ctx, op)
	return op
}

// reverse takes back what op booked; a reversal that is not known to have worked is shouted.
func (r *run) reverse(ctx context.Context, op Operation) {
	booked := op.Booked
	if booked == "" {
		booked = op.Amount
	}
	if op.Ticket == 0 || text(booked).isZero() {
		return
	}
	back := r.book(ctx, mt5.Trial{Login: r.o.Login, Amount: negated(booked), Comment: r.reference()}, "reversal")
	if back.Ticket != 0 {
		return
	}
	r.stopped = true
	if back.Outcome == credit.OutcomeUnknown {
		return // search has said it
	}
	r.attention("login %d still has %s %s of the probe (deal %d, comment %q), and the reversal was not made: %s. "+
		"Take it back by hand at MT5: a balance operation of %s on login %d", op.Login, booked, r.report.Currency, op.Ticket, op.Comment,
		back.Reply, negated(booked), op.Login)
}

// negated is the number with the other sign, its digits as they are.
func negated(amount string) string {
	if rest, minus := strings.CutPrefix(amount, "-"); minus {
		return rest
	}
	return "-" + strings.TrimPrefix(amount, "+")
}

// made is an operation with its deal.
type made struct {
	op   Operation
	deal deal
}
