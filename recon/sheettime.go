package recon

import (
	"errors"
	"strings"
	"time"
)

// Stamp is how a file writes times: a layout of package time, and the zone of times that carry no offset themselves.
type Stamp struct {
	Layout   string         // with -0700 or Z07:00 where the text carries its offset
	Location *time.Location // nil: UTC; not read where the text carries an offset
}

// Time reads the text and returns it in UTC. Refused, with an error that holds no part of the text: another form, a year outside 2000 to
// 2100, a local time that a change of clocks leaves out. Of a local time that such a change doubles it is the earlier one: both lie in the
// same hour around the change. A zone word in the layout ("MST") is refused, package time would read unknown words as UTC: use ZoneOf.
func (s Stamp) Time(text string) (time.Time, error) {
	if strings.Contains(s.Layout, "MST") {
		return time.Time{}, errors.New("cannot be read: its layout has a zone word")
	}
	zone := s.Location
	if zone == nil {
		zone = time.UTC
	}
	wall, err := time.Parse(s.Layout, text)
	if err != nil {
		return time.Time{}, errors.New("is no time of the form " + asWritten.Replace(s.Layout))
	}
	if wall.Year() < 2000 || wall.Year() > 2100 {
		return time.Time{}, errors.New("has a year outside 2000 to 2100")
	}
	if s.hasOffset() {
		return wall.UTC(), nil
	}
	at := time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), wall.Second(), wall.Nanosecond(), zone)
	if at.Hour() != wall.Hour() || at.Minute() != wall.Minute() {
		return time.Time{}, errors.New("is a local time that does not exist in " + zone.String() + ": is the configured time zone the file's?")
	}
	return earlier(at).UTC(), nil
}

// asWritten turns a layout of package time into what a configuration says.
var asWritten = strings.NewReplacer("2006", "YYYY", "01", "MM", "02", "DD", "15", "hh", "04", "mm", "05", "ss")

func (s Stamp) hasOffset() bool {
	return strings.Contains(s.Layout, "-07") || strings.Contains(s.Layout, "Z07")
}

// earlier returns the first moment that has at's wall clock: package time does not promise which of two it gives.
func earlier(at time.Time) time.Time {
	for _, back := range []time.Duration{time.Hour, 30 * time.Minute} {
		if before := at.Add(-back); before.Format(time.DateTime) == at.Format(time.DateTime) {
			return before
		}
	}
	return at
}

// zoneHours are the zone words that providers' files carry beside their times, as fixed offsets. Words that mean different zones to
// different people (CST, IST, AST) are not here.
var zoneHours = map[string]int{
	"UTC": 0, "GMT": 0, "WET": 0, "BST": 1, "WEST": 1, "CET": 1, "CEST": 2, "EET": 2, "EEST": 3, "MSK": 3,
	"PST": -8, "PDT": -7, "MST": -7, "MDT": -6, "EST": -5, "EDT": -4,
	"BRT": -3, "SGT": 8, "HKT": 8, "JST": 9, "AEST": 10, "AEDT": 11, "NZST": 12, "NZDT": 13,
}

// ZoneOf returns the fixed offset that a zone word in a file means: PST is -08:00 in July too, because the word was chosen by whoever wrote
// the time (providers.md §3). False for a word that is unknown or means several zones.
func ZoneOf(word string) (*time.Location, bool) {
	hours, known := zoneHours[word]
	if !known {
		return nil, false
	}
	return time.FixedZone(word, hours*60*60), true
}

// Time reads a time; empty is refused.
func (r Record) Time(column string, form Stamp) (time.Time, error) {
	text := r.Text(column)
	if text == "" {
		return time.Time{}, r.Fail("column %q is empty where there must be a time", column)
	}
	at, err := form.Time(text)
	if err != nil {
		return time.Time{}, r.Fail("column %q %s", column, err)
	}
	return at, nil
}

// TimeIfAny is Time, and the zero time where the field is empty or the file lacks the column.
func (r Record) TimeIfAny(column string, form Stamp) (time.Time, error) {
	if r.Text(column) == "" {
		return time.Time{}, nil
	}
	return r.Time(column, form)
}
