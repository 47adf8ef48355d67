package fakemt5

import (
	"strconv"
	"testing"
)

func TestDeposit_MovesBalanceAndShowsInEveryLookup(t *testing.T) {
	t.Parallel()
	s, _, _ := startTest(t, nil)
	c := login(t, s)
	g := c.deposit("26.50", "dep:8QK800AFQN6Y47J371")
	ticket := g.ticket(t)
	if n, err := strconv.ParseUint(ticket, 10, 64); err != nil || n <= 1<<32 {
		t.Fatalf("ticket %q is not above 2^32", ticket)
	}
	if user := c.get("user/get", "login", "500123").answer(t); user["Balance"] != "126.50" || user["Group"] != `real\eur` {
		t.Errorf("user after deposit: %v", user)
	}
	deal := c.get("deal/get", "ticket", ticket).answer(t)
	for key, want := range map[string]any{
		"Deal": ticket, "Login": "500123", "Action": "2", "Profit": "26.50", "Comment": "dep:8QK800AFQN6Y47J371",
		"Dealer": "1007", "Time": strconv.FormatInt(testStart.Unix()+2*3600, 10), "DigitsCurrency": "2",
	} {
		if deal[key] != want {
			t.Errorf("deal %s = %v, want %v", key, deal[key], want)
		}
	}
	if rows := c.history("500123").rows(t); len(rows) != 2 || rows[1]["Deal"] != ticket {
		t.Errorf("page: %v", rows)
	}
	if total := c.get("deal/get_total", "login", "500123", "from", "0", "to", "4000000000").answer(t); total["Total"] != "2" {
		t.Errorf("total: %v", total)
	}
}
