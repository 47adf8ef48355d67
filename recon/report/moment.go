package report

import (
	"strings"
	"time"

	"creditonce/recon"
)

const (
	minutes = "2006-01-02 15:04"
	seconds = "2006-01-02 15:04:05"
)

// utc writes a moment in UTC with the zone's name; empty for none.
func utc(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(seconds) + " UTC"
}

// local writes a moment in the business zone with the zone's name of that moment; empty for none.
func local(at time.Time, loc *time.Location) string {
	if at.IsZero() {
		return ""
	}
	return at.In(loc).Format(seconds) + " " + abbreviation(at, loc)
}

// abbreviation names the zone at the moment ("CEST"); zones that have no letters are written as "UTC+03".
func abbreviation(at time.Time, loc *time.Location) string {
	name, _ := at.In(loc).Zone()
	if strings.HasPrefix(name, "+") || strings.HasPrefix(name, "-") {
		return "UTC" + name
	}
	return name
}

// both writes a moment in UTC and in the business zone where they are not the same.
func both(at time.Time, loc *time.Location) string {
	if at.IsZero() || abbreviation(at, loc) == "UTC" {
		return utc(at)
	}
	return utc(at) + " = " + local(at, loc)
}

// apart writes a moment like both, each zone on a line of its own.
func apart(at time.Time, loc *time.Location) string {
	return strings.Replace(both(at, loc), " = ", "\n", 1)
}

// interval writes the half-open interval of a run in UTC, in two lines.
func interval(r recon.Run) string {
	return r.From.UTC().Format(minutes) + " UTC (included)\nuntil " + r.Until.UTC().Format(minutes) + " UTC (excluded)"
}

// day is the business day of a moment; empty for none.
func day(at time.Time, loc *time.Location) string {
	if at.IsZero() {
		return ""
	}
	return string(recon.DayOf(at, loc))
}

// age counts the business days from a moment to the one at which the lists were read.
func age(at, read time.Time, loc *time.Location) int {
	from, fromErr := time.Parse(time.DateOnly, day(at, loc))
	until, untilErr := time.Parse(time.DateOnly, day(read, loc))
	if fromErr != nil || untilErr != nil {
		return 0
	}
	return max(0, int(until.Sub(from)/(24*time.Hour)))
}
