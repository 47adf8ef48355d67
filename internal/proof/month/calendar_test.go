package month

import (
	"testing"
	"time"

	"creditonce/recon"
)

// The product's days and server clocks come from the time zone database, the month's from the laws: the same moments.
func TestCalendar_IsThatOfTheProduct(t *testing.T) {
	t.Parallel()
	berlin := zone(t, Zone)
	clock := recon.ServerClock{Location: zone(t, "America/New_York"), Ahead: 7 * time.Hour}
	eachMonth(t, func(t *testing.T, m *Month) {
		for at := m.Rules.From; at.Before(m.Rules.Until); {
			day := recon.DayOf(at, berlin)
			y, month, d := at.In(berlin).Date()
			from, until := BusinessDay(y, month, d)
			if was, end := day.Bounds(berlin); !was.Equal(from) || !end.Equal(until) {
				t.Fatalf("%s is [%s, %s), want [%s, %s)", day, was, end, from, until)
			}
			at = until
		}
		for _, n := range m.Nights {
			y, month, d := n.At.Date()
			from, until := BusinessDay(y, month, d+1) // at 23:30 UTC the next day has begun in the zone
			if next := recon.DayOf(n.At, berlin); n.At.Before(from) || !n.At.Before(until) || !next.Contains(n.At, berlin) {
				t.Fatalf("%s is not in [%s, %s), or not in %s", n.At, from, until, next)
			}
		}
		doubled := nthSunday(2026, time.November, 1).Add(6 * time.Hour) // the hour that the servers' clocks show twice ends an hour later
		for _, d := range m.Deals {
			twice := !d.At.Before(doubled) && d.At.Before(doubled.Add(time.Hour))
			if was := clock.UTC(d.ServerTime); !was.Equal(d.At) && !twice {
				t.Fatalf("the server's time %d is %s, want %s", d.ServerTime, was, d.At)
			}
		}
	})
}
