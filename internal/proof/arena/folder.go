package arena

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"creditonce/internal/stage"
	"creditonce/mt5/fakemt5"
)

// Timing is every wait of the program under test: as short as a demo's may be, and in the right proportion to each other.
type Timing struct {
	CallTimeout, SendDeadline, Lease time.Duration
	Quarantine, SecondLook           time.Duration
	Looks                            []time.Duration
	LookEvery, TaskAfter, HeldGrace  time.Duration
}

// Patient leaves room for calls that MT5 or the line carries out late: up to 1.5 s after the call's time-out.
func Patient() Timing {
	return Timing{
		CallTimeout: time.Second, SendDeadline: 500 * time.Millisecond, Lease: 2500 * time.Millisecond,
		Quarantine: 3 * time.Second, SecondLook: 300 * time.Millisecond,
		Looks:     []time.Duration{200 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second, 3 * time.Second},
		LookEvery: 500 * time.Millisecond, TaskAfter: 5 * time.Second, HeldGrace: time.Second,
	}
}

// Brisk is for a world in which neither MT5 nor the line does anything late.
func Brisk() Timing {
	return Timing{
		CallTimeout: 600 * time.Millisecond, SendDeadline: 300 * time.Millisecond, Lease: 1500 * time.Millisecond,
		Quarantine: time.Second, SecondLook: 100 * time.Millisecond,
		Looks:     []time.Duration{50 * time.Millisecond, 150 * time.Millisecond, 400 * time.Millisecond, 800 * time.Millisecond},
		LookEvery: 200 * time.Millisecond, TaskAfter: 2 * time.Second, HeldGrace: 500 * time.Millisecond,
	}
}

// The world behind the program: three groups and two dozen accounts.
const (
	managerLogin = 1000
	firstLogin   = 50001
	// AccountCount is how many logins there are.
	AccountCount = 24
	mt5Identity  = "ExampleBroker-Demo"
	// Server and Provider are the labels of the MT5 server and the provider.
	Server   = "main"
	Provider = "stripe-test"
)

// Account is one login, as the portal registers it.
type Account struct {
	Login    uint64
	Client   string
	Currency string
	Digits   int
}

var currencies = []struct {
	name, group string
	digits      int
}{{"USD", `demo\usd`, 2}, {"EUR", `demo\eur`, 2}, {"JPY", `demo\jpy`, 0}}

// AccountAt is the i-th login, counted from 0.
func AccountAt(i int) Account {
	c := currencies[i%len(currencies)]
	return Account{Login: firstLogin + uint64(i), Client: fmt.Sprintf("client-%02d", i+1), Currency: c.name, Digits: c.digits}
}

// ports are where everything listens.
type ports struct{ webhooks, api, line, mt5, mt5Control, pspControl, secondWebhooks, secondAPI int }

// folder is the work folder of a world.
type folder struct {
	dir    string
	ports  ports
	timing Timing
	keys   struct{ accounts, deposits string }
}

// Path is a path in the work folder.
func (f *folder) Path(parts ...string) string {
	return filepath.Join(append([]string{f.dir}, parts...)...)
}

// makeFolder writes everything that the processes need to start.
func makeFolder(dir string, from *stage.Ports, timing Timing) (*folder, error) {
	f := &folder{dir: dir, timing: timing}
	for _, d := range []string{dir, f.Path("secrets"), f.Path("tls"), f.Path("store"), f.Path("people")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, fmt.Errorf("make the work folder: %w", err)
		}
	}
	// People with accounts of their own reach the socket, and nothing else.
	if err := errors.Join(os.Chmod(dir, 0o711), os.Chmod(f.Path("people"), 0o711)); err != nil {
		return nil, fmt.Errorf("make the work folder: %w", err)
	}
	p := &f.ports
	err := from.Take(&p.webhooks, &p.api, &p.line, &p.mt5, &p.mt5Control, &p.pspControl, &p.secondWebhooks, &p.secondAPI)
	err = errors.Join(err, f.writeSecrets(), stage.Certify(f.Path("tls"), time.Now()), f.writeWorld())
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
		if err := os.WriteFile(f.Path("secrets", name), []byte(text+"\n"), 0o600); err != nil {
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
	for i := range AccountCount {
		w.Accounts = append(w.Accounts, fakemt5.Account{
			Login: AccountAt(i).Login, Group: currencies[i%len(currencies)].group, Balance: 100_000,
			SeedDeals: 5 + 13*i, SeedNumber: uint64(i) + 1, Leverage: 100,
		})
	}
	text, err := json.MarshalIndent(w, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(f.Path("world.json"), append(text, '\n'), 0o600)
}

// SecondConfig writes the configuration of a second instance on the store in data, with listeners of its own, and returns
// its name.
func (f *folder) SecondConfig(data string) (string, error) {
	return "second.yaml", f.writeConfig("second.yaml", data, f.ports.secondWebhooks, f.ports.secondAPI)
}

// socket is the operators' socket of the instance on the store in data.
func (f *folder) socket(data string) string { return f.Path("people", data+".sock") }

// writeConfig writes a configuration of the program: production's own, with a demo's waiting times and its MT5 server behind
// the proxy.
func (f *folder) writeConfig(name, data string, webhooks, api int) error {
	t := f.timing
	text := fmt.Sprintf(`# Written by the proofs. Simulated money: these waiting times are too short for a real MT5 server.
environment: test
demo: true
data_dir: %s
log: {level: info, format: json}
admin: {socket: %s}
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
    account: acct_1Arena
    secrets:
      - file: secrets/webhook
    settlement: {format: stripe}
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
  lease: %s
  send_deadline: %s
  quarantine: %s
  second_look_after: %s
  looks: [%s]
  look_every: %s
  look_every_with_task: 1s
  task_after: %s
  held_grace: %s
limits:
  per_credit: {USD: "10000.00", EUR: "10000.00", JPY: "1500000"}
  per_login_day: {USD: "1000000.00", EUR: "1000000.00", JPY: "150000000"}
rates:
  bands:
    EUR/USD: {min: "0.95", max: "1.25"}
space: {stop_claims_below: 4MiB, refuse_intake_below: 2MiB}
shutdown_timeout: 5s
`, data, f.socket(data), stage.Loopback(webhooks), stage.Loopback(api), sha256.Sum256([]byte(f.keys.accounts)), sha256.Sum256([]byte(f.keys.deposits)),
		Provider, Server, mt5Identity, stage.Loopback(f.ports.line), managerLogin,
		ms(t.CallTimeout), ms(t.Lease), ms(t.SendDeadline), ms(t.Quarantine), ms(t.SecondLook), ms(t.Looks...), ms(t.LookEvery), ms(t.TaskAfter), ms(t.HeldGrace))
	if err := os.WriteFile(f.Path(name), []byte(text), 0o600); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// ms writes lengths of time as the configuration reads them.
func ms(lengths ...time.Duration) string {
	words := make([]string, len(lengths))
	for i, d := range lengths {
		words[i] = fmt.Sprintf("%dms", d.Milliseconds())
	}
	return strings.Join(words, ", ")
}
