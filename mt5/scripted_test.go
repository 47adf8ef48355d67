package mt5

import (
	"bufio"
	"crypto/tls"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"creditonce/credit"
	"creditonce/mt5/fakemt5"
)

// refusedPorts counts the addresses that were given out.
var refusedPorts atomic.Uint32

// refusedAddress is a loopback address on which nothing listens: of a port below those that a system gives out by itself, so that no listener of
// another test gets it meanwhile. Two in a row differ.
func refusedAddress(t *testing.T) string {
	t.Helper()
	return fmt.Sprintf("127.0.0.1:%d", 2+refusedPorts.Add(1)%4)
}

// scripted is a server that answers the log-in properly and everything else as its script says.
type scripted struct {
	address string
	pem     []byte

	mu       sync.Mutex
	requests []string // "2 POST /api/trade/balance", with the number of the connection
	headers  []http.Header
	lines    []string
	conns    int
}

// script answers one request on the raw TLS connection. false ends the connection.
type script func(c net.Conn, r *http.Request) bool

// httpAnswer is a whole answer with a length.
func httpAnswer(status int, body string) string {
	return fmt.Sprintf("HTTP/1.1 %d X\r\nContent-Length: %d\r\n\r\n%s", status, len(body), body)
}

func send(c net.Conn, text string) bool {
	_, err := c.Write([]byte(text))
	return err == nil
}

// certificate is a self-made one for 127.0.0.1.
func certificate(t *testing.T) (tls.Certificate, []byte) {
	t.Helper()
	s := httptest.NewUnstartedServer(nil)
	s.StartTLS()
	defer s.Close()
	return s.TLS.Certificates[0], pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
}

func newScripted(t *testing.T, clock credit.Clock, do script) *scripted {
	t.Helper()
	cert, text := certificate(t)
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{cert}})
	if err != nil {
		t.Fatal(err)
	}
	s := &scripted{address: l.Addr().String(), pem: text}
	var running sync.WaitGroup
	var open sync.Map
	t.Cleanup(func() {
		_ = l.Close()
		open.Range(func(c, _ any) bool { _ = c.(net.Conn).Close(); return true })
		running.Wait()
	})
	running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			open.Store(c, nil)
			running.Go(func() { s.serve(c, clock, do) })
		}
	})
	return s
}

func (s *scripted) serve(c net.Conn, clock credit.Clock, do script) {
	defer func() { _ = c.Close() }()
	s.mu.Lock()
	s.conns++
	conn := s.conns
	s.mu.Unlock()
	in := bufio.NewReader(c)
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		s.mu.Lock()
		s.requests = append(s.requests, fmt.Sprintf("%d %s %s", conn, r.Method, r.URL.Path))
		s.headers, s.lines = append(s.headers, r.Header), append(s.lines, r.RequestURI)
		s.mu.Unlock()
		if body := usual(r, clock); body != "" {
			if !send(c, httpAnswer(200, body)) {
				return
			}
			continue
		}
		if !do(c, r) {
			return
		}
	}
}

// usual answers what every log-in asks.
func usual(r *http.Request, clock credit.Clock) string {
	switch r.URL.Path {
	case "/api/auth/start":
		return `{"retcode":"0 Done","srv_rand":"73007dc7184747ce0f7c98516ef1c851"}`
	case "/api/auth/answer":
		hash, _ := passwordHash([]byte(testPassword))
		random, _ := hex.DecodeString(r.URL.Query().Get("cli_rand"))
		return `{"retcode":"0 Done","cli_rand_answer":"` + strings.ToUpper(randAnswer(hash, random)) + `"}`
	case "/api/common/get":
		return `{"retcode":"0 Done","answer":{"Name":"` + testIdentity + `"}}`
	case "/api/time/server":
		return fmt.Sprintf(`{"retcode":"0 Done","answer":{"Time":"%d text"}}`, clock.Now().Unix())
	}
	return ""
}

// seenAt are the requests for one endpoint.
func (s *scripted) seenAt(endpoint string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, r := range s.requests {
		if strings.HasSuffix(r, "/api/"+endpoint) {
			out = append(out, r)
		}
	}
	return out
}

// against makes a ready session on a scripted server. The rig's fake is not used.
func against(t *testing.T, do script, options ...option) (*scripted, *rig) {
	t.Helper()
	clock := testClock{fakemt5.NewManualClock(testStart)}
	s := newScripted(t, clock, do)
	cfg := Config{
		Label: "main", Identity: testIdentity, Manager: testManager, Password: func() []byte { return []byte(testPassword) },
		Clock: clock, Addresses: []string{s.address}, TLS: Trust{CAPEM: s.pem}, Observer: &recorder{},
	}
	for _, o := range options {
		o(&fakemt5.Config{}, &cfg)
	}
	server, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	seen, _ := server.cfg.Observer.(*recorder)
	r := &rig{t: t, clock: clock, seen: seen, server: server, session: server.Session(0)}
	r.ready()
	t.Cleanup(func() { r.session.Drop("end of the test") })
	return s, r
}
