//go:build !linux && !darwin

package admin

import "net"

const peersKnown = false

// PeerOf refuses: this system does not tell who is at the other end of a socket.
func PeerOf(*net.UnixConn) (Peer, error) { return Peer{}, &UnsupportedError{} }
