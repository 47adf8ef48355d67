package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// lockName is the lock file's name. It lies beside the store, one a directory, and is never removed or renamed:
// bbolt's own lock is on the store file, and is worth nothing once another file is renamed over it.
const lockName = "LOCK"

// AlreadyRunningError says that another process, or this one, has the store open.
type AlreadyRunningError struct {
	Path string // the lock file
	PID  int    // of the holder as it wrote it; 0 where it is not readable
}

// Error implements error.
func (e *AlreadyRunningError) Error() string {
	who := "another process"
	if e.PID > 0 {
		who = "process " + strconv.Itoa(e.PID)
	}
	return fmt.Sprintf("the store is in use by %s, which holds %s: stop it first, two must never run on one store", who, e.Path)
}

// lock takes the lock beside the store file and writes our pid into it.
func lock(path string) (*os.File, error) {
	name := filepath.Join(filepath.Dir(path), lockName)
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock file: %w", err)
	}
	taken, err := flock(f)
	if err == nil && !taken {
		err = &AlreadyRunningError{Path: name, PID: holder(f)}
	}
	if err != nil || !taken {
		_ = f.Close()
		return nil, err
	}
	if err := writePID(f); err != nil {
		return nil, errors.Join(err, unlock(f))
	}
	return f, nil
}

func writePID(f *os.File) error {
	if err := f.Truncate(0); err != nil {
		return fmt.Errorf("write the lock file: %w", err)
	}
	if _, err := f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0); err != nil {
		return fmt.Errorf("write the lock file: %w", err)
	}
	return nil
}

func holder(f *os.File) int {
	b := make([]byte, 32)
	n, _ := f.ReadAt(b, 0)
	pid, err := strconv.Atoi(strings.TrimSpace(string(b[:n])))
	if err != nil {
		return 0
	}
	return pid
}
