package cli

import (
	"strings"
	"testing"
	"time"

	"creditonce/internal/admin"
)

func TestStatus_ShowsHowFarEachListIsPulledAndWhyOneIsNot(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	s := admin.Status{Environment: "live", Mode: "live", People: 2, Credits: map[string]int{}, Pulls: []admin.Pull{
		{Provider: "stripe-eu", CompleteTo: now.Add(-time.Minute), PulledAt: now, Missed: 3, MissedAt: now.Add(-time.Hour)},
		{Provider: "stripe-us", Failing: now.Add(-20 * time.Minute), Problem: "stripe: the API key is not valid\x1b[2J"},
	}}
	var out strings.Builder
	if err := statusSheet(&out, s, now); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"lists of events pulled", "stripe-eu", "2026-11-30 11:59", "20m 0s", "stripe-us: stripe: the API key is not valid"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("status does not say %q:\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Error("a problem's control characters reach the terminal")
	}
	s.Pulls = nil
	out.Reset()
	if err := statusSheet(&out, s, now); err != nil || strings.Contains(out.String(), "pulled") {
		t.Errorf("%v, status speaks of pulls where there are none:\n%s", err, out.String())
	}
}
