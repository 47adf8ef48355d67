package store_test

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

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
		_, err = db.WithdrawStatement(t.Context(), im.ID, "carl", "wrong unit", time.Unix(1_800_000_100, 0))
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
			if _, err := db.WithdrawStatement(t.Context(), im.ID, "carl", "wrong unit", time.Unix(1_800_000_200, 0)); err != nil {
				t.Errorf("write %d, asked again: %v", at, err)
			}
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
