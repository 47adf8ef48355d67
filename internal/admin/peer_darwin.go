package admin

import (
	"errors"
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

const peersKnown = true

// PeerOf asks the kernel who is at the other end (LOCAL_PEERCRED, unix(4)). It tells no process id.
func PeerOf(conn *net.UnixConn) (Peer, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return Peer{}, fmt.Errorf("ask who has connected: %w", err)
	}
	var cred *unix.Xucred
	var failed error
	err = raw.Control(func(fd uintptr) { cred, failed = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED) })
	if err := errors.Join(err, failed); err != nil {
		return Peer{}, fmt.Errorf("ask who has connected: %w", err)
	}
	return Peer{UID: cred.Uid}, nil
}
