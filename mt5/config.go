package mt5

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"creditonce/credit"
)

// Defaults of Config.
const (
	DefaultConnectTimeout = 10 * time.Second
	DefaultCallTimeout    = 20 * time.Second
	DefaultReadTimeout    = 15 * time.Second
	DefaultOffsetFreshFor = 5 * time.Minute
	DefaultPingEvery      = 20 * time.Second // recommended, and not more often (§1.1)
	DefaultPageLimit      = 100              // the most rows a server gives (§1.3)
	DefaultAgent          = "creditonce"
)

// deadAfter is how long a connection may lie idle before it is taken for dead: the server closes it after
// 180 s (§1.1), and a close under way is the race that loses answers.
const deadAfter = 150 * time.Second

// Config describes one MT5 server and our manager on it. Zero durations and numbers take the defaults.
type Config struct {
	Label     string        // our own name for the server, in messages
	Identity  string        // the name that the server must give itself in common/get
	Addresses []string      // host:port, tried in this order
	Manager   uint64        // login of the manager account
	Password  func() []byte // its API password in UTF-8, read at every authentication, never kept
	Agent     string        // agent text; not empty, no blanks (§1.3)
	TLS       Trust

	ConnectTimeout time.Duration // for TCP and TLS together, per address
	CallTimeout    time.Duration // for one balance call, answer included
	ReadTimeout    time.Duration // for every other request
	OffsetFreshFor time.Duration // how old the measured clock offset may be
	PingEvery      time.Duration // Ready pings a session that was idle for longer
	PageLimit      int           // rows asked for in a page, 2 to 100

	// Offset is the server's clock offset as a probe measured it. A session that measures one further from it than
	// daylight saving explains tells an OffsetObserver. nil: not known.
	Offset *time.Duration

	Currencies map[string]int // account currency and its digits that money may be booked in; empty allows all
	Groups     []string       // masks of groups that money may be booked in, "*" and leading "!"; empty allows all

	Clock    credit.Clock
	Rand     io.Reader // for the authentication; crypto/rand when nil
	Observer Observer  // may be nil
	// Step is called at the boundaries B07, B08 and B13 (credit.StepPartlyWritten, StepWritten, StepLookPage),
	// before the next thing happens; it may block or end the process. With it, a balance call is written in two
	// parts. B09, answer read, is where Balance returns: the lane reports it. nil costs nothing.
	Step func(ctx context.Context, name string)

	// dial replaces the TCP dialer in tests.
	dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Server hands out the sessions of one MT5 server. Safe for concurrent use.
type Server struct {
	cfg   Config
	trust *verifier
}

// New checks the configuration and reads the CA file. It opens no connection. Errors say which setting is
// wrong and what it must be.
func New(cfg Config) (*Server, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, fmt.Errorf("mt5 %s: %w", cfg.Label, err)
	}
	trust, err := newVerifier(cfg.TLS)
	if err != nil {
		return nil, fmt.Errorf("mt5 %s: %w", cfg.Label, err)
	}
	cfg.Addresses, cfg.Groups = slices.Clone(cfg.Addresses), slices.Clone(cfg.Groups)
	return &Server{cfg: cfg, trust: trust}, nil
}

func (c Config) withDefaults() Config {
	for _, d := range []struct {
		at    *time.Duration
		value time.Duration
	}{
		{&c.ConnectTimeout, DefaultConnectTimeout}, {&c.CallTimeout, DefaultCallTimeout}, {&c.ReadTimeout, DefaultReadTimeout},
		{&c.OffsetFreshFor, DefaultOffsetFreshFor}, {&c.PingEvery, DefaultPingEvery},
	} {
		if *d.at == 0 {
			*d.at = d.value
		}
	}
	if c.PageLimit == 0 {
		c.PageLimit = DefaultPageLimit
	}
	if c.Agent == "" {
		c.Agent = DefaultAgent
	}
	if c.Rand == nil {
		c.Rand = rand.Reader
	}
	if c.Observer == nil {
		c.Observer = silent{}
	}
	return c
}

func (c Config) validate() error {
	switch {
	case c.Label == "":
		return errors.New("a label is missing")
	case c.Identity == "":
		return errors.New("identity is missing: set it to the name that the server gives itself")
	case len(c.Addresses) == 0:
		return errors.New("no address: name at least one host:port")
	case c.Manager == 0:
		return errors.New("the manager's login is missing")
	case c.Password == nil:
		return errors.New("the manager's API password is missing")
	case !plainToken(c.Agent):
		return fmt.Errorf("agent %q: use letters, digits and . _ - only", c.Agent)
	case c.PageLimit < 2 || c.PageLimit > DefaultPageLimit:
		return fmt.Errorf("page limit %d: want 2 to %d", c.PageLimit, DefaultPageLimit)
	case c.Clock == nil:
		return errors.New("no clock")
	case min(c.ConnectTimeout, c.CallTimeout, c.ReadTimeout, c.OffsetFreshFor, c.PingEvery) < 0:
		return errors.New("a duration is negative")
	case c.PingEvery >= deadAfter:
		return fmt.Errorf("ping every %s: want less than %s", c.PingEvery, deadAfter)
	}
	for _, a := range c.Addresses {
		if host, port, err := net.SplitHostPort(a); err != nil || host == "" || port == "" {
			return fmt.Errorf("address %q: want host:port", a)
		}
	}
	return nil
}

// plainToken keeps text that goes into a header or query free of anything that needs escaping.
func plainToken(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == ""
}

// Session makes session number i of the server: one connection, opened by its first Ready. Make it once and
// give it one owner.
func (s *Server) Session(i int) *Session {
	return &Session{cfg: &s.cfg, trust: s.trust, index: i}
}

// Sessions makes n sessions, numbered from 0.
func (s *Server) Sessions(n int) []*Session {
	out := make([]*Session, n)
	for i := range out {
		out[i] = s.Session(i)
	}
	return out
}

// allows says why money may not be booked on an account of this group and currency, or "".
func (c *Config) allows(group, currency string, digits int) string {
	if len(c.Groups) > 0 && !matchMasks(c.Groups, group) {
		return fmt.Sprintf("group %q is not among the groups that the configuration allows on %s", group, c.Label)
	}
	if len(c.Currencies) == 0 {
		return ""
	}
	want, known := c.Currencies[currency]
	switch {
	case !known:
		return fmt.Sprintf("account currency %q is not among the currencies that the configuration allows on %s", currency, c.Label)
	case want != digits:
		return fmt.Sprintf("accounts in %s have %d digits on %s, the configuration expects %d", currency, digits, c.Label, want)
	}
	return ""
}

// GroupMatches tells whether a group falls under masks: "*" for any text, the first mask that fits decides, "!"
// in front excludes.
func GroupMatches(masks []string, group string) bool { return matchMasks(masks, group) }

// matchMasks follows MT5's own rule for group masks: the first mask that fits decides, "!" in front excludes
// (CHM in §1.3, deal/get_batch).
func matchMasks(masks []string, name string) bool {
	for _, m := range masks {
		body, exclude := strings.CutPrefix(m, "!")
		if matchMask(body, name) {
			return !exclude
		}
	}
	return false
}

// matchMask knows "*" for any text; case counts.
func matchMask(mask, name string) bool {
	parts := strings.Split(mask, "*")
	if len(parts) == 1 {
		return mask == name
	}
	rest, ok := strings.CutPrefix(name, parts[0])
	if !ok {
		return false
	}
	last := parts[len(parts)-1]
	for _, part := range parts[1 : len(parts)-1] {
		_, after, found := strings.Cut(rest, part)
		if !found {
			return false
		}
		rest = after
	}
	return strings.HasSuffix(rest, last)
}
