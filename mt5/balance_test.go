package mt5

import (
	"strings"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/mt5/fakemt5"
)

func TestBalance_BooksOnceAndTheDealReadsBack(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.ready()
	got := r.session.Balance(t.Context(), r.call())
	if got.Outcome != credit.OutcomeApplied || !got.Answered || got.Ticket == 0 || got.Code != "0 MT_RET_OK" || got.Status != 200 {
		t.Fatalf("outcome %+v", got)
	}
	booked := r.executed()
	if len(booked) != 1 || booked[0].Comment != string(reference) || booked[0].Amount != "500.00" || booked[0].Action != 2 {
		t.Fatalf("journal %+v", booked)
	}
	d, err := r.session.Deal(t.Context(), got.Ticket)
	if err != nil {
		t.Fatal(err)
	}
	want := r.call()
	if d.Ticket != got.Ticket || d.Login != want.Login || d.Action != credit.ActionBalance || !d.Amount.Equal(want.Amount) ||
		d.Comment != string(reference) || d.Dealer != testManager || d.ServerTime != r.clock.Now().Unix()+7200 {
		t.Errorf("deal %+v", d)
	}
	calls := r.seen.of("trade/balance")
	if len(calls) != 1 || calls[0].Dials != 0 || calls[0].Requests != 1 || calls[0].Bytes == 0 {
		t.Errorf("exchanges %+v", calls)
	}
}

// Each fault at the balance call: the outcome, how many deals MT5 then holds, and whether the connection lives.
func TestBalance_EveryFaultHasItsOutcome(t *testing.T) {
	t.Parallel()
	yes := true
	const second = fakemt5.Duration(time.Second)
	type want struct {
		outcome  credit.Outcome
		deals    int
		answered bool
		stays    bool
	}
	unknownDone := want{outcome: credit.OutcomeUnknown, deals: 1}
	unknownNot := want{outcome: credit.OutcomeUnknown}
	for name, c := range map[string]struct {
		rule fakemt5.Rule
		want want
	}{
		"apply then drop":     {fakemt5.Rule{Kind: fakemt5.ApplyThenDrop}, unknownDone},
		"apply then delay":    {fakemt5.Rule{Kind: fakemt5.ApplyThenDelay, Delay: second}, unknownDone},
		"hold":                {fakemt5.Rule{Kind: fakemt5.HoldThenExecute, Delay: second}, unknownNot},
		"never":               {fakemt5.Rule{Kind: fakemt5.NeverExecute}, unknownNot},
		"slow":                {fakemt5.Rule{Kind: fakemt5.SlowAnswer, Delay: second}, unknownNot},
		"drop before":         {fakemt5.Rule{Kind: fakemt5.DropBefore}, unknownNot},
		"refused":             {fakemt5.Rule{Kind: fakemt5.RefuseCode, Code: 10019}, want{outcome: credit.OutcomeRefused, stays: true}},
		"not found":           {fakemt5.Rule{Kind: fakemt5.RefuseCode, Code: 13}, want{outcome: credit.OutcomeRefused, stays: true}},
		"10012 not applied":   {fakemt5.Rule{Kind: fakemt5.RefuseCode, Code: 10012}, unknownNot},
		"10012 applied":       {fakemt5.Rule{Kind: fakemt5.CodeAfterApply, Code: 10012}, unknownDone},
		"7 applied":           {fakemt5.Rule{Kind: fakemt5.CodeAfterApply, Code: 7}, unknownDone},
		"code nobody knows":   {fakemt5.Rule{Kind: fakemt5.CodeAfterApply, Code: 77777}, unknownDone},
		"10009 without":       {fakemt5.Rule{Kind: fakemt5.CodeAfterApply, Code: 10009}, want{outcome: credit.OutcomeUnknown, deals: 1, answered: true}},
		"403 bare":            {fakemt5.Rule{Kind: fakemt5.HTTPStatus, Status: 403}, unknownNot},
		"401 bare":            {fakemt5.Rule{Kind: fakemt5.HTTPStatus, Status: 401}, unknownNot},
		"403 says no rights":  {fakemt5.Rule{Kind: fakemt5.HTTPStatus, Status: 403, Body: `{"retcode":"8 No rights"}`}, unknownNot},
		"403 applied":         {fakemt5.Rule{Kind: fakemt5.HTTPStatus, Status: 403, Execute: &yes}, want{outcome: credit.OutcomeUnknown, deals: 1, answered: true}},
		"500 says no money":   {fakemt5.Rule{Kind: fakemt5.HTTPStatus, Status: 500, Body: `{"retcode":"10019 No money"}`}, unknownNot},
		"502 page":            {fakemt5.Rule{Kind: fakemt5.HTTPStatus, Status: 502, Body: "<html>bad gateway</html>", Execute: &yes}, unknownDone},
		"404 says not found":  {fakemt5.Rule{Kind: fakemt5.HTTPStatus, Status: 404, Body: `{"retcode":"13 Not found"}`}, want{outcome: credit.OutcomeRefused, stays: true}},
		"404 bare":            {fakemt5.Rule{Kind: fakemt5.HTTPStatus, Status: 404}, unknownNot},
		"redirect":            {fakemt5.Rule{Kind: fakemt5.HTTPStatus, Status: 307, Execute: &yes}, want{outcome: credit.OutcomeUnknown, deals: 1, answered: true}},
		"garbled":             {fakemt5.Rule{Kind: fakemt5.GarbledBody}, unknownDone},
		"not JSON":            {fakemt5.Rule{Kind: fakemt5.GarbledBody, Body: "OK"}, unknownDone},
		"cut":                 {fakemt5.Rule{Kind: fakemt5.CutBody}, unknownDone},
		"empty":               {fakemt5.Rule{Kind: fakemt5.EmptyBody}, unknownDone},
		"no ticket":           {fakemt5.Rule{Kind: fakemt5.NoTicket}, want{outcome: credit.OutcomeUnknown, deals: 1, answered: true}},
		"login of another":    {fakemt5.Rule{Kind: fakemt5.WrongLogin, Other: jpyLogin}, want{outcome: credit.OutcomeUnknown, deals: 1, answered: true}},
		"answer to another":   {fakemt5.Rule{Kind: fakemt5.Desync}, want{outcome: credit.OutcomeUnknown, deals: 1, answered: true}},
		"session lost":        {fakemt5.Rule{Kind: fakemt5.SessionLost}, unknownNot},
		"session lost, done":  {fakemt5.Rule{Kind: fakemt5.SessionLost, Execute: &yes}, unknownDone},
		"wrong ticket":        {fakemt5.Rule{Kind: fakemt5.WrongTicket}, want{outcome: credit.OutcomeApplied, deals: 1, answered: true, stays: true}},
		"code 1":              {fakemt5.Rule{Kind: fakemt5.CodeAfterApply, Code: 1}, unknownDone},
		"booked on the other": {fakemt5.Rule{Kind: fakemt5.WrongLogin, Other: jpyLogin, Execute: &yes}, want{outcome: credit.OutcomeRefused, stays: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.ready()
			switch c.rule.Kind {
			case fakemt5.ApplyThenDelay, fakemt5.HoldThenExecute, fakemt5.SlowAnswer:
				r.impatientOnce(time.Duration(c.rule.Delay))
			case fakemt5.NeverExecute:
				impatient(r.session.cfg)
			default: // these answer at once, or end the connection
			}
			rule := c.rule
			rule.Where, rule.Count = "trade/balance", 1
			r.fault(rule)
			got := r.session.Balance(t.Context(), r.call())
			if got.Outcome != c.want.outcome || got.Answered != c.want.answered {
				t.Errorf("outcome %q answered %v, want %q %v (%+v)", got.Outcome, got.Answered, c.want.outcome, c.want.answered, got)
			}
			if n := len(r.executed()); n != c.want.deals {
				t.Errorf("MT5 holds %d deals, want %d", n, c.want.deals)
			}
			if stays := r.session.wire != nil; stays != c.want.stays {
				t.Errorf("the connection stays: %v, want %v", stays, c.want.stays)
			}
			if calls := r.seen.of("trade/balance"); len(calls) != 1 || calls[0].Requests != 1 || calls[0].Dials != 0 {
				t.Errorf("exchanges %+v, want one request without a dial", calls)
			}
			if text := got.Detail + got.Code; strings.Contains(text, string(reference)) || strings.Contains(text, "?") {
				t.Errorf("detail %q quotes the call", got.Detail)
			}
		})
	}
}

// What a plugin or a broken proxy makes of a call is shown as it was booked; whether it is the row's deal is
// for the caller to judge.
func TestDeal_ShowsWhatWasReallyBooked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rule    fakemt5.Rule
		amount  string
		comment string
		deals   int
	}{
		"comment": {fakemt5.Rule{Kind: fakemt5.CommentAltered, Case: "lower"}, "500.00 EUR", strings.ToLower(string(reference)), 1},
		"amount":  {fakemt5.Rule{Kind: fakemt5.AmountAltered, Delta: -1}, "499.99 EUR", string(reference), 1},
		"twice":   {fakemt5.Rule{Kind: fakemt5.DuplicateExec}, "500.00 EUR", string(reference), 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.ready()
			c.rule.Where = "trade/balance"
			r.fault(c.rule)
			got := r.session.Balance(t.Context(), r.call())
			d, err := r.session.Deal(t.Context(), got.Ticket)
			if err != nil || d.Amount.String() != c.amount || d.Comment != c.comment {
				t.Errorf("%+v, deal %+v %v", got, d, err)
			}
			if s := r.look(r.query(testLogin)); len(s.Deals) != c.deals {
				t.Errorf("deals %+v, want %d", s.Deals, c.deals)
			}
		})
	}
}

func TestBalance_SmallCurrenciesGoOutAsTheyAre(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.ready()
	amount, err := credit.Minor(-1250, "JPY", 0)
	if err != nil {
		t.Fatal(err)
	}
	c := r.call()
	c.Login, c.Amount = jpyLogin, amount
	if got := r.session.Balance(t.Context(), c); got.Outcome != credit.OutcomeApplied {
		t.Fatalf("%+v", got)
	}
	if booked := r.executed(); len(booked) != 1 || booked[0].Amount != "-1250" || booked[0].Minor != -1250 {
		t.Errorf("journal %+v", booked)
	}
}
