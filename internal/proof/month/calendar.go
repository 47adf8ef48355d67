package month

import "time"

// Zone is the IANA name of the firm's business zone, whose days [BusinessDay] counts.
const Zone = "Europe/Berlin"

// The calendar is written out here, from the laws, and asks no time zone database: what reads that database is judged by it.

// lastSunday is the last Sunday of a month, at midnight UTC.
func lastSunday(year int, month time.Month) time.Time {
	day := time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC)
	return day.AddDate(0, 0, -int(day.Weekday()))
}

// nthSunday is the n-th Sunday of a month, at midnight UTC.
func nthSunday(year int, month time.Month, n int) time.Time {
	first := time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
	ahead := (7 - int(first.Weekday())) % 7
	return first.AddDate(0, 0, ahead+7*(n-1))
}

// berlinSummer tells whether Central European Summer Time holds: from the last Sunday of March to the last Sunday of October, both at 01:00
// UTC (directive 2000/84/EC).
func berlinSummer(t time.Time) bool {
	t = t.UTC()
	from := lastSunday(t.Year(), time.March).Add(time.Hour)
	until := lastSunday(t.Year(), time.October).Add(time.Hour)
	return !t.Before(from) && t.Before(until)
}

// newYorkSummer tells whether daylight saving time holds in New York: from the second Sunday of March, 02:00 EST, to the first Sunday of
// November, 02:00 EDT (Energy Policy Act of 2005, section 110).
func newYorkSummer(t time.Time) bool {
	t = t.UTC()
	from := nthSunday(t.Year(), time.March, 2).Add(7 * time.Hour)
	until := nthSunday(t.Year(), time.November, 1).Add(6 * time.Hour)
	return !t.Before(from) && t.Before(until)
}

// serverOffset is how far the clock of the MT5 servers is ahead of UTC: two hours, three while New York has daylight saving time, so that
// the trading day of the servers ends at 17:00 in New York.
func serverOffset(t time.Time) time.Duration {
	if newYorkSummer(t) {
		return 3 * time.Hour
	}
	return 2 * time.Hour
}

// pacificOffset is how far Los Angeles is behind UTC; it changes at 02:00 of its own clock on the days of New York.
func pacificOffset(t time.Time) (behind time.Duration, word string) {
	t = t.UTC()
	from := nthSunday(t.Year(), time.March, 2).Add(10 * time.Hour)
	until := nthSunday(t.Year(), time.November, 1).Add(9 * time.Hour)
	if !t.Before(from) && t.Before(until) {
		return 7 * time.Hour, "PDT"
	}
	return 8 * time.Hour, "PST"
}

// BusinessDay is the half-open span in UTC of the calendar day in [Zone]: 23 or 25 hours on the days on which the clocks change.
func BusinessDay(year int, month time.Month, day int) (from, until time.Time) {
	return midnight(year, month, day), midnight(year, month, day+1)
}

// midnight is the moment in UTC at which the day begins in [Zone]. The clocks change at 01:00 UTC, never at midnight of the zone: what
// holds at 22:00 UTC of the evening before, which is always before the change of the day, is what holds at midnight.
func midnight(year int, month time.Month, day int) time.Time {
	date := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	if berlinSummer(date.Add(-2 * time.Hour)) {
		return date.Add(-2 * time.Hour)
	}
	return date.Add(-time.Hour)
}
