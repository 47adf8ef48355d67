package store_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"creditonce/recon"
	"creditonce/store"
)

// Of the runs after one those count that no newer complete run of the same day stands for, and none of other days.
func TestNewerRuns_AreThoseThatNoCompleteOneStandsFor(t *testing.T) {
	t.Parallel()
	db := open(t, filepath.Join(t.TempDir(), "store.db"), store.Options{New: settings(), UnsafeNoSync: true})
	t.Cleanup(func() { _ = db.Close(context.Background()) })
	at := time.Date(2026, 5, 9, 9, 0, 0, 0, time.UTC)
	run := func(first, last recon.Day, state recon.RunState) recon.Run {
		t.Helper()
		id, err := db.BeginRun(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		r := recon.Run{ID: id, First: first, Last: last, Zone: "UTC", State: state, Started: at, Finished: at, By: "anna"}
		if err := db.FinishRun(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	whole, part := recon.RunComplete, recon.RunIncomplete
	a := run("2026-05-03", "2026-05-05", whole) // 1
	run("2026-05-04", "2026-05-04", part)       // 2: past, since 3
	run("2026-05-04", "2026-05-04", whole)      // 3
	run("2026-05-06", "2026-05-06", part)       // 4: another day
	f := run("2026-05-05", "2026-05-06", part)  // 5
	for range 4 {
		run("2026-05-03", "2026-05-03", part) // 6 to 9
	}
	for _, c := range []struct {
		of   recon.Run
		want string
	}{
		{a, "complete [3] incomplete [9 8 7] of [9 8 7 6 5]"},
		{f, "complete [] incomplete [] of []"},
		{recon.Run{ID: 2, Zone: "UTC", First: "2026-05-04", Last: "2026-05-04"}, "complete [3] incomplete [] of []"},
		{recon.Run{ID: 4, Zone: "UTC", First: "2026-05-06", Last: "2026-05-06"}, "complete [] incomplete [5] of [5]"},
		{recon.Run{ID: 1, Zone: "Asia/Tokyo", First: "2026-05-03", Last: "2026-05-05"}, "complete [] incomplete [] of []"}, // days of another zone
	} {
		n, err := db.NewerRuns(t.Context(), c.of)
		if err != nil {
			t.Fatal(err)
		}
		var incomplete []recon.RunID
		for _, r := range n.Incomplete {
			incomplete = append(incomplete, r.ID)
		}
		if got := fmt.Sprintf("complete %v incomplete %v of %v", n.Again(), incomplete, n.Numbers); got != c.want {
			t.Errorf("after run %d: %s, want %s", c.of.ID, got, c.want)
		}
	}
}
