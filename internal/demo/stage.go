package demo

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"creditonce/internal/stage"
	"creditonce/mt5/fakemt5"
)

const (
	markerName = "demo.json"
	// stageForm is the version of the folder's layout; a folder of another version is refused.
	stageForm = 2
)

// stageFolder is the folder of one show: everything the three processes need to start, and all that they leave.
type stageFolder struct {
	dir   string
	ports ports
	keys  keys
	// reused: the folder was there before, with its store and journals.
	reused bool
}

// marker is the file that makes a folder a demo folder.
type marker struct {
	Form  int   `json:"form"`
	Ports ports `json:"ports"`
}

// keys are the portal's two API keys: no key may both own logins and make deposits (design §5).
type keys struct {
	accounts string
	deposits string
}

func (s *stageFolder) path(parts ...string) string {
	return filepath.Join(append([]string{s.dir}, parts...)...)
}

func (s *stageFolder) config() string         { return s.path("config.yaml") }
func (s *stageFolder) mt5Journal() string     { return s.path("mt5.jsonl") }
func (s *stageFolder) pspJournal() string     { return s.path("provider.jsonl") }
func (s *stageFolder) serveLog() string       { return s.path("serve.log") }
func (s *stageFolder) statement() string      { return s.path("settlement.csv") }
func (s *stageFolder) secret(n string) string { return s.path("secrets", n) }

// errNotDemo refuses a folder that the demo has not made: nothing in it is touched.
var errNotDemo = errors.New("is no demo folder; name a new folder, or one that an earlier demo made")

// openStage opens the demo folder at dir, or makes it. dir is taken as it is when it was made by a demo before; any
// other folder that exists and holds something is refused.
func openStage(dir string, o Options) (*stageFolder, error) {
	text, err := os.ReadFile(filepath.Join(dir, markerName))
	switch {
	case err == nil:
		return reopen(dir, text, o)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("open demo folder: %w", err)
	}
	entries, err := os.ReadDir(dir)
	switch {
	case err == nil && len(entries) > 0:
		return nil, fmt.Errorf("%s %w", dir, errNotDemo)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("open demo folder: %w", err)
	}
	return makeStage(dir, o)
}

func reopen(dir string, text []byte, o Options) (*stageFolder, error) {
	var m marker
	if err := json.Unmarshal(text, &m); err != nil || m.Form != stageForm {
		return nil, fmt.Errorf("%s %w (its %s is of another version)", dir, errNotDemo, markerName)
	}
	s := &stageFolder{dir: dir, ports: m.Ports, reused: true}
	for name, into := range map[string]*string{"api-accounts": &s.keys.accounts, "api-deposits": &s.keys.deposits} {
		key, err := os.ReadFile(s.secret(name))
		if err != nil {
			return nil, fmt.Errorf("open demo folder: %w", err)
		}
		*into = strings.TrimSpace(string(key))
	}
	// The folder may have moved, and go run makes another program each time.
	if err := s.writeGuide(o); err != nil {
		return nil, fmt.Errorf("open demo folder: %w", err)
	}
	return s, nil
}

// writeGuide writes what names this program or the folder: how a person goes on with the folder by hand.
func (s *stageFolder) writeGuide(o Options) error {
	return errors.Join(
		os.WriteFile(s.path("README.txt"), []byte(s.readme(o.Executable)), 0o600),
		os.WriteFile(s.path("deposit.sh"), []byte(s.depositScript()), 0o600),
		os.WriteFile(s.path("pay.sh"), []byte(s.payScript(o.Executable)), 0o600),
	)
}

// makeStage writes a whole new folder. The marker comes last: a folder without one was never finished.
func makeStage(dir string, o Options) (*stageFolder, error) {
	s := &stageFolder{dir: dir}
	for _, d := range []string{dir, s.path("secrets"), s.path("tls"), s.path("store")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, fmt.Errorf("make demo folder: %w", err)
		}
	}
	if err := errors.Join(s.writeSecrets(o), stage.Certify(s.path("tls"), o.Now()), s.writeWorld()); err != nil {
		return nil, fmt.Errorf("make demo folder: %w", err)
	}
	if err := s.choosePorts(o); err != nil {
		return nil, fmt.Errorf("make demo folder: %w", err)
	}
	return s, nil
}

// choosePorts gives the folder ports that are free now, and writes what depends on them. It may be called again when
// another program took one of them meanwhile.
func (s *stageFolder) choosePorts(o Options) error {
	p, err := choosePorts(o.ports)
	if err != nil {
		return err
	}
	s.ports = p
	text, err := json.MarshalIndent(marker{Form: stageForm, Ports: p}, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", markerName, err)
	}
	return errors.Join(
		os.WriteFile(s.config(), []byte(s.configText(cmp.Or(o.quarantine, quarantine))), 0o600),
		s.writeGuide(o),
		os.WriteFile(s.path(markerName), append(text, '\n'), 0o600),
	)
}

func (s *stageFolder) writeSecrets(o Options) error {
	for _, secret := range []struct {
		name, prefix string
		keep         *string
	}{
		{"webhook", "whsec_", nil}, {"provider-api", "rk_test_", nil}, {"mt5-manager", "", nil},
		{"api-accounts", "co_", &s.keys.accounts}, {"api-deposits", "co_", &s.keys.deposits},
	} {
		text, err := stage.DrawSecret(o.Random)
		if err != nil {
			return err
		}
		text = secret.prefix + text
		if secret.keep != nil {
			*secret.keep = text
		}
		if err := os.WriteFile(s.secret(secret.name), []byte(text+"\n"), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// The MT5 world: three groups, twelve accounts, trading deals on each.
const (
	managerLogin = 1000
	firstLogin   = 50001
	accountCount = 12
	mt5Identity  = "ExampleBroker-Demo"
	serverLabel  = "main"
	pspLabel     = "stripe-demo"
	pspAccount   = "acct_1DemoAccount"
)

// currencies are the account currencies in the order in which accounts take turns.
var currencies = []struct {
	name   string
	group  string
	digits int
}{{"USD", `demo\usd`, 2}, {"EUR", `demo\eur`, 2}, {"JPY", `demo\jpy`, 0}}

func (s *stageFolder) writeWorld() error {
	w := fakemt5.World{
		Server: mt5Identity, Zone: fakemt5.Zone{OffsetMinutes: 120, DST: fakemt5.DSTUS},
		Managers: []fakemt5.Manager{{Login: managerLogin, Groups: []string{`demo\*`}}},
	}
	for _, c := range currencies {
		w.Groups = append(w.Groups, fakemt5.Group{Name: c.group, Currency: c.name, Digits: c.digits, Company: "Example Broker"})
	}
	for i := range accountCount {
		c := currencies[i%len(currencies)]
		w.Accounts = append(w.Accounts, fakemt5.Account{
			Login: firstLogin + uint64(i), Group: c.group, Name: clientOf(i), Balance: 1_000 * scale(c.digits),
			SeedDeals: 20 + 7*i, SeedNumber: uint64(i) + 1, Leverage: 100,
		})
	}
	text, err := json.MarshalIndent(w, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(s.path("world.json"), append(text, '\n'), 0o600)
}

// clientOf is the firm's client who owns account i.
func clientOf(i int) string { return fmt.Sprintf("client-%02d", i+1) }

func scale(digits int) int64 {
	n := int64(1)
	for range digits {
		n *= 10
	}
	return n
}

// quarantine and the other waiting times of a demo: short enough to watch, and in the right proportion to each other.
const (
	callTimeout  = time.Second
	sendDeadline = 500 * time.Millisecond
	quarantine   = 3 * time.Second
	heldGrace    = 2 * time.Second
	pullEvery    = time.Second
)
