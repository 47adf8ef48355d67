package fakemt5

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// Config is everything Start needs. Only World.Managers has no default.
type Config struct {
	Listen  string // address of the wire; "127.0.0.1:0" when empty
	Control string // loopback address of the control port; none when empty
	Journal string // journal file; in memory when empty

	World World

	Clock Clock     // real time when nil
	Rand  io.Reader // source of srv_rand and cookies; crypto/rand when nil

	Certificate *tls.Certificate // self-signed ECDSA for 127.0.0.1, ::1 and localhost when nil
	DNSNames    []string         // further names in the self-signed certificate
	CertFile    string           // where the certificate is written as PEM; nowhere when empty
	// KeyFile is where the key of the self-signed certificate is kept. When both files
	// exist they are read back, so that a client's CA file outlives a restart.
	KeyFile string

	IdleTimeout  time.Duration // no packet for so long closes a connection; 180 s when 0
	AuthTimeout  time.Duration // longest time from auth/start to auth/answer; 10 s when 0
	VisibleAfter time.Duration // a new deal shows in lookups this much later
}

// World is what exists on the server at start. It is the form of the accounts file.
type World struct {
	// Server is the identity in common/get; "ExampleBroker-Live" when empty.
	Server string `json:"server,omitempty"`
	// FirstTicket is the first deal ticket; 4294967297 when 0, which no 32-bit client survives.
	FirstTicket uint64    `json:"first_ticket,omitempty"`
	Zone        Zone      `json:"zone,omitzero"`
	Managers    []Manager `json:"managers,omitempty"`
	Groups      []Group   `json:"groups,omitempty"`
	Accounts    []Account `json:"accounts,omitempty"`
	Wire        Wire      `json:"wire,omitzero"`
}

// Manager is a login of the Web API.
type Manager struct {
	Login uint64 `json:"login"`
	// Password is the API password. It may be left out of an accounts file and filled
	// in before Start.
	Password string `json:"password,omitempty"`
	// Groups limits the accounts in reach by masks with "*"; all when empty.
	Groups []string `json:"groups,omitempty"`
	// NoBalance takes the right to book balance operations away: code 8.
	NoBalance bool `json:"no_balance,omitempty"`
	// Refuse is the code that auth/answer gives, such as 1011 (no manager
	// configuration) or 1012 (address not allowed); 0 lets the manager in.
	Refuse int `json:"refuse,omitempty"`
}

// Group is a group of accounts with one currency.
type Group struct {
	Name        string `json:"name"` // with backslashes, such as "real\\eur"
	Currency    string `json:"currency"`
	Digits      int    `json:"digits"` // decimals of the currency, 0 to 8
	Company     string `json:"company,omitempty"`
	Permissions int    `json:"permissions,omitempty"` // PermissionsFlags; 2 (connections on) when 0
}

// defaultRights are the flags of a new account (mt5-webapi.md §1.4).
const defaultRights = 0x163

// Account is a trading account. Amounts are minor units of its group's currency.
type Account struct {
	Login  uint64  `json:"login"`
	Group  string  `json:"group"`
	Name   string  `json:"name,omitempty"`
	Rights *uint64 `json:"rights,omitempty"` // 0x163 when absent
	// Registration is unix seconds on the server's clock; 90 days before start when 0.
	Registration int64 `json:"registration,omitempty"`
	// Balance and Credit are there from the start; each makes an opening deal at
	// Registration, unless NoHistory, so that the history adds up.
	Balance   int64 `json:"balance,omitempty"`
	Credit    int64 `json:"credit,omitempty"`
	NoHistory bool  `json:"no_history,omitempty"`
	Margin    int64 `json:"margin,omitempty"` // used by open positions
	Leverage  int   `json:"leverage,omitempty"`
	// SeedDeals trading deals are spread between Registration and the start, made
	// from SeedNumber; they move the balance.
	SeedDeals  int    `json:"seed_deals,omitempty"`
	SeedNumber uint64 `json:"seed_number,omitempty"`
}

// LoadWorld reads an accounts file. Unknown fields are an error.
func LoadWorld(path string) (World, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return World{}, fmt.Errorf("load accounts file: %w", err)
	}
	var w World
	if err := decodeStrict(text, &w); err != nil {
		return World{}, fmt.Errorf("load accounts file %s: %w", path, err)
	}
	return w, nil
}

// decodeStrict decodes exactly one JSON value without unknown fields.
func decodeStrict(text []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("text after the JSON value")
	}
	return nil
}

// withDefaults fills what was left out and checks the rest.
func (c Config) withDefaults() (Config, error) {
	if c.Listen == "" {
		c.Listen = "127.0.0.1:0"
	}
	if c.Clock == nil {
		c.Clock = realClock{}
	}
	if c.IdleTimeout == 0 {
		c.IdleTimeout = 180 * time.Second
	}
	if c.AuthTimeout == 0 {
		c.AuthTimeout = 10 * time.Second
	}
	if c.World.Server == "" {
		c.World.Server = "ExampleBroker-Live"
	}
	if c.World.FirstTicket == 0 {
		c.World.FirstTicket = 1<<32 + 1
	}
	if c.IdleTimeout < 0 || c.AuthTimeout < 0 || c.VisibleAfter < 0 {
		return c, errors.New("fakemt5 config: a duration is negative")
	}
	if err := checkManagers(c.World.Managers); err != nil {
		return c, fmt.Errorf("fakemt5 config: %w", err)
	}
	if err := c.World.Zone.validate(); err != nil {
		return c, fmt.Errorf("fakemt5 config: %w", err)
	}
	var err error
	if c.World.Wire, err = c.World.Wire.withDefaults(); err != nil {
		return c, fmt.Errorf("fakemt5 config: %w", err)
	}
	return c, nil
}

// checkManagers refuses a server that nobody, or anybody, could log in to.
func checkManagers(all []Manager) error {
	if len(all) == 0 {
		return errors.New("no manager")
	}
	seen := map[uint64]bool{}
	for _, m := range all {
		switch {
		case m.Login == 0:
			return errors.New("manager without a login")
		case m.Password == "":
			return fmt.Errorf("manager %d has no password", m.Login)
		case m.Refuse < 0:
			return fmt.Errorf("manager %d: negative refuse code", m.Login)
		case seen[m.Login]:
			return fmt.Errorf("manager %d is listed twice", m.Login)
		}
		seen[m.Login] = true
	}
	return nil
}

func (g Group) validate() error {
	switch {
	case g.Name == "":
		return errors.New("group without a name")
	case g.Currency == "":
		return fmt.Errorf("group %q: no currency", g.Name)
	case g.Digits < 0 || g.Digits > 8:
		return fmt.Errorf("group %q: digits %d is outside 0..8", g.Name, g.Digits)
	case g.Permissions < 0:
		return fmt.Errorf("group %q: negative permissions", g.Name)
	}
	return nil
}

func (a Account) validate() error {
	switch {
	case a.Login == 0:
		return errors.New("account without a login")
	case a.Group == "":
		return fmt.Errorf("account %d: no group", a.Login)
	case a.Registration < 0, a.Margin < 0, a.Credit < 0, a.Leverage < 0, a.SeedDeals < 0:
		return fmt.Errorf("account %d: a number that must not be negative is", a.Login)
	case a.SeedDeals > 100_000:
		return fmt.Errorf("account %d: seed_deals %d is above 100000", a.Login, a.SeedDeals)
	}
	return nil
}

// reaches reports whether the manager's masks cover the group.
func (m Manager) reaches(group string) bool {
	if len(m.Groups) == 0 {
		return true
	}
	return matchMasks(m.Groups, group)
}

// matchMasks applies masks in order: "*" stands for any text and "!" excludes; an
// exclusion wins whatever its place.
func matchMasks(masks []string, name string) bool {
	hit := false
	for _, mask := range masks {
		mask = strings.TrimSpace(mask)
		if excluded, ok := strings.CutPrefix(mask, "!"); ok {
			if matchMask(excluded, name) {
				return false
			}
			continue
		}
		hit = hit || matchMask(mask, name)
	}
	return hit
}

func matchMask(mask, name string) bool {
	parts := strings.Split(mask, "*")
	if len(parts) == 1 {
		return mask == name
	}
	first, last := parts[0], parts[len(parts)-1]
	rest, ok := strings.CutPrefix(name, first)
	if !ok {
		return false
	}
	for _, part := range parts[1 : len(parts)-1] {
		_, after, found := strings.Cut(rest, part)
		if !found {
			return false
		}
		rest = after
	}
	return strings.HasSuffix(rest, last)
}
