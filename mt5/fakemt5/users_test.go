package fakemt5

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestMoney_IsPrintedWithTheCurrencysDigits(t *testing.T) {
	t.Parallel()
	s, _, ctl := startTest(t, nil)
	if _, err := ctl.AddDeal(within(t), ManualDeal{Login: testLogin + 2, Action: 2, Amount: "0.12345678"}); err != nil {
		t.Fatal(err)
	}
	c := login(t, s)
	for login, want := range map[string][3]string{
		"500123": {"100.00", "2", "100.000000"}, "500124": {"5000", "0", "5000.000000"}, "500125": {"0.12345678", "8", "0.123456"},
	} {
		if g := c.get("user/get", "login", login).answer(t); g["Balance"] != want[0] {
			t.Errorf("user %s: %v", login, g["Balance"])
		}
		if g := c.get("user/account/get", "login", login).answer(t); g["Equity"] != want[0] || g["CurrencyDigits"] != want[1] {
			t.Errorf("account %s: %v", login, g)
		}
		if got := c.get("user/check_balance", "login", login, "fixflag", "0").pair(t, "Balance"); got != want[2]+" "+want[2] {
			t.Errorf("check_balance %s: %s", login, got)
		}
	}
}

func TestUser_HasRightsAndRegistration(t *testing.T) {
	t.Parallel()
	rights := uint64(0x163 | 4)
	s, _, _ := startTest(t, func(c *Config) {
		c.World.Accounts[0].Rights, c.World.Accounts[0].Registration, c.World.Accounts[0].Leverage = &rights, 1_527_173_711, 500
	})
	g := login(t, s).get("user/get", "login", "500123").answer(t)
	for key, want := range map[string]string{"Login": "500123", "Rights": "359", "Registration": "1527173711", "Leverage": "500", "Name": "Ada Example", "Credit": "0.00"} {
		if g[key] != want {
			t.Errorf("%s = %v, want %s", key, g[key], want)
		}
	}
}

func TestAccount_ShowsMarginAndFreeMargin(t *testing.T) {
	t.Parallel()
	s, _, ctl := startTest(t, func(c *Config) { c.World.Accounts[0].Credit = 20_00 })
	if _, err := ctl.SetMargin(within(t), testLogin, 40_00); err != nil {
		t.Fatal(err)
	}
	g := login(t, s).get("user/account/get", "login", "500123").answer(t)
	for key, want := range map[string]string{"Margin": "40.00", "MarginFree": "80.00", "Equity": "120.00", "MarginLevel": "300.00", "Credit": "20.00"} {
		if g[key] != want {
			t.Errorf("%s = %v, want %s", key, g[key], want)
		}
	}
}

func TestIdleAccount_HasEveryVariantUntilItTrades(t *testing.T) {
	t.Parallel()
	for how, want := range map[string]string{
		"null": `{"retcode":"0 Done","answer":null}`, "absent": `{"retcode":"0 Done"}`, "13": `{"retcode":"13 Not found"}`,
	} {
		s, _, _ := startTest(t, func(c *Config) { c.World.Wire.IdleAccount = how })
		c := login(t, s)
		if g := c.get("user/account/get", "login", "500123"); g.body != want {
			t.Errorf("%s: %s", how, g.body)
		}
		if rows := c.get("user/account/get_batch", "login", "500123,500124").rows(t); len(rows) != 0 {
			t.Errorf("%s: batch %v", how, rows)
		}
		c.deposit("1", "x")
		if g := c.get("user/account/get", "login", "500123"); g.answer(t)["Balance"] != "101.00" {
			t.Errorf("%s, after a deal: %s", how, g.body)
		}
		if rows := c.get("user/account/get_batch", "group", "real*").rows(t); len(rows) != 1 {
			t.Errorf("%s: batch after a deal %v", how, rows)
		}
	}
	s, _, _ := startTest(t, func(c *Config) { c.World.Wire.IdleAccount = "zeros" })
	if g := login(t, s).get("user/account/get", "login", "500123"); g.answer(t)["Balance"] != "0.00" {
		t.Errorf("zeros: %s", g.body)
	}
}

func TestCheckBalance_ComparesAndFixesOnlyWhenAsked(t *testing.T) {
	t.Parallel()
	s, _, ctl := startTest(t, nil)
	if _, err := ctl.AddDeal(within(t), ManualDeal{Login: testLogin, Action: 2, Amount: "7", Detached: true}); err != nil {
		t.Fatal(err)
	}
	c := login(t, s)
	ask := func(flag string) string {
		return c.get("user/check_balance", "login", "500123", "fixflag", flag).pair(t, "Balance")
	}
	for _, tt := range []struct{ flag, want string }{
		{"0", "100.000000 107.000000"}, {"0", "100.000000 107.000000"}, {"1", "100.000000 107.000000"}, {"0", "107.000000 107.000000"},
	} {
		if got := ask(tt.flag); got != tt.want {
			t.Errorf("fixflag %s: %s, want %s", tt.flag, got, tt.want)
		}
	}
	if g := c.get("user/check_balance", "login", "500123", "fixflag", "2"); g.code != 3 {
		t.Errorf("fixflag 2: %s", g.body)
	}
}

func TestGroup_CarriesCurrencyAndItsBackslash(t *testing.T) {
	t.Parallel()
	s, _, ctl := startTest(t, nil)
	c := login(t, s)
	g := c.get("group/get", "group", `real\jpy`)
	if a := g.answer(t); a["Group"] != `real\jpy` || a["Currency"] != "JPY" || a["CurrencyDigits"] != "0" || a["PermissionsFlags"] != "2" {
		t.Errorf("%v", a)
	}
	if !strings.Contains(g.body, `"real\\jpy"`) {
		t.Errorf("escaped backslash: %s", g.body)
	}
	if rows := c.get("group/get", "mask", "*eur,*btc").rows(t); len(rows) != 2 {
		t.Errorf("mask: %v", rows)
	}
	if g := c.get("group/get"); g.code != 3 {
		t.Errorf("no name: %s", g.body)
	}
	if _, err := ctl.PatchWire(within(t), map[string]any{"bare_backslash": true}); err != nil {
		t.Fatal(err)
	}
	if g := c.get("group/get", "group", `real\jpy`); !strings.Contains(g.body, `"real\jpy"`) || g.fields != nil {
		t.Errorf("bare backslash: %s", g.body)
	}
}

func TestServerClock_FollowsZoneDaylightSavingAndShift(t *testing.T) {
	t.Parallel()
	s, _, ctl := startTest(t, nil)
	c, ctx := login(t, s), within(t)
	check := func(when string, hours int, daylight, state, zone string) {
		t.Helper()
		at := testStart.Add(time.Duration(hours) * time.Hour)
		want := fmt.Sprintf("%d %s", at.Unix(), at.Format("2006.01.02 15:04:05"))
		if got := c.get("time/server").answer(t)["Time"]; got != want {
			t.Errorf("%s: %v, want %s", when, got, want)
		}
		g := c.get("time/get").answer(t)
		if g["Daylight"] != daylight || g["DaylightState"] != state || g["TimeZone"] != zone {
			t.Errorf("%s: %v %v %v", when, g["Daylight"], g["DaylightState"], g["TimeZone"])
		}
		if week := strings.Count(fmt.Sprint(g["Days"]), "1"); week != 7*24 {
			t.Errorf("%s: %d hours a week", when, week)
		}
	}
	check("winter", 2, "1", "0", "120")
	if err := ctl.SetZone(ctx, Zone{OffsetMinutes: -300, DST: DSTOn}); err != nil {
		t.Fatal(err)
	}
	check("west, flag on", -4, "1", "1", "-300")
	if err := ctl.SetZone(ctx, Zone{}); err != nil {
		t.Fatal(err)
	}
	check("utc", 0, "0", "0", "0")
	if total, err := ctl.ShiftClock(ctx, 3*time.Hour); err != nil || total != 3*time.Hour {
		t.Fatal(total, err)
	}
	check("shifted", 3, "0", "0", "0")
	if total, err := ctl.ShiftClock(ctx, -4*time.Hour); err != nil || total != -time.Hour {
		t.Fatal(total, err)
	}
	check("shifted back", -1, "0", "0", "0")
}

func TestCommonGet_NamesTheServer(t *testing.T) {
	t.Parallel()
	s, _, _ := startTest(t, func(c *Config) { c.World.Server = "Other-Live 2" })
	g := login(t, s).get("common/get").answer(t)
	if g["Name"] != "Other-Live 2" || g["TotalUsers"] != "3" || g["TotalDeals"] != "2" {
		t.Errorf("%v", g)
	}
}

func TestAnswers_FollowKeyCaseAndScalarSwitches(t *testing.T) {
	t.Parallel()
	s, _, ctl := startTest(t, nil)
	c := login(t, s)
	for _, tt := range []struct {
		wire Wire
		want []string
	}{
		{Wire{}, []string{`"DigitsCurrency":"2"`, `"Profit":"100.00"`, `"TimeMsc":"`}},
		{Wire{KeyCase: KeysLower}, []string{`"digitscurrency":"2"`, `"profit":"100.00"`, `"timemsc":"`}},
		{Wire{KeyCase: KeysCamel, Scalars: "numbers"}, []string{`"digitsCurrency":2,`, `"profit":100.00,`, `"comment":"opening balance"`}},
	} {
		if _, err := ctl.ChangeWire(within(t), tt.wire); err != nil {
			t.Fatal(err)
		}
		g := c.history("500123")
		for _, want := range tt.want {
			if !strings.Contains(g.body, want) {
				t.Errorf("%+v: no %s in %s", tt.wire, want, g.body)
			}
		}
		if g.code != 0 || g.header.Get("Content-Type") == "" {
			t.Errorf("%+v: %v %s", tt.wire, g.header, g.body)
		}
	}
}
