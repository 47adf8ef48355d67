package cli

import (
	"strings"
	"testing"

	"creditonce/internal/bench"
)

func TestBenchRecon_RefusesWrongFlagsBeforeAnythingRuns(t *testing.T) {
	t.Parallel()
	for _, arguments := range [][]string{
		{"--payments", "9999"}, {"--payments", "20000001"}, {"--payments", "many"}, {"--seconds", "0.1"}, {"--rounds", "0"}, {"--dir", "/nowhere/at/all"}, {"word"},
	} {
		got := run(append([]string{"bench", "recon"}, arguments...)...)
		if got.code != ExitUsage || got.stdout != "" || strings.Count(got.stderr, "\n") != 1 {
			t.Errorf("%v: %+v", arguments, got)
		}
	}
}

func TestBenchRecon_ItsMatcherIsNoCommandForPeople(t *testing.T) {
	t.Parallel()
	if got := run("bench", "--help"); strings.Contains(got.stdout, bench.ReconCommand+" ") || !strings.Contains(got.stdout, "\n  recon ") {
		t.Errorf("help says:\n%s", got.stdout)
	}
	if got := run("bench", bench.ReconCommand); got.code != ExitUsage {
		t.Errorf("without a number of payments: %+v", got)
	}
}

func TestPrintBenchRecon_ShowsEachFigureBesideItsLimit(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	err := printBenchRecon(&out, bench.ReconResult{
		Whole:  bench.Matching{Payments: 1_000_000, Seconds: 9.5, PerSec: 315_000, CPU: 16.25, PeakMiB: 640, Found: 1000, Planted: 1000},
		Tenth:  bench.Matching{Payments: 100_000, Seconds: 0.95},
		Ratio:  10.1,
		Beside: bench.Beside{Rate: 100, AloneP99: 7.5, P99: 9.25, Ratio: 1.23},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1000000", "9.50", "315000", "16.25", "640", "1000 of 1000", "7.50", "9.25", "10.1 times the work (limit 11)", "1.23 times that alone (limit 2)"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
}
