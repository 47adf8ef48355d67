//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package store_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"creditonce/store"
)

// A child that is being started has a copy of every descriptor until it runs its program; the copy here stands for it.
func TestClose_GivesTheLockUpWhileAChildStillHasACopy(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	db := open(t, path, store.Options{New: settings()})
	inherited, err := syscall.Dup(db.LockFD())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(inherited) })
	if err := db.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	again := open(t, path, store.Options{})
	if err := again.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}
