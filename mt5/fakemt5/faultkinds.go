package fakemt5

import (
	"strconv"
	"strings"
)

// plan is what the faults make of one request, in the order run follows.
type plan struct {
	killSession bool
	dropBefore  bool
	swallow     bool
	wait        Duration // before executing, the client still there
	hold        Duration // before executing, whether the client is there or not
	execute     bool
	alter       []func(*Server, *request, *reply) // after executing
	after       []func(*Server, *request)         // after the answer was made
	delay       Duration                          // before answering
	dropAfter   bool
	body        func([]byte) []byte // replaces the encoded answer
	cut         bool
	desync      bool
	twice       bool
}

// kindSpec is one kind of fault: where it makes sense, which parameters it needs
// (check returns a complaint) and what it adds to a plan.
type kindSpec struct {
	where string // masks of endpoints with blanks between; any when empty
	check func(Rule) string
	apply func(*plan, Rule, *request)
}

func needDelay(r Rule) string {
	if r.Delay == 0 {
		return "needs delay"
	}
	return ""
}

func needCode(r Rule) string {
	if r.Code <= 0 {
		return "needs code above 0"
	}
	return ""
}

func needOther(r Rule) string {
	if r.Other == 0 {
		return "needs other, a login"
	}
	return ""
}

func needRows(r Rule) string {
	if r.Rows == 0 {
		return "needs rows"
	}
	return ""
}

// executes is the rule's Execute, or the usual thing for its kind.
func (r Rule) executes(usual bool) bool {
	if r.Execute != nil {
		return *r.Execute
	}
	return usual
}

var kinds = map[Kind]kindSpec{
	ApplyThenDrop:   {apply: func(p *plan, r Rule, _ *request) { p.dropAfter = true }},
	ApplyThenDelay:  {check: needDelay, apply: func(p *plan, r Rule, _ *request) { p.delay = r.Delay }},
	HoldThenExecute: {check: needDelay, apply: func(p *plan, r Rule, _ *request) { p.hold = r.Delay }},
	NeverExecute:    {apply: func(p *plan, r Rule, _ *request) { p.swallow = true }},
	DropBefore:      {apply: func(p *plan, r Rule, _ *request) { p.dropBefore = true }},
	SlowAnswer:      {check: needDelay, apply: func(p *plan, r Rule, _ *request) { p.wait = r.Delay }},
	RefuseCode:      {check: needCode, apply: answerCode(false)},
	CodeBeforeApply: {check: needCode, apply: answerCode(false)},
	CodeAfterApply:  {check: needCode, apply: answerCode(true)},
	HTTPStatus: {check: func(r Rule) string {
		if r.Status == 0 {
			return "needs status"
		}
		return ""
	}, apply: answerStatus},
	GarbledBody: {apply: func(p *plan, r Rule, _ *request) {
		p.execute = r.executes(true)
		p.body = func(b []byte) []byte { return garble(b, r.Body) }
	}},
	CutBody: {apply: func(p *plan, r Rule, _ *request) { p.execute, p.cut = r.executes(true), true }},
	EmptyBody: {apply: func(p *plan, r Rule, _ *request) {
		p.execute = r.executes(true)
		p.body = func([]byte) []byte { return nil }
	}},
	NoTicket: {where: "trade/balance", apply: func(p *plan, r Rule, _ *request) {
		p.execute = r.executes(true)
		p.alter = append(p.alter, func(_ *Server, _ *request, rep *reply) {
			if rep.code == retDone {
				rep.answer, rep.has = nil, false
			}
		})
	}},
	WrongTicket:    {apply: wrongTicket},
	WrongLogin:     {check: needOther, apply: wrongLogin},
	VisibleAfter:   {where: "trade/balance", check: needDelay, apply: func(_ *plan, r Rule, req *request) { req.tamper.visibleAfter = r.Delay }},
	CommentAltered: {apply: alterComment, check: func(r Rule) string { return needOneOf(r.Prefix + r.Suffix + r.Case) }},
	AmountAltered: {apply: alterAmount, check: func(r Rule) string {
		if r.Delta == 0 {
			return "needs delta"
		}
		return ""
	}},
	PageCut:    {where: "deal/* user/logins", apply: pageCut},
	PageRepeat: {where: "deal/get_page", apply: pageRepeat},
	PageOfOther: {where: "deal/*", check: needOther, apply: func(_ *plan, r Rule, req *request) {
		req.params.Set("login", strconv.FormatUint(r.Other, 10))
	}},
	TotalChanges: {where: "deal/get_total", check: func(r Rule) string {
		if r.Delta == 0 {
			return "needs delta"
		}
		return ""
	}, apply: totalChanges},
	DealsBetween:   {where: "deal/*", check: needRows, apply: dealsBetween},
	SessionLost:    {apply: func(p *plan, r Rule, _ *request) { p.killSession, p.execute = true, r.executes(false) }},
	Desync:         {apply: func(p *plan, r Rule, _ *request) { p.execute, p.desync = r.executes(true), true }},
	DuplicateReply: {apply: func(p *plan, r Rule, _ *request) { p.execute, p.twice = r.executes(true), true }},
	DuplicateExec:  {where: "trade/balance", apply: func(_ *plan, r Rule, req *request) { req.tamper.copies++ }},
}

func needOneOf(given string) string {
	if given == "" {
		return "needs prefix, suffix or case"
	}
	return ""
}

func answerCode(execute bool) func(*plan, Rule, *request) {
	return func(p *plan, r Rule, _ *request) {
		p.execute = r.executes(execute)
		p.alter = append(p.alter, func(_ *Server, _ *request, rep *reply) { *rep = codeReply(r.Code) })
	}
}

// answerStatus keeps the usual body only when the request was executed and no Body is given.
func answerStatus(p *plan, r Rule, _ *request) {
	p.execute = r.executes(false)
	p.alter = append(p.alter, func(_ *Server, _ *request, rep *reply) {
		rep.status = r.Status
		rep.noBody = r.Body == "" && !p.execute
	})
	if r.Body != "" {
		p.body = func([]byte) []byte { return []byte(r.Body) }
	}
}

// garble spoils an answer: the given text, or its first half, which is not JSON.
func garble(body []byte, text string) []byte {
	if text != "" {
		return []byte(text)
	}
	return append(append([]byte(nil), body[:len(body)/2]...), "\x00<?>"...)
}

func wrongTicket(p *plan, r Rule, _ *request) {
	p.execute = r.executes(true)
	p.alter = append(p.alter, func(s *Server, req *request, rep *reply) {
		ticket := r.Ticket
		if ticket == 0 {
			ticket = s.book.unusedTicket()
		}
		key := "Deal"
		if req.endpoint == "trade/balance" {
			key = "Ticket"
		}
		rep.answer = eachObject(rep.answer, func(o object) object {
			if o.get(key) == nil {
				return o
			}
			return o.set(key, integer(ticket))
		})
	})
}

// unusedTicket is a number far above all tickets so far.
func (b *book) unusedTicket() uint64 {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.nextTicket + 1_000_003
}

// wrongLogin on trade/balance either books on the other login, or answers as if for
// it: its login, and its newest deal when it has one. Elsewhere rows name the other login.
func wrongLogin(p *plan, r Rule, req *request) {
	if req.endpoint == "trade/balance" && r.executes(false) {
		req.tamper.bookOn = r.Other
		return
	}
	p.alter = append(p.alter, func(s *Server, req *request, rep *reply) {
		rep.answer = eachObject(rep.answer, func(o object) object {
			if req.endpoint == "trade/balance" {
				if rows, n := s.book.dealsIn(allTime(r.Other)); n > 0 {
					o = o.set("Ticket", integer(rows[n-1].Ticket))
				}
				return o.set("Login", integer(r.Other))
			}
			if o.get("Login") == nil {
				return o
			}
			return o.set("Login", integer(r.Other))
		})
	})
}

func alterComment(p *plan, r Rule, req *request) {
	change := func(c string) string {
		switch r.Case {
		case "upper":
			c = strings.ToUpper(c)
		case "lower":
			c = strings.ToLower(c)
		}
		return r.Prefix + c + r.Suffix
	}
	if req.endpoint == "trade/balance" {
		req.tamper.comment = change
		return
	}
	p.alter = append(p.alter, func(_ *Server, _ *request, rep *reply) {
		rep.answer = eachObject(rep.answer, func(o object) object {
			c, ok := o.get("Comment").(string)
			if !ok {
				return o
			}
			return o.set("Comment", cutComment(change(c)))
		})
	})
}

func alterAmount(p *plan, r Rule, req *request) {
	if req.endpoint == "trade/balance" {
		req.tamper.amount = func(minor int64, _ int) int64 { return minor + r.Delta }
		return
	}
	p.alter = append(p.alter, func(_ *Server, _ *request, rep *reply) {
		rep.answer = eachObject(rep.answer, func(o object) object {
			profit, ok := o.get("Profit").(number)
			if !ok {
				return o
			}
			_, decimals, _ := strings.Cut(string(profit), ".")
			minor, err := parseMinor(string(profit), len(decimals))
			if err != nil {
				return o
			}
			return o.set("Profit", money(minor+r.Delta, len(decimals)))
		})
	})
}

func pageCut(p *plan, r Rule, _ *request) {
	p.alter = append(p.alter, func(_ *Server, _ *request, rep *reply) {
		if rows, ok := rep.answer.([]any); ok && len(rows) > r.Rows {
			rep.answer = rows[:r.Rows]
		}
	})
}

func pageRepeat(p *plan, r Rule, req *request) {
	offset, _ := req.number("offset")
	total, _ := req.number("total")
	if offset > 0 {
		req.params.Set("offset", strconv.FormatUint(offset-min(offset, total), 10))
		return
	}
	p.alter = append(p.alter, func(_ *Server, _ *request, rep *reply) {
		rows, ok := rep.answer.([]any)
		if !ok || len(rows) == 0 {
			return
		}
		rows = append([]any{rows[0]}, rows...)
		rep.answer = rows[:min(len(rows), pageRows)]
	})
}

func totalChanges(p *plan, r Rule, _ *request) {
	by := r.Delta
	if r.Grow {
		by *= int64(r.Hits)
	}
	p.alter = append(p.alter, func(_ *Server, _ *request, rep *reply) {
		rep.answer = eachObject(rep.answer, func(o object) object {
			total, ok := o.get("Total").(number)
			if !ok {
				return o
			}
			n, err := strconv.ParseInt(string(total), 10, 64)
			if err != nil {
				return o
			}
			return o.set("Total", integer(max(n+by, 0)))
		})
	})
}

func dealsBetween(p *plan, r Rule, _ *request) {
	p.after = append(p.after, func(s *Server, req *request) {
		if login, ok := req.number("login"); ok {
			// An unknown login gets no deals.
			_, _ = s.book.seedDeals(login, r.Rows, uint64(r.Hits), 0)
		}
	})
}
