package fakemt5

import (
	"strconv"
	"strings"
)

// groupGet takes an exact name in group=, or masks in mask= and answers a list.
func (s *Server) groupGet(req *request) reply {
	wire, m := s.wire(), req.session.manager
	if masks := req.list("mask"); masks != nil {
		rows := []any{}
		for _, g := range s.book.groupList() {
			if matchMasks(masks, g.Name) && m.reaches(g.Name) {
				rows = append(rows, s.groupRow(g))
			}
		}
		return answerReply(rows)
	}
	name := req.params.Get("group")
	if name == "" {
		return codeReply(retParams)
	}
	for _, g := range s.book.groupList() {
		if g.Name != name {
			continue
		}
		if !m.reaches(name) {
			return wire.NotPermitted.reply()
		}
		return answerReply(s.groupRow(g))
	}
	return wire.UnknownGroup.reply()
}

func (s *Server) groupRow(g Group) object {
	row := object{
		{"Group", g.Name}, {"Server", integer(1)}, {"PermissionsFlags", integer(g.Permissions)}, {"AuthMode", integer(0)},
		{"AuthPasswordMin", integer(8)}, {"AuthOTPMode", integer(0)}, {"Company", g.Company},
	}
	for _, empty := range []string{"CompanyPage", "CompanyEmail", "CompanySupportPage", "CompanySupportEmail", "CompanyCatalog"} {
		row = append(row, field{empty, ""})
	}
	return append(row, object{
		{"Currency", g.Currency}, {"CurrencyDigits", integer(g.Digits)},
		{"ReportsMode", integer(0)}, {"NewsMode", integer(2)}, {"NewsCategory", ""}, {"MailMode", integer(1)},
		{"TradeFlags", integer(23)}, {"TradeTransferMode", integer(0)}, {"TradeInterestrate", number("0.00")},
		{"TradeVirtualCredit", number("0.00")}, {"MarginMode", integer(2)}, {"MarginFlags", integer(0)},
		{"MarginSOMode", integer(0)}, {"MarginFreeMode", integer(1)}, {"MarginCall", number("50.00")},
		{"MarginStopOut", number("30.00")}, {"MarginFreeProfitMode", integer(0)}, {"DemoLeverage", integer(100)},
		{"DemoDeposit", money(0, g.Digits)}, {"DemoTradesClean", integer(0)}, {"LimitHistory", integer(0)},
		{"LimitOrders", integer(0)}, {"LimitSymbols", integer(0)}, {"LimitPositions", integer(0)},
		{"Commissions", []any{}}, {"Symbols", []any{}},
	}...)
}

// timeServer is the server's wall clock as a number that reads as if it were UTC,
// and as text (mt5-webapi.md §5).
func (s *Server) timeServer(*request) reply {
	msc := s.wall.serverMsc(s.wall.utc())
	return answerReply(object{{"Time", strconv.FormatInt(floorSecond(msc), 10) + " " + serverText(msc)}})
}

// timeGet shows the zone: minutes, whether daylight saving is switched, and whether
// it is in force now (mt5-webapi.md §1.3).
func (s *Server) timeGet(*request) reply {
	zone := s.wall.currentZone()
	flag := func(on bool) number {
		if on {
			return "1"
		}
		return "0"
	}
	days := make([]any, 7)
	for i := range days {
		hours := make([]any, 24)
		for h := range hours {
			hours[h] = number("1")
		}
		days[i] = hours
	}
	return answerReply(object{
		{"Daylight", flag(zone.DST != DSTNone)}, {"DaylightState", flag(zone.summer(s.wall.utc()))},
		{"TimeZone", integer(zone.OffsetMinutes)}, {"TimeServer", ""}, {"Days", days},
	})
}

// commonGet carries the identity of the server in Name.
func (s *Server) commonGet(*request) reply {
	users, realUsers, deals := s.book.totals()
	return answerReply(object{
		{"Name", s.cfg.World.Server}, {"Owner", "Example Broker Ltd"}, {"OwnerID", ""}, {"OwnerHost", ""}, {"OwnerEmail", ""},
		{"Product", "MetaTrader 5"}, {"ExpirationLicense", integer(0)}, {"ExpirationSupport", integer(0)},
		{"LimitTradeServers", integer(0)}, {"LimitWebServers", integer(0)}, {"LimitAccounts", integer(0)},
		{"LimitDeals", integer(0)}, {"LimitSymbols", integer(0)}, {"LimitGroups", integer(0)}, {"LiveUpdateMode", integer(0)},
		{"TotalUsers", integer(users)}, {"TotalUsersReal", integer(realUsers)}, {"TotalDeals", integer(deals)},
		{"TotalOrders", integer(0)}, {"TotalOrdersHistory", integer(0)}, {"TotalPositions", integer(0)},
		{"AccountUrl", ""}, {"AccountAuto", integer(0)},
	})
}

// totals counts accounts, those outside demo groups, and deals.
func (b *book) totals() (users, realUsers, deals int) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	for _, a := range b.accounts {
		if !strings.HasPrefix(a.Group, "demo") {
			realUsers++
		}
	}
	return len(b.accounts), realUsers, len(b.deals)
}
