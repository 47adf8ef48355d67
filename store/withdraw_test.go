package store_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"creditonce/internal/desk"
	"creditonce/recon"
	"creditonce/store"
)

// A withdrawal that dies at any of its writes has either not happened or happened whole, and can be asked for again.
func TestCrashInAWithdrawal_LeavesAllOrNothing(t *testing.T) {
	t.Parallel()
	died := errors.New("died here")
	for at := 0; ; at++ {
		path := filepath.Join(t.TempDir(), "store.db")
		db := open(t, path, store.Options{New: settings(), UnsafeNoSync: true})
		im, err := importFile(t.Context(), db, "d1", settled("d1", 60))
		if err != nil {
			t.Fatal(err)
		}
		puts := 0
		db.FailPuts(func(int) error {
			if puts++; puts > at {
				return died
			}
			return nil
		})
		takeBack := func(c *desk.Changes) { c.TakesOut = uint64(im.ID) }
		err = recorded(t.Context(), db, "carl", "wrong unit", time.Unix(1_800_000_100, 0), takeBack)
		db.FailPuts(nil)
		want := 60
		if err == nil {
			want = 0
		} else if !errors.Is(err, died) {
			t.Fatal(err)
		}
		if n := mustRead(t, db); n != want {
			t.Errorf("write %d, %v: %d lines count, want %d", at, err, n, want)
		}
		closeWhole(t, db)
		db = open(t, path, store.Options{UnsafeNoSync: true})
		if n := mustRead(t, db); n != want {
			t.Errorf("write %d, opened again: %d lines count, want %d", at, n, want)
		}
		if want > 0 {
			if err := recorded(t.Context(), db, "carl", "wrong unit", time.Unix(1_800_000_200, 0), takeBack); err != nil {
				t.Errorf("write %d, asked again: %v", at, err)
			}
		}
		if log, err := db.Records(t.Context(), 0, 9); err != nil || len(log) != 1 {
			t.Errorf("write %d: the audit log has %d records, %v", at, len(log), err)
		}
		if again, err := importFile(t.Context(), db, "d1", settled("d1", 60)); err != nil || again.Stored != 60 || again.ID == im.ID {
			t.Errorf("write %d, imported again: %+v, %v", at, again, err)
		}
		closeWhole(t, db)
		if err == nil {
			if at == 0 {
				t.Error("a withdrawal writes nothing")
			}
			return
		}
	}
}

// recorded writes what a person decides about the reconciliation together with its record in the audit log.
func recorded(ctx context.Context, db *store.DB, by desk.PersonID, reason string, at time.Time, with func(*desk.Changes)) error {
	_, err := db.Act(ctx, desk.Query{Now: at}, func(f desk.Found) (desk.Changes, error) {
		c := desk.Changes{Record: desk.Record{Seq: f.NextRecord, At: at.UTC(), Person: by, Deed: desk.Did, Reason: reason, Previous: f.Previous}}
		with(&c)
		return c, nil
	})
	return err
}

// A sign-off and its record in the audit log are both there or neither, wherever the disk fails.
func TestSignOff_IsRecordedOrNotThere(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	db := open(t, path, store.Options{New: settings(), UnsafeNoSync: true})
	now := time.Unix(1_800_000_000, 0).UTC()
	id, err := db.BeginRun(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	run := recon.Run{ID: id, First: "2026-11-29", Last: "2026-11-29", Zone: "UTC", State: recon.RunComplete, Started: now, Finished: now, By: "anna"}
	if err := db.FinishRun(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	died := errors.New("disk died")
	for at := 0; ; at++ {
		puts := 0
		db.FailPuts(func(int) error {
			if puts++; puts > at {
				return died
			}
			return nil
		})
		err := recorded(t.Context(), db, "carl", "read", now, func(c *desk.Changes) { c.Signs = uint64(id) })
		db.FailPuts(nil)
		got, readErr := db.Run(t.Context(), id)
		log, logErr := db.Records(t.Context(), 0, 9)
		if readErr != nil || logErr != nil || (got.SignOff != nil) != (err == nil) || (len(log) == 1) != (err == nil) {
			t.Errorf("write %d, %v: signed %+v, recorded %d (%v, %v)", at, err, got.SignOff, len(log), readErr, logErr)
		}
		if err == nil {
			if at < 2 {
				t.Errorf("only %d writes: nothing was tried between them", at)
			}
			break
		}
		if !errors.Is(err, died) {
			t.Fatal(err)
		}
	}
	closeWhole(t, db)
}
