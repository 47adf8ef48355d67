package store_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"creditonce/recon"
	"creditonce/store/storetest"
)

// What a provider's list has of days between two runs is pulled too: no hole stays in the middle.
func TestPulls_LeaveNoHoleBetweenRuns(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	b.r.Lookback = 35 * 24 * time.Hour
	pulled := map[string]int{}
	b.r.Providers[0].Pull = func(_ context.Context, from, until time.Time, emit func(recon.Line) error) (recon.Statement, error) {
		pulled[from.Format(time.DateOnly)]++
		name := fmt.Sprint(from.Unix(), " ", until.Unix())
		l := storetest.Settled(name, 1, "p"+name, 500)
		l.At = from.Add(time.Hour)
		return recon.Statement{Digest: name, Provider: storetest.Bank, From: from, Until: until, Consecutive: true, Rows: 1}, emit(l)
	}
	b.day("2026-05-04")
	run := b.day("2026-05-14")
	if run.Outcome.Lines != 14 { // of the first run's four days, the hole of six, and the four of this one
		t.Errorf("%d lines, pulled %v", run.Outcome.Lines, pulled)
	}
	for d := range recon.Day("2026-05-01").Through("2026-05-14") {
		if pulled[string(d)] != 1 {
			t.Errorf("%s was pulled %d times", d, pulled[string(d)])
		}
	}
}

// A batch in the middle that nobody imported is named, and a run without it is no complete one.
func TestABatchThatIsMissingInTheMiddle_MakesTheRunIncomplete(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	b.r.Lookback = 35 * 24 * time.Hour
	b.now = time.Date(2026, 5, 5, 4, 0, 0, 0, time.UTC)
	numbered := func(digest string, number uint64) {
		t.Helper()
		id, _, _, err := b.db.BeginImport(t.Context(), storetest.Bank, digest)
		if err == nil {
			err = b.db.AddLines(t.Context(), id, []recon.Line{storetest.Settled(digest, 2, "p-"+digest, 500)})
		}
		if err == nil {
			_, err = b.db.FinishImport(t.Context(), id, recon.Statement{Digest: digest, Provider: storetest.Bank, Rows: 1, Batches: recon.BatchesOf([]uint64{number})}, "anna", b.now)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	numbered("d42", 42)
	numbered("d44", 44)
	run, err := b.r.Run(t.Context(), "2026-05-04", "2026-05-04", "anna", nil)
	if err != nil || run.State != recon.RunIncomplete || !strings.Contains(strings.Join(run.Reasons(), "\n"), "batch 43: missing between statements that are there") {
		t.Fatalf("%v, %s, %v", err, run.State, run.Reasons())
	}
	numbered("d43", 43)
	if run := b.day("2026-05-04"); run.Outcome.Lines != 3 {
		t.Errorf("%d lines", run.Outcome.Lines)
	}
}
