package store_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"creditonce/internal/desk"
	"creditonce/recon"
	"creditonce/store"
	"creditonce/store/storetest"
)

// What is imported or withdrawn while a run goes on changes nothing in it: it compares the statements that it has listed.
func TestL_AnImportDuringARun_ChangesNothingInIt(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 6, 9, 0, 0, 0, time.UTC)
	db := open(t, filepath.Join(t.TempDir(), "store.db"), store.Options{New: settings(), UnsafeNoSync: true})
	t.Cleanup(func() { _ = db.Close(context.Background()) })
	whole := func(digest string, lines ...recon.Line) recon.Imported {
		t.Helper()
		im, err := importFile(t.Context(), db, digest, lines)
		if err != nil {
			t.Fatal(err)
		}
		return im
	}
	unbatched := storetest.Settled("d1", 2, "p1", 500)
	unbatched.Batch = ""
	whole("d1", unbatched, storetest.Settled("d1", 3, "p2", 600))
	second := whole("d2", storetest.Settled("d2", 2, "p3", 700))

	during := func() {}
	r := &recon.Runner{
		Book: db, Statements: db, Importer: &recon.Importer{Book: db, Now: func() time.Time { return now }},
		Providers: []recon.ProviderList{{Provider: storetest.Bank, Delay: time.Hour, Every: 96 * time.Hour}},
		Servers: []recon.ServerList{{Label: storetest.Server, Identity: storetest.Identity, Deals: func(context.Context, time.Time, func(recon.Progress), func(recon.Deal) error) (recon.DealList, error) {
			during()
			return recon.DealList{Complete: true}, nil
		}}},
		Since: now.Add(-72 * time.Hour), Zone: time.UTC, Lookback: time.Hour, Dir: t.TempDir(), Now: func() time.Time { return now },
	}
	run := func() (recon.Run, map[string]int) {
		t.Helper()
		out, err := r.Run(t.Context(), "2026-05-04", "2026-05-04", "anna", nil)
		if err != nil {
			t.Fatal(err)
		}
		items, _, err := db.Findings(t.Context(), out.ID, 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		rows := map[string]int{}
		for _, i := range items {
			for _, l := range i.Lines {
				rows[l.Payment]++
			}
		}
		return out, rows
	}
	before, _ := run()
	during = func() {
		whole("d3", storetest.Settled("d3", 2, "p1", 500), storetest.Settled("d3", 3, "p4", 99900)) // the first counts in the place of the one without a batch
		if err := recorded(t.Context(), db, "anna", "of another account", now, func(c *desk.Changes) { c.TakesOut = uint64(second.ID) }); err != nil {
			t.Fatal(err)
		}
	}
	if same, rows := run(); same.Digest != before.Digest || same.Outcome.Lines != 3 || rows["p4"] != 0 || rows["p1"] != 1 || rows["p3"] != 1 {
		t.Errorf("an import during the run: %d lines, %v, digest %.8s, before %.8s", same.Outcome.Lines, rows, same.Digest, before.Digest)
	}
	during = func() {}
	if after, rows := run(); after.Digest == before.Digest || rows["p4"] != 1 || rows["p3"] != 0 || rows["p1"] != 1 {
		t.Errorf("the run after it: %d lines, %v", after.Outcome.Lines, rows)
	}
}
