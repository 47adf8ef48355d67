package store_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"creditonce/recon"
	"creditonce/store"
)

// What a run showed of a difference is found wherever it stands among the run's items, and is not there when they are removed.
func TestLastItem_IsThatOfTheNewestRunThatShowedIt(t *testing.T) {
	t.Parallel()
	db := open(t, filepath.Join(t.TempDir(), "store.db"), store.Options{New: settings(), UnsafeNoSync: true})
	now := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	item := func(n int, why string) recon.Item {
		class := recon.Waiting
		if n%2000 == 1 { // few are differences
			class = recon.SettledWithoutCredit
		}
		return recon.Item{Key: recon.Key{Class: class, Entity: fmt.Sprintf("payment/psp/acct <&> /pi_%d", n)}, Side: recon.SideProvider, At: now, Why: why}
	}
	compared := func(items int, why string) recon.Run {
		t.Helper()
		id, err := db.BeginRun(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		run := recon.Run{ID: id, First: "2026-11-29", Last: "2026-11-29", Zone: "UTC", State: recon.RunComplete, Started: now, Finished: now, By: "anna", Findings: items}
		for from := 0; from < items; from += 250 {
			var piece []recon.Item
			for n := from; n < min(from+250, items); n++ {
				piece = append(piece, item(n, why))
			}
			_, carryErr := db.Carry(t.Context(), run, piece)
			if err := db.SaveFindings(t.Context(), id, piece); err != nil || carryErr != nil {
				t.Fatal(err, carryErr)
			}
		}
		if err := db.FinishRun(t.Context(), run); err != nil {
			t.Fatal(err)
		}
		return run
	}
	first := compared(6500, "first")
	second := compared(3000, "second")
	for n, want := range map[int]recon.Run{1: second, 2001: second, 4001: first, 6001: first} {
		got, run, ok, err := db.LastItem(t.Context(), item(n, "").Key)
		if err != nil || !ok || run != want.ID || got.Key != item(n, "").Key || got.Why != map[recon.RunID]string{first.ID: "first", second.ID: "second"}[want.ID] {
			t.Errorf("item %d: %+v of run %d, %t, %v", n, got, run, ok, err)
		}
	}
	if got, _, ok, err := db.LastItem(t.Context(), item(8001, "").Key); ok || err != nil {
		t.Errorf("a difference that never was: %+v, %v", got, err)
	}
	third := compared(1, "third")
	for n := 1; n > 0; {
		var err error
		if n, err = db.PurgeRuns(t.Context(), third.ID); err != nil {
			t.Fatal(err)
		}
	}
	if got, _, ok, err := db.LastItem(t.Context(), item(4001, "").Key); ok || err != nil {
		t.Errorf("the items of the run are removed, and it shows %+v, %v", got, err)
	}
	closeWhole(t, db)
}
