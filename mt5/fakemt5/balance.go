package fakemt5

import "strconv"

// Deal actions (mt5-webapi.md §5).
const (
	actionBalance    = 2
	actionCredit     = 3
	actionCorrection = 5
	actionBonus      = 6
)

// order is a balance operation that is ready to be checked against the account.
type order struct {
	login        uint64
	action       int
	minor        int64
	comment      string
	checkMargin  bool
	skipBalance  bool
	visibleAfter Duration
	dealer       uint64
	conn         uint64
	request      uint64
}

func (s *Server) tradeBalance(req *request) reply {
	wire := s.wire()
	if req.session.manager.NoBalance {
		return wire.NotPermitted.reply()
	}
	action, err := strconv.Atoi(req.params.Get("type"))
	if err != nil || action < actionBalance || action > actionBonus {
		return codeReply(retParams)
	}
	login, ok := req.number("login")
	if !ok {
		return codeReply(retParams)
	}
	if req.tamper.bookOn != 0 {
		login = req.tamper.bookOn
	}
	v, ok := s.book.find(login)
	if !ok {
		return wire.UnknownBalance.reply()
	}
	if !req.session.manager.reaches(v.Group) {
		return wire.NotPermitted.reply()
	}
	if wire.DisabledBalance != "accept" && v.disabled() {
		return Refusal(wire.DisabledBalance).reply()
	}
	minor, refused := wire.amount(req.params.Get("balance"), v.group.Digits)
	if refused != nil {
		return *refused
	}
	check := req.params.Get("check_margin") != "0"
	o := order{
		login: login, action: action, minor: minor, comment: req.params.Get("comment"),
		checkMargin: check && !wire.NegativeBalance, skipBalance: wire.NegativeBalance || !check && wire.RawSkipsBalance,
		dealer: req.session.manager.Login, conn: req.conn.id, request: req.seq,
	}
	if wire.BalanceDealer == "zero" {
		o.dealer = 0
	}
	return s.executeOrder(o, v.group.Digits, req.tamper)
}

// executeOrder books the order, once more for each copy, and answers with the first ticket.
func (s *Server) executeOrder(o order, digits int, t tamper) reply {
	if t.comment != nil {
		o.comment = t.comment(o.comment)
	}
	if t.amount != nil {
		o.minor = t.amount(o.minor, digits)
	}
	o.visibleAfter = t.visibleAfter
	e, code := s.book.execute(o)
	if code != retDone {
		return codeReply(code)
	}
	for range t.copies {
		// A copy that finds no money left is refused like any other operation.
		_, _ = s.book.execute(o)
	}
	return answerReply(object{{"Ticket", integer(e.Ticket)}})
}

// execute checks and books one operation. Nothing else changes the book meanwhile,
// and the journal holds the entry before this returns.
func (b *book) execute(o order) (JournalEntry, int) {
	b.trade.Lock()
	defer b.trade.Unlock()
	v, ok := b.find(o.login)
	if !ok {
		return JournalEntry{}, retNotFound
	}
	if code := o.check(v); code != retDone {
		return JournalEntry{}, code
	}
	now := b.wall.utc()
	e := b.entry(o.login, v.group, o.action, o.minor, b.wall.serverMsc(now))
	e.UTC = now
	e.Comment, e.Dealer = cutComment(o.comment), o.dealer
	e.Conn, e.Request, e.Source = o.conn, o.request, SourceAPI
	if d := b.visibleAfter + o.visibleAfter.std(); d > 0 {
		e.VisibleFrom = now.Add(d)
	}
	if err := b.commit(line{Event: eventDeal, JournalEntry: &e}); err != nil {
		return JournalEntry{}, retDisk
	}
	return e, retDone
}

// check applies the limits of mt5-webapi.md §1.3 to the account as it stands.
func (o order) check(v view) int {
	balance, credit := v.balance, v.credit
	if o.action == actionCredit {
		if credit+o.minor < 0 {
			return retNoMoney
		}
		return limit(credit + o.minor)
	}
	if o.minor < 0 {
		if balance+o.minor < 0 && !o.skipBalance {
			return retNoMoney
		}
		free := balance + credit - v.Margin
		if o.checkMargin && o.action != actionCorrection && free+o.minor < 0 {
			return retNoMoney
		}
	}
	return limit(balance + o.minor)
}

// limit keeps sums far from the end of int64. One amount is at most 1e17 minor units,
// so a sum below the limit plus one amount cannot overflow.
func limit(sum int64) int {
	const most = 1 << 61
	if sum > most || sum < -most {
		return retMaxMoney
	}
	return retDone
}
