//go:build !unix

package mt5

import "net"

// pending cannot be asked here; what has already been read is still checked.
func pending(*net.TCPConn) bool { return false }
