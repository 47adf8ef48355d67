package probe

import (
	"context"
	"fmt"

	"creditonce/mt5"
)

// none tells whether a reply is one of the forms of "there are none" that the client takes (Traps 11).
func none(reply mt5.Reply) bool {
	listed := reply.Status == 200 || reply.Status == 400 || reply.Status == 404
	switch {
	case reply.Err != nil || !listed:
		return false
	case reply.Code == 1, reply.Code == 13:
		return true
	}
	return ok(reply) && (reply.Form == "absent" || reply.Form == "null" || reply.Form == "empty list")
}

const looksFail = "no look at a login without deals is complete on this server: write to the makers of this program with the report"

// askEmpty asks for deals of a day in 1970, when there were none.
func (r *run) askEmpty(ctx context.Context) {
	r.say("ask for deals of login %d in a window that has none", r.o.Login)
	total := r.ask(ctx, "deal/get_total", "login", number(r.o.Login), "from", "1", "to", "2")
	var answer struct{ Total text }
	zero := ok(total) && decode(total.Answer, &answer) == nil && answer.Total.isZero()
	said := total.String()
	if zero {
		said += ", total " + string(answer.Total)
	}
	r.judge("empty.total", zero || none(total), said, looksFail)
	page := r.ask(ctx, "deal/get_page", "login", number(r.o.Login), "from", "1", "to", "2", "offset", "0", "total", "100")
	r.judge("empty.page", none(page), page.String(), looksFail)
}

// askUnknown asks every read for what does not exist.
func (r *run) askUnknown(ctx context.Context) {
	r.say("ask every read for login %d, which should not exist, for an unknown deal and an unknown group", r.o.UnknownLogin)
	login := number(r.o.UnknownLogin)
	missing := func(reply mt5.Reply) bool { return reply.Code == 13 && (reply.Status == 200 || reply.Status == 404) }
	user := r.ask(ctx, "user/get", "login", login)
	if ok(user) {
		// It exists: whatever it is, it is not the login that was given.
		r.o.UnknownLogin = 0
		r.differs("unknown.user", "login "+login+" exists", "name one that does not, with --unknown-login")
		return
	}
	if !missing(user) {
		r.o.UnknownLogin = 0
	}
	r.judgeMild("unknown.user", missing(user), user.String(), "a payment to a mistyped login waits as \"no answer\" and gets its task after 15 minutes, instead of at once")
	window := []string{"login", login, "from", "0", "to", seconds(r.now() + day)}
	r.found("unknown.account", Learned, "%s", r.ask(ctx, "user/account/get", "login", login))
	r.found("unknown.audit", Learned, "%s", r.ask(ctx, "user/check_balance", "login", login))
	r.found("unknown.total", Learned, "%s", r.ask(ctx, "deal/get_total", window...))
	r.found("unknown.page", Learned, "%s", r.ask(ctx, "deal/get_page", append(window, "offset", "0", "total", "100")...))
	ticket := r.ask(ctx, "deal/get", "ticket", number(1<<62))
	r.judgeMild("unknown.ticket", missing(ticket), ticket.String(), "a deal that is not there yet counts as unreadable, and the row is settled by looking")
	r.found("unknown.group", Learned, "%s", r.ask(ctx, "group/get", "group", `prb\no-such-group`))
}

// page asks for rows of the login's whole history.
func (r *run) page(ctx context.Context, offset, n int) mt5.Reply {
	return r.ask(ctx, "deal/get_page", "login", number(r.o.Login), "from", "0", "to", seconds(r.now()+day), "offset", count(offset), "total", count(n))
}

// askOrder reads the first rows; their tickets tell the order.
func (r *run) askOrder(ctx context.Context) {
	r.say("read the first deals of login %d", r.o.Login)
	reply := r.page(ctx, 0, 100)
	rows, err := deals(reply.Answer)
	if err != nil || !ok(reply) && !none(reply) {
		r.found("page.order", NoAnswer, "%s", reply)
		return
	}
	if len(rows) > 0 {
		r.known = &rows[len(rows)-1]
	}
	r.judgeOrder(rows)
}

func (r *run) judgeOrder(rows []deal) {
	var rising, falling int
	for i := 1; i < len(rows); i++ {
		switch a, b := rows[i-1].Deal.uint(), rows[i].Deal.uint(); {
		case a < b:
			rising++
		case a > b:
			falling++
		}
	}
	const next = "rows that are added while a login is looked at make the look begin anew: looks may fail on busy logins"
	switch {
	case rising+falling == 0 && !r.o.Operate:
		r.found("page.order", NoAnswer, "the login has %d deals; it takes two, or --operate", len(rows))
	case rising+falling == 0:
		// operate will know better
	case falling == 0:
		r.found("page.order", AsAssumed, "oldest first, by %d tickets", len(rows))
	case rising == 0:
		r.newestFirst = true
		r.differs("page.order", fmt.Sprintf("newest first, by %d tickets", len(rows)), next)
	default:
		r.differs("page.order", fmt.Sprintf("by neither: of %d tickets %d are lower than the one before", len(rows), falling), next)
	}
}

// askPages learns the sizes of pages.
func (r *run) askPages(ctx context.Context) {
	r.say("read pages of 100, 101 and 0 rows of login %d, which has %d deals", r.o.Login, r.total)
	full := r.page(ctx, 0, 100)
	rows, err := deals(full.Answer)
	switch want := min(r.total, 100); {
	case err != nil || !ok(full) && !none(full):
		r.differs("page.limit", full.String(), looksFail)
	case r.total < 100:
		r.found("page.limit", NoAnswer, "the login has %d deals, and it takes 100 to see a limit", r.total)
	case len(rows) >= want:
		r.pageLimit(100)
		r.found("page.limit", AsAssumed, "100 rows")
	case len(rows) >= 2:
		r.pageLimit(len(rows))
		r.judgeMild("page.limit", false, fmt.Sprintf("%d rows where 100 were asked for and are there", len(rows)),
			"the client asks for pages of this size once the report is in the store")
	default:
		r.differs("page.limit", fmt.Sprintf("%d rows where 100 were asked for and are there", len(rows)), looksFail)
	}
	r.askAbove(ctx)
	r.found("page.zero", Learned, "%s", r.rowsOf(r.page(ctx, 0, 0)))
}

func (r *run) pageLimit(n int) { r.report.Facts.PageLimit = &n }

func (r *run) askAbove(ctx context.Context) {
	reply := r.page(ctx, 0, 101)
	enough := ""
	if ok(reply) && r.total <= 100 {
		enough = fmt.Sprintf("; the login has %d deals, so that a cut would not show", r.total)
	}
	r.found("page.above", Learned, "%s%s", r.rowsOf(reply), enough)
}

// rowsOf is a reply with its number of rows.
func (r *run) rowsOf(reply mt5.Reply) string {
	if rows, err := deals(reply.Answer); err == nil && ok(reply) {
		return fmt.Sprintf("%s, %d rows", reply, len(rows))
	}
	return reply.String()
}

// askWindow asks for the second of a known deal, as the first and as the last of a window.
func (r *run) askWindow(ctx context.Context) {
	if r.known == nil {
		for _, id := range []string{"window.from", "window.to"} {
			r.found(id, NoAnswer, "the login has no deal; it takes one, or --operate")
		}
		return
	}
	at, whole := r.known.Time.int()
	if !whole {
		return
	}
	r.say("ask for deal %s of login %d in windows that begin and end in its second", r.known.Deal, r.o.Login)
	for _, q := range []struct {
		id       string
		from, to int64
	}{{"window.from", at, at + 2}, {"window.to", at - 2, at}} {
		reply := r.ask(ctx, "deal/get_page", "login", number(r.o.Login), "from", seconds(q.from), "to", seconds(q.to), "offset", "0", "total", "100")
		rows, err := deals(reply.Answer)
		switch {
		case err != nil || !ok(reply) && !none(reply):
			r.found(q.id, NoAnswer, "%s", reply)
		case holds(rows, r.known.Deal.uint()):
			r.found(q.id, Learned, "yes, inclusive")
		default:
			r.found(q.id, Learned, "no, exclusive")
		}
	}
}

func holds(rows []deal, ticket uint64) bool {
	for _, d := range rows {
		if d.Deal.uint() == ticket {
			return true
		}
	}
	return false
}
