package recon

import (
	"fmt"
	"time"
)

// ServerClock turns the times of an MT5 server into UTC. Deals carry the server's own wall clock (mt5-webapi.md §5), whose distance from UTC
// changes with daylight saving: what is measured now does not hold for a deal of last month. With a Location the distance at any moment is
// the zone's there and Ahead; without one it is Measured, always. Many servers keep New York's time and seven hours, so that their day ends
// with New York's trading day. The zero value is a server on UTC.
type ServerClock struct {
	Location *time.Location // nil: no rule
	Ahead    time.Duration  // of the zone's time
	Measured time.Duration  // server clock minus UTC, as a session measured it; counts only without a rule
}

// HasRule tells that the distance of any moment is known, not only that of now.
func (c ServerClock) HasRule() bool { return c.Location != nil }

// Offset is the server's clock minus UTC at the moment.
func (c ServerClock) Offset(at time.Time) time.Duration {
	if c.Location == nil {
		return c.Measured
	}
	_, seconds := at.In(c.Location).Zone()
	return time.Duration(seconds)*time.Second + c.Ahead
}

// UTC is the moment at which the server's clock showed a time, given in seconds that read as if they were UTC. An hour that comes twice in
// autumn counts as the first of the two; an hour that was skipped in spring counts as if the change had not been made yet. Both follow the
// platform, which changes its clock up to an hour after its zone does (mt5-webapi.md, Traps 8).
func (c ServerClock) UTC(server int64) time.Time {
	shown := time.Unix(server, 0).UTC()
	if c.Location == nil {
		return shown.Add(-c.Measured)
	}
	var past time.Time
	for s := range stretches(shown.Add(-c.Ahead-farthest), shown.Add(-c.Ahead+farthest), c.Location) {
		at := shown.Add(-c.Ahead - s.offset)
		if at.Before(s.until) {
			if past.IsZero() || !at.Before(s.from) {
				return at
			}
			return past // between the two stretches the clock skipped it
		}
		past = at
	}
	return past
}

// changesLate is how long after its zone the platform may change its clock (mt5-webapi.md, Traps 8).
const changesLate = time.Hour

// Contradicts says why a measured offset is not what the rule gives at the moment; empty: it is, or there is no rule. name is the server's
// label, for the advice.
func (c ServerClock) Contradicts(measured time.Duration, now time.Time, name string) string {
	if !c.HasRule() || c.Offset(now) == measured {
		return ""
	}
	text := fmt.Sprintf("the server's clock is %s, the rule gives %s", signed(measured), signed(c.Offset(now)))
	if c.Offset(now.Add(-changesLate)) == measured {
		return fmt.Sprintf("%s: clocks changed less than an hour ago, and the server follows late; run again in an hour", text)
	}
	return fmt.Sprintf("%s; correct mt5.servers.%s.clock", text, name)
}

// doubt says, of a clock without a rule, which changes of clocks in the span make its times uncertain; empty: none.
func (c ServerClock) doubt(from, until time.Time, name string) string {
	if c.HasRule() {
		return ""
	}
	for _, custom := range []struct{ whose, zone string }{{"US", "America/New_York"}, {"EU", "Europe/Berlin"}} {
		loc, err := time.LoadLocation(custom.zone)
		if err != nil {
			return fmt.Sprintf("times of deals hold only if the server's clock kept %s since %s: this host knows no time zones, so it cannot tell whether clocks changed",
				signed(c.Measured), from.UTC().Format(time.DateOnly))
		}
		for s := range stretches(from, until, loc) {
			if s.until.After(from) && s.until.Before(until) {
				return fmt.Sprintf("the server's clock is taken as %s throughout, but %s clocks changed on %s: deals before it may be an hour off; set mt5.servers.%s.clock",
					signed(c.Measured), custom.whose, s.until.In(loc).Format(time.DateOnly), name)
			}
		}
	}
	return ""
}

// signed writes an offset as +3h, -4h30m, +0h.
func signed(d time.Duration) string {
	sign := "+"
	if d < 0 {
		sign, d = "-", -d
	}
	d = d.Round(time.Minute)
	text := fmt.Sprintf("%s%dh", sign, d/time.Hour)
	if m := d % time.Hour / time.Minute; m != 0 {
		text += fmt.Sprintf("%dm", m)
	}
	return text
}
