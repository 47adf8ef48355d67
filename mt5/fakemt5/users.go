package fakemt5

import (
	"fmt"
	"strconv"
)

// user finds the account a request names; refused is set when there is none to show.
func (s *Server) user(req *request) (v view, refused *reply) {
	settle := func(r reply) (view, *reply) { return view{}, &r }
	login, ok := req.number("login")
	if !ok {
		return settle(codeReply(retParams))
	}
	v, ok = s.book.find(login)
	if !ok {
		return settle(s.wire().UnknownUser.reply())
	}
	if !req.session.manager.reaches(v.Group) {
		return settle(s.wire().NotPermitted.reply())
	}
	return v, nil
}

// userGet shows balance and credit, but no currency: that is the group's (mt5-webapi.md §1.3).
func (s *Server) userGet(req *request) reply {
	v, refused := s.user(req)
	if refused != nil {
		return *refused
	}
	rights := uint64(defaultRights)
	if v.Rights != nil {
		rights = *v.Rights
	}
	cash := func(minor int64) number { return money(minor, v.group.Digits) }
	row := object{
		{"Login", integer(v.Login)}, {"Group", v.Group}, {"CertSerialNumber", integer(0)}, {"Rights", integer(rights)},
		{"MQID", ""}, {"Registration", integer(v.Registration)}, {"LastAccess", integer(v.Registration)},
		{"LastPassChange", integer(v.Registration)}, {"LastIP", ""}, {"Name", v.Name}, {"FirstName", v.Name},
	}
	for _, empty := range []string{"LastName", "MiddleName", "Company", "Account", "Country"} {
		row = append(row, field{empty, ""})
	}
	row = append(row, field{"Language", integer(0)}, field{"ClientID", integer(0)})
	for _, empty := range []string{"City", "State", "ZIPCode", "Address", "Phone", "Email", "ID", "Status", "Comment"} {
		row = append(row, field{empty, ""})
	}
	return answerReply(append(row, object{
		{"Color", integer(uint64(0xFF000000))}, {"PhonePassword", ""}, {"Leverage", integer(v.leverage())}, {"Agent", integer(0)},
		{"Balance", cash(v.balance)}, {"Credit", cash(v.credit)}, {"InterestRate", cash(0)},
		{"CommissionDaily", cash(0)}, {"CommissionMonthly", cash(0)},
		{"BalancePrevDay", cash(v.balance)}, {"BalancePrevMonth", cash(v.balance)},
		{"EquityPrevDay", cash(v.balance + v.credit)}, {"EquityPrevMonth", cash(v.balance + v.credit)},
		{"TradeAccounts", ""}, {"LeadSource", ""}, {"LeadCampaign", ""},
		{"LimitOrders", integer(0)}, {"LimitPositions", integer(0)}, {"ApiData", []any{}},
	}...))
}

func (a Account) leverage() int {
	if a.Leverage == 0 {
		return 100
	}
	return a.Leverage
}

func (s *Server) accountGet(req *request) reply {
	v, refused := s.user(req)
	if refused != nil {
		return *refused
	}
	row, present := s.accountState(v)
	if present {
		return answerReply(row)
	}
	switch how := s.wire().IdleAccount; how {
	case "null":
		return answerReply(nil)
	case "absent":
		return reply{}
	default:
		return Refusal(how).reply()
	}
}

// accountState is the account's trading state; an idle account may have none since
// the last restart (mt5-webapi.md §1.3).
func (s *Server) accountState(v view) (object, bool) {
	if idle := !v.active && v.Margin == 0; idle {
		switch s.wire().IdleAccount {
		case "present":
		case "zeros":
			v.balance, v.credit = 0, 0
		default:
			return nil, false
		}
	}
	equity := v.balance + v.credit
	level := number("0.00")
	if v.Margin > 0 {
		level = number(formatMinor(equity*100/v.Margin*100, 2))
	}
	cash := func(minor int64) number { return money(minor, v.group.Digits) }
	return object{
		{"Login", integer(v.Login)}, {"CurrencyDigits", integer(v.group.Digits)},
		{"Balance", cash(v.balance)}, {"Credit", cash(v.credit)}, {"Margin", cash(v.Margin)},
		{"MarginFree", cash(equity - v.Margin)}, {"MarginLevel", level}, {"MarginLeverage", integer(v.leverage())},
		{"MarginInitial", cash(0)}, {"MarginMaintenance", cash(0)}, {"Profit", cash(0)}, {"Storage", cash(0)},
		{"Commission", cash(0)}, {"Floating", cash(0)}, {"Equity", cash(equity)},
		{"SOActivation", integer(0)}, {"SOTime", integer(0)}, {"SOLevel", number("0.00")}, {"SOEquity", cash(0)},
		{"SOMargin", cash(0)}, {"BlockedCommission", cash(0)}, {"BlockedProfit", cash(0)},
		{"Assets", cash(0)}, {"Liabilities", cash(0)},
	}, true
}

// accountGetBatch leaves out logins that are unknown or have no state.
func (s *Server) accountGetBatch(req *request) reply {
	logins, groups := req.list("login"), req.list("group")
	if (logins == nil) == (groups == nil) {
		return codeReply(retParams)
	}
	views, ok := s.selectAccounts(req, logins, groups)
	if !ok {
		return codeReply(retParams)
	}
	rows := []any{}
	for _, v := range views {
		if row, present := s.accountState(v); present {
			rows = append(rows, row)
		}
	}
	return answerReply(rows)
}

// checkBalance compares the account with its deals; fixflag=1 takes the deals' word
// (mt5-webapi.md §1.3).
func (s *Server) checkBalance(req *request) reply {
	v, refused := s.user(req)
	if refused != nil {
		return *refused
	}
	flag := req.params.Get("fixflag")
	if n, err := strconv.Atoi(flag); flag != "" && (err != nil || n < 0 || n > 1) {
		return codeReply(retParams)
	}
	balance, credit := s.book.historySums(v.Login)
	if flag == "1" {
		if req.session.manager.NoBalance {
			return s.wire().NotPermitted.reply()
		}
		if err := s.book.fix(v.Login); err != nil {
			return codeReply(retDisk)
		}
	}
	pair := func(user, history int64) object {
		return object{
			{"User", number(formatMinor6(user, v.group.Digits))},
			{"History", number(formatMinor6(history, v.group.Digits))},
		}
	}
	return answerReply(object{{"Balance", pair(v.balance, balance)}, {"Credit", pair(v.credit, credit)}})
}

// fix sets balance and credit to what the history says.
func (b *book) fix(login uint64) error {
	b.trade.Lock()
	defer b.trade.Unlock()
	if _, ok := b.find(login); !ok {
		return fmt.Errorf("fix balance: unknown login %d", login)
	}
	balance, credit := b.historySums(login)
	return b.commit(
		line{Event: eventFix, JournalEntry: &JournalEntry{Login: login, Action: actionBalance, Minor: balance}},
		line{Event: eventFix, JournalEntry: &JournalEntry{Login: login, Action: actionCredit, Minor: credit}},
	)
}
