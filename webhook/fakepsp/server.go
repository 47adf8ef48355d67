package fakepsp

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// Config says how the simulated provider runs.
type Config struct {
	// URL is the receiver's endpoint; it must be https.
	URL string
	// CAFile is the PEM file of the CA that signed the receiver's certificate; empty: system roots.
	CAFile string
	// Secrets sign every delivery, one v1 entry each. At least one, none empty.
	Secrets []string
	// Journal is the path of the provider's own journal. An existing journal is continued: what had
	// no 2xx is delivered again.
	Journal string
	// Control is the loopback address of the control port, such as "127.0.0.1:0".
	Control string
	// Seed draws the ids and the disorder.
	Seed uint64
	// Disorder is how deliveries stray. The zero value delivers once and in order.
	Disorder Disorder
	// Backoff between attempts; default 100 ms doubling to 5 s.
	Backoff Backoff
	// Concurrency bounds how many POSTs are under way; default 16.
	Concurrency int
	// Timeout bounds one POST; default 10 s.
	Timeout time.Duration
	// Now is the clock of ids, signatures, lists and the journal. Required.
	Now func() time.Time
	// API is the provider's own API, which lists events.
	API APIConfig
}

// Server is a running provider. Its methods are safe for concurrent use.
type Server struct {
	cfg     Config
	maker   *Maker
	journal *journal
	book    *book
	courier *courier
	control *http.Server
	addr    string
	served  chan struct{}
	api     *api // nil: none

	// acting serialises what changes payments, refunds, disputes and events, so that the journal and
	// the book have one order. Attempts do not take it: they share the journal's fsync.
	acting sync.Mutex

	closing sync.RWMutex // read-held while deliveries are added, so that Close sees them all
	closed  bool
}

// Start opens the journal, the control port and goes on with what was not delivered. It runs until
// Close or until ctx ends.
func Start(ctx context.Context, cfg Config) (*Server, error) {
	cfg, err := cfg.checked()
	if err != nil {
		return nil, fmt.Errorf("start provider: %w", err)
	}
	client, err := Client(cfg.CAFile, cfg.Timeout)
	if err != nil {
		return nil, fmt.Errorf("start provider: %w", err)
	}
	post := func(ctx context.Context, body []byte, signature string) (int, error) {
		return Post(ctx, client, cfg.URL, body, signature)
	}
	return start(ctx, cfg, post)
}

func start(ctx context.Context, cfg Config, post poster) (*Server, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", cfg.Control)
	if err != nil {
		return nil, fmt.Errorf("start provider: open the control port: %w", err)
	}
	s, err := assemble(ctx, cfg, post)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start provider: %w", err), listener.Close())
	}
	if s.api, err = openAPI(ctx, s); err != nil {
		s.courier.close()
		return nil, errors.Join(fmt.Errorf("start provider: %w", err), listener.Close(), s.journal.close())
	}
	s.addr = listener.Addr().String()
	s.control = &http.Server{Handler: s.routes(), ReadHeaderTimeout: 5 * time.Second}
	go func() {
		defer close(s.served)
		// Serve ends with ErrServerClosed after Close; any other end shows at the next control call.
		_ = s.control.Serve(listener)
	}()
	context.AfterFunc(ctx, func() { _ = s.Close() })
	return s, nil
}

// assemble builds the provider without its control port and resumes the journal's deliveries.
func assemble(ctx context.Context, cfg Config, post poster) (*Server, error) {
	journal, records, err := openJournal(cfg.Journal, cfg.Now)
	if err != nil {
		return nil, err
	}
	s := &Server{
		cfg: cfg, journal: journal, book: newBook(), served: make(chan struct{}),
		// The journal's length is part of the seed: a provider that was started again on the same
		// journal must not draw the same ids again.
		maker: NewMaker(makerSeed(cfg.Seed, len(records)), cfg.Now),
	}
	s.book.enterAll(records)
	s.courier = &courier{
		post: post, secrets: cfg.Secrets, backoff: cfg.Backoff, seed: cfg.Seed, now: cfg.Now, journal: journal,
		slots: make(chan struct{}, cfg.Concurrency), onTried: s.book.tried, changed: make(chan struct{}),
	}
	s.courier.ctx, s.courier.stop = context.WithCancel(context.WithoutCancel(ctx))
	for _, d := range unfinished(records) {
		s.courier.carry(s.book.events[d.Event], []Dispatch{d})
	}
	return s, nil
}

func makerSeed(seed uint64, records int) [32]byte {
	buf := binary.BigEndian.AppendUint64([]byte("fakepsp ids"), seed)
	return sha256.Sum256(binary.BigEndian.AppendUint64(buf, uint64(records)))
}

func (c Config) checked() (Config, error) {
	target, err := url.Parse(c.URL)
	switch {
	case err != nil || target.Scheme != "https" || target.Host == "":
		return c, errors.New("the receiver's URL is not a valid https URL")
	case len(c.Secrets) == 0:
		return c, errors.New("no signing secret is given")
	case c.Journal == "":
		return c, errors.New("no journal path is given")
	case c.Now == nil:
		return c, errors.New("no clock is given")
	}
	for _, secret := range c.Secrets {
		if secret == "" {
			return c, errors.New("a signing secret is empty")
		}
	}
	if err := loopback(c.Control); err != nil {
		return c, err
	}
	if c.Backoff.First <= 0 {
		c.Backoff.First = 100 * time.Millisecond
	}
	if c.Backoff.Max < c.Backoff.First {
		c.Backoff.Max = max(5*time.Second, c.Backoff.First)
	}
	if c.Concurrency <= 0 {
		c.Concurrency = 16
	}
	if c.Timeout <= 0 {
		c.Timeout = 10 * time.Second
	}
	return c, nil
}

// loopback refuses a control address that others could reach: whoever reaches it makes payments.
func loopback(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("control address %q is not host:port", addr)
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return fmt.Errorf("control address %q is not a loopback IP address", addr)
	}
	return nil
}

// ControlAddr is the host:port on which the control port listens.
func (s *Server) ControlAddr() string { return s.addr }

// APIAddr is the host:port of the API; empty where there is none.
func (s *Server) APIAddr() string {
	if s.api == nil {
		return ""
	}
	return s.api.addr
}

// Close stops the control port and the deliveries, waits for both and closes the journal. What was
// not delivered goes on at the next Start. A second Close does nothing.
func (s *Server) Close() error {
	s.closing.Lock()
	already := s.closed
	s.closed = true
	s.closing.Unlock()
	if already {
		return nil
	}
	s.courier.close()
	var err error
	if s.control != nil {
		err = s.control.Close()
		<-s.served
	}
	return errors.Join(err, s.api.close(), s.journal.close())
}
