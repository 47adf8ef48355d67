package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"creditonce/internal/app"
	"creditonce/mt5/fakemt5"
)

const (
	probeLogin = 700001
	realLogin  = 500123
)

// broker is a fake MT5 server and a firm's configuration of it.
type broker struct {
	t       *testing.T
	dir     string
	config  string
	fake    *fakemt5.Server
	control *fakemt5.Control
}

// newBroker starts the server. more goes into the server's section of the configuration, after is added to its end.
func newBroker(t *testing.T, more, after string, change func(*fakemt5.Config)) *broker {
	t.Helper()
	b := &broker{t: t, dir: t.TempDir()}
	cfg := fakemt5.Config{Control: "127.0.0.1:0", CertFile: filepath.Join(b.dir, "ca.pem"), World: fakemt5.World{
		Server:   "Broker-Demo",
		Managers: []fakemt5.Manager{{Login: 1000, Password: "planted-password"}},
		Groups:   []fakemt5.Group{{Name: `test\usd`, Currency: "USD", Digits: 2}, {Name: `real\usd`, Currency: "USD", Digits: 2}},
		Accounts: []fakemt5.Account{{Login: probeLogin, Group: `test\usd`, Balance: 1000, SeedDeals: 120}, {Login: realLogin, Group: `real\usd`, Balance: 1000}},
	}}
	if change != nil {
		change(&cfg)
	}
	var err error
	if b.fake, err = fakemt5.Start(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.fake.Close() })
	b.control = fakemt5.NewControl(b.fake.ControlAddr())
	b.config = filepath.Join(b.dir, "config.yaml")
	b.write("webhook", "whsec_planted\n")
	b.write("manager", "planted-password\n")
	b.write("config.yaml", fmt.Sprintf(`environment: test
data_dir: data
webhooks: {listen: "127.0.0.1:0"}
api:
  listen: "127.0.0.1:0"
  keys: [{name: portal, sha256: "%064d", scopes: ["deposits:write"]}]
providers:
  stripe: {kind: stripe, account: acct_1, secrets: [{file: webhook}]}
space: {stop_claims_below: 2MiB, refuse_intake_below: 1MiB, max_store: 1GiB}
mt5:
  servers:
    main:
      identity: Broker-Demo
      addresses: ["%s"]
      login: 1000
      password: {file: manager}
      tls: {ca_file: ca.pem}
      currencies: {USD: 2}
%s
limits: {per_credit: {USD: "100.00"}, per_login_day: {USD: "100.00"}}
%s
`, 1, b.fake.Addr(), more, after))
	return b
}

func (b *broker) write(name, text string) {
	b.t.Helper()
	if err := os.WriteFile(filepath.Join(b.dir, name), []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// changed writes a report with something changed under another name.
func (b *broker) changed(from, to string, change func(map[string]any)) {
	b.t.Helper()
	text, err := os.ReadFile(from)
	if err != nil {
		b.t.Fatal(err)
	}
	var report map[string]any
	if err := json.Unmarshal(text, &report); err != nil {
		b.t.Fatal(err)
	}
	change(report)
	if text, err = json.Marshal(report); err != nil {
		b.t.Fatal(err)
	}
	b.write(to, string(text))
}

// run runs a command with the firm's configuration, at the true time.
func (b *broker) run(arguments ...string) result {
	b.t.Helper()
	got := runWith(func(p *Process) { p.Now = time.Now }, append(arguments, "--config", b.config)...)
	if strings.Contains(got.stdout+got.stderr, "planted") {
		b.t.Errorf("a secret was printed: %+v", got)
	}
	return got
}

func (b *broker) probe(arguments ...string) result {
	return b.run(append([]string{"mt5", "probe", "--login", fmt.Sprint(probeLogin), "--pace", "0s", "--out", filepath.Join(b.dir, "report")}, arguments...)...)
}

const testGroups = `      probe_groups: ['test\*']`

func wantResult(t *testing.T, got result, code int, says ...string) {
	t.Helper()
	if got.code != code {
		t.Errorf("exit code %d, want %d: %+v", got.code, code, got)
	}
	for _, words := range says {
		if !strings.Contains(got.stdout+got.stderr, words) {
			t.Errorf("%q is missing in %s\n%s", words, got.stdout, got.stderr)
		}
	}
}

func TestProbe_LearnsStoresAndTellsTheDoctor(t *testing.T) {
	t.Parallel()
	b := newBroker(t, testGroups, "", nil)
	before := b.run("doctor")
	wantResult(t, before, ExitFound, "nothing was measured yet", "creditonce mt5 probe --config", "assumed  comment.reference")

	wantResult(t, b.probe("--operate", "--overdraw"), ExitDone, "report.md", "report.json", "serve uses it from its next start", "nothing differs",
		"probe: book 0.01 USD on login 700001")
	for _, name := range []string{"report.md", "report.json"} {
		about, err := os.Stat(filepath.Join(b.dir, name))
		if err != nil || about.Mode().Perm() != 0o600 || about.Size() < 1000 {
			t.Errorf("%s: %v, %v", name, about, err)
		}
	}
	after := b.run("doctor")
	wantResult(t, after, ExitDone, "nothing differs", "answers are measured and as assumed", "assumed  call.reset")
	if strings.Contains(after.stdout, "assumed  comment.reference") {
		t.Errorf("still assumed:\n%s", after.stdout)
	}
	wantResult(t, b.run("verify"), ExitDone, "everything agrees")
}

func TestProbe_WhileAServiceRunsWritesTheReportOnlyAndImportStoresIt(t *testing.T) {
	t.Parallel()
	b := newBroker(t, testGroups, "", nil)
	wantResult(t, b.probe(), ExitDone, "serve uses it") // makes the store
	c, err := loadConfig(&Process{Getenv: func(string) string { return "" }, Now: time.Now, Stderr: os.Stderr}, b.config)
	if err != nil {
		t.Fatal(err)
	}
	service, err := app.New(t.Context(), app.Options{Config: c})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- service.Run(ctx) }()
	second := filepath.Join(b.dir, "second")
	wantResult(t, b.probe("--operate", "--operations", "1", "--out", second), ExitDone, "a service has the store open", "mt5 probe --import "+second+".json")
	wantResult(t, b.run("mt5", "probe", "--import", second+".json"), ExitNoAnswer, "stop the service first")
	wantResult(t, b.run("doctor"), ExitDone, "is in use by a service", "unread ",
		filepath.Join(b.dir, "data", "admin.sock")+" has mode 0660; user ", "the service answers: ")
	if err := os.Chmod(filepath.Join(b.dir, "data", "admin.sock"), 0o600); err != nil {
		t.Fatal(err)
	}
	wantResult(t, b.run("doctor"), ExitFound, "PROBLEM  operators' socket: ", "has mode 0600 instead of 0660")
	if err := os.Remove(filepath.Join(b.dir, "data", "admin.sock")); err != nil {
		t.Fatal(err)
	}
	wantResult(t, b.run("doctor"), ExitFound, "PROBLEM  operators' socket: a service has the store, and there is no socket")
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	wantResult(t, b.run("mt5", "probe", "--import", second+".json"), ExitDone, "learned of main")
	b.changed(filepath.Join(b.dir, "report.json"), "older.json", func(report map[string]any) { report["ended"] = "2026-01-01T00:00:00Z" })
	wantResult(t, b.run("mt5", "probe", "--import", filepath.Join(b.dir, "older.json")), ExitRefused, "the store holds a newer report")
	for name, change := range map[string]func(map[string]any){
		"calls itself": func(r map[string]any) { r["identity"] = "Other" }, "does not name": func(r map[string]any) { r["server"] = "second" },
		"in the future": func(r map[string]any) { r["ended"] = "2126-01-01T00:00:00Z" },
	} {
		b.changed(filepath.Join(b.dir, "report.json"), "foreign.json", change)
		wantResult(t, b.run("mt5", "probe", "--import", filepath.Join(b.dir, "foreign.json")), ExitRefused, name)
	}
}

func TestProbe_RefusesWhatItMustNotTouch(t *testing.T) {
	t.Parallel()
	live := newBroker(t, "      groups: ['real\\*']\n      probe_groups: ['real\\*', 'test\\*']", "", nil)
	text, err := os.ReadFile(live.config)
	if err != nil {
		t.Fatal(err)
	}
	live.write("config.yaml", strings.Replace(string(text), "environment: test", "environment: live", 1))
	wantResult(t, live.run("mt5", "probe", "--login", fmt.Sprint(realLogin), "--operate"), ExitRefused, "two people")

	b := newBroker(t, "", "", nil)
	wantResult(t, b.probe("--operate"), ExitRefused, "no test group is named", "--group")
	wantResult(t, b.probe("--operate", "--group", `demo\*`), ExitRefused, "none of the test groups")
	for _, e := range append(live.fake.Journal(), b.fake.Journal()...) {
		if e.Source == fakemt5.SourceAPI {
			t.Errorf("a deal was made: %+v", e)
		}
	}
	if _, err := os.Stat(filepath.Join(b.dir, "report.md")); err == nil {
		t.Error("a refused probe left a report")
	}
	wantResult(t, b.probe("--group", `test\*`, "--sessions", "0"), ExitDone, "nothing differs")
}

func TestProbe_ServerThatCannotBeAskedHasItsExitCode(t *testing.T) {
	t.Parallel()
	b := newBroker(t, testGroups, "", nil)
	b.write("manager", "other-planted")
	wantResult(t, b.probe(), ExitBadConfig, "authenticate as manager 1000", "1001")
	wantResult(t, b.run("doctor"), ExitFound, "authenticate as manager 1000", "mt5.servers.main")

	other := newBroker(t, testGroups, "", func(c *fakemt5.Config) { c.World.Server = "Other" })
	wantResult(t, other.probe(), ExitBadConfig, `calls itself "Other"`)

	down := newBroker(t, testGroups, "", nil)
	if err := down.fake.Close(); err != nil {
		t.Fatal(err)
	}
	wantResult(t, down.probe(), ExitNoAnswer, "connect")
	wantResult(t, down.run("doctor"), ExitFound, "PROBLEM  mt5 main: ", "can be reached")

	unknown := newBroker(t, testGroups, "", nil)
	wantResult(t, unknown.run("mt5", "probe", "--login", "12"), ExitFailed, "does not know login 12", "13 MT_RET_ERR_NOTFOUND")
}

func TestProbe_UsageErrorsSayWhatToDo(t *testing.T) {
	t.Parallel()
	b := newBroker(t, testGroups, "", nil)
	b.write("there.md", "")
	for _, test := range []struct {
		arguments []string
		says      string
	}{
		{[]string{}, "no --login"},
		{[]string{"--login", "1", "--group", "*"}, "names every group"},
		{[]string{"--login", "1", "--overdraw"}, "needs --operate"},
		{[]string{"--login", "1", "--operations", "0"}, "1 to 200"},
		{[]string{"--login", "1", "--sessions", "1"}, "2 to 8"},
		{[]string{"--login", "1", "--pace", "-1s"}, "0 to 10s"},
		{[]string{"--login", "1", "--unknown-login", "1"}, "the login itself"},
		{[]string{"--login", "1", "--server", "mian"}, "give one of: main"},
		{[]string{"--login", "1", "--import", "x"}, "--login has no meaning"},
		{[]string{"--login", "1", "--out", filepath.Join(b.dir, "there")}, "is there already"},
	} {
		wantResult(t, b.run(append([]string{"mt5", "probe"}, test.arguments...)...), ExitUsage, test.says)
	}
	b.write("damaged.json", "{}")
	wantResult(t, b.run("mt5", "probe", "--import", filepath.Join(b.dir, "damaged.json")), ExitRefused, "its format is")
	wantResult(t, b.run("mt5", "probe", "--import", filepath.Join(b.dir, "none.json")), ExitFailed, "no such file")
}

func TestProbe_WhatMustBeDoneByHandIsShoutedAndExits3(t *testing.T) {
	t.Parallel()
	b := newBroker(t, testGroups, "", nil)
	if _, err := b.control.Fault(t.Context(), fakemt5.Rule{Where: "trade/balance", Kind: fakemt5.RefuseCode, Code: 10019, Skip: 1, Count: 1}); err != nil {
		t.Fatal(err)
	}
	wantResult(t, b.probe("--operate"), ExitFound, "ATTENTION, to be done by hand now: login 700001 still has 0.01 USD", "2 things to be done by hand")
}

func TestServe_RefusesAQuarantineShorterThanAProbeMeasured(t *testing.T) {
	t.Parallel()
	b := newBroker(t, testGroups, "credit: {quarantine: 2m}", nil)
	wantResult(t, b.probe("--operate", "--operations", "1"), ExitDone)
	b.changed(filepath.Join(b.dir, "report.json"), "slow.json", func(report map[string]any) {
		facts, ok := report["facts"].(map[string]any)
		if !ok {
			t.Fatal("the report has no facts")
		}
		facts["visible_most_ns"], facts["sessions"] = int64(100*time.Second), 1
	})
	wantResult(t, b.run("mt5", "probe", "--import", filepath.Join(b.dir, "slow.json")), ExitDone)
	wantResult(t, b.run("serve"), ExitBadConfig, "only after 1m40s", "credit.quarantine is 2m0s")
	wantResult(t, b.run("doctor"), ExitFound, "mt5 main: quarantine", "mt5 main: sessions")
}

func TestDoctor_EveryProblemHasItsFix(t *testing.T) {
	t.Parallel()
	b := newBroker(t, testGroups, "", nil)
	got := b.run("doctor", "-o", "json")
	var d app.Diagnosis
	if err := json.Unmarshal([]byte(got.stdout), &d); err != nil {
		t.Fatal(err)
	}
	names := ""
	for i, c := range d.Checks {
		if c.Number != i+1 || c.Detail == "" || c.OK == (c.Fix != "") {
			t.Errorf("check %+v", c)
		}
		names += c.Name + "\n"
	}
	for _, name := range []string{"configuration", "secrets", "store", "operators' socket", "free space", "clock", "port of webhooks", "port of api", "mt5 main", "mt5 main: certificate", "mt5 main: clock", "mt5 main: what is known"} {
		if !strings.Contains(names, name+"\n") {
			t.Errorf("no check of %s in %s", name, names)
		}
	}
	if len(d.Assumed) < 40 {
		t.Errorf("%d assumptions", len(d.Assumed))
	}
	wantResult(t, b.run("doctor", "-o", "yaml"), ExitUsage, "table or json")

	b.write("config.yaml", "environment: no\n")
	wantResult(t, b.run("doctor"), ExitFound, " 1  PROBLEM  configuration:", "creditonce check ")
}

func TestDoctor_SeesWhatIsWrong(t *testing.T) {
	t.Parallel()
	crooked := newBroker(t, testGroups, "", nil)
	if _, err := crooked.control.ShiftClock(t.Context(), 7*time.Minute); err != nil {
		t.Fatal(err)
	}
	wantResult(t, crooked.run("doctor"), ExitFound, "PROBLEM  mt5 main: clock:", "apart from this machine", "NTP")

	moved := newBroker(t, testGroups, "", nil)
	wantResult(t, moved.probe(), ExitDone)
	if err := moved.control.SetZone(t.Context(), fakemt5.Zone{OffsetMinutes: 300}); err != nil {
		t.Fatal(err)
	}
	wantResult(t, moved.run("doctor"), ExitFound, "+05:00 from UTC", "the server's zone was changed")

	busy := newBroker(t, testGroups, "", nil)
	text, err := os.ReadFile(busy.config)
	if err != nil {
		t.Fatal(err)
	}
	busy.write("config.yaml", strings.Replace(string(text), `webhooks: {listen: "127.0.0.1:0"}`, `webhooks: {listen: "`+busy.fake.Addr()+`"}`, 1))
	wantResult(t, busy.run("doctor"), ExitFound, "PROBLEM  port of webhooks", "change webhooks.listen")
}
