//go:build unix

package mt5

import (
	"errors"
	"net"
	"syscall"
)

// pending tells whether the kernel holds bytes of the peer, or its end of stream, without waiting and without
// taking anything.
func pending(c *net.TCPConn) bool {
	raw, err := c.SyscallConn()
	if err != nil {
		return true
	}
	found := true
	err = raw.Read(func(fd uintptr) bool {
		var one [1]byte
		_, _, e := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		found = !errors.Is(e, syscall.EAGAIN) && !errors.Is(e, syscall.EWOULDBLOCK)
		return true
	})
	return err != nil || found
}
