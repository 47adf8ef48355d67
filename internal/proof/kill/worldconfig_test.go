package kill

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"creditonce/internal/stage"
	"creditonce/mt5/fakemt5"
)

// The waiting times of the program under test: as short as a demo's may be, and in the right proportion to each other.
const (
	callTimeout   = time.Second
	sendDeadline  = 500 * time.Millisecond
	lease         = 2500 * time.Millisecond
	quarantine    = 3 * time.Second
	secondLook    = 300 * time.Millisecond
	taskAfter     = 5 * time.Second
	lateExecution = callTimeout + 700*time.Millisecond
)

// The world behind the program: three groups and two dozen accounts.
const (
	managerLogin = 1000
	firstLogin   = 50001
	accountCount = 24
	mt5Identity  = "ExampleBroker-Demo"
	serverLabel  = "main"
	pspLabel     = "stripe-test"
)

type account struct {
	login    uint64
	client   string
	currency string
	digits   int
}

var currencies = []struct {
	name, group string
	digits      int
}{{"USD", `demo\usd`, 2}, {"EUR", `demo\eur`, 2}, {"JPY", `demo\jpy`, 0}}

func accountAt(i int) account {
	c := currencies[i%len(currencies)]
	return account{login: firstLogin + uint64(i), client: fmt.Sprintf("client-%02d", i+1), currency: c.name, digits: c.digits}
}

// ports are where everything listens.
type ports struct{ webhooks, api, line, mt5, mt5Control, pspControl int }

// folder is the work folder of a world.
type folder struct {
	dir   string
	ports ports
	keys  struct{ accounts, deposits string }
}

func (f *folder) path(parts ...string) string {
	return filepath.Join(append([]string{f.dir}, parts...)...)
}

// makeFolder writes everything that the processes need to start.
func makeFolder(dir string, from *stage.Ports) (*folder, error) {
	f := &folder{dir: dir}
	for _, d := range []string{dir, f.path("secrets"), f.path("tls"), f.path("store")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, fmt.Errorf("make the work folder: %w", err)
		}
	}
	p := &f.ports
	err := from.Take(&p.webhooks, &p.api, &p.line, &p.mt5, &p.mt5Control, &p.pspControl)
	err = errors.Join(err, f.writeSecrets(), stage.Certify(f.path("tls"), time.Now()), f.writeWorld())
	if err != nil {
		return nil, fmt.Errorf("make the work folder: %w", err)
	}
	return f, f.writeConfig("config.yaml", "store", p.webhooks, p.api)
}

func (f *folder) writeSecrets() error {
	for name, keep := range map[string]*string{
		"webhook": nil, "mt5-manager": nil, "api-accounts": &f.keys.accounts, "api-deposits": &f.keys.deposits,
	} {
		text, err := stage.DrawSecret(rand.Reader)
		if err != nil {
			return err
		}
		switch {
		case keep != nil:
			text = "co_" + text
			*keep = text
		case name == "webhook":
			text = "whsec_" + text
		}
		if err := os.WriteFile(f.path("secrets", name), []byte(text+"\n"), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func (f *folder) writeWorld() error {
	w := fakemt5.World{
		Server: mt5Identity, Zone: fakemt5.Zone{OffsetMinutes: 120, DST: fakemt5.DSTUS},
		Managers: []fakemt5.Manager{{Login: managerLogin, Groups: []string{`demo\*`}}},
	}
	for _, c := range currencies {
		w.Groups = append(w.Groups, fakemt5.Group{Name: c.group, Currency: c.name, Digits: c.digits, Company: "Example Broker"})
	}
	for i := range accountCount {
		w.Accounts = append(w.Accounts, fakemt5.Account{
			Login: accountAt(i).login, Group: currencies[i%len(currencies)].group, Balance: 100_000,
			SeedDeals: 5 + 13*i, SeedNumber: uint64(i) + 1, Leverage: 100,
		})
	}
	text, err := json.MarshalIndent(w, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(f.path("world.json"), append(text, '\n'), 0o600)
}

// writeConfig writes a configuration of the program: production's own, with a demo's waiting times and its MT5 server
// behind the proxy.
func (f *folder) writeConfig(name, data string, webhooks, api int) error {
	text := fmt.Sprintf(`# Written by the kill harness. Simulated money: these waiting times are too short for a real MT5 server.
environment: test
demo: true
data_dir: %s
log: {level: info, format: json}
webhooks:
  listen: %s
  tls: {cert_file: tls/webhooks.pem, key_file: tls/webhooks.key}
api:
  listen: %s
  rate: {per_second: 100000, burst: 100000}
  keys:
    - {name: accounts, sha256: "%x", scopes: ["accounts:write"]}
    - {name: portal, sha256: "%x", scopes: ["deposits:write", "deposits:read"]}
providers:
  %s:
    kind: stripe
    account: acct_1KillHarness
    secrets:
      - file: secrets/webhook
mt5:
  servers:
    %s:
      identity: %s
      addresses: ["%s"]
      login: %d
      password: {file: secrets/mt5-manager}
      tls: {ca_file: tls/mt5-ca.pem}
      sessions: 4
      call_timeout: %s
      currencies: {USD: 2, EUR: 2, JPY: 0}
      groups: ['demo\*']
credit:
  lease: %dms
  send_deadline: %s
  quarantine: %s
  second_look_after: %s
  looks: [200ms, 500ms, 1s, 2s, 3s]
  look_every: 500ms
  look_every_with_task: 1s
  task_after: %s
  held_grace: 1s
limits:
  per_credit: {USD: "10000.00", EUR: "10000.00", JPY: "1500000"}
  per_login_day: {USD: "1000000.00", EUR: "1000000.00", JPY: "150000000"}
rates:
  bands:
    EUR/USD: {min: "0.95", max: "1.25"}
space: {stop_claims_below: 4MiB, refuse_intake_below: 2MiB}
shutdown_timeout: 5s
`, data, stage.Loopback(webhooks), stage.Loopback(api), sha256.Sum256([]byte(f.keys.accounts)), sha256.Sum256([]byte(f.keys.deposits)),
		pspLabel, serverLabel, mt5Identity, stage.Loopback(f.ports.line), managerLogin,
		callTimeout, lease.Milliseconds(), sendDeadline, quarantine, secondLook, taskAfter)
	if err := os.WriteFile(f.path(name), []byte(text), 0o600); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}
