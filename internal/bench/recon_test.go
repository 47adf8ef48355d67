package bench_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"creditonce/internal/bench"
)

func reconOptions(t *testing.T, dir string, progress *heard) bench.ReconOptions {
	t.Helper()
	o := options(t, dir, progress)
	return bench.ReconOptions{Programs: o.Programs, Dir: dir, Payments: 10_000, Span: 500 * time.Millisecond, Rounds: 1, Progress: progress}
}

func TestRunReconBench_MeasuresEverythingAndLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it runs the whole service for some seconds")
	}
	dir, progress := t.TempDir(), &heard{}
	r, err := bench.RunReconBench(t.Context(), reconOptions(t, dir, progress))
	if err != nil {
		t.Fatalf("%v\n%s", err, progress.text.String())
	}
	wantEmpty(t, dir)
	for name, m := range map[string]bench.Matching{"all": r.Whole, "one core": r.OneCPU} {
		if m.Payments != 10_000 || m.Found != 10 || m.Planted != 10 || m.Seconds <= 0 || m.Entries < 29_990 {
			t.Errorf("%s: %+v", name, m)
		}
	}
	if r.OneCPU.Cores != 1 || r.Tenth.Payments != 1000 || r.Tenth.Found != 1 || r.Ratio <= 0 {
		t.Errorf("one core %+v, a tenth %+v, ratio %v", r.OneCPU, r.Tenth, r.Ratio)
	}
	if r.Beside.AloneP99 <= 0 || r.Beside.P99 <= 0 || r.Beside.Ratio <= 0 {
		t.Errorf("beside the listener: %+v", r.Beside)
	}
}

func TestRunReconBench_EndedEarlyLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it runs the whole service for some seconds")
	}
	for _, at := range []string{"three lists of 1000 ", "webhooks at 100 a second, beside"} {
		ctx, cancel := context.WithCancel(t.Context())
		dir := t.TempDir()
		progress := &heard{line: func(line string) {
			if strings.HasPrefix(line, at) {
				cancel()
			}
		}}
		_, err := bench.RunReconBench(ctx, reconOptions(t, dir, progress))
		cancel()
		if !errors.Is(err, context.Canceled) && (err == nil || ctx.Err() == nil) {
			t.Errorf("%s: %v", at, err)
		}
		wantEmpty(t, dir)
	}
}
