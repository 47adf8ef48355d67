package fakemt5

import (
	"fmt"
	"sync"
	"time"
)

// DSTRule says when the server's clock is one hour ahead of its zone.
type DSTRule string

// The rules of daylight saving. DSTOn and DSTOff are flags for tests that switch by
// hand; DSTEU and DSTUS follow the calendar.
const (
	DSTNone DSTRule = ""    // the platform does not switch
	DSTOff  DSTRule = "off" // switching is configured, standard time is in force
	DSTOn   DSTRule = "on"  // switching is configured, summer time is in force
	DSTEU   DSTRule = "eu"  // last Sunday of March to last Sunday of October, 01:00 UTC
	DSTUS   DSTRule = "us"  // second Sunday of March to first Sunday of November, 02:00 local
)

// Zone is the server's zone: minutes east of UTC without daylight saving, and the rule.
type Zone struct {
	OffsetMinutes int     `json:"offset_minutes"`
	DST           DSTRule `json:"dst,omitempty"`
	// DSTMinutes is how far summer time is ahead; 60 when 0. That DaylightState adds exactly 60 minutes is not documented.
	DSTMinutes int `json:"dst_minutes,omitempty"`
}

func (z Zone) validate() error {
	if z.OffsetMinutes < -14*60 || z.OffsetMinutes > 14*60 {
		return fmt.Errorf("zone: offset_minutes %d is outside -840..840", z.OffsetMinutes)
	}
	if z.DSTMinutes < 0 || z.DSTMinutes > 120 {
		return fmt.Errorf("zone: dst_minutes %d is outside 0..120", z.DSTMinutes)
	}
	switch z.DST {
	case DSTNone, DSTOff, DSTOn, DSTEU, DSTUS:
		return nil
	}
	return fmt.Errorf("zone: dst %q is none of \"\", off, on, eu, us", z.DST)
}

// summer reports whether daylight saving is in force at the instant.
func (z Zone) summer(at time.Time) bool {
	at = at.UTC()
	switch z.DST {
	case DSTOn:
		return true
	case DSTEU:
		start := nthSunday(at.Year(), time.March, -1).Add(time.Hour)
		end := nthSunday(at.Year(), time.October, -1).Add(time.Hour)
		return !at.Before(start) && at.Before(end)
	case DSTUS:
		// Both changes are at 02:00 on the clock that is then in force.
		standard := time.Duration(z.OffsetMinutes) * time.Minute
		start := nthSunday(at.Year(), time.March, 2).Add(2*time.Hour - standard)
		end := nthSunday(at.Year(), time.November, 1).Add(2*time.Hour - z.ahead() - standard)
		return !at.Before(start) && at.Before(end)
	default:
		return false
	}
}

// offset is the whole distance of the server's clock from UTC at the instant.
func (z Zone) offset(at time.Time) time.Duration {
	d := time.Duration(z.OffsetMinutes) * time.Minute
	if z.summer(at) {
		d += z.ahead()
	}
	return d
}

// ahead is how far summer time is ahead of standard time.
func (z Zone) ahead() time.Duration {
	if z.DSTMinutes == 0 {
		return time.Hour
	}
	return time.Duration(z.DSTMinutes) * time.Minute
}

// nthSunday is midnight UTC of the n-th Sunday of the month, the last one for n = -1.
func nthSunday(year int, month time.Month, n int) time.Time {
	if n < 0 {
		last := time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC)
		return last.AddDate(0, 0, -int(last.Weekday()))
	}
	first := time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
	return first.AddDate(0, 0, (7-int(first.Weekday()))%7+7*(n-1))
}

// wallClock turns the clock into the server's idea of time: a shift that a test may
// set, and the zone. Timers run on the clock itself and do not see the shift.
type wallClock struct {
	clock Clock

	mu    sync.Mutex
	shift time.Duration
	zone  Zone
}

// utc is the server's idea of the instant.
func (w *wallClock) utc() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.clock.Now().Add(w.shift).UTC()
}

// serverMsc is the server's wall clock at the instant, as milliseconds that read as
// if they were UTC (mt5-webapi.md §5).
func (w *wallClock) serverMsc(at time.Time) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return at.Add(w.zone.offset(at)).UnixMilli()
}

// utcOfServerMsc is the instant of a server time under the zone in force; in the
// repeated autumn hour it is the earlier one.
func (w *wallClock) utcOfServerMsc(msc int64) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	wall := time.UnixMilli(msc).UTC()
	standard := time.Duration(w.zone.OffsetMinutes) * time.Minute
	if early := wall.Add(-standard - w.zone.ahead()); w.zone.summer(early) {
		return early
	}
	return wall.Add(-standard)
}

func (w *wallClock) currentZone() Zone {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.zone
}

func (w *wallClock) setZone(z Zone) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.zone = z
}

// addShift moves the server's clock against the real one and returns the whole shift.
func (w *wallClock) addShift(d time.Duration) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.shift += d
	return w.shift
}

// serverText prints a server time as the platform does.
func serverText(msc int64) string {
	return time.UnixMilli(msc).UTC().Format("2006.01.02 15:04:05")
}
