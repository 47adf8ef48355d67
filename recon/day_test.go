package recon

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"creditonce/credit"
)

// zone loads a zone, or fails the test.
func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

// moment reads a time as RFC 3339.
func moment(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at.UTC()
}

// oddZones have what makes days hard: half hours, changes at midnight and one minute after it, a date that was left out, changes of two
// hours and of half an hour.
var oddZones = []string{
	"UTC", "Europe/Berlin", "America/New_York", "Asia/Nicosia", "Europe/Athens", "Europe/Dublin", "America/Sao_Paulo", "Africa/Cairo",
	"America/St_Johns", "Pacific/Apia", "Australia/Lord_Howe", "Asia/Kathmandu", "Asia/Tehran", "Asia/Amman", "Africa/Casablanca",
	"America/Havana", "Asia/Beirut", "Pacific/Kiritimati", "America/Santiago", "Antarctica/Troll",
}

func TestDays_TileTimeWithoutGapOrOverlap(t *testing.T) {
	t.Parallel()
	lengths := []time.Duration{0, 22 * time.Hour, 23 * time.Hour, 23*time.Hour + 30*time.Minute, 24 * time.Hour, 24*time.Hour + 30*time.Minute, 25 * time.Hour, 26 * time.Hour}
	for _, name := range oddZones {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			loc := zone(t, name)
			days := 0
			_, before := Day("1999-12-31").Bounds(loc)
			for d := range Day("2000-01-01").Through("2029-12-31") {
				days++
				from, until := d.Bounds(loc)
				if !from.Equal(before) {
					t.Fatalf("%s begins at %s, the day before ends at %s", d, from, before)
				}
				before = until
				if n := until.Sub(from); !slices.Contains(lengths, n) && name != "America/St_Johns" {
					t.Errorf("%s has %s", d, n)
				}
				if from.Equal(until) {
					continue
				}
				for _, at := range []time.Time{from, from.Add(until.Sub(from) / 2), until.Add(-time.Nanosecond)} {
					if got := DayOf(at, loc); got != d || !d.Contains(at, loc) {
						t.Fatalf("%s is on %s, not within %s to %s of %s", at, got, from, until, d)
					}
				}
			}
			if want := 30*365 + 8; days != want {
				t.Errorf("%d days, want %d", days, want)
			}
		})
	}
}

// The date on the zone's own clocks is the oracle. Only where clocks go back over midnight may a day differ from it, and then the moment
// counts to the day before.
func TestDayOf_IsTheDateOnTheZonesClocks(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	rng := rand.New(rand.NewPCG(seed, 6))
	begin, end := moment(t, "2000-01-01T00:00:00Z").Unix(), moment(t, "2030-01-01T00:00:00Z").Unix()
	for _, name := range oddZones {
		loc, odd := zone(t, name), 0
		for range 20_000 {
			at := time.Unix(begin+rng.Int64N(end-begin), 0)
			if got, shown := DayOf(at, loc), Day(at.In(loc).Format(time.DateOnly)); got != shown {
				odd++
				if got != shown.Prev() {
					t.Errorf("seed %d: %s in %s is on %s, clocks show %s", seed, at.UTC(), name, got, shown)
				}
			}
		}
		if odd > 2 {
			t.Errorf("seed %d: %s: %d of 20000 moments are not on the day that clocks show", seed, name, odd)
		}
	}
}

func TestBounds_OfDaysOnWhichClocksChange(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		zone        string
		day         Day
		from, until string
	}{
		{"Europe/Berlin", "2026-03-29", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"}, // 23 hours
		{"Europe/Berlin", "2026-10-25", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"}, // 25 hours
		{"America/New_York", "2026-03-08", "2026-03-08T05:00:00Z", "2026-03-09T04:00:00Z"},
		{"America/New_York", "2026-11-01", "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z"},
		{"Asia/Nicosia", "2026-10-25", "2026-10-24T21:00:00Z", "2026-10-25T22:00:00Z"},
		{"America/Sao_Paulo", "2017-10-15", "2017-10-15T03:00:00Z", "2017-10-16T02:00:00Z"}, // there was no midnight: it began at 01:00
		{"America/Sao_Paulo", "2018-02-17", "2018-02-17T02:00:00Z", "2018-02-18T03:00:00Z"}, // 23:00 to 24:00 came twice
		{"Africa/Cairo", "2026-04-24", "2026-04-23T22:00:00Z", "2026-04-24T21:00:00Z"},      // no midnight
		{"Africa/Cairo", "2026-10-29", "2026-10-28T21:00:00Z", "2026-10-29T22:00:00Z"},      // 23:00 to 24:00 comes twice
		{"America/St_Johns", "2005-10-30", "2005-10-30T03:30:00Z", "2005-10-31T03:30:00Z"},  // clocks went from 00:01 back to 23:01
		{"Pacific/Apia", "2011-12-30", "2011-12-30T10:00:00Z", "2011-12-30T10:00:00Z"},      // left out
		{"Pacific/Apia", "2011-12-31", "2011-12-30T10:00:00Z", "2011-12-31T10:00:00Z"},
	} {
		from, until := tt.day.Bounds(zone(t, tt.zone))
		if from != moment(t, tt.from) || until != moment(t, tt.until) {
			t.Errorf("%s in %s is from %s to %s, want %s to %s", tt.day, tt.zone, from, until, tt.from, tt.until)
		}
	}
	if from, until := Day("2026-02-30").Bounds(time.UTC); !from.IsZero() || !until.IsZero() {
		t.Errorf("a date that does not exist is from %s to %s", from, until)
	}
}

func TestParseDay_SaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2026-02-29": "there is no such date", "2026-13-01": "there is no such date", "2026-00-10": "there is no such date",
		"29.11.2026": "write it as YYYY-MM-DD", "2026-1-2": "write it as YYYY-MM-DD", "": "write it as YYYY-MM-DD",
		"2026-11-29T10:00:00Z": "write it as YYYY-MM-DD", " 2026-11-29": "write it as YYYY-MM-DD", "today": "write it as YYYY-MM-DD",
		"0026-11-29": "the year must be from 1970 to 2999", "9026-11-29": "the year must be from 1970 to 2999",
		strings.Repeat("9", 5000): "write it as YYYY-MM-DD",
	} {
		d, err := ParseDay(text)
		if d != "" || !errors.Is(err, credit.ErrInvalid) || !strings.Contains(fmt.Sprint(err), want) || len(err.Error()) > 200 {
			t.Errorf("%.30q: %q, %v; want %s", text, d, err, want)
		}
	}
	if d, err := ParseDay("2028-02-29"); err != nil || d != "2028-02-29" {
		t.Errorf("a leap day: %q, %v", d, err)
	}
}

func TestDay_NeighboursAndSpans(t *testing.T) {
	t.Parallel()
	if got := Day("2027-12-31").Next().Next().Prev(); got != "2028-01-01" {
		t.Errorf("next, next, previous of 2027-12-31 is %s", got)
	}
	if got := slices.Collect(Day("2028-02-28").Through("2028-03-01")); !slices.Equal(got, []Day{"2028-02-28", "2028-02-29", "2028-03-01"}) {
		t.Errorf("through: %v", got)
	}
	for _, none := range [][2]Day{{"2026-01-02", "2026-01-01"}, {"", "2026-01-01"}, {"2026-01-01", ""}, {"2026-01-01", "yesterday"}} {
		if got := slices.Collect(none[0].Through(none[1])); got != nil {
			t.Errorf("%q through %q: %v", none[0], none[1], got)
		}
	}
	for range Day("2026-01-01").Through("2026-01-05") {
		break // a loop may end early
	}
	if Day("x").Next() != "" || Day("").Prev() != "" || Day("2026-1-1").Valid() {
		t.Error("what is no day has neighbours")
	}
}

func TestLastComplete_IsOverAndTheNextIsNot(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ zone, now, want string }{
		{"Europe/Berlin", "2026-11-29T22:59:59Z", "2026-11-28"},
		{"Europe/Berlin", "2026-11-29T23:00:00Z", "2026-11-29"},
		{"America/New_York", "2026-11-29T04:59:59Z", "2026-11-27"},
		{"America/New_York", "2026-11-29T05:00:00Z", "2026-11-28"},
		{"Europe/Berlin", "2026-10-25T22:59:59Z", "2026-10-24"}, // the day of 25 hours
		{"Europe/Berlin", "2026-10-25T23:00:00Z", "2026-10-25"},
		{"Pacific/Apia", "2011-12-30T10:00:00Z", "2011-12-30"}, // the date that was left out is over when it would begin
	} {
		loc, now := zone(t, tt.zone), moment(t, tt.now)
		got := LastComplete(now, loc)
		if got != Day(tt.want) {
			t.Errorf("at %s in %s: %s, want %s", tt.now, tt.zone, got, tt.want)
		}
		if _, until := got.Bounds(loc); until.After(now) {
			t.Errorf("%s is not over at %s", got, now)
		}
		if _, until := got.Next().Bounds(loc); !until.After(now) {
			t.Errorf("%s is over at %s as well", got.Next(), now)
		}
	}
}
