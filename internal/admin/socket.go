package admin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// SocketName is the socket's file in the data directory when the configuration names no other.
const SocketName = "admin.sock"

const (
	// socketMode lets the service's user and the socket's group in.
	socketMode fs.FileMode = 0o660
	// othersMayWrite are the bits of a folder that let somebody else put a socket of his own in our place.
	othersMayWrite fs.FileMode = 0o022
	// longestPath is what every supported system takes as a socket's path (sockaddr_un: 104 bytes with the final 0).
	longestPath = 103
	// answerWithin is how long another service may take to accept before its socket counts as left behind.
	answerWithin = time.Second
)

// Listen makes the socket at path with mode 0660, given to group where one is named (a name or a number). Its folder
// must exist, belong to this process's user or root, and be writable by nobody else. A socket that an ended process
// left is replaced; one that somebody answers on, or a file of another kind, is an error and stays.
func Listen(ctx context.Context, path, group string) (net.Listener, error) {
	if !peersKnown {
		return nil, &UnsupportedError{}
	}
	if len(path) > longestPath {
		return nil, tooLong(path)
	}
	if err := checkFolder(filepath.Dir(path)); err != nil {
		return nil, err
	}
	if err := removeStale(ctx, path); err != nil {
		return nil, err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("operators' socket: listen on %s: %w; see who may write to the folder", path, err)
	}
	// Between Listen and here the mode is what the umask left. Who connects meanwhile is asked for his unix user like
	// everybody else: the mode is the second lock, not the first.
	if err := protect(path, group); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

func tooLong(path string) error {
	return fmt.Errorf("operators' socket %s: the path has %d bytes, a socket's may have %d; set admin.socket to a shorter one, such as /run/creditonce/%s",
		path, len(path), longestPath, SocketName)
}

func notASocket(path string) error {
	return fmt.Errorf("operators' socket: %s exists and is no socket; move it away, or set admin.socket to another path", path)
}

// UnsupportedError says that this system does not tell which user is at the other end of a socket.
type UnsupportedError struct{}

// Error implements error.
func (*UnsupportedError) Error() string {
	return "the operators' socket needs a system that names the user at its other end (Linux or macOS); operators' commands do not work here"
}

func checkFolder(dir string) error {
	info, err := checkFolderMode(dir)
	if err != nil {
		return err
	}
	return checkOwner(dir, info)
}

// checkFolderMode refuses what is no folder, and a folder that others may write.
func checkFolderMode(dir string) (fs.FileInfo, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, fmt.Errorf("operators' socket: look at its folder: %w; make it, or set admin.socket to a path whose folder exists", err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("operators' socket: %s is no folder; correct admin.socket", dir)
	}
	if mode := info.Mode(); mode.Perm()&othersMayWrite != 0 {
		return nil, fmt.Errorf("operators' socket: the folder %s has mode %04o, so others could put a socket of their own in its place; run: chmod go-w %s",
			dir, mode.Perm(), dir)
	}
	return info, nil
}

// checkOwner refuses a folder of somebody who is neither root nor this process's user.
func checkOwner(dir string, info fs.FileInfo) error {
	if uid, known := ownerOf(info); known && uid != 0 && int(uid) != os.Geteuid() {
		return fmt.Errorf("operators' socket: the folder %s belongs to user %s, who could replace the socket; give it to the service's user: chown %s %s",
			dir, userOf(uid), userOf(uint32(os.Geteuid())), dir)
	}
	return nil
}

// removeStale removes the socket of a process that is gone. Nobody answering is the evidence: a process id in a file
// may long belong to somebody else.
func removeStale(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("operators' socket: look at %s: %w", path, err)
	case info.Mode().Type() != fs.ModeSocket:
		return notASocket(path)
	}
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "unix", path)
	if err == nil {
		_ = conn.Close() // it was opened to be closed
		return fmt.Errorf("operators' socket: another service answers at %s; give this one its own data_dir or admin.socket", path)
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("operators' socket: ask who answers at %s: %w; it stays until somebody removes it", path, err)
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("operators' socket: remove what an ended service left: %w", err)
	}
	return nil
}

// protect gives the socket to the group and then opens it to the group, in this order: never to a group not meant.
func protect(path, group string) error {
	if group != "" {
		gid, err := groupID(group)
		if err != nil {
			return err
		}
		if err := os.Chown(path, -1, gid); err != nil {
			return fmt.Errorf("operators' socket: give %s to group %s: %w; the service's user must be a member of it", path, group, err)
		}
	}
	if err := os.Chmod(path, socketMode); err != nil {
		return fmt.Errorf("operators' socket: set the mode of %s: %w", path, err)
	}
	return nil
}

func groupID(group string) (int, error) {
	if id, err := strconv.Atoi(group); err == nil {
		return id, nil
	}
	g, err := user.LookupGroup(group)
	if err != nil {
		return 0, fmt.Errorf("operators' socket: admin.group: %w; make the group (groupadd %s), or correct the name", err, group)
	}
	return strconv.Atoi(g.Gid)
}

// userOf names a unix user for a message.
func userOf(uid uint32) string {
	if name, err := UserName(uid); err == nil {
		return name
	}
	return strconv.FormatUint(uint64(uid), 10)
}
