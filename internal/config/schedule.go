package config

import (
	"fmt"
	"strconv"
	"strings"
)

// cronFields are the five fields of a cron spec. The parser of the scheduler is not used here: it lets a TZ= prefix
// through, panics on some of them and takes words and descriptors (design.md §3). A test compares the two.
var cronFields = [...]struct {
	name   string
	lo, hi uint64
}{
	{"minute", 0, 59}, {"hour", 0, 23}, {"day of the month", 1, 31}, {"month", 1, 12}, {"day of the week", 0, 6},
}

// schedule reads a cron spec of five fields, or off.
func (s *section) schedule(name string, to *string) {
	s.text(name, to, func(value string) string {
		if value == "off" {
			return ""
		}
		return checkCron(value)
	})
	if *to == "off" {
		*to = ""
	}
}

// checkCron returns what is wrong with a five-field cron spec in UTC and what to do, or "".
func checkCron(spec string) string {
	const advice = "write minute hour day month weekday in UTC, such as \"30 3 * * *\", or off"
	if strings.Contains(spec, "TZ=") {
		return fmt.Sprintf("%s names a time zone, but schedules run in UTC; take the TZ= part out and convert the hour", shown(spec))
	}
	fields := strings.Fields(spec)
	if len(fields) != len(cronFields) {
		return fmt.Sprintf("%s has %d fields, not 5; %s", shown(spec), len(fields), advice)
	}
	for i, f := range cronFields {
		for part := range strings.SplitSeq(fields[i], ",") {
			if !cronPart(part, f.lo, f.hi) {
				return fmt.Sprintf("%s has the %s %s, which is not * or numbers from %d to %d; %s",
					shown(spec), f.name, shown(part), f.lo, f.hi, advice)
			}
		}
	}
	return ""
}

// cronPart reports whether part is *, n, n-m, or one of these with /step, within lo to hi.
func cronPart(part string, lo, hi uint64) bool {
	span, step, stepped := strings.Cut(part, "/")
	if stepped {
		if _, ok := cronNumber(step, 1, hi); !ok {
			return false
		}
	}
	if span == "*" {
		return true
	}
	first, last, ranged := strings.Cut(span, "-")
	from, ok := cronNumber(first, lo, hi)
	if !ok || !ranged {
		return ok
	}
	_, ok = cronNumber(last, from, hi)
	return ok
}

func cronNumber(text string, lo, hi uint64) (uint64, bool) {
	n, err := strconv.ParseUint(text, 10, 8)
	return n, err == nil && text[0] != '+' && n >= lo && n <= hi
}
