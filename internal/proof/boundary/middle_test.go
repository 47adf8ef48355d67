// Package boundary tries what two machines can do to each other over HTTP: between the MT5 client and a server that
// executes every call, and before the public listener. All of it runs over real sockets.
package boundary

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"strings"
	"sync"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/mt5"
	"creditonce/mt5/fakemt5"
)

const (
	manager  = 1007
	password = "Fund5Bridge!"
	identity = "ExampleBroker-Live"
	login    = 500123 // EUR
)

// realClock is the host's time.
type realClock struct{ began time.Time }

func (realClock) Now() time.Time        { return time.Now().UTC() }
func (c realClock) Boot() time.Duration { return time.Since(c.began) }
func (realClock) Wait(ctx context.Context, _ time.Duration, _ <-chan struct{}) error {
	<-ctx.Done()
	return ctx.Err()
}

// exchange is one request that has come from the client, and what can be done with it.
type exchange struct {
	down    net.Conn // to the client, TLS
	request *http.Request
	raw     []byte // the request as it came
	up      net.Conn
	in      *bufio.Reader
}

// endpoint is what was asked: "trade/balance".
func (x exchange) endpoint() string { return strings.TrimPrefix(x.request.URL.Path, "/api/") }

// execute hands the request to the server, which executes it, and returns the answer as it would go to the client.
func (x exchange) execute() []byte {
	if _, err := x.up.Write(x.raw); err != nil {
		return nil
	}
	resp, err := http.ReadResponse(x.in, x.request)
	if err != nil {
		return nil
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := httputil.DumpResponse(resp, true)
	if err != nil {
		return nil
	}
	return text
}

// reset ends the client's connection without a good-bye.
func (x exchange) reset() {
	raw := x.down.(*tls.Conn).NetConn().(*net.TCPConn)
	_ = raw.SetLinger(0)
	_ = raw.Close()
}

// finish ends the connection's writing side with FIN, with or without the good-bye of TLS.
func (x exchange) finish(goodBye bool) {
	secure := x.down.(*tls.Conn)
	if goodBye {
		_ = secure.CloseWrite()
	}
	_ = secure.NetConn().(*net.TCPConn).CloseWrite()
	_, _ = io.Copy(io.Discard, secure.NetConn()) // until the client has ended it too
}

func (x exchange) send(text []byte) bool {
	_, err := x.down.Write(text)
	return err == nil
}

// hook does something with a request; false ends the connection.
type hook func(x exchange) bool

// middle stands between the client and a fake MT5 server. It hands requests and answers on, but where its hook does
// something else. It keeps every byte that the client sent.
type middle struct {
	address string
	pem     []byte
	fake    *fakemt5.Server
	pool    *x509.CertPool

	mu      sync.Mutex
	hook    hook
	ahead   func(net.Conn) bool // is called when the first bytes of a balance call have come; false: the call is not read
	conns   int
	asked   []string // "1 trade/balance", with the number of the connection
	sent    bytes.Buffer
	running sync.WaitGroup
	open    map[net.Conn]bool
}

func newMiddle(t *testing.T) *middle {
	t.Helper()
	fake, err := fakemt5.Start(t.Context(), fakemt5.Config{World: fakemt5.World{
		Server: identity, Zone: fakemt5.Zone{OffsetMinutes: 120},
		Managers: []fakemt5.Manager{{Login: manager, Password: password}},
		Groups:   []fakemt5.Group{{Name: `real\eur`, Currency: "EUR", Digits: 2}},
		Accounts: []fakemt5.Account{{Login: login, Group: `real\eur`, Balance: 100_00}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	m := &middle{fake: fake, pool: x509.NewCertPool(), open: map[net.Conn]bool{}}
	m.pool.AppendCertsFromPEM(fake.CertPEM())
	s := httptest.NewUnstartedServer(nil)
	s.StartTLS()
	cert := s.TLS.Certificates[0]
	m.pem = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	s.Close()
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{cert}})
	if err != nil {
		t.Fatal(err)
	}
	m.address = l.Addr().String()
	t.Cleanup(func() {
		_ = l.Close()
		m.mu.Lock()
		for c := range m.open {
			_ = c.Close()
		}
		m.mu.Unlock()
		m.running.Wait()
		if err := fake.Close(); err != nil {
			t.Error(err)
		}
		m.checkSent(t)
	})
	m.running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			m.running.Go(func() { m.serve(c) })
		}
	})
	return m
}

// do sets the hook.
func (m *middle) do(h hook) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.hook = h
}

// on sets the hook for balance calls alone.
func (m *middle) on(endpoint string, h hook) {
	m.do(func(x exchange) bool {
		if x.endpoint() != endpoint {
			return x.send(x.execute())
		}
		return h(x)
	})
}

func (m *middle) track(c net.Conn, is bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if is {
		m.open[c] = true
		return
	}
	delete(m.open, c)
}

// keeping writes down what passes.
type keeping struct {
	net.Conn
	keep func([]byte)
}

func (k keeping) Read(b []byte) (int, error) {
	n, err := k.Conn.Read(b)
	k.keep(b[:n])
	return n, err
}

func (m *middle) serve(down net.Conn) {
	m.track(down, true)
	defer func() { m.track(down, false); _ = down.Close() }()
	up, err := tls.Dial("tcp", m.fake.Addr(), &tls.Config{RootCAs: m.pool, ServerName: "localhost"})
	if err != nil {
		return
	}
	m.track(up, true)
	defer func() { m.track(up, false); _ = up.Close() }()
	m.mu.Lock()
	m.conns++
	number := m.conns
	m.mu.Unlock()
	var raw bytes.Buffer
	in := bufio.NewReader(keeping{down, func(b []byte) {
		raw.Write(b)
		m.mu.Lock()
		m.sent.Write(b)
		m.mu.Unlock()
	}})
	back := bufio.NewReader(up)
	for {
		raw.Reset()
		const call = "POST /api/trade/balance"
		if first, _ := in.Peek(len(call)); string(first) == call {
			m.mu.Lock()
			ahead := m.ahead
			m.mu.Unlock()
			if ahead != nil && !ahead(down) {
				return
			}
		}
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		m.mu.Lock()
		m.asked = append(m.asked, fmt.Sprint(number, " ", strings.TrimPrefix(r.URL.Path, "/api/")))
		h := m.hook
		m.mu.Unlock()
		x := exchange{down: down, request: r, raw: bytes.Clone(raw.Bytes()), up: up, in: back}
		if h == nil {
			h = func(x exchange) bool { return x.send(x.execute()) }
		}
		if !h(x) {
			return
		}
	}
}

// calls are the requests for an endpoint, each with the number of its connection.
func (m *middle) calls(endpoint string) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []string
	for _, a := range m.asked {
		if strings.HasSuffix(a, " "+endpoint) {
			out = append(out, a)
		}
	}
	return out
}

// dials is how many connections the client has made.
func (m *middle) dials() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.conns
}

// executed is how many deals the server has booked under the reference, by the server's own journal.
func (m *middle) executed(ref credit.Reference) (n int, ticket uint64) {
	for _, e := range m.fake.Journal() {
		if e.Source == fakemt5.SourceAPI && e.Comment == string(ref) {
			n, ticket = n+1, e.Ticket
		}
	}
	return n, ticket
}

// checkSent looks at every byte that the client has sent in the whole test: nothing in it may make anybody on the way
// repeat a call, or read it otherwise than it is meant.
func (m *middle) checkSent(t *testing.T) {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	text := strings.ToLower(m.sent.String())
	for _, word := range []string{"idempotency", "expect:", "transfer-encoding", "upgrade:", "proxy-"} {
		if strings.Contains(text, word) {
			t.Errorf("the client sent %q", word)
		}
	}
	for line := range strings.SplitSeq(m.sent.String(), "\n") {
		method, rest, ok := strings.Cut(line, " /api/")
		if ok && (method == http.MethodPost) != strings.HasPrefix(rest, "trade/balance?") {
			t.Errorf("the client sent the line %.60q", line)
		}
	}
}

// rig is a session through a middle.
type rig struct {
	t *testing.T
	*middle
	session *mt5.Session
	clock   realClock
	number  int
}

func newRig(t *testing.T, bend ...func(*mt5.Config)) *rig {
	t.Helper()
	m := newMiddle(t)
	r := &rig{t: t, middle: m, clock: realClock{time.Now()}}
	cfg := mt5.Config{
		Label: "main", Identity: identity, Addresses: []string{m.address}, Manager: manager,
		Password: func() []byte { return []byte(password) }, TLS: mt5.Trust{CAPEM: m.pem}, Clock: r.clock,
	}
	for _, b := range bend {
		b(&cfg)
	}
	server, err := mt5.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	r.session = server.Session(0)
	t.Cleanup(func() { r.session.Drop("end of the test") })
	r.ready()
	return r
}

// impatient is for tests in which the time-outs of the client must really pass.
func impatient(c *mt5.Config) {
	c.CallTimeout, c.ReadTimeout = 250*time.Millisecond, 250*time.Millisecond
}

func (r *rig) ready() {
	r.t.Helper()
	if err := r.session.Ready(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
}

// call is the next balance call, of 5.00 EUR under a reference of its own.
func (r *rig) call() credit.Call {
	r.t.Helper()
	r.number++
	amount, err := credit.Minor(500, "EUR", 2)
	if err != nil {
		r.t.Fatal(err)
	}
	ref := credit.NewReference("live", identity, credit.KindDeposit, credit.Unit{
		ProviderKind: "stripe", Account: "acct_1", Payment: fmt.Sprint("pi_", r.number), Part: "1",
	})
	return credit.Call{Login: login, Amount: amount, Reference: ref, Deadline: r.clock.Boot() + time.Minute}
}

// balance makes a call and wants what holds of every call: it left at most once on the connection that was there, and
// "applied" is said with the very ticket that the server has booked.
func (r *rig) balance() (credit.Call, credit.CallResult, int) {
	r.t.Helper()
	before, dials := len(r.calls("trade/balance")), r.dials()
	c := r.call()
	got := r.session.Balance(r.t.Context(), c)
	if n := len(r.calls("trade/balance")) - before; n > 1 || r.dials() != dials {
		r.t.Errorf("one call made %d requests and %d connections", n, r.dials()-dials)
	}
	n, ticket := r.executed(c.Reference)
	switch {
	case n > 1:
		r.t.Errorf("executed %d times", n)
	case got.Outcome == credit.OutcomeApplied && (n == 0 || got.Ticket != ticket):
		r.t.Errorf("applied with ticket %d, the server has %d deals, ticket %d", got.Ticket, n, ticket)
	case got.Outcome != credit.OutcomeApplied && got.Outcome != credit.OutcomeUnknown && n != 0:
		r.t.Errorf("%q of a call that was executed", got.Outcome)
	}
	return c, got, n
}

// unknown makes a call that must end unknown, executed as often as the hook does it, and once a look can be made must
// still be there that often: nothing repeated it.
func (r *rig) unknown(executed int) credit.CallResult {
	r.t.Helper()
	c, got, n := r.balance()
	if got.Outcome != credit.OutcomeUnknown || n != executed {
		r.t.Errorf("outcome %q (%s), executed %d times, want unknown and %d", got.Outcome, got.Detail, n, executed)
	}
	r.do(nil)
	r.ready()
	if found := r.look(c); found != executed {
		r.t.Errorf("a look finds %d deals of %d", found, executed)
	}
	return got
}

// look counts the deals of the call that a complete look shows.
func (r *rig) look(c credit.Call) int {
	r.t.Helper()
	s := r.session.Look(r.t.Context(), credit.LookQuery{Login: login, Earliest: time.Now().Add(-time.Hour)})
	if !s.Complete {
		r.t.Errorf("the look is not complete: %s", s.Reason)
	}
	n := 0
	for _, d := range s.Deals {
		if d.Comment == string(c.Reference) {
			n++
		}
	}
	return n
}
