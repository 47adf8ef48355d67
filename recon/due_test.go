package recon

import (
	"context"
	"testing"
	"time"
)

// farBook has a complete run that reaches so far.
type farBook struct {
	RunBook
	at Reached
}

func (b farBook) Reached(context.Context) (Reached, error) { return b.at, nil }

// What was compared is a moment. In another zone the next run begins with the day that holds it, so that no hour is passed over.
func TestDue_BeginsWhereTheLastCompleteRunEndedInWhateverZone(t *testing.T) {
	t.Parallel()
	until := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		zone        string
		at          Reached
		first, last Day
	}{
		"the same zone":     {"UTC", Reached{"2026-11-30", "UTC", until}, "2026-12-01", "2026-12-03"},
		"further west":      {"Pacific/Pago_Pago", Reached{"2026-11-30", "UTC", until}, "2026-11-30", "2026-12-02"},
		"further east":      {"Pacific/Kiritimati", Reached{"2026-11-30", "UTC", until}, "2026-12-01", "2026-12-03"},
		"none was complete": {"UTC", Reached{}, "2026-11-28", "2026-12-03"},
	} {
		r := &Runner{
			Book: farBook{at: c.at}, Zone: zone(t, c.zone), Since: time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC), Lookback: 30 * 24 * time.Hour,
			Now: func() time.Time { return time.Date(2026, 12, 4, 8, 0, 0, 0, time.UTC) },
		}
		first, last, ok, err := r.Due(t.Context(), 4*time.Hour)
		if err != nil || !ok || first != c.first || last != c.last {
			t.Errorf("%s: %s to %s, %v, %v; want %s to %s", name, first, last, ok, err, c.first, c.last)
		}
	}
}
