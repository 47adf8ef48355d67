package mt5

import (
	"net"
	"syscall"
	"testing"
)

func TestDial_BoundsWhatTheKernelSendsAndDropsItAtTheEnd(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.ready()
	raw, err := r.session.wire.under.Conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	options := map[string]int{}
	err = raw.Control(func(fd uintptr) {
		for name, o := range map[string][2]int{
			"user timeout": {syscall.IPPROTO_TCP, tcpUserTimeout}, "keep-alive": {syscall.SOL_SOCKET, syscall.SO_KEEPALIVE},
			"no delay": {syscall.IPPROTO_TCP, syscall.TCP_NODELAY},
			// The first word of struct linger tells that it is on; its time is the second one, 0.
			"linger": {syscall.SOL_SOCKET, syscall.SO_LINGER},
		} {
			options[name], err = syscall.GetsockoptInt(int(fd), o[0], o[1])
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
	if err != nil || options["user timeout"] != 10_000 || options["keep-alive"] != 1 || options["linger"] != 1 || options["no delay"] != 1 {
		t.Errorf("options %v %v", options, err)
	}
}
