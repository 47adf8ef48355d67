package app

import (
	"net"
	"net/http"
	"sync"
)

// silent knows the connections of a server on which nothing was ever sent. http.Server.Shutdown waits five seconds
// for each, and every HTTP client leaves some: a second connection that it dialled and then did not need.
type silent struct {
	mu     sync.Mutex
	conns  map[net.Conn]bool
	ending bool
}

// watch makes the server report its connections; it must not serve yet.
func (s *silent) watch(server *http.Server) {
	s.conns = map[net.Conn]bool{}
	server.ConnState = func(c net.Conn, state http.ConnState) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if state != http.StateNew {
			delete(s.conns, c)
			return
		}
		if s.ending {
			_ = c.Close() // accepted just before the socket was closed
			return
		}
		s.conns[c] = true
	}
}

// close closes them all, and those that come yet: nobody has asked anything on them.
func (s *silent) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ending = true
	for c := range s.conns {
		_ = c.Close()
	}
}
