package fakemt5

import (
	"slices"
	"strconv"
	"time"
)

// pageRows is the most rows of one page (mt5-webapi.md §1.3).
const pageRows = 100

func (s *Server) dealGet(req *request) reply {
	ticket, ok := req.number("ticket")
	if !ok {
		return codeReply(retParams)
	}
	e, ok := s.visibleDeal(req, ticket)
	if !ok {
		return s.wire().UnknownTicket.reply()
	}
	return answerReply(s.dealRow(e))
}

// visibleDeal finds a deal that this manager may see now.
func (s *Server) visibleDeal(req *request, ticket uint64) (JournalEntry, bool) {
	e, ok := s.book.deal(ticket)
	if !ok || e.VisibleFrom.After(s.wall.utc()) {
		return JournalEntry{}, false
	}
	v, known := s.book.find(e.Login)
	return e, known && req.session.manager.reaches(v.Group)
}

// span reads login, from and to; refused is set when the answer is settled already.
func (s *Server) span(req *request, unknown Refusal, empty func() reply) (w window, refused *reply) {
	settle := func(r reply) (window, *reply) { return window{}, &r }
	login, okLogin := req.number("login")
	from, to, okSpan := s.fromTo(req)
	if !okLogin || !okSpan {
		return settle(codeReply(retParams))
	}
	v, ok := s.book.find(login)
	switch {
	case !ok && unknown == "empty":
		return settle(empty())
	case !ok:
		return settle(unknown.reply())
	case !req.session.manager.reaches(v.Group):
		return settle(s.wire().NotPermitted.reply())
	}
	return window{login: login, from: from, to: to, now: s.wall.utc(), limit: allRows}, nil
}

// fromTo reads the window in seconds of the server's clock; both ends are in it.
func (s *Server) fromTo(req *request) (from, to int64, ok bool) {
	from, err1 := strconv.ParseInt(req.params.Get("from"), 10, 64)
	to, err2 := strconv.ParseInt(req.params.Get("to"), 10, 64)
	if s.wire().WindowEnd == "exclusive" {
		to--
	}
	return from, to, err1 == nil && err2 == nil
}

func (s *Server) dealGetTotal(req *request) reply {
	w, refused := s.span(req, s.wire().UnknownTotal, s.emptyTotal)
	if refused != nil {
		return *refused
	}
	w.limit = 0
	_, total := s.book.dealsIn(w)
	if total == 0 {
		return s.emptyTotal()
	}
	return totalReply(int64(total))
}

func totalReply(n int64) reply { return answerReply(object{{"Total", integer(n)}}) }

func (s *Server) emptyTotal() reply {
	return emptyReply(s.wire().EmptyTotal, object{{"Total", integer(0)}})
}

func (s *Server) emptyPage() reply { return emptyReply(s.wire().EmptyPage, []any{}) }

// emptyReply is the answer to an empty window in the form the wire is set to.
func emptyReply(how string, usual any) reply {
	switch how {
	case "array", "zero":
		return answerReply(usual)
	case "null":
		return answerReply(nil)
	case "absent":
		return reply{}
	}
	return Refusal(how).reply()
}

func (s *Server) dealGetPage(req *request) reply {
	w, refused := s.span(req, s.wire().UnknownPage, s.emptyPage)
	if refused != nil {
		return *refused
	}
	offset, okOffset := req.number("offset")
	total, okTotal := req.number("total")
	if !okOffset || !okTotal || max(offset, total) > 1<<40 {
		return codeReply(retParams)
	}
	rows, refused := s.pageSize(total)
	if refused != nil {
		return *refused
	}
	w.offset, w.limit = int(offset), rows
	if s.wire().PageOrder == "newest" {
		return s.rowsReply(s.newestFirst(w))
	}
	page, _ := s.book.dealsIn(w)
	return s.rowsReply(page)
}

// pageSize is how many rows a page of total has here; refused is set when such a page is not given.
func (s *Server) pageSize(total uint64) (rows int, refused *reply) {
	wire := s.wire()
	switch {
	case total == 0 && wire.ZeroPage == "all":
		return pageRows, nil
	case total == 0 && wire.ZeroPage == "empty":
		r := s.emptyPage()
		return 0, &r
	case total == 0:
		r := Refusal(wire.ZeroPage).reply()
		return 0, &r
	case total <= pageRows, wire.LongPage == "all":
		return int(total), nil
	case wire.LongPage == "cut":
		return pageRows, nil
	}
	r := Refusal(wire.LongPage).reply()
	return 0, &r
}

// newestFirst is the page counted from the other end.
func (s *Server) newestFirst(w window) []JournalEntry {
	offset, limit := w.offset, w.limit
	w.offset, w.limit = 0, allRows
	rows, _ := s.book.dealsIn(w)
	slices.Reverse(rows)
	rows = rows[min(offset, len(rows)):]
	return rows[:min(limit, len(rows))]
}

func (s *Server) rowsReply(rows []JournalEntry) reply {
	if len(rows) == 0 {
		return s.emptyPage()
	}
	out := make([]any, len(rows))
	for i, e := range rows {
		out[i] = s.dealRow(e)
	}
	return answerReply(out)
}

// dealGetBatch takes exactly one of login, group and ticket (mt5-webapi.md §1.3).
func (s *Server) dealGetBatch(req *request) reply {
	logins, groups, tickets := req.list("login"), req.list("group"), req.list("ticket")
	given := 0
	for _, l := range [][]string{logins, groups, tickets} {
		if l != nil {
			given++
		}
	}
	if given != 1 {
		return codeReply(retParams)
	}
	var rows []JournalEntry
	if tickets != nil {
		for _, text := range tickets {
			ticket, err := strconv.ParseUint(text, 10, 64)
			if err != nil {
				return codeReply(retParams)
			}
			if e, ok := s.visibleDeal(req, ticket); ok {
				rows = append(rows, e)
			}
		}
		return s.rowsReply(bySymbol(rows, req.list("symbol")))
	}
	from, to, ok := s.fromTo(req)
	views, okLogins := s.selectAccounts(req, logins, groups)
	if !ok || !okLogins {
		return codeReply(retParams)
	}
	for _, v := range views {
		found, _ := s.book.dealsIn(window{login: v.Login, from: from, to: to, now: s.wall.utc(), limit: allRows})
		rows = append(rows, found...)
	}
	return s.rowsReply(bySymbol(rows, req.list("symbol")))
}

// selectAccounts are the accounts in reach that a list of logins or masks names; ok
// is false when a login is no number.
func (s *Server) selectAccounts(req *request, logins, groups []string) (out []view, ok bool) {
	wanted := map[uint64]bool{}
	for _, text := range logins {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return nil, false
		}
		wanted[n] = true
	}
	for _, v := range s.book.list() {
		if (wanted[v.Login] || matchMasks(groups, v.Group)) && req.session.manager.reaches(v.Group) {
			out = append(out, v)
		}
	}
	return out, true
}

// bySymbol keeps the deals of the symbol masks; balance deals have no symbol.
func bySymbol(rows []JournalEntry, masks []string) []JournalEntry {
	if masks == nil {
		return rows
	}
	var out []JournalEntry
	for _, e := range rows {
		symbol := ""
		if e.Trade != nil {
			symbol = e.Trade.Symbol
		}
		if matchMasks(masks, symbol) {
			out = append(out, e)
		}
	}
	return out
}

// dealRow is a deal with the fields of mt5-webapi.md §5, all of them.
func (s *Server) dealRow(e JournalEntry) object {
	wire := s.wire()
	t, priceDigits, contract := Trade{}, 0, "0.00"
	if e.Trade != nil {
		t, priceDigits, contract = *e.Trade, 5, "100000.00"
	}
	price := number(formatMinor(t.Price, priceDigits))
	zero := number(formatMinor(0, priceDigits))
	reason := wire.reason()
	if e.Trade != nil {
		reason = 0
	}
	cash := func(minor int64) number { return money(minor, e.Digits) }
	return object{
		{"Deal", integer(e.Ticket)}, {"ExternalID", ""}, {"Login", integer(e.Login)}, {"Dealer", integer(e.Dealer)},
		{"Order", integer(t.Position)}, {"Action", integer(e.Action)}, {"Entry", integer(t.Entry)}, {"Reason", integer(reason)},
		{"Digits", integer(priceDigits)}, {"DigitsCurrency", integer(e.Digits)}, {"ContractSize", number(contract)},
		{"Time", integer(floorSecond(e.ServerMsc))}, {"TimeMsc", integer(e.ServerMsc)}, {"Symbol", t.Symbol},
		{"Price", price}, {"PriceSL", zero}, {"PriceTP", zero},
		{"Volume", integer(t.Volume)}, {"VolumeExt", integer(t.Volume * 10_000)},
		{"Profit", cash(e.Minor)}, {"Value", cash(0)}, {"Storage", cash(0)}, {"Commission", cash(t.Commission)}, {"Fee", cash(0)},
		{"RateProfit", number("0.00000000")}, {"RateMargin", number("0.00000000")}, {"ExpertID", integer(0)},
		{"PositionID", integer(t.Position)}, {"Comment", e.Comment}, {"ProfitRaw", cash(e.Minor)}, {"PricePosition", zero},
		{"VolumeClosed", integer(t.Volume * uint64(t.Entry))}, {"VolumeClosedExt", integer(t.Volume * uint64(t.Entry) * 10_000)},
		{"TickValue", number("0.00")}, {"TickSize", zero}, {"Flags", integer(0)}, {"Gateway", ""}, {"PriceGateway", zero},
		{wire.ModifyKey, integer(e.ModifyFlags)}, {"MarketBid", zero}, {"MarketAsk", zero}, {"MarketLast", zero},
		{"ApiData", []any{}},
	}
}

// span over all time, for the control port.
func allTime(login uint64) window {
	return window{login: login, from: -1 << 62, to: 1 << 62, now: time.Unix(1<<40, 0), limit: allRows}
}
