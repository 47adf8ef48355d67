package fakemt5

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
)

func TestBalance_RefusesByDocumentedCodesAndBooksNothing(t *testing.T) {
	t.Parallel()
	s, _, ctl := startTest(t, nil)
	if _, err := ctl.SetMargin(within(t), testLogin, 40_00); err != nil {
		t.Fatal(err)
	}
	c := login(t, s)
	for _, tt := range []struct {
		name                         string
		login, kind, amount, margins string
		want                         int
	}{
		{"type 1", "500123", "1", "5", "", 3},
		{"type 7", "500123", "7", "5", "", 3},
		{"no type", "500123", "", "5", "", 3},
		{"no login", "", "2", "5", "", 3},
		{"zero", "500123", "2", "0.00", "", 3},
		{"exponent", "500123", "2", "1e3", "", 3},
		{"not a number", "500123", "2", "NaN", "", 3},
		{"empty", "500123", "2", "", "", 3},
		{"third decimal", "500123", "2", "1.001", "", 3},
		{"decimals in yen", "500124", "2", "1.0", "", 3},
		{"above the maximum", "500123", "2", "1000000000.01", "", 4005},
		{"far above the maximum", "500123", "2", strings.Repeat("9", 40), "", 4005},
		{"far below", "500123", "2", "-1000000001", "", 4005},
		{"unknown login", "77", "2", "5", "", 13},
		{"above free margin", "500123", "2", "-60.01", "", 10019},
		{"above free margin, asked to check", "500123", "2", "-60.01", "1", 10019},
		{"above balance, unchecked", "500123", "2", "-100.01", "0", 10019},
		{"credit never given", "500123", "3", "-0.01", "0", 10019},
		{"correction above balance", "500123", "5", "-100.01", "1", 10019},
	} {
		kv := []string{"login", tt.login, "type", tt.kind, "balance", tt.amount, "comment", "x"}
		if tt.margins != "" {
			kv = append(kv, "check_margin", tt.margins)
		}
		g := c.get("trade/balance", kv...)
		if g.code != tt.want {
			t.Errorf("%s: %s, want %d", tt.name, g.body, tt.want)
		}
		if _, present := g.fields["answer"]; present {
			t.Errorf("%s: answer on an error: %s", tt.name, g.body)
		}
	}
	if n := apiDeals(s); n != 0 {
		t.Errorf("%d refused operations are in the journal", n)
	}
}

func TestBalance_AllowsWhatTheRulesAllow(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, kind, amount, margin string
		balance, credit            int64
	}{
		{"whole free margin", "2", "-60", "1", 40_00, 0},
		{"below free margin, unchecked", "2", "-90", "0", 10_00, 0},
		{"correction below free margin", "5", "-90.00", "1", 10_00, 0},
		{"the maximum", "2", "1000000000", "1", 1_000_000_100_00, 0},
		{"credit", "3", "25.5", "1", 100_00, 25_50},
		{"charge", "4", "+1.5", "1", 101_50, 0},
		{"bonus", "6", "0.01", "1", 100_01, 0},
	} {
		s, _, ctl := startTest(t, nil)
		ctx := within(t)
		if _, err := ctl.SetMargin(ctx, testLogin, 40_00); err != nil {
			t.Fatal(err)
		}
		g := login(t, s).get("trade/balance", "login", "500123", "type", tt.kind, "balance", tt.amount, "comment", "x", "check_margin", tt.margin)
		if g.code != 0 {
			t.Errorf("%s: %s", tt.name, g.body)
		}
		all, err := ctl.Accounts(ctx)
		if err != nil || all[0].Balance != tt.balance || all[0].Credit != tt.credit {
			t.Errorf("%s: account %+v, %v", tt.name, all[0], err)
		}
	}
}

func TestRawSkipsBalance_LetsTheBalanceGoNegative(t *testing.T) {
	t.Parallel()
	s, _, ctl := startTest(t, func(c *Config) { c.World.Wire.RawSkipsBalance = true })
	c := login(t, s)
	if g := c.get("trade/balance", "login", "500123", "type", "2", "balance", "-150", "check_margin", "0"); g.code != 0 {
		t.Fatalf("%s", g.body)
	}
	if g := c.get("user/get", "login", "500123"); g.answer(t)["Balance"] != "-50.00" {
		t.Errorf("%s", g.body)
	}
	if all, err := ctl.Accounts(within(t)); err != nil || all[0].Balance != -50_00 {
		t.Errorf("%+v, %v", all, err)
	}
}

func TestComment_IsCutAt31UTF16UnitsWithoutAnError(t *testing.T) {
	t.Parallel()
	s, _, _ := startTest(t, nil)
	c := login(t, s)
	full := strings.Repeat("a", 31)
	for _, tt := range []struct{ sent, want string }{
		{full, full},
		{full + "b", full},
		{strings.Repeat("ж", 40), strings.Repeat("ж", 31)},
		{strings.Repeat("a", 29) + "😀", strings.Repeat("a", 29) + "😀"},
		{strings.Repeat("a", 30) + "😀", strings.Repeat("a", 30)},
		{`a|b=c\ "d"`, `a|b=c\ "d"`},
	} {
		ticket := c.deposit("1", tt.sent).ticket(t)
		if got := c.get("deal/get", "ticket", ticket).answer(t)["Comment"]; got != tt.want {
			t.Errorf("%q stored as %q, want %q", tt.sent, got, tt.want)
		}
	}
}

func TestBalance_TakesQueryFormAndJSONByPost(t *testing.T) {
	t.Parallel()
	s, _, _ := startTest(t, nil)
	c := login(t, s)
	params := url.Values{"login": {"500123"}, "type": {"2"}, "balance": {"1.00"}, "comment": {"by post"}}
	for _, tt := range []struct {
		name  string
		query url.Values
		body  string
	}{
		{"query", params, ""},
		{"form", nil, params.Encode()},
		{"json", nil, `{"login":500123,"type":"2","balance":"1.00","comment":"by post"}`},
	} {
		if err := c.write(http.MethodPost, "trade/balance", tt.query, tt.body); err != nil {
			t.Fatal(err)
		}
		g, err := c.read()
		if err != nil || g.code != 0 {
			t.Fatalf("%s: %v %s", tt.name, err, g.body)
		}
	}
	for _, e := range s.Journal() {
		if e.Source == SourceAPI && (e.Comment != "by post" || e.Minor != 1_00) {
			t.Errorf("%+v", e)
		}
	}
	if n := apiDeals(s); n != 3 {
		t.Errorf("%d deals", n)
	}
}

func TestManagerLimits_ReachEveryCall(t *testing.T) {
	t.Parallel()
	s, _, _ := startTest(t, func(c *Config) {
		c.World.Managers = append(c.World.Managers,
			Manager{Login: 5, Password: testPassword, Groups: []string{`*jpy`, `!x*`}},
			Manager{Login: 6, Password: testPassword, NoBalance: true})
	})
	c := dial(t, s)
	if g := c.auth(5, testPassword); g.code != 0 {
		t.Fatal(g.body)
	}
	for path, kv := range map[string][]string{
		"trade/balance":      {"login", "500123", "type", "2", "balance", "1"},
		"user/get":           {"login", "500123"},
		"user/account/get":   {"login", "500123"},
		"user/check_balance": {"login", "500123"},
		"deal/get_total":     {"login", "500123", "from", "0", "to", "1"},
		"deal/get_page":      {"login", "500123", "from", "0", "to", "1", "offset", "0", "total", "1"},
		"group/get":          {"group", `real\eur`},
	} {
		if g := c.get(path, kv...); g.code != 8 {
			t.Errorf("%s out of reach: %s", path, g.body)
		}
	}
	if g := c.get("user/get", "login", "500124"); g.code != 0 {
		t.Errorf("in reach: %s", g.body)
	}
	if rows := c.get("group/get", "mask", "*").rows(t); len(rows) != 1 {
		t.Errorf("groups in reach: %v", rows)
	}
	c = dial(t, s)
	if g := c.auth(6, testPassword); g.code != 0 {
		t.Fatal(g.body)
	}
	if g := c.deposit("1", "x"); g.code != 8 {
		t.Errorf("without the right: %s", g.body)
	}
	if g := c.get("user/check_balance", "login", "500123", "fixflag", "1"); g.code != 8 {
		t.Errorf("fix without the right: %s", g.body)
	}
}

func TestParallelConnections_LoseNoMoney(t *testing.T) {
	t.Parallel()
	s, _, _ := startTest(t, nil)
	const clients, each = 8, 25
	var wg sync.WaitGroup
	for i := range clients {
		c := login(t, s)
		wg.Go(func() {
			for n := range each {
				g, err := c.try("trade/balance", "login", "500123", "type", "2", "balance", "1.00", "comment", fmt.Sprintf("c%d-%d", i, n))
				if err != nil || g.code != 0 {
					t.Errorf("deposit: %v %s", err, g.body)
				}
			}
		})
	}
	wg.Wait()
	v, _ := s.book.find(testLogin)
	if v.balance != 100_00+clients*each*1_00 {
		t.Errorf("balance %d", v.balance)
	}
	seen := map[uint64]bool{}
	for _, e := range s.Journal() {
		if seen[e.Ticket] {
			t.Errorf("ticket %d twice", e.Ticket)
		}
		seen[e.Ticket] = true
	}
}

func TestSums_StayFarFromOverflow(t *testing.T) {
	t.Parallel()
	s, _, _ := startTest(t, nil)
	c := login(t, s)
	codes := map[int]int{}
	for range 30 {
		g := c.get("trade/balance", "login", "500125", "type", "2", "balance", "1000000000", "comment", "x")
		codes[g.code]++
	}
	v, _ := s.book.find(testLogin + 2)
	if codes[0] != 23 || codes[4005] != 7 || v.balance != 23*1e17 {
		t.Errorf("codes %v, balance %d", codes, v.balance)
	}
}
