package config

import (
	"strings"
	"testing"
	"time"

	"github.com/robfig/cron/v3"
)

func TestCheckCron_AcceptsAndRefuses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ spec, says string }{
		{"30 3 * * *", ""},
		{"*/5 0-6,22-23 1,15 */3 1-5", ""},
		{"0 0 29 2 *", ""},
		{"0 0 31 2 0", ""}, // every Sunday of February
		{"7/10 0 * * *", ""},
		{"0 0 30 2 *", "never run"},
		{"0 0 31 4,6,9,11 *", "never run"},
		{"TZ=Europe/Berlin 30 3 * * *", "schedules run in UTC"},
		{"CRON_TZ=UTC 30 3 * * *", "schedules run in UTC"},
		{"TZ=0", "schedules run in UTC"},
		{"@daily", "has 1 fields"},
		{"@every 1h", "has 2 fields"},
		{"0 30 3 * * *", "has 6 fields"},
		{"60 3 * * *", `minute "60"`},
		{"30 24 * * *", `hour "24"`},
		{"30 3 0 * *", `day of the month "0"`},
		{"30 3 * 13 *", `month "13"`},
		{"30 3 * * 7", `day of the week "7"`},
		{"30 3 * JAN *", `month "JAN"`},
		{"30 3 * * ?", `day of the week "?"`},
		{"30-20 3 * * *", `minute "30-20"`},
		{"*/0 3 * * *", `minute "*/0"`},
		{"+5 3 * * *", `minute "+5"`},
		{"5, 3 * * *", `minute ""`},
		{"1-2-3 3 * * *", `minute "1-2-3"`},
		{"1/2/3 3 * * *", `minute "1/2/3"`},
	} {
		got := checkCron(test.spec)
		if (test.says == "") != (got == "") || !strings.Contains(got, test.says) {
			t.Errorf("%q: got %q, want %q", test.spec, got, test.says)
		}
	}
}

// FuzzCheckCron_WhatIsAcceptedRuns asks the scheduler's own parser: what we accept it accepts, and it fires.
func FuzzCheckCron_WhatIsAcceptedRuns(f *testing.F) {
	for _, seed := range []string{"30 3 * * *", "*/5 0-6,22-23 1,15 */3 1-5", "0 0 29 2 *", "0 0 31 2 0", "7/10 0 * * *", "TZ=0", "0 0 31 12 *"} {
		f.Add(seed)
	}
	start := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, spec string) {
		if checkCron(spec) != "" {
			return
		}
		schedule, err := cron.ParseStandard(spec)
		if err != nil {
			t.Fatalf("the scheduler refuses %q: %v", spec, err)
		}
		if schedule.Next(start).IsZero() {
			t.Fatalf("%q never fires", spec)
		}
	})
}
