package bench_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"creditonce/internal/bench"
	"creditonce/internal/cli"
)

// heard is the progress of a run, line by line.
type heard struct {
	mu   sync.Mutex
	text strings.Builder
	line func(string)
}

func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.line != nil {
		h.line(string(p))
	}
	return h.text.Write(p)
}

func options(t *testing.T, dir string, progress *heard) bench.Options {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return bench.Options{
		Programs: bench.Programs{Executable: self, Env: []string{cli.ChildVariable + "=1"}},
		Dir:      dir, Span: 500 * time.Millisecond, Rounds: 1, Events: 300, TLS: true, Progress: progress,
	}
}

func wantEmpty(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) > 0 {
		t.Errorf("left behind: %v", entries)
	}
}

func TestRun_MeasuresEverythingAndLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it runs the whole service for some seconds")
	}
	dir, progress := t.TempDir(), &heard{}
	r, err := bench.Run(t.Context(), options(t, dir, progress))
	if err != nil {
		t.Fatalf("%v\n%s", err, progress.text.String())
	}
	wantEmpty(t, dir)
	above := func(name string, value float64) {
		t.Helper()
		if value <= 0 {
			t.Errorf("%s is %v", name, value)
		}
	}
	above("overwrites", r.Disk.Overwrite.PerSecond)
	above("appends", r.Disk.Append.PerSecond)
	above("p99 of an append", r.Disk.Append.P99)
	if len(r.Accept) != len(bench.Connections) || len(r.Store) != len(bench.Connections) {
		t.Fatalf("%d rows of webhooks and %d of lanes", len(r.Accept), len(r.Store))
	}
	webhooks := 0.0
	for i, n := range bench.Connections {
		if r.Accept[i].Connections != n || r.Store[i].Lanes != n {
			t.Errorf("row %d is of %d connections and %d lanes", i, r.Accept[i].Connections, r.Store[i].Lanes)
		}
		webhooks += r.Accept[i].PerSync // one row may be 0: on a crowded machine a batch of 128 outlasts so short a span
		above("rows in the store", r.Store[i].PerSync)
	}
	above("webhooks a sync", webhooks)
	above("the paced p99", r.Paced.Ratio)
	above("the portal's look", r.Lookup.Ratio)
	above("rows at the fake MT5 server", r.Wire.PerSync)
	if r.Large == nil || r.Large.Events != 300 || r.Large.Bytes == 0 || r.Large.Open <= 0 || r.Large.Serving <= 0 {
		t.Errorf("of the filled store: %+v", r.Large)
	}
	if len(r.Advice) < 2 {
		t.Errorf("advice: %q", r.Advice)
	}
	if _, err := json.Marshal(r); err != nil {
		t.Error(err)
	}
}

func TestRun_EndedEarlyLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"disk", "webhooks over 32", "the portal's look"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			if testing.Short() {
				t.Skip("it runs the whole service for some seconds")
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			dir := t.TempDir()
			progress := &heard{line: func(line string) {
				if strings.HasPrefix(line, at) {
					cancel()
				}
			}}
			o := options(t, dir, progress)
			o.Events, o.TLS = 0, false
			if _, err := bench.Run(ctx, o); !errors.Is(err, context.Canceled) && (err == nil || ctx.Err() == nil) {
				t.Errorf("got %v", err)
			}
			wantEmpty(t, dir)
		})
	}
}
