//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package store

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// flock takes the file's exclusive lock; false means that somebody else has it. It ends with the file's last
// descriptor, so a killed process leaves none behind. Closing ours is not enough to end it at once: a child between
// fork and exec still has a copy, so unlock comes first.
func flock(f *os.File) (bool, error) {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, syscall.EWOULDBLOCK):
			return false, nil
		case errors.Is(err, syscall.EINTR):
		default:
			return false, fmt.Errorf("lock %s: %w", f.Name(), err)
		}
	}
}

// holdFile marks a file as in use, for as long as it is open; readers of it may do the same.
func holdFile(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// writtenTo tells whether somebody has the file for writing alone; if not, nobody gets it so while f is open.
func writtenTo(f *os.File) bool { return errors.Is(holdFile(f), syscall.EWOULDBLOCK) }

// unlock gives the lock up for every copy of the descriptor, and closes ours.
func unlock(f *os.File) error {
	return errors.Join(syscall.Flock(int(f.Fd()), syscall.LOCK_UN), f.Close())
}
