package recon

import (
	"fmt"
	"iter"
	"time"

	"creditonce/credit"
)

// Day is one business day, written as in "2026-11-29". Which hours it has depends on the business zone. Days that [ParseDay], [DayOf], Next
// and Prev give compare as texts. The zero Day is no day.
type Day string

// The years of days: provider records are not older, and a later one is a slip of the pen.
const (
	firstYear = 1970
	lastYear  = 2999
)

// ParseDay reads a day. Anything but an existing date as YYYY-MM-DD from 1970 to 2999 is an error that wraps [credit.ErrInvalid] and says
// what is wrong.
func ParseDay(text string) (Day, error) {
	date, err := time.Parse(time.DateOnly, text)
	switch {
	case err != nil && len(text) == len(time.DateOnly) && text[4] == '-' && text[7] == '-':
		return "", fmt.Errorf("day %q: there is no such date: %w", text, credit.ErrInvalid)
	case err != nil:
		return "", fmt.Errorf("day %.20q: write it as YYYY-MM-DD: %w", text, credit.ErrInvalid)
	case date.Year() < firstYear || date.Year() > lastYear:
		return "", fmt.Errorf("day %q: the year must be from %d to %d: %w", text, firstYear, lastYear, credit.ErrInvalid)
	}
	return Day(text), nil
}

// date is the day's midnight as if the zone were UTC; false for what is no day.
func (d Day) date() (time.Time, bool) {
	date, err := time.Parse(time.DateOnly, string(d))
	return date, err == nil
}

// Valid tells that the text is an existing date.
func (d Day) Valid() bool {
	_, ok := d.date()
	return ok
}

// Next is the day after; of what is no day, the zero Day.
func (d Day) Next() Day { return d.moved(1) }

// Prev is the day before; of what is no day, the zero Day.
func (d Day) Prev() Day { return d.moved(-1) }

func (d Day) moved(days int) Day {
	date, ok := d.date()
	if !ok {
		return ""
	}
	return Day(date.AddDate(0, 0, days).Format(time.DateOnly))
}

// Through gives the days from d to last, both included; none when last is earlier, or one of the two is no day.
func (d Day) Through(last Day) iter.Seq[Day] {
	return func(yield func(Day) bool) {
		for at := d; d.Valid() && last.Valid() && at <= last; at = at.Next() {
			if !yield(at) {
				return
			}
		}
	}
}

// Bounds is when the day begins and ends in the zone, in UTC and half open; of what is no day, two zero times.
//
// A day begins at the first moment after which the zone's clocks never show an earlier date. So days tile time without gap or overlap in
// every zone: a day has 23 or 25 hours where clocks change in it; it begins at 01:00 where they skip midnight (Cairo, São Paulo until 2018);
// an hour before midnight that comes twice belongs to the ending day both times; and a date that a zone left out (Apia, 2011-12-30) is empty.
func (d Day) Bounds(loc *time.Location) (from, until time.Time) {
	date, ok := d.date()
	if !ok {
		return time.Time{}, time.Time{}
	}
	return beginning(date, loc), beginning(date.AddDate(0, 0, 1), loc)
}

// Contains tells whether the moment is on the day.
func (d Day) Contains(at time.Time, loc *time.Location) bool {
	from, until := d.Bounds(loc)
	return !at.Before(from) && at.Before(until)
}

// DayOf is the day whose bounds hold the moment.
func DayOf(at time.Time, loc *time.Location) Day {
	d := Day(at.In(loc).Format(time.DateOnly))
	// Where clocks go back over midnight, the date is shown before the day begins for good.
	for from, _ := d.Bounds(loc); at.Before(from); from, _ = d.Bounds(loc) {
		d = d.Prev()
	}
	return d
}

// LastComplete is the newest day that is over at now.
func LastComplete(now time.Time, loc *time.Location) Day { return DayOf(now, loc).Prev() }

// beginning is the moment after which the zone's clocks show the date or a later one for good.
func beginning(date time.Time, loc *time.Location) time.Time {
	last := time.Time{}
	for s := range stretches(date.Add(-farthest), date.Add(farthest), loc) {
		midnight := date.Add(-s.offset)
		if s.from.Before(midnight) { // an earlier date is shown in it
			last = midnight
			if s.until.Before(midnight) {
				last = s.until
			}
		}
	}
	return last
}

// farthest is more than any zone ever was away from UTC (Manila before 1844: 15 h 56 min).
const farthest = 16 * time.Hour

// stretch is a span of time in which a zone keeps one offset from UTC; half open.
type stretch struct {
	from, until time.Time // UTC
	offset      time.Duration
}

// stretches gives the zone's spans that touch from to until, in order. The first begins and the last ends where the zone's own data say,
// or at the ends that were asked for where these say nothing.
func stretches(from, until time.Time, loc *time.Location) iter.Seq[stretch] {
	return func(yield func(stretch) bool) {
		for at := from; !at.After(until); {
			local := at.In(loc)
			_, seconds := local.Zone()
			s := stretch{from: from, until: until.Add(time.Nanosecond), offset: time.Duration(seconds) * time.Second}
			start, end := local.ZoneBounds()
			if !start.IsZero() {
				s.from = start.UTC()
			}
			if !end.IsZero() {
				s.until = end.UTC()
			}
			if !yield(s) {
				return
			}
			at = s.until
		}
	}
}
