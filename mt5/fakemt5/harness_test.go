package fakemt5

import (
	"bufio"
	"context"
	"crypto/md5"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf16"
)

const (
	testManager  = 1007
	testPassword = "Fund5Bridge!"
	testLogin    = 500123
)

// start of the manual clock; a Wednesday outside European summer time.
var testStart = time.Date(2026, 1, 14, 12, 0, 0, 0, time.UTC)

func testConfig(clock Clock) Config {
	return Config{
		Control: "127.0.0.1:0", Clock: clock,
		World: World{
			Zone:     Zone{OffsetMinutes: 120, DST: DSTEU},
			Managers: []Manager{{Login: testManager, Password: testPassword}},
			Groups: []Group{
				{Name: `real\eur`, Currency: "EUR", Digits: 2},
				{Name: `real\jpy`, Currency: "JPY", Digits: 0},
				{Name: `real\btc`, Currency: "BTC", Digits: 8},
			},
			Accounts: []Account{
				{Login: testLogin, Group: `real\eur`, Name: "Ada Example", Balance: 100_00},
				{Login: testLogin + 1, Group: `real\jpy`, Balance: 5000},
				{Login: testLogin + 2, Group: `real\btc`},
			},
		},
	}
}

// startTest runs a server with the test world on a manual clock.
func startTest(t *testing.T, change func(*Config)) (*Server, *ManualClock, *Control) {
	t.Helper()
	clock := NewManualClock(testStart)
	cfg := testConfig(clock)
	if change != nil {
		change(&cfg)
	}
	s, err := Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, clock, NewControl(s.ControlAddr())
}

// wireClient is a client on exactly one TCP connection, independent of the product's.
type wireClient struct {
	t    *testing.T
	conn *tls.Conn
	in   *bufio.Reader
	jar  string
}

func dial(t *testing.T, s *Server) *wireClient {
	t.Helper()
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(s.CertPEM()) {
		t.Fatal("the server's PEM holds no certificate")
	}
	conn, err := tls.Dial("tcp", s.Addr(), &tls.Config{RootCAs: roots, ServerName: "localhost"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &wireClient{t: t, conn: conn, in: bufio.NewReader(conn)}
}

// login dials and authenticates.
func login(t *testing.T, s *Server) *wireClient {
	t.Helper()
	c := dial(t, s)
	if a := c.auth(testManager, testPassword); a.code != 0 {
		t.Fatalf("auth: %s", a.body)
	}
	return c
}

// got is an answer as it came.
type got struct {
	status int
	header http.Header
	body   string
	code   int // -1 when the body has none
	fields map[string]any
}

// answer is the answer member as an object.
func (g got) answer(t *testing.T) map[string]any {
	t.Helper()
	m, ok := g.fields["answer"].(map[string]any)
	if !ok {
		t.Fatalf("answer is no object: %s", g.body)
	}
	return m
}

// rows is the answer member as a list of objects.
func (g got) rows(t *testing.T) []map[string]any {
	t.Helper()
	list, ok := g.fields["answer"].([]any)
	if !ok {
		t.Fatalf("answer is no list: %s", g.body)
	}
	out := make([]map[string]any, len(list))
	for i, row := range list {
		if out[i], ok = row.(map[string]any); !ok {
			t.Fatalf("row %d is no object: %s", i, g.body)
		}
	}
	return out
}

// random is the challenge of an auth/start.
func (g got) random(t *testing.T) []byte {
	t.Helper()
	text, _ := g.fields["srv_rand"].(string)
	random, err := hex.DecodeString(text)
	if err != nil || len(random) != 16 {
		t.Fatalf("srv_rand: %s", g.body)
	}
	return random
}

// ticket is the ticket of a booked operation.
func (g got) ticket(t *testing.T) string {
	t.Helper()
	ticket, ok := g.answer(t)["Ticket"].(string)
	if !ok {
		t.Fatalf("no ticket: %s", g.body)
	}
	return ticket
}

// pair is User and History of one half of check_balance.
func (g got) pair(t *testing.T, which string) string {
	t.Helper()
	half, ok := g.answer(t)[which].(map[string]any)
	if !ok {
		t.Fatalf("no %s: %s", which, g.body)
	}
	return fmt.Sprint(half["User"], " ", half["History"])
}

func (c *wireClient) write(method, path string, params url.Values, body string) error {
	req := method + " /api/" + path
	if params != nil {
		req += "?" + strings.ReplaceAll(params.Encode(), "+", "%20")
	}
	req += " HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n"
	if c.jar != "" {
		req += "Cookie: " + c.jar + "\r\n"
	}
	req += "Content-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body
	_, err := io.WriteString(c.conn, req)
	return err
}

func (c *wireClient) read() (got, error) {
	resp, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return got{}, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	g := got{status: resp.StatusCode, header: resp.Header, body: string(text), code: -1}
	if cookie := resp.Header.Get("Set-Cookie"); cookie != "" {
		c.jar, _, _ = strings.Cut(cookie, ";")
	}
	if json.Unmarshal(text, &g.fields) == nil {
		if retcode, ok := g.fields["retcode"].(string); ok {
			number, _, _ := strings.Cut(retcode, " ")
			g.code, _ = strconv.Atoi(number)
		}
	}
	return g, err
}

// try sends a GET and returns the answer or what went wrong.
func (c *wireClient) try(path string, kv ...string) (got, error) {
	if err := c.write(http.MethodGet, path, pairs(kv), ""); err != nil {
		return got{}, err
	}
	return c.read()
}

func (c *wireClient) get(path string, kv ...string) got {
	c.t.Helper()
	g, err := c.try(path, kv...)
	if err != nil {
		c.t.Fatalf("GET %s: %v", path, err)
	}
	return g
}

func pairs(kv []string) url.Values {
	v := url.Values{}
	for i := 0; i+1 < len(kv); i += 2 {
		v.Set(kv[i], kv[i+1])
	}
	return v
}

// testHash is written out again here so that it is not the server's own.
func testHash(password string, random []byte) string {
	var raw []byte
	for _, u := range utf16.Encode([]rune(password)) {
		raw = append(raw, byte(u), byte(u>>8))
	}
	first := md5.Sum(raw)
	second := md5.Sum([]byte(string(first[:]) + "WebAPI"))
	third := md5.Sum([]byte(string(second[:]) + string(random)))
	return hex.EncodeToString(third[:])
}

func (c *wireClient) auth(manager uint64, password string) got {
	c.t.Helper()
	start := c.get("auth/start", "version", "3661", "agent", "test", "login", strconv.FormatUint(manager, 10), "type", "manager")
	if start.code != 0 {
		return start
	}
	random := start.random(c.t)
	return c.get("auth/answer", "srv_rand_answer", testHash(password, random), "cli_rand", "0123456789abcdef0123456789abcdef")
}

// deposit books a balance operation on the test login.
func (c *wireClient) deposit(amount, comment string) got {
	c.t.Helper()
	return c.get("trade/balance", "login", "500123", "type", "2", "balance", amount, "comment", comment, "check_margin", "1")
}

// history asks for all deals of a login in a window that covers the test.
func (c *wireClient) history(login string) got {
	c.t.Helper()
	return c.get("deal/get_page", "login", login, "from", "0", "to", "4000000000", "offset", "0", "total", "100")
}

// dead reports whether the connection ends instead of answering.
func (c *wireClient) dead() bool {
	_ = c.conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	_, err := c.in.ReadByte()
	return err != nil && !errors.Is(err, os.ErrDeadlineExceeded)
}

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	t.Cleanup(cancel)
	return ctx
}
