//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package store_test

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"

	"creditonce/store"
)

// Nothing opens a pipe, a device or a folder in place of a store file: the first would wait for ever, the second never end.
func TestWhatIsNoFile_IsNeverOpened(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, "/dev/zero", dir} {
		_, reading := store.OpenReading(path)
		_, _, settings := store.ReadSettings(path)
		_, verified := store.VerifyFile(t.Context(), path, nil)
		_, restored := store.Restore(t.Context(), filepath.Join(t.TempDir(), "store.db"), store.RestoreOptions{From: path})
		for name, err := range map[string]error{"reading": reading, "settings": settings, "verify": verified, "restore": restored} {
			if !errors.Is(err, store.ErrNoFile) {
				t.Errorf("%s of %s: %v", name, path, err)
			}
		}
	}
	if _, err := store.Open(pipe, store.Options{}); !errors.Is(err, store.ErrNoFile) {
		t.Errorf("open: %v", err)
	}
}
