//go:build !linux

package mt5

import "net"

// boundSending has no portable form; keep-alive probes and the quarantine bound the sending instead.
func boundSending(*net.TCPConn) error { return nil }
