package cli

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"creditonce/internal/admin"
	"creditonce/internal/app"
	"creditonce/internal/config"
	"creditonce/mt5/fakemt5"
	"creditonce/webhook/fakepsp"
)

const (
	desktopLogin = 500123
	desktopKey   = "co_desktop_accounts"
	depositKey   = "co_desktop_deposits"
	pspSecret    = "whsec_desktop"
)

// office is a whole running service against a fake MT5 server, with people who each call the commands as a unix user
// of their own: one socket a person in front of the one desk, where the test says what the kernel would.
type office struct {
	t       testing.TB
	dir     string
	mt5     *fakemt5.Server
	faults  *fakemt5.Control
	maker   *fakepsp.Maker
	service *app.App
	public  string
	api     string
	own     string // the service's own socket
	sockets map[string]string
	mu      sync.Mutex
	logged  strings.Builder
	serving chan map[string]string
}

// demoTimes are waits that only a demo store may have.
const demoTimes = `credit:
  lease: 2s
  send_deadline: 250ms
  quarantine: 800ms
  second_look_after: 100ms
  looks: [50ms, 100ms, 200ms, 400ms]
  look_every: 100ms
  look_every_with_task: 200ms
  task_after: 3s
  held_grace: 100ms
`

// newOffice starts a service, live at once where demo is true, in mode observe otherwise; with the people anna (admin,
// maker), ben (admin, checker), carl (operator), dora (viewer), and ben's second unix user benx.
func newOffice(t testing.TB, demo bool) *office {
	t.Helper()
	return newOfficeWith(t, demo, "", nil)
}

// newOfficeWith is newOffice with more sections of the configuration, and the files that they name.
func newOfficeWith(t testing.TB, demo bool, more string, files map[string]string) *office {
	t.Helper()
	dir, err := os.MkdirTemp("", "office")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	f := &office{t: t, dir: dir, sockets: map[string]string{}, serving: make(chan map[string]string, 1)}
	f.startMT5()
	for name, text := range files {
		f.file(name, text)
	}
	f.configure(demo, more)
	f.start()
	f.hire()
	return f
}

func (f *office) startMT5() {
	f.t.Helper()
	var err error
	f.mt5, err = fakemt5.Start(f.t.Context(), fakemt5.Config{
		Control: "127.0.0.1:0", CertFile: filepath.Join(f.dir, "mt5-ca.pem"),
		World: fakemt5.World{
			Server: "Office-MT5", Zone: fakemt5.Zone{OffsetMinutes: 120, DST: fakemt5.DSTEU},
			Managers: []fakemt5.Manager{{Login: 1000, Password: "manager"}},
			Groups:   []fakemt5.Group{{Name: `real\usd`, Currency: "USD", Digits: 2}},
			Accounts: []fakemt5.Account{{Login: desktopLogin, Group: `real\usd`, Balance: 10000, SeedDeals: 5}},
		},
	})
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() {
		if err := f.mt5.Close(); err != nil {
			f.t.Error(err)
		}
	})
	f.faults = fakemt5.NewControl(f.mt5.ControlAddr())
	f.maker = fakepsp.NewMaker(sha256.Sum256([]byte(f.t.Name())), time.Now)
}

func (f *office) file(name, text string) {
	f.t.Helper()
	if err := os.WriteFile(filepath.Join(f.dir, name), []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

func (f *office) configure(demo bool, more string) {
	f.t.Helper()
	f.file("secret", pspSecret+"\n")
	f.file("password", "manager\n")
	head, call, times := "", "", ""
	if demo {
		head, call, times = "demo: true\nshutdown_timeout: 5s\n", "      call_timeout: 500ms\n", demoTimes
	}
	f.file("config.yaml", fmt.Sprintf(`environment: test
%sdata_dir: data
webhooks: {listen: "127.0.0.1:0"}
api:
  listen: 127.0.0.1:0
  keys:
    - {name: accounts, sha256: "%x", scopes: ["accounts:write"]}
    - {name: deposits, sha256: "%x", scopes: ["deposits:write", "deposits:read"]}
providers:
  stripe: {kind: stripe, account: acct_office, secrets: [{file: secret}], settlement: {format: stripe, every: 24h}}
mt5:
  servers:
    main:
      identity: Office-MT5
      addresses: ["%s"]
      login: 1000
      password: {file: password}
      tls: {ca_file: mt5-ca.pem}
      currencies: {USD: 2}
%s%slimits:
  per_credit: {USD: "10000.00"}
  per_login_day: {USD: "50000.00"}
space: {stop_claims_below: 2MiB, refuse_intake_below: 1MiB, max_store: 1GiB}
`, head, sha256.Sum256([]byte(desktopKey)), sha256.Sum256([]byte(depositKey)), f.mt5.Addr(), call, times)+more)
}

// Write collects the service's log and notices where it serves.
func (f *office) Write(b []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.logged.Write(b)
	var line map[string]any
	if json.Unmarshal(b, &line) == nil && line["message"] == "serving" {
		at := map[string]string{}
		for _, name := range []string{"webhooks", "api", "operators"} {
			at[name], _ = line[name].(string)
		}
		f.serving <- at
	}
	return len(b), nil
}

func (f *office) log() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.logged.String()
}

func (f *office) start() {
	f.t.Helper()
	c, err := config.Load(filepath.Join(f.dir, "config.yaml"), config.Env{Getenv: func(string) string { return "" }, Now: time.Now()})
	if err != nil {
		f.t.Fatal(err)
	}
	if f.service, err = app.New(f.t.Context(), app.Options{Config: c, Log: zerolog.New(f).Level(zerolog.InfoLevel)}); err != nil {
		f.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(f.t.Context()))
	done := make(chan error, 1)
	go func() { done <- f.service.Run(ctx) }()
	select {
	case at := <-f.serving:
		f.public, f.api, f.own = "http://"+at["webhooks"], "http://"+at["api"], at["operators"]
	case err := <-done:
		f.t.Fatalf("the service ended at once: %v", err)
	}
	f.t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			f.t.Errorf("the service ended with %v", err)
		}
	})
}

// quiet hears what the people's sockets report and keeps none of it.
type quiet struct{}

func (quiet) Administered(context.Context, admin.Report) {}

// seat gives a unix user a socket of its own in front of the desk.
func (f *office) seat(user string, uid uint32) {
	f.t.Helper()
	server, err := admin.New(admin.Config{
		Desk: f.service.Desk(), Service: func() admin.Service { return admin.Service{Version: "test", Store: "store", FreeBytes: -1, Alarms: -1} },
		Now: time.Now, Observer: quiet{}, Backup: f.service.BackUp, Recon: f.service.Reconciliation(),
		Peer:     func(*net.UnixConn) (admin.Peer, error) { return admin.Peer{UID: uid}, nil },
		UserName: func(uint32) (string, error) { return user, nil },
		HasUser:  func(name string) (bool, error) { return name != "nosuchuser", nil },
	})
	if err != nil {
		f.t.Fatal(err)
	}
	path := filepath.Join(f.dir, user+".sock")
	l, err := admin.Listen(f.t.Context(), path, "")
	if err != nil {
		f.t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	f.t.Cleanup(func() {
		if err := server.Shutdown(context.Background()); err != nil {
			f.t.Error(err)
		}
		if err := <-done; err != nil {
			f.t.Error(err)
		}
	})
	f.sockets[user] = path
}

func (f *office) hire() {
	f.t.Helper()
	f.seat("root", 0)
	for i, user := range []string{"anna", "ben", "benx", "carl", "dora", "eve"} {
		f.seat(user, uint32(1001+i))
	}
	f.ok("root", "people", "bootstrap", "anna:Anna Lim:anna:admin,maker", "ben:Ben Koh:ben,benx:admin,checker", "--reason", "first start")
	f.agree("anna", "ben", "people", "add", "carl", "--name", "Carl Tan", "--user", "carl", "--role", "operator", "--reason", "joins")
	f.agree("anna", "ben", "people", "add", "dora", "--name", "Dora Ng", "--user", "dora", "--role", "viewer", "--reason", "joins")
}

// as runs a command as a unix user.
func (f *office) as(user string, arguments ...string) result {
	return f.with(user, func(*Process) {}, arguments...)
}

// with is as in a process that adjust may change.
func (f *office) with(user string, adjust func(*Process), arguments ...string) result {
	return runWith(func(p *Process) {
		p.Now = time.Now
		p.Getenv = func(name string) string { return map[string]string{socketVariable: f.sockets[user]}[name] }
		adjust(p)
	}, arguments...)
}

// ok wants the command to be done.
func (f *office) ok(user string, arguments ...string) string {
	f.t.Helper()
	got := f.as(user, arguments...)
	if got.code != ExitDone {
		f.t.Fatalf("%s: creditonce %s: %+v", user, strings.Join(arguments, " "), got)
	}
	return got.stdout
}

// refused wants the command to end with a code and a sentence.
func (f *office) refused(code int, says, user string, arguments ...string) result {
	f.t.Helper()
	got := f.as(user, arguments...)
	if got.code != code || !strings.Contains(got.stderr, says) {
		f.t.Fatalf("%s: creditonce %s: %+v\nwant exit %d and %q", user, strings.Join(arguments, " "), got, code, says)
	}
	return got
}

// propose wants a proposal and returns it.
func (f *office) propose(user string, arguments ...string) admin.Proposal {
	f.t.Helper()
	var out admin.Outcome
	f.read(f.ok(user, append(arguments, "-o", "json")...), &out)
	if out.Done || out.Proposal == nil {
		f.t.Fatalf("creditonce %s was done by %s alone: %+v", strings.Join(arguments, " "), user, out)
	}
	return *out.Proposal
}

// agree proposes as the first and confirms as the second.
func (f *office) agree(first, second string, arguments ...string) string {
	f.t.Helper()
	p := f.propose(first, arguments...)
	return f.ok(second, "proposals", "confirm", p.ID, "--hash", p.Digest, "--reason", "agreed")
}

func (f *office) read(text string, into any) {
	f.t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		f.t.Fatalf("%v in %s", err, text)
	}
}

// credit reads a credit as carl sees it.
func (f *office) credit(id string) admin.CreditDetail {
	f.t.Helper()
	var v admin.CreditDetail
	f.read(f.ok("carl", "credits", "show", id, "-o", "json"), &v)
	return v
}

// awaitState waits until the credit is in the state: the service works beside the test, in real time.
func (f *office) awaitState(id, state string) admin.CreditDetail {
	f.t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	end := time.NewTimer(20 * time.Second)
	defer end.Stop()
	for {
		v := f.credit(id)
		if v.Credit.State == state {
			return v
		}
		select {
		case <-tick.C:
		case <-end.C:
			f.t.Fatalf("credit %s is %+v, want %s\n%s", id, v, state, f.log())
		}
	}
}

// calm waits until the quarantine after the start is over.
func (f *office) calm() {
	f.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for range 500 {
		var s admin.Status
		f.read(f.ok("ben", "status", "-o", "json"), &s)
		if s.Quarantine == 0 {
			return
		}
		<-tick.C
	}
	f.t.Fatal("the quarantine does not end")
}

func (f *office) call(method, path, key, body string) (int, []byte) {
	f.t.Helper()
	r, err := http.NewRequestWithContext(f.t.Context(), method, f.api+path, strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+key)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Idempotency-Key", fmt.Sprintf("%x", sha256.Sum256([]byte(path+body)))[:32])
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		f.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var out json.RawMessage
	_ = json.NewDecoder(res.Body).Decode(&out) // an answer without a body is judged by its status
	return res.StatusCode, out
}

// register registers the login for client-1.
func (f *office) register() {
	f.t.Helper()
	if status, body := f.call(http.MethodPut, fmt.Sprintf("/v1/servers/main/accounts/%d", desktopLogin), desktopKey,
		`{"client":"client-1","currency":"USD","digits":2}`); status/100 != 2 {
		f.t.Fatalf("register: %d %s", status, body)
	}
}

// deposit makes a deposit record and returns its code.
func (f *office) deposit(amount string) string {
	f.t.Helper()
	status, body := f.call(http.MethodPost, "/v1/deposits", depositKey, fmt.Sprintf(`{"client":"client-1","server":"main","login":"%d","provider":"stripe",`+
		`"paid":{"amount":"%s","currency":"USD"},"credited":{"amount":"%s","currency":"USD"}}`, desktopLogin, amount, amount))
	var answer struct{ Code string }
	f.read(string(body), &answer)
	if status != http.StatusCreated {
		f.t.Fatalf("deposit: %d %s", status, body)
	}
	return answer.Code
}

// pay sends the webhook of a payment and returns its credit's number.
func (f *office) pay(code string, minor int64) string {
	f.t.Helper()
	p, err := f.maker.NewPayment(code, minor, "usd", fakepsp.Options{})
	if err != nil {
		f.t.Fatal(err)
	}
	e := f.maker.EventIntentSucceeded(p)
	status, err := fakepsp.Post(f.t.Context(), http.DefaultClient, f.public+"/webhooks/stripe", e.Body, fakepsp.Sign(pspSecret, e.Body, time.Now()))
	if err != nil || status != http.StatusOK {
		f.t.Fatalf("webhook: %d %v", status, err)
	}
	var hits struct{ Items []admin.Found }
	f.read(f.ok("carl", "credits", "find", p.ID, "-o", "json"), &hits)
	if len(hits.Items) != 1 {
		f.t.Fatalf("payment %s: %+v", p.ID, hits)
	}
	return hits.Items[0].ID
}

// deals counts the balance operations of the API by comment.
func (f *office) deals() map[string]int {
	out := map[string]int{}
	for _, e := range f.mt5.Journal() {
		if e.Source == "api" {
			out[e.Comment]++
		}
	}
	return out
}
