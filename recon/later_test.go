package recon

import (
	"strings"
	"testing"
	"time"

	"creditonce/credit"
)

// An administrator may change a deal's time like all else of it: the item stays with its row's day.
func TestMatch_ADealDatedLaterThanItsCreditWasDoneHidesNothing(t *testing.T) {
	t.Parallel()
	rules := testRules()
	later := rules.Until.Add(30 * time.Minute)
	var l lists
	wrong := l.row("pi_1", "50.50")
	l.deal(wrong, func(d *Deal) { d.At, d.Amount = later, dollars("5000.50") })
	alike := l.row("pi_2", "20")
	l.deal(alike, func(d *Deal) { d.At = later })
	l.line(LinePayment, "pi_2", "20")
	failed := l.row("pi_3", "30", state(credit.Failed)) // made by hand after it had failed: it is of the day on which it was made
	l.deal(failed, func(d *Deal) { d.At = later })
	ahead := l.row("pi_4", "40", state(credit.Failed)) // no deal is made after the lists were read
	l.deal(ahead, func(d *Deal) { d.At = rules.Read.Add(24 * time.Hour) })
	items, out := compare(t, rules, l)
	if out.Classes[WrongAmount] != 1 || out.Classes[Matched] != 1 || out.Classes[FailedButDeal] != 1 {
		t.Fatalf("%v", out.Classes)
	}
	for _, i := range items {
		if i.Key.Class != WrongAmount {
			continue
		}
		if !i.At.Equal(wrong.Moment()) || !strings.Contains(i.Why, "deal 5000 is dated 2026-04-01 00:30:00 UTC, later than the credit was done (2026-03-02 12:02:00 UTC)") {
			t.Errorf("at %s: %s", i.At, i.Why)
		}
	}
	for _, r := range out.Rolls {
		if r.Side == SideMT5 && r.Provider == cards && (r.Ours.Closing.String() != "70.50 USD" || r.Theirs.Closing.String() != "5060.50 USD" || r.Listed.String() != "4990.00 USD") {
			t.Errorf("%+v", r)
		}
	}
}

func TestMatch_ADealWithinAnHourOfItsCreditCountsAtItsOwnTime(t *testing.T) {
	t.Parallel()
	var l lists
	r := l.row("pi_1", "10")
	l.deal(r, func(d *Deal) { d.At, d.Amount = r.UpdatedAt.Add(time.Hour), dollars("11") })
	items, _ := compare(t, testRules(), l)
	for _, i := range items {
		if i.Side == SideMT5 && (!i.At.Equal(r.UpdatedAt.Add(time.Hour)) || strings.Contains(i.Why, "later than")) {
			t.Errorf("at %s: %s", i.At, i.Why)
		}
	}
	if len(items) == 0 {
		t.Error("no item")
	}
}
