package app_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"creditonce/credit"
	"creditonce/internal/app"
	"creditonce/internal/config"
	"creditonce/mt5/fakemt5"
	"creditonce/webhook/fakepsp"
)

const (
	secret      = "whsec_rig"
	accountsKey = "co_accounts"
	depositsKey = "co_deposits"
	login       = 500123
)

// rig is a whole service against a fake MT5 server, over real sockets: the service's own process and wiring, and
// only the far sides simulated.
type rig struct {
	t      testing.TB
	dir    string
	mt5    *fakemt5.Server
	faults *fakemt5.Control
	maker  *fakepsp.Maker
	public string
	api    string
	log    *logLines
	step   func(context.Context, credit.Step)
	tune   func(*config.Config) // changes what no file may say; nil: nothing

	service *app.App

	stop context.CancelFunc
	done chan error
}

// newRig starts the fake MT5 server and writes a demo configuration beside it. edit may change the file's text.
func newRig(t testing.TB, edit ...func(string) string) *rig {
	t.Helper()
	r := &rig{t: t, dir: t.TempDir(), log: newLogLines()}
	var err error
	r.mt5, err = fakemt5.Start(t.Context(), fakemt5.Config{
		Control: "127.0.0.1:0", CertFile: filepath.Join(r.dir, "mt5-ca.pem"),
		World: fakemt5.World{
			Server: "Rig-MT5", Zone: fakemt5.Zone{OffsetMinutes: 120, DST: fakemt5.DSTEU},
			Managers: []fakemt5.Manager{{Login: 1000, Password: "manager"}},
			Groups:   []fakemt5.Group{{Name: `real\usd`, Currency: "USD", Digits: 2}},
			Accounts: []fakemt5.Account{{Login: login, Group: `real\usd`, Balance: 10000, SeedDeals: 20}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.mt5.Close(); err != nil {
			t.Error(err)
		}
	})
	r.faults = fakemt5.NewControl(r.mt5.ControlAddr())
	r.maker = fakepsp.NewMaker(sha256.Sum256([]byte(t.Name())), time.Now)
	text := r.text()
	for _, e := range edit {
		text = e(text)
	}
	r.file("secret", secret+"\n")
	r.file("password", "manager\n")
	r.file("config.yaml", text)
	return r
}

func (r *rig) file(name, text string) {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) text() string {
	sum := func(key string) string { s := sha256.Sum256([]byte(key)); return hex.EncodeToString(s[:]) }
	return fmt.Sprintf(`environment: test
demo: true
data_dir: data
webhooks: {listen: "127.0.0.1:0"}
api:
  listen: 127.0.0.1:0
  keys:
    - {name: accounts, sha256: "%s", scopes: ["accounts:write"]}
    - {name: deposits, sha256: "%s", scopes: ["deposits:write", "deposits:read"]}
providers:
  stripe: {kind: stripe, account: acct_rig, secrets: [{file: secret}]}
mt5:
  servers:
    main:
      identity: Rig-MT5
      addresses: ["%s"]
      login: 1000
      password: {file: password}
      tls: {ca_file: mt5-ca.pem}
      sessions: 2
      call_timeout: 500ms
      currencies: {USD: 2}
credit:
  lease: 2s
  send_deadline: 250ms
  quarantine: 1s
  second_look_after: 200ms
  looks: [50ms, 100ms, 200ms, 400ms]
  look_every: 200ms
  look_every_with_task: 500ms
  task_after: 3s
  held_grace: 500ms
limits:
  per_credit: {USD: "10000.00"}
  per_login_day: {USD: "50000.00"}
space: {stop_claims_below: 2MiB, refuse_intake_below: 1MiB, max_store: 1GiB}
shutdown_timeout: 5s
`, sum(accountsKey), sum(depositsKey), r.mt5.Addr())
}

// notDemo turns the demo configuration into one of a store that the demo did not make.
func notDemo(text string) string {
	text = strings.Replace(text, "demo: true\n", "", 1)
	text = strings.Replace(text, "      call_timeout: 500ms\n", "", 1)
	text = strings.Replace(text, "shutdown_timeout: 5s\n", "", 1)
	i, j := strings.Index(text, "credit:\n"), strings.Index(text, "limits:\n")
	return text[:i] + text[j:]
}

func (r *rig) load() *config.Config {
	r.t.Helper()
	c, err := config.Load(filepath.Join(r.dir, "config.yaml"), config.Env{Getenv: func(string) string { return "" }, Now: time.Now()})
	if err != nil {
		r.t.Fatal(err)
	}
	if r.tune != nil {
		r.tune(c)
	}
	return c
}

// start runs the service until stopped; the test's end stops it.
func (r *rig) start() {
	r.t.Helper()
	service, err := app.New(r.t.Context(), app.Options{Config: r.load(), Log: zerolog.New(r.log), Step: r.step})
	if err != nil {
		r.t.Fatal(err)
	}
	r.service = service
	ctx, stop := context.WithCancel(r.t.Context())
	r.stop, r.done = stop, make(chan error, 1)
	go func() { r.done <- service.Run(ctx) }()
	r.await("serving", func(line map[string]any) bool {
		r.public, r.api = "http://"+line["webhooks"].(string), "http://"+line["api"].(string)
		return true
	})
	r.t.Cleanup(r.halt)
}

// halt stops the service and wants a clean end. A second call does nothing.
func (r *rig) halt() {
	r.t.Helper()
	if r.stop == nil {
		return
	}
	r.stop()
	r.stop = nil
	if err := <-r.done; err != nil {
		r.t.Errorf("service ended with %v", err)
	}
}

// await waits for a log line with the message for which ok is true, from where the last await ended.
func (r *rig) await(message string, ok func(map[string]any) bool) map[string]any {
	r.t.Helper()
	line, err := r.log.next(message, ok)
	if err != nil {
		r.t.Fatalf("waiting for %q: %v\n%s", message, err, r.log)
	}
	return line
}

// awaitState waits until the deposit's row has moved to the state.
func (r *rig) awaitState(code, state string) map[string]any {
	r.t.Helper()
	return r.await("row moved", func(l map[string]any) bool { return l["deposit"] == code && l["to"] == state && l["from"] != state })
}

// call makes an API request and returns status and body.
func (r *rig) call(method, path, key, idempotency, body string) (int, string) {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), method, r.api+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if idempotency != "" {
		req.Header.Set("Idempotency-Key", idempotency)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

// account registers the login with its owner.
func (r *rig) account(client string) {
	r.t.Helper()
	status, body := r.call(http.MethodPut, fmt.Sprintf("/v1/servers/main/accounts/%d", login), accountsKey, "",
		`{"client":"`+client+`","currency":"USD","digits":2}`)
	if status/100 != 2 {
		r.t.Fatalf("register the account: %d %s", status, body)
	}
}

// deposit makes a deposit record and returns its code.
func (r *rig) deposit(client, amount, key string) string {
	r.t.Helper()
	status, body := r.call(http.MethodPost, "/v1/deposits", depositsKey, key, fmt.Sprintf(
		`{"client":"%s","server":"main","login":"%d","provider":"stripe","paid":{"amount":"%s","currency":"USD"},"credited":{"amount":"%s","currency":"USD"}}`,
		client, login, amount, amount))
	if status != http.StatusCreated {
		r.t.Fatalf("make a deposit: %d %s", status, body)
	}
	var answer struct{ Code string }
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		r.t.Fatal(err)
	}
	return answer.Code
}

func (r *rig) payment(code string, minor int64) fakepsp.Payment {
	r.t.Helper()
	p, err := r.maker.NewPayment(code, minor, "usd", fakepsp.Options{})
	if err != nil {
		r.t.Fatal(err)
	}
	return p
}

// send posts an event with a good signature and returns the status.
func (r *rig) send(e fakepsp.Event) int {
	r.t.Helper()
	status, err := fakepsp.Post(r.t.Context(), http.DefaultClient, r.public+"/webhooks/stripe", e.Body, fakepsp.Sign(secret, e.Body, time.Now()))
	if err != nil {
		r.t.Fatal(err)
	}
	return status
}

// ours are the deals that came over the API, by comment.
func (r *rig) ours() map[string][]fakemt5.JournalEntry {
	out := map[string][]fakemt5.JournalEntry{}
	for _, e := range r.mt5.Journal() {
		if e.Source == "api" {
			out[e.Comment] = append(out[e.Comment], e)
		}
	}
	return out
}

// logLines collects the service's log and lets a test wait for a line.
type logLines struct {
	mu    sync.Mutex
	lines []map[string]any
	text  bytes.Buffer
	read  int
	more  chan struct{}
}

func newLogLines() *logLines { return &logLines{more: make(chan struct{}, 1)} }

func (l *logLines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.Write(b)
	in := bufio.NewScanner(bytes.NewReader(b))
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var line map[string]any
		if err := json.Unmarshal(in.Bytes(), &line); err != nil {
			return 0, fmt.Errorf("log line %q: %w", in.Text(), err)
		}
		l.lines = append(l.lines, line)
	}
	select {
	case l.more <- struct{}{}:
	default:
	}
	return len(b), in.Err()
}

func (l *logLines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *logLines) next(message string, ok func(map[string]any) bool) (map[string]any, error) {
	deadline := time.NewTimer(20 * time.Second)
	defer deadline.Stop()
	for {
		l.mu.Lock()
		for l.read < len(l.lines) {
			line := l.lines[l.read]
			l.read++
			if line["message"] == message && ok(line) {
				l.mu.Unlock()
				return line, nil
			}
		}
		l.mu.Unlock()
		select {
		case <-l.more:
		case <-deadline.C:
			return nil, fmt.Errorf("no such line in 20 s")
		}
	}
}
