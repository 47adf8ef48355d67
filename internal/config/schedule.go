package config

import (
	"fmt"
	"math/bits"
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
	var allowed [len(cronFields)]uint64
	for i, f := range cronFields {
		for part := range strings.SplitSeq(fields[i], ",") {
			values, ok := cronPart(part, f.lo, f.hi)
			if !ok {
				return fmt.Sprintf("%s has the %s %s, which is not * or numbers from %d to %d; %s",
					shown(spec), f.name, shown(part), f.lo, f.hi, advice)
			}
			allowed[i] |= values
		}
	}
	if fields[4] == "*" && !dayExists(allowed[2], allowed[3]) {
		return fmt.Sprintf("%s names a day that none of its months has, so it would never run; %s", shown(spec), advice)
	}
	return ""
}

// dayExists reports whether one of the months (bits 1 to 12) has one of the days (bits 1 to 31).
func dayExists(days, months uint64) bool {
	earliest := bits.TrailingZeros64(days)
	for month, length := range [...]int{1: 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31} {
		if months&(1<<month) != 0 && earliest <= length {
			return true
		}
	}
	return false
}

// cronPart reads *, n, n-m, or one of these with /step, within lo to hi, and gives the values it allows as bits. As in
// the scheduler, n/step goes on to hi.
func cronPart(part string, lo, hi uint64) (values uint64, ok bool) {
	span, step, stepped := strings.Cut(part, "/")
	every := uint64(1)
	if stepped {
		if every, ok = cronNumber(step, 1, hi); !ok {
			return 0, false
		}
	}
	from, to := lo, hi
	if span != "*" {
		first, last, ranged := strings.Cut(span, "-")
		if from, ok = cronNumber(first, lo, hi); !ok {
			return 0, false
		}
		if !ranged && !stepped {
			to = from
		}
		if ranged {
			if to, ok = cronNumber(last, from, hi); !ok {
				return 0, false
			}
		}
	}
	for n := from; n <= to; n += every {
		values |= 1 << n
	}
	return values, true
}

func cronNumber(text string, lo, hi uint64) (uint64, bool) {
	n, err := strconv.ParseUint(text, 10, 8)
	return n, err == nil && n >= lo && n <= hi
}
