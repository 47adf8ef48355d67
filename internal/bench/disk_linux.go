package bench

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncData is what the store's own engine calls.
func syncData(f *os.File) error { return unix.Fdatasync(int(f.Fd())) }
