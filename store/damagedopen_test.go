package store_test

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"creditonce/store"
)

// bbolt panics over a damaged list of free pages. Whoever has tried to open such a file must not keep it locked: the next
// look at it, by a restore for one, would take the damage for another program.
func TestOpen_OfAFileThatBboltPanicsOver_GivesItsLockUp(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	db := open(t, path, store.Options{New: settings()})
	if err := db.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const flags, freeList, leaf = 8, 0x10, 0x02 // of a page's header, and its kinds
	for at := 0; at < len(b); at += os.Getpagesize() {
		if binary.NativeEndian.Uint16(b[at+flags:]) == freeList {
			binary.NativeEndian.PutUint16(b[at+flags:], leaf)
		}
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := store.Open(path, store.Options{}); err == nil || !strings.Contains(err.Error(), "the file is damaged") {
			t.Errorf("error %v", err)
		}
	}
}
