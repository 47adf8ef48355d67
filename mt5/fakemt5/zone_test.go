package fakemt5

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

func TestDaylightSaving_SwitchesAtTheRulesInstants(t *testing.T) {
	t.Parallel()
	eu, us := Zone{OffsetMinutes: 120, DST: DSTEU}, Zone{OffsetMinutes: -300, DST: DSTUS}
	for _, tt := range []struct {
		zone Zone
		at   string
		want time.Duration
	}{
		{eu, "2026-03-29T00:59:59Z", 2 * time.Hour},
		{eu, "2026-03-29T01:00:00Z", 3 * time.Hour},
		{eu, "2026-10-25T00:59:59Z", 3 * time.Hour},
		{eu, "2026-10-25T01:00:00Z", 2 * time.Hour},
		{us, "2026-03-08T06:59:59Z", -5 * time.Hour},
		{us, "2026-03-08T07:00:00Z", -4 * time.Hour},
		{us, "2026-11-01T05:59:59Z", -4 * time.Hour},
		{us, "2026-11-01T06:00:00Z", -5 * time.Hour},
		{Zone{OffsetMinutes: 330}, "2026-07-01T00:00:00Z", 5*time.Hour + 30*time.Minute},
		{Zone{DST: DSTOff}, "2026-07-01T00:00:00Z", 0},
		{Zone{DST: DSTOn}, "2026-01-01T00:00:00Z", time.Hour},
	} {
		at, err := time.Parse(time.RFC3339, tt.at)
		if err != nil {
			t.Fatal(err)
		}
		if got := tt.zone.offset(at); got != tt.want {
			t.Errorf("%+v at %s: %s, want %s", tt.zone, tt.at, got, tt.want)
		}
		w := &wallClock{clock: NewManualClock(at), zone: tt.zone}
		back := w.utcOfServerMsc(w.serverMsc(at))
		// In the repeated hour the earlier instant is meant.
		if !back.Equal(at) && !back.Equal(at.Add(-time.Hour)) {
			t.Errorf("%+v: %s comes back as %s", tt.zone, at, back)
		}
	}
}

func TestZone_RefusesNonsense(t *testing.T) {
	t.Parallel()
	for _, z := range []Zone{{OffsetMinutes: 841}, {OffsetMinutes: -841}, {DST: "mars"}} {
		if z.validate() == nil {
			t.Errorf("%+v passes", z)
		}
	}
}

func TestMinor_ReadsAndPrintsPlainDecimals(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text   string
		digits int
		minor  int64
		err    error
	}{
		{"12.5", 2, 1250, nil}, {"-0.01", 2, -1, nil}, {"+7", 0, 7, nil}, {"000012", 2, 1200, nil},
		{"1000000000", 8, 1e17, nil}, {"0", 2, 0, nil},
		{"1000000000.00000001", 8, 0, errMoneyTooMuch}, {"99999999999", 2, 0, errMoneyTooMuch},
		{"1.234", 2, 0, errDecimals}, {"1.", 2, 0, errNotDecimal}, {".5", 2, 0, errNotDecimal}, {"", 2, 0, errNotDecimal},
		{"-", 2, 0, errNotDecimal}, {"--1", 2, 0, errNotDecimal}, {"1e2", 2, 0, errNotDecimal}, {"1,5", 2, 0, errNotDecimal}, {"٣", 2, 0, errNotDecimal},
	} {
		got, err := parseMinor(tt.text, tt.digits)
		if got != tt.minor || !errors.Is(err, tt.err) {
			t.Errorf("%q with %d digits: %d, %v", tt.text, tt.digits, got, err)
		}
	}
	for _, tt := range []struct {
		minor        int64
		digits       int
		plain, audit string
	}{
		{5, 2, "0.05", "0.050000"}, {-5, 2, "-0.05", "-0.050000"}, {123456, 0, "123456", "123456.000000"},
		{-123456, 3, "-123.456", "-123.456000"}, {1, 8, "0.00000001", "0.000000"}, {0, 2, "0.00", "0.000000"},
		{-1 << 63, 0, "-9223372036854775808", "-9223372036854775808.000000"},
	} {
		if got := formatMinor(tt.minor, tt.digits); got != tt.plain {
			t.Errorf("%d with %d digits: %s", tt.minor, tt.digits, got)
		}
		if got := formatMinor6(tt.minor, tt.digits); got != tt.audit {
			t.Errorf("%d with %d digits, six decimals: %s", tt.minor, tt.digits, got)
		}
	}
}

func TestMasks_StarAndExclusion(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		masks []string
		name  string
		want  bool
	}{
		{[]string{"*"}, `a\b`, true}, {[]string{`real\*`}, `real\eur`, true}, {[]string{`real\*`}, `demo\eur`, false},
		{[]string{"*", "!demo*"}, "demo1", false}, {[]string{"!demo*", "*"}, "demo1", false}, {[]string{"a*b*c"}, "axxbyyc", true},
		{[]string{"a*b*c"}, "axxcyyb", false}, {[]string{"aba*aba"}, "aba", false}, {[]string{"exact"}, "exactly", false}, {nil, "x", false},
	} {
		if got := matchMasks(tt.masks, tt.name); got != tt.want {
			t.Errorf("%v on %q: %v", tt.masks, tt.name, got)
		}
	}
}

func TestManualClock_RunsTimersInOrderAtTheirTimes(t *testing.T) {
	t.Parallel()
	c := NewManualClock(testStart)
	var log []string
	note := func(name string) func() {
		return func() { log = append(log, fmt.Sprint(name, c.Now().Sub(testStart))) }
	}
	c.AfterFunc(3*time.Second, note("c"))
	stopped := c.AfterFunc(time.Second, note("never"))
	c.AfterFunc(time.Second, func() {
		note("a")()
		c.AfterFunc(time.Second, note("b"))
	})
	if !stopped.Stop() || stopped.Stop() {
		t.Error("Stop reports wrongly")
	}
	c.Advance(3 * time.Second)
	if got := fmt.Sprint(log); got != "[a1s b2s c3s]" {
		t.Error(got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.AwaitTimer(ctx, time.Second); !errors.Is(err, context.Canceled) {
		t.Errorf("await of nothing: %v", err)
	}
}
