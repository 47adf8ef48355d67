//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package store

import (
	"io/fs"
	"syscall"
)

// idOf tells which file it is, whatever its name.
func idOf(info fs.FileInfo) fileID {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fileID{}
	}
	return fileID{device: uint64(st.Dev), inode: uint64(st.Ino), known: true} //nolint:unconvert // their types differ by system
}
