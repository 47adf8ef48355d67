package fakemt5

import (
	"fmt"
	"testing"
	"time"
)

// dealsOfPage lists the tickets of a page relative to the first deal.
func dealsOfPage(t *testing.T, g got) string {
	t.Helper()
	var out []string
	for _, row := range g.rows(t) {
		var n uint64
		if _, err := fmt.Sscan(fmt.Sprint(row["Deal"]), &n); err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprint(n-1<<32-1))
	}
	return fmt.Sprint(out)
}

func TestPageFaults_CutRepeatAndMix(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		rule          Rule
		first, second string
	}{
		{Rule{Kind: PageCut, Rows: 1}, "[0]", "[4]"},
		{Rule{Kind: PageCut}, "[]", "[]"},
		{Rule{Kind: PageRepeat}, "[0 0 2]", "[0 2]"},
		{Rule{Kind: PageOfOther, Other: testLogin + 1}, "[1]", "[]"},
	} {
		s, _, ctl := startTest(t, nil)
		c, ctx := login(t, s), within(t)
		for i := range 4 {
			if _, err := ctl.AddDeal(ctx, ManualDeal{Login: testLogin, Action: 2, Amount: fmt.Sprint(i + 1)}); err != nil {
				t.Fatal(err)
			}
		}
		if got := dealsOfPage(t, c.page(0, 4e9, 0, 2)) + dealsOfPage(t, c.page(0, 4e9, 2, 2)); got != "[0 2][3 4]" {
			t.Fatalf("without a fault: %s", got)
		}
		tt.rule.Where = "deal/get_page"
		if _, err := ctl.Fault(ctx, tt.rule); err != nil {
			t.Fatal(err)
		}
		first, second := dealsOfPage(t, c.page(0, 4e9, 0, 2)), dealsOfPage(t, c.page(0, 4e9, 3, 2))
		if tt.rule.Kind == PageRepeat {
			second = dealsOfPage(t, c.page(0, 4e9, 2, 2))
		}
		if first != tt.first || second != tt.second {
			t.Errorf("%s: %s and %s, want %s and %s", tt.rule.Kind, first, second, tt.first, tt.second)
		}
	}
}

func TestTotalChanges_LiesOnceOrGrows(t *testing.T) {
	t.Parallel()
	total := func(c *wireClient) string {
		return fmt.Sprint(c.get("deal/get_total", "login", "500123", "from", "0", "to", "4000000000").answer(t)["Total"])
	}
	_, _, ctl, c := faulty(t, Rule{Where: "deal/get_total", Kind: TotalChanges, Delta: 2, Grow: true})
	if got := total(c) + total(c) + total(c); got != "357" {
		t.Errorf("growing: %s", got)
	}
	if err := ctl.ClearFaults(within(t)); err != nil {
		t.Fatal(err)
	}
	if _, err := ctl.Fault(within(t), Rule{Where: "deal/get_total", Kind: TotalChanges, Delta: -5, Count: 1}); err != nil {
		t.Fatal(err)
	}
	if got := total(c) + total(c); got != "01" {
		t.Errorf("shrunk, then right: %s", got)
	}
}

func TestDealsBetween_ReallyArriveAfterTheAnswer(t *testing.T) {
	t.Parallel()
	_, _, _, c := faulty(t, Rule{Where: "deal/get_page", Kind: DealsBetween, Rows: 3, Count: 1})
	if n, m := len(c.history("500123").rows(t)), len(c.history("500123").rows(t)); n != 1 || m != 4 {
		t.Errorf("%d, then %d rows", n, m)
	}
}

func TestRules_CountSkipAndSelect(t *testing.T) {
	t.Parallel()
	s, _, ctl, c := faulty(t, Rule{Where: "trade/*", Login: testLogin, CommentPrefix: "dep:", Kind: RefuseCode, Code: 10006, Skip: 1, Count: 2})
	var codes []int
	for _, comment := range []string{"dep:1", "other", "dep:2", "dep:3", "dep:4"} {
		codes = append(codes, c.deposit("1", comment).code)
	}
	if got := fmt.Sprint(codes); got != "[0 0 10006 10006 0]" {
		t.Errorf("codes %s", got)
	}
	if g := c.get("trade/balance", "login", "500124", "type", "2", "balance", "1", "comment", "dep:5"); g.code != 0 {
		t.Errorf("another login: %s", g.body)
	}
	all, err := ctl.Faults(within(t))
	if err != nil || len(all) != 1 || all[0].Hits != 2 || all[0].Seen != 4 {
		t.Errorf("%+v, %v", all, err)
	}
	if len(booked(s)) != 4 {
		t.Errorf("%d booked", len(booked(s)))
	}
	n, err := ctl.Counters(within(t))
	if err != nil || n["trade/balance"] != (Counter{Requests: 6, Executed: 4}) {
		t.Errorf("%+v, %v", n, err)
	}
}

func TestRules_CombineOnOneRequest(t *testing.T) {
	t.Parallel()
	s, clock, ctl, c := faulty(t, Rule{Where: "trade/balance", Kind: ApplyThenDrop})
	if _, err := ctl.Fault(within(t), Rule{Where: "trade/balance", Kind: VisibleAfter, Delay: Duration(time.Minute)}); err != nil {
		t.Fatal(err)
	}
	c.send("5", "x")
	if _, err := c.read(); err == nil {
		t.Fatal("an answer came")
	}
	c = login(t, s)
	if rows := c.history("500123").rows(t); len(rows) != 1 || len(booked(s)) != 1 {
		t.Errorf("%v", rows)
	}
	clock.Advance(time.Minute)
	if rows := c.history("500123").rows(t); len(rows) != 2 {
		t.Errorf("%v", rows)
	}
}

func TestFaults_DoNotSpendThemselvesOnDeadSessions(t *testing.T) {
	t.Parallel()
	s, _, _, c := faulty(t, Rule{Where: "*", Kind: RefuseCode, Code: 2, Count: 1})
	if g := dial(t, s).get("test/access"); g.status != 403 {
		t.Errorf("%d", g.status)
	}
	if g := c.get("test/access"); g.code != 2 {
		t.Errorf("%s", g.body)
	}
}
