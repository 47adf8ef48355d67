package recon

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// servers are clocks as brokers run them.
func servers(t *testing.T) map[string]ServerClock {
	t.Helper()
	return map[string]ServerClock{
		"New York and seven hours": {Location: zone(t, "America/New_York"), Ahead: 7 * time.Hour},
		"Athens":                   {Location: zone(t, "Europe/Athens")},
		"UTC":                      {Location: time.UTC},
		"Lord Howe":                {Location: zone(t, "Australia/Lord_Howe")}, // changes by half an hour
		"measured":                 {Measured: -4*time.Hour - 30*time.Minute},
	}
}

func TestServerClock_UTCUndoesTheOffsetThatHeldThen(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	rng := rand.New(rand.NewPCG(seed, 7))
	begin, end := moment(t, "2020-01-01T00:00:00Z").Unix(), moment(t, "2030-01-01T00:00:00Z").Unix()
	for name, c := range servers(t) {
		for range 20_000 {
			at := time.Unix(begin+rng.Int64N(end-begin), 0).UTC()
			shown := at.Add(c.Offset(at)).Unix()
			got := c.UTC(shown)
			if got.Equal(at) {
				continue
			}
			// Only the second of two equal hours may come out as the first.
			if d := at.Sub(got); d <= 0 || d > time.Hour || got.Add(c.Offset(got)).Unix() != shown {
				t.Fatalf("seed %d: %s: %s came back as %s", seed, name, at, got)
			}
		}
	}
}

func TestServerClock_HoursThatComeTwiceOrNeverAreDecidedOneWay(t *testing.T) {
	t.Parallel()
	all := servers(t)
	for _, tt := range []struct{ server, shown, want string }{
		{"New York and seven hours", "2026-11-01T08:30:00Z", "2026-11-01T05:30:00Z"}, // comes twice: the first
		{"New York and seven hours", "2026-11-01T07:59:59Z", "2026-11-01T04:59:59Z"},
		{"New York and seven hours", "2026-11-01T09:00:00Z", "2026-11-01T07:00:00Z"},
		{"New York and seven hours", "2026-03-08T09:30:00Z", "2026-03-08T07:30:00Z"}, // skipped: as before the change
		{"New York and seven hours", "2026-03-08T08:59:59Z", "2026-03-08T06:59:59Z"},
		{"New York and seven hours", "2026-03-08T10:00:00Z", "2026-03-08T07:00:00Z"},
		{"Athens", "2026-10-25T03:30:00Z", "2026-10-25T00:30:00Z"},
		{"Athens", "2026-10-25T04:00:00Z", "2026-10-25T02:00:00Z"},
		{"Athens", "2026-03-29T03:30:00Z", "2026-03-29T01:30:00Z"},
		{"Athens", "2026-03-29T04:00:00Z", "2026-03-29T01:00:00Z"},
		{"Lord Howe", "2026-04-05T01:45:00Z", "2026-04-04T14:45:00Z"},
		{"measured", "2026-07-01T12:00:00Z", "2026-07-01T16:30:00Z"},
	} {
		if got := all[tt.server].UTC(moment(t, tt.shown).Unix()); got != moment(t, tt.want) {
			t.Errorf("%s: the server showed %s: %s, want %s", tt.server, tt.shown, got, tt.want)
		}
	}
}

// What a trader pays at half past eleven in the evening, UTC, in the weeks in which clocks change.
func TestServerClock_DealsAt2330UTCAreOnTheRightBusinessDay(t *testing.T) {
	t.Parallel()
	all := servers(t)
	for _, tt := range []struct {
		date string // of 23:30 UTC
		days map[string]Day
	}{
		{"2026-03-07", map[string]Day{"Europe/Berlin": "2026-03-08", "America/New_York": "2026-03-07", "Asia/Nicosia": "2026-03-08"}},
		{"2026-03-08", map[string]Day{"Europe/Berlin": "2026-03-09", "America/New_York": "2026-03-08", "Asia/Nicosia": "2026-03-09"}}, // US clocks changed
		{"2026-03-28", map[string]Day{"Europe/Berlin": "2026-03-29", "America/New_York": "2026-03-28", "Asia/Nicosia": "2026-03-29"}},
		{"2026-03-29", map[string]Day{"Europe/Berlin": "2026-03-30", "America/New_York": "2026-03-29", "Asia/Nicosia": "2026-03-30"}}, // EU clocks changed
		{"2026-10-24", map[string]Day{"Europe/Berlin": "2026-10-25", "America/New_York": "2026-10-24", "Asia/Nicosia": "2026-10-25"}},
		{"2026-10-25", map[string]Day{"Europe/Berlin": "2026-10-26", "America/New_York": "2026-10-25", "Asia/Nicosia": "2026-10-26"}}, // EU clocks changed
		{"2026-10-31", map[string]Day{"Europe/Berlin": "2026-11-01", "America/New_York": "2026-10-31", "Asia/Nicosia": "2026-11-01"}},
		{"2026-11-01", map[string]Day{"Europe/Berlin": "2026-11-02", "America/New_York": "2026-11-01", "Asia/Nicosia": "2026-11-02"}}, // US clocks changed
	} {
		at := moment(t, tt.date+"T23:30:00Z")
		for _, server := range []string{"New York and seven hours", "Athens"} {
			c := all[server]
			got := c.UTC(at.Add(c.Offset(at)).Unix())
			if got != at {
				t.Errorf("%s: %s came back as %s", server, at, got)
			}
			for name, want := range tt.days {
				if day := DayOf(got, zone(t, name)); day != want {
					t.Errorf("%s: %s is on %s in %s, want %s", server, at, day, name, want)
				}
			}
		}
	}
}

func TestServerClock_ARuleThatIsWrongSaysSo(t *testing.T) {
	t.Parallel()
	all := servers(t)
	for _, tt := range []struct {
		server, now string
		measured    time.Duration
		want        string
	}{
		{"Athens", "2026-07-01T12:00:00Z", 2 * time.Hour, "the server's clock is +2h, the rule gives +3h; correct mt5.servers.main.clock"},
		{"Athens", "2026-07-01T12:00:00Z", 3 * time.Hour, ""},
		{"Athens", "2026-10-25T01:30:00Z", 3 * time.Hour, "the server's clock is +3h, the rule gives +2h: clocks changed less than an hour ago, and the server follows late; run again in an hour"},
		{"Athens", "2026-10-25T02:30:00Z", 3 * time.Hour, "the server's clock is +3h, the rule gives +2h; correct mt5.servers.main.clock"},
		{"New York and seven hours", "2026-03-20T12:00:00Z", 3 * time.Hour, ""}, // EU clocks have not changed yet
		{"Athens", "2026-03-20T12:00:00Z", 3 * time.Hour, "the server's clock is +3h, the rule gives +2h; correct mt5.servers.main.clock"},
		{"UTC", "2026-03-20T12:00:00Z", -4*time.Hour - 30*time.Minute, "the server's clock is -4h30m, the rule gives +0h; correct mt5.servers.main.clock"},
		{"measured", "2026-03-20T12:00:00Z", time.Hour, ""},
	} {
		if got := all[tt.server].Contradicts(tt.measured, moment(t, tt.now), "main"); got != tt.want {
			t.Errorf("%s at %s: %q, want %q", tt.server, tt.now, got, tt.want)
		}
	}
}

func TestServerClock_WithoutARuleAChangeOfClocksIsNamed(t *testing.T) {
	t.Parallel()
	c := ServerClock{Measured: 2 * time.Hour}
	for _, tt := range []struct{ from, until, want string }{
		{"2026-10-01T00:00:00Z", "2026-10-20T00:00:00Z", ""},
		{"2026-10-20T00:00:00Z", "2026-10-28T00:00:00Z", "EU clocks changed on 2026-10-25"},
		{"2026-10-28T00:00:00Z", "2026-11-03T00:00:00Z", "US clocks changed on 2026-11-01"},
		{"2026-10-25T01:00:00Z", "2026-10-28T00:00:00Z", ""}, // it begins with the change
		{"2026-03-01T00:00:00Z", "2026-03-20T00:00:00Z", "the server's clock is taken as +2h throughout, but US clocks changed on 2026-03-08: deals before it may be an hour off; set mt5.servers.main.clock"},
	} {
		got := c.doubt(moment(t, tt.from), moment(t, tt.until), "main")
		if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s to %s: %q, want %q", tt.from, tt.until, got, tt.want)
		}
	}
	if got := servers(t)["Athens"].doubt(moment(t, "2026-01-01T00:00:00Z"), moment(t, "2026-12-01T00:00:00Z"), "main"); got != "" {
		t.Errorf("with a rule: %q", got)
	}
}
