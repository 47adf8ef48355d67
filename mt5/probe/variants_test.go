package probe_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"creditonce/mt5"
	"creditonce/mt5/fakemt5"
	"creditonce/mt5/probe"
)

// expected is one answer that a variant of the server must give.
type expected struct {
	id      string
	verdict probe.Verdict
	words   string
}

func wire(change func(*fakemt5.Wire)) []func(*fakemt5.Config, *mt5.Config) {
	return []func(*fakemt5.Config, *mt5.Config){onWire(change)}
}

// Each way in which the fake server can answer an unsettled question is reported as what it is.
var variants = map[string]struct {
	change []func(*fakemt5.Config, *mt5.Config)
	want   []expected
}{
	"lower keys":      {wire(func(w *fakemt5.Wire) { w.KeyCase = fakemt5.KeysLower }), []expected{{"wire.form", probe.AsAssumed, "small letter"}, {"deal.dealer", probe.AsAssumed, "1007"}}},
	"camel keys":      {wire(func(w *fakemt5.Wire) { w.KeyCase = fakemt5.KeysCamel }), []expected{{"wire.form", probe.AsAssumed, "small letter"}, {"deal.amount", probe.AsAssumed, "Profit"}}},
	"numbers":         {wire(func(w *fakemt5.Wire) { w.Scalars = "numbers" }), []expected{{"wire.form", probe.AsAssumed, "numbers as numbers"}, {"deal.action", probe.AsAssumed, "2"}}},
	"bare backslash":  {wire(func(w *fakemt5.Wire) { w.BareBackslash = true }), []expected{{"wire.form", probe.AsAssumed, "bare backslashes"}, {"comment.escapes", probe.Learned, "kept"}}},
	"null on errors":  {wire(func(w *fakemt5.Wire) { w.ErrorAnswer = "null" }), []expected{{"unknown.user", probe.AsAssumed, "answer null"}}},
	"empty: null":     {wire(func(w *fakemt5.Wire) { w.EmptyPage, w.EmptyTotal = "null", "null" }), []expected{{"empty.page", probe.AsAssumed, "answer null"}, {"empty.total", probe.AsAssumed, "answer null"}}},
	"empty: absent":   {wire(func(w *fakemt5.Wire) { w.EmptyPage, w.EmptyTotal = "absent", "absent" }), []expected{{"empty.page", probe.AsAssumed, "answer absent"}, {"empty.total", probe.AsAssumed, "answer absent"}}},
	"empty: 1, 13":    {wire(func(w *fakemt5.Wire) { w.EmptyPage, w.EmptyTotal = "1", "404 13" }), []expected{{"empty.page", probe.AsAssumed, "code 1 "}, {"empty.total", probe.AsAssumed, "HTTP 404, code 13"}, {"wire.status", probe.AsAssumed, "13 with HTTP 404"}}},
	"empty: 2":        {wire(func(w *fakemt5.Wire) { w.EmptyPage, w.EmptyTotal = "2", "503 -" }), []expected{{"empty.page", probe.Differs, "code 2"}, {"empty.total", probe.Differs, "HTTP 503"}}},
	"long page: all":  {wire(func(w *fakemt5.Wire) { w.LongPage = "all" }), []expected{{"page.above", probe.Learned, "101 rows"}}},
	"long page: 3":    {wire(func(w *fakemt5.Wire) { w.LongPage = "3" }), []expected{{"page.above", probe.Learned, "code 3"}}},
	"zero page: none": {wire(func(w *fakemt5.Wire) { w.ZeroPage = "empty" }), []expected{{"page.zero", probe.Learned, "0 rows"}}},
	"zero page: all":  {wire(func(w *fakemt5.Wire) { w.ZeroPage = "all" }), []expected{{"page.zero", probe.Learned, "100 rows"}}},
	"newest first":    {wire(func(w *fakemt5.Wire) { w.PageOrder = "newest" }), []expected{{"page.order", probe.Differs, "newest first"}, {"deal.visible", probe.AsAssumed, "get_page 0s"}}},
	"end exclusive":   {wire(func(w *fakemt5.Wire) { w.WindowEnd = "exclusive" }), []expected{{"window.to", probe.Learned, "exclusive"}, {"window.from", probe.Learned, "inclusive"}}},
	"unknown with statuses": {wire(func(w *fakemt5.Wire) {
		w.UnknownUser, w.UnknownTotal, w.UnknownPage, w.UnknownTicket, w.UnknownGroup, w.UnknownBalance = "404 13", "empty", "empty", "404 13", "400 3", "404 13"
	}), []expected{{"unknown.user", probe.AsAssumed, "HTTP 404"}, {"unknown.total", probe.Learned, "answer object"}, {"unknown.page", probe.Learned, "empty list"},
		{"unknown.ticket", probe.AsAssumed, "HTTP 404"}, {"unknown.group", probe.Learned, "HTTP 400, code 3"}, {"unknown.balance", probe.AsAssumed, "HTTP 404, code 13"}}},
	"unknown user 3":      {wire(func(w *fakemt5.Wire) { w.UnknownUser = "3" }), []expected{{"unknown.user", probe.Handled, "code 3"}, {"unknown.balance", probe.NotAsked, "code 13"}}},
	"unknown balance odd": {wire(func(w *fakemt5.Wire) { w.UnknownBalance = "403 -" }), []expected{{"unknown.balance", probe.Handled, "HTTP 403"}, {"session.dead", probe.AsAssumed, "HTTP 403"}}},
	"statuses by code":    {wire(func(w *fakemt5.Wire) { w.CodeStatus = map[int]int{13: 404, 3: 400} }), []expected{{"wire.status", probe.AsAssumed, "3 with HTTP 400"}}},
	"odd status by code":  {wire(func(w *fakemt5.Wire) { w.CodeStatus = map[int]int{13: 422} }), []expected{{"wire.status", probe.Handled, "13 with HTTP 422"}}},
	"dead session 401":    {wire(func(w *fakemt5.Wire) { w.DeadSession = "401 -" }), []expected{{"session.none", probe.AsAssumed, "HTTP 401"}, {"session.dead", probe.AsAssumed, "HTTP 401"}}},
	"dead session closes": {wire(func(w *fakemt5.Wire) { w.DeadSession = "close" }), []expected{{"session.none", probe.AsAssumed, "closed"}, {"session.dead", probe.AsAssumed, "closed"}}},
	"dead session 8":      {wire(func(w *fakemt5.Wire) { w.DeadSession = "8" }), []expected{{"session.none", probe.Differs, "HTTP 200, code 8"}, {"session.dead", probe.Differs, "code 8"}}},
	"by cookie":           {wire(func(w *fakemt5.Wire) { w.Session = "cookie" }), []expected{{"session.binding", probe.AsAssumed, "cookie alone"}, {"session.none", probe.AsAssumed, "HTTP 403"}}},
	"by either":           {wire(func(w *fakemt5.Wire) { w.Session = "either"; w.CookieName = "SID" }), []expected{{"session.binding", probe.AsAssumed, "either the connection or the cookie; cookie SID"}}},
	"by both":             {wire(func(w *fakemt5.Wire) { w.Session = "both" }), []expected{{"session.binding", probe.AsAssumed, "connection and cookie together"}}},
	"one session":         {wire(func(w *fakemt5.Wire) { w.MaxSessions = 1 }), []expected{{"session.count", probe.Differs, "1 at once; one more is refused"}}},
	"three sessions":      {wire(func(w *fakemt5.Wire) { w.MaxSessions, w.SessionOverflow = 3, "oldest" }), []expected{{"session.count", probe.AsAssumed, "3 at once; one more ends session 1"}}},
	"idle account null":   {wire(func(w *fakemt5.Wire) { w.IdleAccount = "null" }), []expected{{"account.state", probe.Learned, "answer null"}}},
	"idle account 13":     {wire(func(w *fakemt5.Wire) { w.IdleAccount = "13" }), []expected{{"account.state", probe.Learned, "code 13"}}},
	"zero booked":         {wire(func(w *fakemt5.Wire) { w.ZeroAmount = "book" }), []expected{{"amount.zero", probe.Learned, "booked as 0.00"}, {"account.restored", probe.AsAssumed, "yes"}}},
	"decimals rounded":    {wire(func(w *fakemt5.Wire) { w.ExtraDecimals = "round" }), []expected{{"amount.decimals", probe.Learned, "booked as 0.02"}, {"account.restored", probe.AsAssumed, "yes"}}},
	"decimals cut":        {wire(func(w *fakemt5.Wire) { w.ExtraDecimals = "cut" }), []expected{{"amount.decimals", probe.Learned, "booked as 0.01"}, {"account.restored", probe.AsAssumed, "yes"}}},
	"exponent accepted":   {wire(func(w *fakemt5.Wire) { w.ExponentAmount = "accept" }), []expected{{"amount.exponent", probe.Learned, "booked as 0.01"}}},
	"overdraft":           {wire(func(w *fakemt5.Wire) { w.NegativeBalance = true }), []expected{{"amount.overdraw", probe.Differs, "booked as -"}, {"account.restored", probe.AsAssumed, "yes"}}},
	"flood control":       {wire(func(w *fakemt5.Wire) { w.MaxPerSecond = 60 }), []expected{{"account.restored", probe.AsAssumed, "yes"}, {"rights.read", probe.AsAssumed, "answered"}}},
	"dealer 0":            {wire(func(w *fakemt5.Wire) { w.BalanceDealer = "zero" }), []expected{{"deal.dealer", probe.Handled, "0"}}},
	"reason 17":           {wire(func(w *fakemt5.Wire) { w.BalanceReason = 17 }), []expected{{"deal.reason", probe.Learned, "17"}}},
	"cut zone": {[]func(*fakemt5.Config, *mt5.Config){func(f *fakemt5.Config, _ *mt5.Config) {
		f.World.Zone = fakemt5.Zone{OffsetMinutes: -210, DST: fakemt5.DSTOff}
	}}, []expected{{"clock.offset", probe.AsAssumed, "-3h30m0s"}, {"clock.zone", probe.Learned, "standard time is in force; the clock is 0s"}}},
	"half an hour of summer": {[]func(*fakemt5.Config, *mt5.Config){func(f *fakemt5.Config, _ *mt5.Config) {
		f.World.Zone = fakemt5.Zone{OffsetMinutes: 120, DST: fakemt5.DSTOn, DSTMinutes: 30}
	}}, []expected{{"clock.zone", probe.Learned, "+30m0s from the zone"}}},
	"no right to book": {[]func(*fakemt5.Config, *mt5.Config){func(f *fakemt5.Config, _ *mt5.Config) {
		f.World.Managers[0].NoBalance = true
	}}, []expected{{"rights.balance", probe.Differs, "code 8"}, {"comment.reference", probe.NotAsked, "ended before"}, {"account.restored", probe.AsAssumed, "yes"}}},
	"deals late": {[]func(*fakemt5.Config, *mt5.Config){func(f *fakemt5.Config, _ *mt5.Config) {
		f.VisibleAfter = 700 * time.Millisecond
	}}, []expected{{"deal.visible", probe.AsAssumed, "get_page"}, {"comment.40", probe.Learned, "cut after 31"}}},
	"currency not configured": {[]func(*fakemt5.Config, *mt5.Config){func(f *fakemt5.Config, _ *mt5.Config) {
		f.World.Groups[0].Digits = 3
	}}, []expected{{"group.currency", probe.Differs, "3 digits"}, {"amount.decimals", probe.Learned, "0.0016 sent"}}},
}

func TestEveryVariant_IsReportedAsWhatItIs(t *testing.T) {
	t.Parallel()
	for name, test := range variants {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, test.change...)
			if !slices.ContainsFunc(test.want, func(e expected) bool { return strings.HasPrefix(e.id, "comment.") }) {
				r.o.Operations = 2
			}
			report := r.run()
			r.asBefore()
			for _, e := range test.want {
				want(t, report, e.id, e.verdict, e.words)
			}
			if len(report.Attention) > 0 {
				t.Errorf("attention: %v", report.Attention)
			}
		})
	}
}

func TestLateDeals_AreMeasuredAndComparedWithTheQuarantine(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(f *fakemt5.Config, _ *mt5.Config) { f.VisibleAfter = 40 * time.Second })
	r.o.Operations, r.o.Quarantine = 2, time.Minute
	report := r.run()
	want(t, report, "deal.visible", probe.Differs, "get_page 4")
	most := *report.Facts.VisibleMost
	if most < 40*time.Second || most > 42*time.Second || report.Facts.Samples != 4 {
		t.Errorf("measured %s by %d", most, report.Facts.Samples)
	}
	if h := report.Histogram("get"); h[len(h)-2] != 4 {
		t.Errorf("histogram %v", h)
	}
}

func TestSmallPages_AreMeasuredForTheClient(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.fault(fakemt5.Rule{Kind: fakemt5.PageCut, Where: "deal/get_page", Rows: 50})
	r.o.Operate = false
	report := r.run()
	if report.Facts.PageLimit == nil {
		t.Fatalf("no limit: %+v", report.Findings)
	}
	want(t, report, "page.limit", probe.Handled, "rows where 100 were asked for")
}

func (r *rig) fault(rule fakemt5.Rule) {
	r.t.Helper()
	if _, err := r.control.Fault(r.t.Context(), rule); err != nil {
		r.t.Fatal(err)
	}
}

func TestIdleLogin_SaysWhatItCannotShow(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.o.Login, r.o.Operate = idleLogin, false
	report := r.run()
	for _, id := range []string{"page.order", "page.limit", "window.to"} {
		want(t, report, id, probe.NoAnswer, "")
	}
}

func TestReversalThatFails_IsShoutedWithWhatToDo(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.fault(fakemt5.Rule{Kind: fakemt5.RefuseCode, Where: "trade/balance", Code: 10019, Skip: 1, Count: 1})
	report := r.run()
	all := strings.Join(report.Attention, "\n")
	for _, words := range []string{"login 700001 still has 0.01 EUR", "10019", "Take it back by hand", "-0.01", "is not as it was"} {
		if !strings.Contains(all, words) {
			t.Errorf("%q is missing in %s", words, all)
		}
	}
	if n := len(report.Operations); n != 2 {
		t.Errorf("it went on after that: %d operations", n)
	}
	want(t, report, "account.restored", probe.Differs, "after")
	if !strings.Contains(report.Markdown(), "## Attention") {
		t.Error("the report hides it")
	}
}

func TestReplyLostAfterApplying_IsFoundByLookingAndTakenBack(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.fault(fakemt5.Rule{Kind: fakemt5.ApplyThenDrop, Where: "trade/balance", Count: 1})
	report := r.run()
	r.asBefore()
	if !strings.Contains(report.Operations[0].Reply, "found by looking") || len(report.Attention) > 0 {
		t.Errorf("%+v %v", report.Operations[0], report.Attention)
	}
}

func TestOutcomeThatStaysUnknown_IsShoutedAndNotRepeated(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.fault(fakemt5.Rule{Kind: fakemt5.NeverExecute, Where: "trade/balance", Count: 1})
	report := r.run()
	if len(report.Operations) != 1 || len(report.Attention) != 1 || !strings.Contains(report.Attention[0], "it is not known whether 0.01 EUR") ||
		!strings.Contains(report.Attention[0], report.Operations[0].Comment) {
		t.Errorf("%+v %v", report.Operations, report.Attention)
	}
}

func TestChangedCommentAndAmount_AreDifferences(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.fault(fakemt5.Rule{Kind: fakemt5.CommentAltered, Where: "trade/balance", Case: "lower"})
	want(t, r.run(), "comment.reference", probe.Differs, "became")
	r = newRig(t)
	r.fault(fakemt5.Rule{Kind: fakemt5.AmountAltered, Where: "trade/balance", Delta: 5, Count: 1})
	report := r.run()
	want(t, report, "deal.amount", probe.Differs, "0.01 was sent")
	want(t, report, "account.restored", probe.AsAssumed, "yes")
}

func TestSessionThatIsLostMidway_CostsNoAnswer(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, where := range []string{"deal/get_page", "user/check_balance", "group/get"} {
		r.fault(fakemt5.Rule{Kind: fakemt5.SessionLost, Where: where, Count: 1})
	}
	report := r.run()
	if d := report.Differences(); len(d) > 0 || len(report.Attention) > 0 {
		t.Errorf("%v %v", d, report.Attention)
	}
}

func TestSessionLostAtAnOperation_IsUnknownAndSettledByLooking(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	yes := true
	r.fault(fakemt5.Rule{Kind: fakemt5.SessionLost, Where: "trade/balance", Count: 1, Execute: &yes})
	report := r.run()
	r.asBefore()
	if len(report.Attention) > 0 || report.Operations[0].Ticket == 0 {
		t.Errorf("%+v %v", report.Operations[0], report.Attention)
	}
}

func TestStopInTheMiddleOfAnOperation_TakesItBackFirst(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ctx, stop := context.WithCancel(t.Context())
	r.o.Say = func(s string) {
		if strings.HasPrefix(s, "book 0.01") {
			stop()
		}
	}
	report, err := probe.Run(ctx, r.o)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	r.asBefore()
	if n := len(report.Operations); n != 2 || report.Operations[1].Purpose != "reversal" || len(report.Attention) > 0 {
		t.Errorf("%d operations, attention %v", n, report.Attention)
	}
	want(t, report, "session.dead", probe.NotAsked, "ended before")
}
