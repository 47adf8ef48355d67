package fakemt5

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

// unsettled starts a server whose wire is changed over the control port, and a session.
func unsettled(t *testing.T, patch map[string]any) (*Server, *ManualClock, *Control, *wireClient) {
	t.Helper()
	s, clock, ctl := startTest(t, nil)
	if patch != nil {
		if _, err := ctl.PatchWire(within(t), patch); err != nil {
			t.Fatal(err)
		}
	}
	return s, clock, ctl, login(t, s)
}

func TestAmountsThatNoSourceSettles_AreReadAsTheWireSays(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		patch  map[string]any
		amount string
		code   int
		status int
		booked int64
	}{
		{"zero is refused as set", map[string]any{"zero_amount": "404 13"}, "0.00", 13, 404, 0},
		{"zero is booked", map[string]any{"zero_amount": "book"}, "0", 0, 200, 0},
		{"a third decimal is refused as set", map[string]any{"extra_decimals": "4"}, "1.005", 4, 200, 0},
		{"a third decimal is rounded", map[string]any{"extra_decimals": "round"}, "1.005", 0, 200, 101},
		{"a third decimal is rounded below zero too", map[string]any{"extra_decimals": "round"}, "-1.005", 0, 200, -101},
		{"a third decimal is cut", map[string]any{"extra_decimals": "cut"}, "1.009", 0, 200, 100},
		{"what is cut to nothing is zero", map[string]any{"extra_decimals": "cut"}, "0.009", 3, 200, 0},
		{"an exponent is refused as set", map[string]any{"exponent_amount": "400 3"}, "1e1", 3, 400, 0},
		{"an exponent is read", map[string]any{"exponent_amount": "accept"}, "1.5e1", 0, 200, 1500},
		{"a negative exponent is read", map[string]any{"exponent_amount": "accept"}, "1250E-2", 0, 200, 1250},
		{"an exponent with too many places is no amount", map[string]any{"exponent_amount": "accept"}, "1e-3", 3, 200, 0},
		{"a huge exponent is above the maximum", map[string]any{"exponent_amount": "accept"}, "1e99", 4005, 200, 0},
		{"NaN is no amount anywhere", map[string]any{"exponent_amount": "accept", "extra_decimals": "round", "zero_amount": "book"}, "NaN", 3, 200, 0},
	} {
		s, _, _, c := unsettled(t, tt.patch)
		g := c.deposit(tt.amount, "x")
		if g.code != tt.code || g.status != tt.status {
			t.Errorf("%s: HTTP %d %s, want %d with %d", tt.name, g.status, g.body, tt.code, tt.status)
		}
		rows := booked(s)
		if (tt.code == 0) != (len(rows) == 1) || (len(rows) == 1 && rows[0].Minor != tt.booked) {
			t.Errorf("%s: booked %+v, want %d", tt.name, rows, tt.booked)
		}
	}
}

func TestYenWithDecimals_AreRoundedAndCutToWholeYen(t *testing.T) {
	t.Parallel()
	for how, want := range map[string]int64{"round": 3, "cut": 2} {
		s, _, _, c := unsettled(t, map[string]any{"extra_decimals": how})
		if g := c.get("trade/balance", "login", "500124", "type", "2", "balance", "2.5", "comment", "x"); g.code != 0 {
			t.Fatalf("%s: %s", how, g.body)
		}
		if rows := booked(s); rows[0].Minor != want {
			t.Errorf("%s: %d, want %d", how, rows[0].Minor, want)
		}
	}
}

func TestDisabledAccount_TakesOrRefusesDepositsAsTheWireSays(t *testing.T) {
	t.Parallel()
	_, _, ctl, c := unsettled(t, nil)
	for name, rights := range map[string]uint64{"disabled": 0x2, "read-only": 0x363} {
		if _, err := ctl.ChangeAccount(within(t), AccountChange{Login: testLogin, Rights: &rights}); err != nil {
			t.Fatal(err)
		}
		for patch, want := range map[string]int{"accept": 0, "403 8": 8} {
			if _, err := ctl.PatchWire(within(t), map[string]any{"disabled_balance": patch}); err != nil {
				t.Fatal(err)
			}
			if g := c.deposit("1", "x"); g.code != want {
				t.Errorf("%s, %s: %s", name, patch, g.body)
			}
		}
	}
}

func TestNegativeBalance_IsReachedOnlyWhenTheWireSaysSo(t *testing.T) {
	t.Parallel()
	_, _, ctl, c := unsettled(t, map[string]any{"negative_balance": true})
	if g := c.deposit("-150", "x"); g.code != 0 {
		t.Fatal(g.body)
	}
	if _, err := ctl.PatchWire(within(t), map[string]any{"negative_balance": false}); err != nil {
		t.Fatal(err)
	}
	if g := c.deposit("-1", "x"); g.code != 10019 {
		t.Error(g.body)
	}
	if g := c.get("user/get", "login", "500123"); g.answer(t)["Balance"] != "-50.00" {
		t.Error(g.body)
	}
}

func TestBalanceDeals_ShowDealerReasonAndKeyAsTheWireSays(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		patch                   map[string]any
		dealer, reason, present string
	}{
		{nil, "1007", "2", "ModifyFlags"},
		{map[string]any{"balance_dealer": "zero", "balance_reason": 16, "modify_key": "ModificationFlags"}, "0", "16", "ModificationFlags"},
		{map[string]any{"balance_reason": -1}, "1007", "0", "ModifyFlags"},
	} {
		_, _, _, c := unsettled(t, tt.patch)
		deal := c.get("deal/get", "ticket", c.deposit("1", "x").ticket(t)).answer(t)
		if deal["Dealer"] != tt.dealer || deal["Reason"] != tt.reason || deal[tt.present] != "0" {
			t.Errorf("%v: dealer %v, reason %v, %s %v", tt.patch, deal["Dealer"], deal["Reason"], tt.present, deal[tt.present])
		}
	}
}

func TestPages_FollowTheOrderSizeAndWindowOfTheWire(t *testing.T) {
	t.Parallel()
	_, clock, ctl, c := unsettled(t, nil)
	var tickets []string
	for range 3 {
		clock.Advance(10 * time.Second)
		tickets = append(tickets, c.deposit("1", "x").ticket(t))
	}
	last := strconv.FormatInt(testStart.Unix()+30+2*3600, 10)
	if _, err := ctl.SeedDeals(within(t), Seed{Login: testLogin, Count: 150, Over: Duration(24 * time.Hour)}); err != nil {
		t.Fatal(err)
	}
	page := func(patch map[string]any, offset, total, to string) got {
		if _, err := ctl.PatchWire(within(t), patch); err != nil {
			t.Fatal(err)
		}
		return c.get("deal/get_page", "login", "500123", "from", "0", "to", to, "offset", offset, "total", total)
	}
	if g := page(map[string]any{"page_order": "newest"}, "0", "2", last); g.rows(t)[0]["Deal"] != tickets[2] {
		t.Errorf("newest first: %s", g.body)
	}
	if g := page(map[string]any{"page_order": "newest"}, "153", "5", last); len(g.rows(t)) != 1 {
		t.Errorf("the last page has %d rows", len(g.rows(t)))
	}
	if g := page(map[string]any{"page_order": "newest"}, "999", "5", last); g.body == "" || len(g.rows(t)) != 0 {
		t.Errorf("behind the end: %s", g.body)
	}
	if g := page(map[string]any{"page_order": "newest", "window_end": "exclusive"}, "0", "1", last); g.rows(t)[0]["Deal"] == tickets[2] {
		t.Error("a deal at an exclusive end is in the window")
	}
	oldest := map[string]any{"page_order": "oldest", "window_end": "inclusive"}
	if g := page(oldest, "0", "0", last); g.code != 3 {
		t.Errorf("a page of 0 rows: %s", g.body)
	}
	if g := page(map[string]any{"zero_page": "empty"}, "0", "0", last); g.code != 0 || len(g.rows(t)) != 0 {
		t.Errorf("zero_page empty: %s", g.body)
	}
	if g := page(map[string]any{"zero_page": "all"}, "0", "0", last); len(g.rows(t)) != 100 {
		t.Errorf("zero_page all: %d rows", len(g.rows(t)))
	}
	if g := page(map[string]any{"long_page": "all"}, "0", "1000", last); len(g.rows(t)) != 154 {
		t.Errorf("long_page all: %d rows", len(g.rows(t)))
	}
}

func TestCodeStatus_PairsRetcodesWithStatusesWhereNoneIsNamed(t *testing.T) {
	t.Parallel()
	_, _, ctl, c := unsettled(t, map[string]any{"code_status": map[string]int{"13": 404, "10019": 400}})
	if g := c.get("user/get", "login", "77"); g.code != 13 || g.status != http.StatusNotFound {
		t.Errorf("unknown login: %d %s", g.status, g.body)
	}
	if g := c.deposit("-1000", "x"); g.code != 10019 || g.status != http.StatusBadRequest {
		t.Errorf("no money: %d %s", g.status, g.body)
	}
	if g := c.deposit("1", "x"); g.status != http.StatusOK {
		t.Errorf("a success: %d", g.status)
	}
	if _, err := ctl.PatchWire(within(t), map[string]any{"unknown_user": "410 13"}); err != nil {
		t.Fatal(err)
	}
	if g := c.get("user/get", "login", "77"); g.status != http.StatusGone {
		t.Errorf("a refusal that names its status: %d", g.status)
	}
}

func TestMaxSessions_RefusesTheNextOrEndsTheOldest(t *testing.T) {
	t.Parallel()
	s, _, ctl, first := unsettled(t, map[string]any{"max_sessions": 1, "session_overflow": "403 8"})
	if g := dial(t, s).auth(testManager, testPassword); g.code != 8 || g.status != http.StatusForbidden {
		t.Errorf("second session: %d %s", g.status, g.body)
	}
	if g := first.get("test/access"); g.code != 0 {
		t.Errorf("the first session: %d", g.status)
	}
	if _, err := ctl.PatchWire(within(t), map[string]any{"session_overflow": "oldest"}); err != nil {
		t.Fatal(err)
	}
	second := login(t, s)
	if g := first.get("test/access"); g.status != http.StatusForbidden {
		t.Errorf("the oldest session goes on: %d %s", g.status, g.body)
	}
	if g := second.get("test/access"); g.code != 0 {
		t.Errorf("the new session: %s", g.body)
	}
}

func TestMaxPerSecond_ResetsTheConnectionThatFloods(t *testing.T) {
	t.Parallel()
	_, clock, _, limited := unsettled(t, map[string]any{"max_per_second": 3})
	if g := limited.get("test/access"); g.code != 0 { // the third, after the two of the login
		t.Fatal(g.body)
	}
	clock.Advance(time.Second)
	for range 3 {
		if g := limited.get("test/access"); g.code != 0 {
			t.Fatal(g.body)
		}
	}
	if g, err := limited.try("test/access"); err == nil {
		t.Errorf("a fourth request within the second: %s", g.body)
	}
}

func TestDuplicateReply_LeavesAnAnswerThatNobodyAskedFor(t *testing.T) {
	t.Parallel()
	s, _, _, c := faulty(t, Rule{Where: "trade/balance", Kind: DuplicateReply, Count: 1})
	ticket := c.deposit("5", "x").ticket(t)
	if len(booked(s)) != 1 {
		t.Fatalf("booked %d times", len(booked(s)))
	}
	stale := c.get("user/get", "login", "500123")
	if !strings.Contains(stale.body, ticket) {
		t.Errorf("the next answer is not the repeated one: %s", stale.body)
	}
	if g := c.get("test/access"); !strings.Contains(g.body, "500123") {
		t.Errorf("the connection does not stay one answer behind: %s", g.body)
	}
}

func TestSummerTimeOfHalfAnHour_MovesTheServersClockByIt(t *testing.T) {
	t.Parallel()
	zone := Zone{OffsetMinutes: 630, DST: DSTOn, DSTMinutes: 30}
	if got := zone.offset(testStart); got != 11*time.Hour {
		t.Errorf("offset %s", got)
	}
	w := &wallClock{clock: NewManualClock(testStart), zone: zone}
	if back := w.utcOfServerMsc(w.serverMsc(testStart)); !back.Equal(testStart) {
		t.Errorf("%s comes back as %s", testStart, back)
	}
	if (Zone{DSTMinutes: 121}).validate() == nil {
		t.Error("121 minutes pass")
	}
}

func TestUnsettled_RefusesNonsense(t *testing.T) {
	t.Parallel()
	_, _, ctl, _ := unsettled(t, nil)
	for _, patch := range []map[string]any{
		{"zero_amount": "perhaps"}, {"page_order": "8"}, {"window_end": "open"}, {"balance_reason": -2}, {"max_sessions": -1},
		{"code_status": map[string]int{"13": 99}}, {"modify_key": "Flags"}, {"session_overflow": "newest"},
	} {
		if _, err := ctl.PatchWire(within(t), patch); err == nil {
			t.Errorf("%v passes", patch)
		}
	}
}
