package mapped

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"creditonce/recon"
)

// tokens are the letters of a layout, longest first, and what package time calls them.
var tokens = []struct{ ours, theirs string }{
	{"YYYY", "2006"}, {"MMM", "Jan"}, {"h12", "03"}, {"MM", "01"}, {"DD", "02"}, {"hh", "15"}, {"mm", "04"}, {"ss", "05"}, {"AM", "PM"}, {"YY", "06"},
	{"M", "1"}, {"D", "2"}, {"Z", "Z07:00"}, {"z", "-0700"},
}

const layoutUnix, layoutUnixMS = "unix", "unix_ms"

// goLayout translates a layout for package time; a fraction behind the seconds is read unasked. The unix layouts come back as they are.
func goLayout(layout string) (string, error) {
	if layout == layoutUnix || layout == layoutUnixMS {
		return layout, nil
	}
	if layout == "" {
		return "", errors.New(`is missing; write how times look, such as "YYYY-MM-DD hh:mm:ss"`)
	}
	var out strings.Builder
	seen := map[string]int{}
	for rest := layout; rest != ""; {
		theirs, length := nextToken(rest)
		if length == 0 {
			c := rest[0]
			if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' && c != 'T' || c >= '0' && c <= '9' || c >= 0x80 {
				return "", fmt.Errorf("%q begins with nothing that a layout has; it is made of YYYY YY MM MMM DD hh h12 mm ss AM Z z and signs between them", rest)
			}
			out.WriteByte(c)
			rest = rest[1:]
			continue
		}
		out.WriteString(theirs)
		seen[unit(theirs)]++
		rest = rest[length:]
	}
	for _, part := range []string{"year", "month", "day"} {
		if seen[part] != 1 {
			return "", fmt.Errorf("has the %s %d times where it must have it once; write such as YYYY-MM-DD", part, seen[part])
		}
	}
	return out.String(), nil
}

func nextToken(text string) (theirs string, length int) {
	for _, t := range tokens {
		if strings.HasPrefix(text, t.ours) {
			return t.theirs, len(t.ours)
		}
	}
	return "", 0
}

func unit(theirs string) string {
	switch theirs {
	case "2006", "06":
		return "year"
	case "Jan", "01", "1":
		return "month"
	case "02", "2":
		return "day"
	}
	return theirs
}

// clock reads the times of one key.
type clock struct {
	columns []string
	layout  string
	stamp   recon.Stamp
}

// newClock makes it of a checked Time; zone holds where the Time names none.
func newClock(t Time, zone *time.Location) (clock, error) {
	if len(t.Columns) == 0 {
		return clock{}, nil
	}
	layout, err := goLayout(t.Layout)
	if err != nil {
		return clock{}, err
	}
	if t.Zone != "" {
		if zone, err = time.LoadLocation(t.Zone); err != nil {
			return clock{}, fmt.Errorf("load zone %q: %w", t.Zone, err)
		}
	}
	return clock{columns: t.Columns, layout: layout, stamp: recon.Stamp{Layout: layout, Location: zone}}, nil
}

// text is what stands in the columns.
func (c clock) text(r recon.Record) string {
	texts := make([]string, 0, 2)
	for _, column := range c.columns {
		if text := strings.TrimSpace(r.Text(column)); text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, " ")
}

// read is the zero time where there is no text and none is required.
func (c clock) read(r recon.Record, required bool) (time.Time, error) {
	text := c.text(r)
	if text == "" {
		if required {
			return time.Time{}, r.Fail("has no time in column %q", strings.Join(c.columns, `", "`))
		}
		return time.Time{}, nil
	}
	at, err := c.parse(text)
	if err != nil {
		return time.Time{}, r.Fail("column %q %s", strings.Join(c.columns, `", "`), err)
	}
	return at, nil
}

func (c clock) parse(text string) (time.Time, error) {
	if c.layout != layoutUnix && c.layout != layoutUnixMS {
		return c.stamp.Time(text)
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, errors.New("is no whole number of seconds or milliseconds")
	}
	at := time.UnixMilli(n)
	if c.layout == layoutUnix {
		at = time.Unix(n, 0)
	}
	if at = at.UTC(); at.Year() < 2000 || at.Year() > 2100 {
		return time.Time{}, errors.New("has a year outside 2000 to 2100: is it in seconds or in milliseconds?")
	}
	return at, nil
}
