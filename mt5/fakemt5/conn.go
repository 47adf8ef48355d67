package fakemt5

import (
	"context"
	"crypto/tls"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// connection is one TCP connection of a client. net/http serves its requests one
// after the other.
type connection struct {
	id  uint64
	net net.Conn

	mu       sync.Mutex
	pending  *challenge // auth/start without its auth/answer
	last     time.Time  // last packet
	busy     bool
	timer    Timer
	closed   bool
	previous []byte    // body of the last answer, for the desync fault
	second   time.Time // when the second began that burst counts
	burst    int       // requests within it
}

type connKey struct{}

// connections knows the open connections.
type connections struct {
	clock   Clock
	timeout time.Duration
	gone    func(*connection)
	refuse  func() bool // whether a new connection is closed at once

	mu   sync.Mutex
	next uint64
	open map[net.Conn]*connection
}

func newConnections(clock Clock, timeout time.Duration, gone func(*connection), refuse func() bool) *connections {
	return &connections{clock: clock, timeout: timeout, gone: gone, refuse: refuse, open: map[net.Conn]*connection{}}
}

// accept is http.Server.ConnContext.
func (cs *connections) accept(ctx context.Context, nc net.Conn) context.Context {
	cs.mu.Lock()
	cs.next++
	c := &connection{id: cs.next, net: nc}
	cs.open[nc] = c
	cs.mu.Unlock()
	c.mu.Lock()
	c.last = cs.clock.Now()
	cs.arm(c, cs.timeout)
	c.mu.Unlock()
	if cs.refuse() {
		c.reset()
	}
	return context.WithValue(ctx, connKey{}, c)
}

// state is http.Server.ConnState: a connection that ends takes its session along.
func (cs *connections) state(nc net.Conn, s http.ConnState) {
	if s != http.StateClosed && s != http.StateHijacked {
		return
	}
	cs.mu.Lock()
	c := cs.open[nc]
	delete(cs.open, nc)
	cs.mu.Unlock()
	if c == nil {
		return
	}
	c.mu.Lock()
	c.closed = true
	if c.timer != nil {
		c.timer.Stop()
	}
	c.mu.Unlock()
	cs.gone(c)
}

// resetAll cuts every open connection and returns how many.
func (cs *connections) resetAll() int {
	cs.mu.Lock()
	all := slices.Collect(maps.Values(cs.open))
	cs.mu.Unlock()
	for _, c := range all {
		c.reset()
	}
	return len(all)
}

// arm starts the idle timer. The caller holds c.mu.
func (cs *connections) arm(c *connection, d time.Duration) {
	if c.timer != nil {
		c.timer.Stop()
	}
	if !c.closed {
		c.timer = cs.clock.AfterFunc(d, func() { cs.expire(c) })
	}
}

// expire closes the connection when nothing came for the whole time-out.
func (cs *connections) expire(c *connection) {
	c.mu.Lock()
	left := cs.timeout - cs.clock.Now().Sub(c.last)
	if c.busy {
		left = cs.timeout
	}
	if c.closed || left > 0 {
		cs.arm(c, left)
		c.mu.Unlock()
		return
	}
	c.mu.Unlock()
	c.close()
}

// begin and end frame a request; a request in work is not idle. end is called before
// the answer is written, so that whoever has read the answer finds the timer armed.
func (cs *connections) begin(c *connection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy, c.last = true, cs.clock.Now()
}

// accepted is how many connections there have been.
func (cs *connections) accepted() uint64 {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	return cs.next
}

// floods counts a request and reports whether it is more than most within one second.
func (cs *connections) floods(c *connection, most int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := cs.clock.Now(); now.Sub(c.second) >= time.Second {
		c.second, c.burst = now, 0
	}
	c.burst++
	return most > 0 && c.burst > most
}

func (cs *connections) end(c *connection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy, c.last = false, cs.clock.Now()
	cs.arm(c, cs.timeout)
}

// close ends the connection in order: the client reads the end of the stream.
func (c *connection) close() { _ = c.net.Close() }

// reset ends the connection with a TCP reset, without a TLS good-bye.
func (c *connection) reset() {
	under := c.net
	if t, ok := under.(*tls.Conn); ok {
		under = t.NetConn()
	}
	if t, ok := under.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
	_ = under.Close()
}

// keep remembers the body of an answer and returns the one before it.
func (c *connection) keep(body []byte) (previous []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	previous, c.previous = c.previous, body
	return previous
}
