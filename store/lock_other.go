//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package store

import (
	"errors"
	"fmt"
	"os"
)

// flock refuses: without a lock that a killed process cannot leave behind, two could run on one store.
func flock(f *os.File) (bool, error) {
	return false, fmt.Errorf("lock %s: this system has no flock: %w", f.Name(), errors.ErrUnsupported)
}

func holdFile(*os.File) error { return nil }

func writtenTo(*os.File) bool { return false }

func unlock(f *os.File) error { return f.Close() }
