package store_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"creditonce/store"
)

// A copy that broke off is refused with a sentence at every length; touching a page that is not there would end the
// process with a bus error.
func TestOpen_FileThatIsCutOffIsRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	made, err := store.Open(path, store.Options{New: settings()})
	if err != nil {
		t.Fatal(err)
	}
	if err := made.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	page := os.Getpagesize()
	for _, size := range []int{1, page - 1, page, page + 17, 2 * page, 2*page + 1, 3 * page, 5 * page} {
		if err := os.WriteFile(path, content[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		db, err := store.Open(path, store.Options{})
		if err == nil {
			t.Errorf("%d bytes: opened (%v)", size, db.Close(t.Context()))
			continue
		}
		if !strings.Contains(err.Error(), "restore a backup") {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}
