package admin

import (
	"errors"
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

const peersKnown = true

// PeerOf asks the kernel who is at the other end (SO_PEERCRED, unix(7)).
func PeerOf(conn *net.UnixConn) (Peer, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return Peer{}, fmt.Errorf("ask who has connected: %w", err)
	}
	var cred *unix.Ucred
	var failed error
	err = raw.Control(func(fd uintptr) { cred, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	if err := errors.Join(err, failed); err != nil {
		return Peer{}, fmt.Errorf("ask who has connected: %w", err)
	}
	return Peer{UID: cred.Uid, PID: cred.Pid}, nil
}
