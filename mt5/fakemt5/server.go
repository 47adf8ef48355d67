package fakemt5

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log" //nolint:depguard // net/http takes no other kind of logger; it is silenced here
	"maps"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Server is a running fake. All methods are safe for concurrent use.
type Server struct {
	cfg       Config
	cert      tls.Certificate
	wall      *wallClock
	book      *book
	conns     *connections
	sessions  *sessions
	faults    *faults
	counters  *counters
	endpoints map[string]endpoint
	timers    *timers
	requests  atomic.Uint64
	handlers  sync.WaitGroup
	randMu    sync.Mutex

	wireMu sync.RWMutex
	wireV  Wire

	web      *http.Server
	listener net.Listener
	control  *controlPort // nil without a control port

	stopping  chan struct{}
	closeOnce sync.Once
	closeErr  error
}

// Start brings the server up and returns when both addresses accept connections. It
// runs until Close, or until ctx ends. An existing journal is read back first.
func Start(ctx context.Context, cfg Config) (*Server, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	if cfg.Rand == nil {
		cfg.Rand = rand.Reader
	}
	s := &Server{
		cfg: cfg, faults: &faults{}, counters: newCounters(), endpoints: endpoints(),
		wall: &wallClock{clock: cfg.Clock, zone: cfg.World.Zone}, wireV: cfg.World.Wire, stopping: make(chan struct{}),
		timers:   &timers{clock: cfg.Clock},
		sessions: &sessions{clock: cfg.Clock, idle: cfg.IdleTimeout},
	}
	s.conns = newConnections(cfg.Clock, cfg.IdleTimeout, s.connGone, func() bool { return s.wire().RefuseConnections })
	if s.cert, err = cfg.certificate(); err != nil {
		return nil, fmt.Errorf("start fakemt5: %w", err)
	}
	if err := s.open(); err != nil {
		return nil, fmt.Errorf("start fakemt5: %w", err)
	}
	go func() {
		select {
		case <-ctx.Done():
			_ = s.Close()
		case <-s.stopping:
		}
	}()
	return s, nil
}

// open reads the journal, fills the book and listens.
func (s *Server) open() error {
	j, lines, err := openJournal(s.cfg.Journal)
	if err != nil {
		return err
	}
	s.book = newBook(s.wall, j, s.cfg.World.FirstTicket, s.cfg.VisibleAfter)
	if err := s.book.replay(lines); err != nil {
		return errors.Join(err, j.close())
	}
	if err := s.book.populate(s.cfg.World); err != nil {
		return errors.Join(err, j.close())
	}
	if err := j.serve(); err != nil {
		return errors.Join(err, j.close())
	}
	if err := s.listen(); err != nil {
		return errors.Join(err, j.close())
	}
	return nil
}

func (s *Server) listen() error {
	ln, err := net.Listen("tcp", s.cfg.Listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	if s.cfg.Control != "" {
		if s.control, err = openControl(s, s.cfg.Control); err != nil {
			return errors.Join(err, ln.Close())
		}
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	s.listener = ln
	s.web = &http.Server{
		Handler: http.HandlerFunc(s.serveWire), ConnContext: s.conns.accept, ConnState: s.conns.state,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{s.cert}, MinVersion: tls.VersionTLS12},
		Protocols: protocols, ErrorLog: log.New(io.Discard, "", 0),
	}
	go func() { _ = s.web.ServeTLS(ln, "", "") }()
	return nil
}

// connGone ends what lived on a connection that closed.
func (s *Server) connGone(c *connection) {
	if s.wire().Session == "cookie" || s.wire().Session == "either" {
		return
	}
	s.sessions.kill(func(o session) bool { return o.conn == c.id })
}

// Addr is the host:port of the wire.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// ControlAddr is the host:port of the control port, empty without one.
func (s *Server) ControlAddr() string {
	if s.control == nil {
		return ""
	}
	return s.control.addr()
}

// Journal returns the executed deals in order of execution, those read back at the
// start included.
func (s *Server) Journal() []JournalEntry { return s.book.journal.entries() }

// Close stops the server: connections close, held requests end without being
// executed, the journal is closed. It may be called more than once.
func (s *Server) Close() error {
	s.closeOnce.Do(func() {
		close(s.stopping)
		s.timers.stop()
		s.closeErr = s.web.Close()
		if s.control != nil {
			s.closeErr = errors.Join(s.closeErr, s.control.close())
		}
		s.handlers.Wait()
		s.closeErr = errors.Join(s.closeErr, s.book.journal.close())
	})
	return s.closeErr
}

func (s *Server) wire() Wire {
	s.wireMu.RLock()
	defer s.wireMu.RUnlock()
	return s.wireV
}

// changeWire lets change work on a copy that takes effect when it is valid.
func (s *Server) changeWire(change func(*Wire) error) (Wire, error) {
	s.wireMu.Lock()
	defer s.wireMu.Unlock()
	w := s.wireV
	w.CodeStatus = maps.Clone(w.CodeStatus) // a patch is decoded into the copy
	if err := change(&w); err != nil {
		return Wire{}, err
	}
	w, err := w.withDefaults()
	if err != nil {
		return Wire{}, err
	}
	s.wireV = w
	return w, nil
}

// timers are executions that wait for the clock and die with the server.
type timers struct {
	clock   Clock
	mu      sync.Mutex
	stopped bool
	running sync.WaitGroup
}

// after runs f when d has passed, unless the server has stopped by then.
func (t *timers) after(d time.Duration, f func()) {
	t.clock.AfterFunc(d, func() {
		t.mu.Lock()
		if t.stopped {
			t.mu.Unlock()
			return
		}
		t.running.Add(1)
		t.mu.Unlock()
		defer t.running.Done()
		f()
	})
}

// stop keeps further timers from running and waits for those that run.
func (t *timers) stop() {
	t.mu.Lock()
	t.stopped = true
	t.mu.Unlock()
	t.running.Wait()
}

// Counter counts the requests of one endpoint: Requests that came, Executed that were
// carried out (a request that a fault or a dead session stopped is not).
type Counter struct {
	Requests int `json:"requests"`
	Executed int `json:"executed"`
}

type counters struct {
	mu sync.Mutex
	by map[string]Counter
}

func newCounters() *counters { return &counters{by: map[string]Counter{}} }

func (c *counters) add(name string)      { c.change(name, Counter{Requests: 1}) }
func (c *counters) executed(name string) { c.change(name, Counter{Executed: 1}) }

func (c *counters) change(name string, by Counter) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.by[name]
	c.by[name] = Counter{now.Requests + by.Requests, now.Executed + by.Executed}
}

func (c *counters) all() map[string]Counter {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.by)
}
