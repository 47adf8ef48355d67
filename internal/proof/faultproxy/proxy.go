package faultproxy

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// Proxy forwards connections to one target. Safe for concurrent use.
type Proxy struct {
	target string
	listen net.Listener
	done   chan struct{}
	work   sync.WaitGroup

	mu     sync.Mutex
	fault  Fault
	bursts int
	struck int
	open   map[net.Conn]bool
	closed bool
}

// Start listens on an address and forwards to target, which need not listen yet.
func Start(listen, target string) (*Proxy, error) {
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return nil, fmt.Errorf("start the fault proxy: %w", err)
	}
	p := &Proxy{target: target, listen: l, done: make(chan struct{}), open: map[net.Conn]bool{}}
	p.work.Go(p.accept)
	return p, nil
}

// Addr is where the proxy listens.
func (p *Proxy) Addr() string { return p.listen.Addr().String() }

// Set replaces the fault and counts anew how often it strikes.
func (p *Proxy) Set(f Fault) error {
	if err := f.check(); err != nil {
		return fmt.Errorf("set a fault of the proxy: %w", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault, p.bursts, p.struck = f, 0, 0
	return nil
}

// Struck is how often the fault has struck since it was set.
func (p *Proxy) Struck() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.struck
}

// Close ends the listener and all connections, and forgets what is still held.
func (p *Proxy) Close() error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil
	}
	p.closed = true
	close(p.done)
	err := p.listen.Close()
	for c := range p.open {
		_ = c.Close() // ends the pumps; whoever talks has been told
	}
	p.mu.Unlock()
	p.work.Wait()
	return err
}

func (p *Proxy) accept() {
	for {
		client, err := p.listen.Accept()
		if err != nil {
			return
		}
		p.work.Go(func() { p.serve(client) })
	}
}

// keep notes a connection for Close; false when the proxy is closed already.
func (p *Proxy) keep(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.open[c] = true
	}
	return !p.closed
}

func (p *Proxy) end(c net.Conn) {
	p.mu.Lock()
	delete(p.open, c)
	p.mu.Unlock()
	_ = c.Close() // may have been reset already
}

// next is the fault that applies to the next burst.
func (p *Proxy) next() Fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bursts++
	f := p.fault
	if f.Kind == Forward || (!f.Kind.always() && p.bursts%max(f.Every, 1) != 0) {
		return Fault{}
	}
	p.struck++
	return f
}

// line is the fault that applies to answers: only those that are a property of the line.
func (p *Proxy) line() Fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fault.Kind.always() {
		return p.fault
	}
	return Fault{}
}

// pause waits; false when the proxy was closed meanwhile.
func (p *Proxy) pause(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-p.done:
		return false
	}
}

// errOver ends a pump whose connection the fault has ended.
var errOver = errors.New("the connection is over")
