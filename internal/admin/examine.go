package admin

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// SocketState is what stands at a socket's path, for a report.
type SocketState struct {
	Exists bool
	Mode   fs.FileMode
	User   string // who owns it; empty where the system does not say
	Group  string // who may open it beside that user
}

// Supported tells whether this system names the user at the other end of a socket, without which there is none.
func Supported() bool { return peersKnown }

// Examine looks at the place of the socket as Listen does, and changes nothing. The error says what would keep the service
// from making it, or operators from opening it, and how to mend that.
func Examine(path, group string) (SocketState, error) {
	if len(path) > longestPath {
		return SocketState{}, tooLong(path)
	}
	dir := filepath.Dir(path)
	folder, err := checkFolderMode(dir)
	if err == nil && os.Geteuid() != 0 { // root examines for a service of another user
		err = checkOwner(dir, folder)
	}
	if err != nil {
		return SocketState{}, err
	}
	gid := -1
	if group != "" {
		if gid, err = groupID(group); err != nil {
			return SocketState{}, err
		}
	}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return SocketState{}, nil
	case err != nil:
		return SocketState{}, fmt.Errorf("operators' socket: look at %s: %w", path, err)
	case info.Mode().Type() != fs.ModeSocket:
		return SocketState{}, notASocket(path)
	}
	s := SocketState{Exists: true, Mode: info.Mode().Perm()}
	s.User, s.Group = ownersOf(info)
	if s.Mode != socketMode {
		return s, fmt.Errorf("operators' socket: %s has mode %04o instead of %04o, so somebody changed it; restart the service, or run: chmod %04o %s",
			path, s.Mode, socketMode, socketMode, path)
	}
	if owner, known := groupOf(info); gid >= 0 && known && owner != gid {
		return s, fmt.Errorf("operators' socket: %s belongs to group %s instead of %s (admin.group), so its members cannot open it; restart the service",
			path, s.Group, strconv.Quote(group))
	}
	return s, nil
}
