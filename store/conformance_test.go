package store_test

import (
	"path/filepath"
	"testing"

	"creditonce/store"
	"creditonce/store/storetest"
)

// options are those of a test's store: strict, so that bbolt checks the whole file at every commit.
func options(s storetest.Setup) store.Options {
	o := store.Options{
		New: s.New, Strict: true, UnsafeNoSync: true,
		StopClaimsBelow: s.StopClaimsBelow, RefuseIntakeBelow: s.RefuseIntakeBelow,
	}
	if s.Room != nil {
		o.Free = func(string) (uint64, error) { return s.Room(), nil }
	}
	return o
}

func open(t testing.TB, path string, o store.Options) *store.DB {
	t.Helper()
	db, err := store.Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func TestConformance(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T, s storetest.Setup) storetest.Backend {
		return open(t, filepath.Join(t.TempDir(), "store.db"), options(s))
	})
}
