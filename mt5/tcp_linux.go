package mt5

import (
	"net"
	"syscall"
)

// tcpUserTimeout is TCP_USER_TIMEOUT of linux/tcp.h; package syscall does not name it.
const tcpUserTimeout = 0x12

// boundSending makes the kernel give up on bytes that the peer does not acknowledge within 10 s. It bounds how
// long a request can travel after we, or our process, are gone (protocol-holes.md §5.2, T_net).
func boundSending(c *net.TCPConn) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var set error
	err = raw.Control(func(fd uintptr) {
		set = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, int(sendingBound.Milliseconds()))
	})
	if err != nil {
		return err
	}
	return set
}
