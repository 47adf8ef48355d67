package cli

import (
	"strings"
	"testing"

	"creditonce/internal/bench"
)

func TestBench_RefusesWrongFlagsBeforeAnythingRuns(t *testing.T) {
	t.Parallel()
	for _, arguments := range [][]string{
		{"--seconds", "0.1"}, {"--seconds", "61"}, {"--seconds", "NaN"}, {"--rounds", "0"}, {"--rounds", "21"}, {"--events", "-1"}, {"--events", "10000001"},
		{"--dir", "/nowhere/at/all"}, {"--dir", "bench_test.go"}, {"--fast"}, {"word"},
	} {
		got := run(append([]string{"bench"}, arguments...)...)
		if got.code != ExitUsage || got.stdout != "" || strings.Count(got.stderr, "\n") != 1 {
			t.Errorf("%v: %+v", arguments, got)
		}
	}
}

func TestBench_ItsLoadIsNoCommandForPeople(t *testing.T) {
	t.Parallel()
	if got := run("help"); strings.Contains(got.stdout, bench.LoadCommand) || !strings.Contains(got.stdout, "\n  bench ") {
		t.Errorf("help says:\n%s", got.stdout)
	}
	if got := run(bench.LoadCommand); got.code != ExitFailed || got.stdout != "" {
		t.Errorf("without a load on stdin: %+v", got)
	}
}

func TestPrintBench_ShowsEachFigureBesideItsLimit(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	err := printBench(&out, bench.Result{
		Disk:   bench.Disk{Overwrite: bench.Syncs{PerSecond: 5200, P50: 0.17, P99: 0.4}},
		Accept: []bench.Accept{{Connections: 128, PerSecond: 6000, P50: 17, P99: 31, PerSync: 1.15, Without: 12000, Ratio: 0.5}},
		Paced:  bench.Paced{Rate: 100, P99: 3.5, Limit: 8, Ratio: 0.44},
		Large:  &bench.Large{Events: 1_000_000, Fill: 4000, Bytes: 3_000_000_000, Open: 12, Anonymous: 21.5},
		Advice: []string{"In plain words."},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"5200", "128 connections", "12000", "0.50", "webhook at 100/s", "8.00", "1000000 events", "3000", "21.5", "\nIn plain words.\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
}
