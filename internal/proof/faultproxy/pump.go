package faultproxy

import (
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// lastAnswer bounds how long the server may take to finish what a client that is gone has asked for.
const lastAnswer = 5 * time.Second

// pair is one client's connection and the one to the target that belongs to it.
type pair struct {
	proxy          *Proxy
	client, target net.Conn

	once sync.Once
	dead chan struct{} // closed when the line carries nothing any more, half-open
}

// serve forwards one connection until both sides are through with it.
func (p *Proxy) serve(client net.Conn) {
	defer p.end(client)
	if !p.keep(client) {
		return
	}
	target, err := net.DialTimeout("tcp", p.target, lastAnswer)
	if err != nil {
		return // as a server that is down: the client sees its connection end
	}
	defer p.end(target)
	if !p.keep(target) {
		return
	}
	c := &pair{proxy: p, client: client, target: target, dead: make(chan struct{})}
	var answers sync.WaitGroup
	answers.Go(c.answers)
	c.bursts()
	// The client has gone, or was thrown out. The server sees that only when it has answered what it was asked.
	if t, ok := target.(*net.TCPConn); ok {
		_ = t.CloseWrite()
	}
	_ = target.SetReadDeadline(time.Now().Add(lastAnswer))
	answers.Wait()
}

// bursts pumps from the client to the target.
func (c *pair) bursts() {
	buf := make([]byte, 32<<10)
	for {
		n, err := c.client.Read(buf)
		if n > 0 {
			if c.burst(buf[:n]) != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// burst forwards what the client has written, as the fault of the moment allows.
func (c *pair) burst(b []byte) error {
	select {
	case <-c.dead:
		return nil // read, so that the client's writes succeed, and lost
	default:
	}
	switch f := c.proxy.next(); f.Kind {
	case HalfOpen:
		c.once.Do(func() { close(c.dead) })
		return nil
	case ResetAfterRequest:
		if _, err := c.target.Write(b); err != nil {
			return err
		}
		if t, ok := c.client.(*net.TCPConn); ok {
			_ = t.SetLinger(0)
		}
		_ = c.client.Close()
		return errOver
	case Latency, HoldAndRelease:
		if !c.proxy.pause(f.Delay) {
			return errOver
		}
	case Slicer:
		return slice(c.target, b)
	case Forward:
	}
	_, err := c.target.Write(b)
	return err
}

// answers pumps from the target to the client. A client that is gone is no reason to stop reading: the server must be
// able to finish.
func (c *pair) answers() {
	buf := make([]byte, 32<<10)
	for {
		n, err := c.target.Read(buf)
		if n > 0 {
			c.answer(buf[:n])
		}
		if err == nil {
			continue
		}
		select {
		case <-c.dead: // the client is not told that the other side has gone
		default:
			if t, ok := c.client.(*net.TCPConn); ok && errors.Is(err, io.EOF) {
				_ = t.CloseWrite()
			} else {
				_ = c.client.Close()
			}
		}
		return
	}
}

// answer forwards what the server has written; what cannot be delivered is lost.
func (c *pair) answer(b []byte) {
	select {
	case <-c.dead:
		return
	default:
	}
	switch f := c.proxy.line(); f.Kind {
	case Latency:
		if !c.proxy.pause(f.Delay) {
			return
		}
	case Slicer:
		_ = slice(c.client, b)
		return
	case Forward, HalfOpen, ResetAfterRequest, HoldAndRelease:
	}
	_, _ = c.client.Write(b)
}

// pieces are the lengths into which Slicer cuts, in turns: with Nagle's algorithm off, each is a packet of its own.
var pieces = [...]int{1, 2, 3, 5, 8, 13, 21, 34, 55}

func slice(to net.Conn, b []byte) error {
	for i := 0; len(b) > 0; i++ {
		n := min(pieces[i%len(pieces)], len(b))
		if _, err := to.Write(b[:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}
