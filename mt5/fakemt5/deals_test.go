package fakemt5

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
)

// page asks for one page of the test login.
func (c *wireClient) page(from, to int64, offset, total int) got {
	c.t.Helper()
	return c.get("deal/get_page", "login", "500123", "from", strconv.FormatInt(from, 10), "to", strconv.FormatInt(to, 10),
		"offset", strconv.Itoa(offset), "total", strconv.Itoa(total))
}

func TestPages_HoldAtMost100OldestFirstAndEveryDealOnce(t *testing.T) {
	t.Parallel()
	s, _, ctl := startTest(t, nil)
	if _, err := ctl.SeedDeals(within(t), Seed{Login: testLogin, Count: 249, Number: 7, Over: Duration(24 * time.Hour)}); err != nil {
		t.Fatal(err)
	}
	c := login(t, s)
	seen, last := map[string]bool{}, int64(0)
	var sizes []int
	for offset := 0; offset < 250; offset += 100 {
		rows := c.page(0, 4_000_000_000, offset, 1000).rows(t)
		sizes = append(sizes, len(rows))
		for _, row := range rows {
			at, err := strconv.ParseInt(fmt.Sprint(row["TimeMsc"]), 10, 64)
			if err != nil || at < last {
				t.Fatalf("row %v after %d", row, last)
			}
			last = at
			seen[fmt.Sprint(row["Deal"])] = true
		}
	}
	if fmt.Sprint(sizes) != "[100 100 50]" || len(seen) != 250 {
		t.Errorf("pages %v, %d different deals", sizes, len(seen))
	}
	if rows := c.page(0, 4_000_000_000, 249, 1).rows(t); len(rows) != 1 {
		t.Errorf("last row: %v", rows)
	}
}

func TestWindow_IsInclusiveAtBothEndsOnTheServersClock(t *testing.T) {
	t.Parallel()
	s, _, _ := startTest(t, nil)
	c := login(t, s)
	c.deposit("1", "x")
	at := testStart.Unix() + 2*3600
	for _, tt := range []struct {
		from, to int64
		want     int
	}{{at, at, 1}, {at - 1, at - 1, 0}, {at + 1, at + 1, 0}, {at - 5, at, 1}, {at, at + 5, 1}, {testStart.Unix(), testStart.Unix() + 3600, 0}} {
		if rows := c.page(tt.from, tt.to, 0, 100).rows(t); len(rows) != tt.want {
			t.Errorf("window %d..%d (deal at %d): %d rows", tt.from, tt.to, at, len(rows))
		}
		total := c.get("deal/get_total", "login", "500123", "from", fmt.Sprint(tt.from), "to", fmt.Sprint(tt.to)).answer(t)["Total"]
		if total != strconv.Itoa(tt.want) {
			t.Errorf("window %d..%d: total %v", tt.from, tt.to, total)
		}
	}
}

func TestPage_RefusesBadParameters(t *testing.T) {
	t.Parallel()
	s, _, _ := startTest(t, nil)
	c := login(t, s)
	for _, kv := range [][]string{
		{"login", "500123", "from", "0", "to", "1", "offset", "0"},
		{"login", "500123", "from", "0", "to", "1", "offset", "0", "total", "0"},
		{"login", "500123", "from", "0", "to", "1", "offset", "-1", "total", "1"},
		{"login", "500123", "from", "x", "to", "1", "offset", "0", "total", "1"},
		{"login", "500123", "from", "0", "offset", "0", "total", "1"},
		{"login", "x", "from", "0", "to", "1", "offset", "0", "total", "1"},
	} {
		if g := c.get("deal/get_page", kv...); g.code != 3 {
			t.Errorf("%v: %s", kv, g.body)
		}
	}
}

func TestEmptyWindow_HasEveryVariant(t *testing.T) {
	t.Parallel()
	s, _, ctl := startTest(t, nil)
	c := login(t, s)
	for _, tt := range []struct{ how, page string }{
		{"array", `{"retcode":"0 Done","answer":[]}`},
		{"null", `{"retcode":"0 Done","answer":null}`},
		{"absent", `{"retcode":"0 Done"}`},
		{"1", `{"retcode":"1 OK, no result"}`},
		{"13", `{"retcode":"13 Not found"}`},
		{"404 13", `{"retcode":"13 Not found"}`},
	} {
		total, wantTotal := tt.how, tt.page
		if tt.how == "array" {
			total, wantTotal = "zero", `{"retcode":"0 Done","answer":{"Total":"0"}}`
		}
		if _, err := ctl.ChangeWire(within(t), Wire{EmptyPage: tt.how, EmptyTotal: total}); err != nil {
			t.Fatal(err)
		}
		if g := c.page(0, 1, 0, 100); g.body != tt.page || (g.status == 404) != (tt.how == "404 13") {
			t.Errorf("page %s: %d %s", tt.how, g.status, g.body)
		}
		if g := c.get("deal/get_total", "login", "500123", "from", "0", "to", "1"); g.body != wantTotal {
			t.Errorf("total %s: %s", total, g.body)
		}
	}
}

func TestUnknownLogin_HasEveryVariant(t *testing.T) {
	t.Parallel()
	s, _, ctl := startTest(t, nil)
	c := login(t, s)
	calls := map[string][]string{
		"trade/balance":      {"login", "77", "type", "2", "balance", "1"},
		"user/get":           {"login", "77"},
		"user/account/get":   {"login", "77"},
		"user/check_balance": {"login", "77", "fixflag", "0"},
		"deal/get_total":     {"login", "77", "from", "0", "to", "1"},
		"deal/get_page":      {"login", "77", "from", "0", "to", "1", "offset", "0", "total", "1"},
		"deal/get":           {"ticket", "77"},
		"group/get":          {"group", "nope"},
	}
	for _, how := range []Refusal{"13", "3", "8", "404 13"} {
		wire := Wire{UnknownBalance: how, UnknownUser: how, UnknownTotal: how, UnknownPage: how, UnknownTicket: how, UnknownGroup: how}
		if _, err := ctl.ChangeWire(within(t), wire); err != nil {
			t.Fatal(err)
		}
		want := how.reply()
		for path, kv := range calls {
			if g := c.get(path, kv...); g.code != want.code || g.status != want.status {
				t.Errorf("%s %s: %d %s", how, path, g.status, g.body)
			}
		}
	}
	if _, err := ctl.ChangeWire(within(t), Wire{UnknownTotal: "empty", UnknownPage: "empty", ErrorAnswer: "null"}); err != nil {
		t.Fatal(err)
	}
	if g := c.get("deal/get_page", calls["deal/get_page"]...); g.body != `{"retcode":"0 Done","answer":[]}` {
		t.Errorf("empty: %s", g.body)
	}
	if g := c.get("deal/get_total", calls["deal/get_total"]...); g.body != `{"retcode":"0 Done","answer":{"Total":"0"}}` {
		t.Errorf("empty: %s", g.body)
	}
	if g := c.get("deal/get", "ticket", "77"); g.body != `{"retcode":"13 Not found","answer":null}` {
		t.Errorf("null answer: %s", g.body)
	}
}

func TestLongPage_CanBeRefused(t *testing.T) {
	t.Parallel()
	s, _, _ := startTest(t, func(c *Config) { c.World.Wire.LongPage = "3" })
	c := login(t, s)
	if g := c.page(0, 4_000_000_000, 0, 101); g.code != 3 {
		t.Errorf("101 rows: %s", g.body)
	}
	if g := c.page(0, 4_000_000_000, 0, 100); g.code != 0 {
		t.Errorf("100 rows: %s", g.body)
	}
}

func TestVisibilityDelay_HidesANewDealFromEveryLookup(t *testing.T) {
	t.Parallel()
	s, clock, _ := startTest(t, func(c *Config) { c.VisibleAfter = 30 * time.Second })
	c := login(t, s)
	ticket := c.deposit("1", "x").ticket(t)
	check := func(visible bool) {
		t.Helper()
		want := 1
		if visible {
			want = 2
		}
		if g := c.get("deal/get", "ticket", ticket); (g.code == 0) != visible {
			t.Errorf("get: %s", g.body)
		}
		if rows := c.history("500123").rows(t); len(rows) != want {
			t.Errorf("page: %v", rows)
		}
		if rows := c.get("deal/get_batch", "ticket", ticket).rows(t); (len(rows) == 1) != visible {
			t.Errorf("batch: %v", rows)
		}
		if total := c.get("deal/get_total", "login", "500123", "from", "0", "to", "4000000000").answer(t)["Total"]; total != strconv.Itoa(want) {
			t.Errorf("total: %v", total)
		}
	}
	clock.Advance(29999 * time.Millisecond)
	check(false)
	clock.Advance(time.Millisecond)
	check(true)
	if c.get("user/get", "login", "500123").answer(t)["Balance"] != "101.00" {
		t.Error("the balance moved late")
	}
}

func TestBatch_SelectsByLoginGroupTicketAndSymbol(t *testing.T) {
	t.Parallel()
	s, _, ctl := startTest(t, nil)
	if _, err := ctl.SeedDeals(within(t), Seed{Login: testLogin, Count: 150, Number: 1, Over: Duration(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	c := login(t, s)
	tickets := func(kv ...string) int { return len(c.get("deal/get_batch", kv...).rows(t)) }
	all := []string{"from", "0", "to", "4000000000"}
	if n := tickets(append(all, "login", "500123,500124,77")...); n != 152 {
		t.Errorf("two logins: %d", n)
	}
	if n := tickets(append(all, "group", `real\*,!*eur`)...); n != 1 {
		t.Errorf("masks: %d", n)
	}
	gold := tickets(append(all, "login", "500123", "symbol", "XAU*")...)
	rest := tickets(append(all, "login", "500123", "symbol", "*,!XAU*")...)
	if gold == 0 || gold+rest != 151 {
		t.Errorf("symbols: %d and %d", gold, rest)
	}
	first := strconv.FormatUint(s.Journal()[0].Ticket, 10)
	if n := tickets("ticket", first+",99"); n != 1 {
		t.Errorf("tickets: %d", n)
	}
	for _, kv := range [][]string{{}, {"login", "1", "ticket", "2"}, {"login", "500123"}, {"ticket", "x"}, append(all, "login", "x")} {
		if g := c.get("deal/get_batch", kv...); g.code != 3 {
			t.Errorf("%v: %s", kv, g.body)
		}
	}
}

func TestSeededDeals_AreTheSameForTheSameNumberAndAddUp(t *testing.T) {
	t.Parallel()
	history := func(number uint64) (string, *wireClient) {
		s, _, _ := startTest(t, func(c *Config) { c.World.Accounts[0].SeedDeals, c.World.Accounts[0].SeedNumber = 40, number })
		c := login(t, s)
		return c.history("500123").body, c
	}
	a, c := history(3)
	b, _ := history(3)
	other, _ := history(4)
	if a != b || a == other {
		t.Error("the number does not decide the deals")
	}
	sums := c.get("user/check_balance", "login", "500123", "fixflag", "0").pair(t, "Balance")
	if user, history, _ := strings.Cut(sums, " "); user != history || user == "100.000000" {
		t.Errorf("check_balance: %s", sums)
	}
}
