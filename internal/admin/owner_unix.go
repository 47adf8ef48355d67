//go:build linux || darwin

package admin

import (
	"io/fs"
	"os/user"
	"strconv"
	"syscall"
)

// ownerOf gives the unix user that a file belongs to.
func ownerOf(info fs.FileInfo) (uid uint32, known bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return stat.Uid, true
}

// groupOf gives the unix group that a file belongs to.
func groupOf(info fs.FileInfo) (gid int, known bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(stat.Gid), true
}

// ownersOf names user and group of a file for a message.
func ownersOf(info fs.FileInfo) (owner, group string) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "unknown", "unknown"
	}
	group = strconv.FormatUint(uint64(stat.Gid), 10)
	if g, err := user.LookupGroupId(group); err == nil {
		group = g.Name
	}
	return userOf(stat.Uid), group
}
