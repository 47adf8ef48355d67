package store

import (
	"context"
	"fmt"
	"os"
)

// fileID is which file it is, whatever its name. One that is not known is never compared.
type fileID struct {
	device, inode uint64
	known         bool
}

// MovedError says that the store's path leads to another file than the one that is open: what would be acknowledged from now
// on would be in a file that nobody finds again (protocol-holes.md §4, "two writers").
type MovedError struct {
	Path   string
	Reason string
}

// Error implements error.
func (e *MovedError) Error() string {
	return fmt.Sprintf("%s is not the file that is open any more (%s): somebody put another file there, or took it away, while the service ran; "+
		"stop the service first, and put a backup back with creditonce restore alone", e.Path, e.Reason)
}

// unmoved compares the path's file with the open one.
func unmoved(path string, open fileID) error {
	if !open.known {
		return nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return &MovedError{path, err.Error()}
	}
	if now := idOf(info); now != open {
		return &MovedError{path, fmt.Sprintf("device %d, inode %d; open is device %d, inode %d", now.device, now.inode, open.device, open.inode)}
	}
	return nil
}

// SeeFile stops the store where its path leads to another file now. The committer sees to it before every commit; this is
// for a store that nobody writes to.
func (db *DB) SeeFile(ctx context.Context) error {
	return db.committer.do(ctx, &operation{alone: func() error {
		if err := unmoved(db.path, db.file); err != nil {
			db.committer.stop(err)
			return db.committer.stopError()
		}
		return nil
	}})
}

// SameDisk tells whether two existing paths are on one device, as far as the system tells.
func SameDisk(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	if err != nil {
		return false
	}
	x, y := idOf(first), idOf(second)
	return x.known && y.known && x.device == y.device
}
