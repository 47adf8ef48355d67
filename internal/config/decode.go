package config

import (
	"fmt"
	"net/netip"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

const (
	// day and longest bound durations that have no bound of their own.
	day     = 24 * time.Hour
	longest = 365 * day
	// shortest is the floor of a demo's waiting times.
	shortest = time.Millisecond
)

// safe is the floor of a waiting time: what is needed against a real MT5 server, next to nothing in a demo.
func (r *reader) safe(floor time.Duration) time.Duration {
	if r.demo {
		return shortest
	}
	return floor
}

var nameForm = regexp.MustCompile(`^[a-z0-9-]{1,32}$`)

// goodName reports whether a label may be used in paths, logs and metrics.
func (r *reader) goodName(path, name string) {
	if !nameForm.MatchString(name) {
		r.fault(path, "the name %s is not usable; write 1 to 32 of a-z, 0-9 and -", shown(name))
	}
}

// root reads the whole file into c, which holds the defaults.
func (r *reader) root(s *section, c *Config) {
	s.require("write live for real money or test for the provider's test mode", "environment")
	var environment string
	s.text("environment", &environment, oneOf(string(Live), string(Test)))
	c.Environment = Environment(environment)
	s.flag("demo", &c.Demo)
	r.demo = c.Demo // decides the floors below
	s.filePath("data_dir", &c.DataDir)

	r.store(s.open("store"), c)

	log := s.open("log")
	log.text("level", &c.Log.Level, oneOf("debug", "info", "warn", "error"))
	log.text("format", &c.Log.Format, oneOf("json", "console"))
	log.close()

	r.webhooks(s.open("webhooks"), &c.Webhooks)
	r.api(s.open("api"), &c.API)
	r.admin(s.open("admin"), c)

	s.require("name at least one payment provider, as in config.example.yaml", "providers")
	c.Providers = map[string]Provider{}
	s.each("providers", func(name, path string, value ast.Node) {
		r.goodName(path, name)
		c.Providers[name] = r.provider(r.section(path, value))
	})

	s.require("name at least one MT5 server below mt5.servers, as in config.example.yaml", "mt5")
	mt5 := s.open("mt5")
	if s.has("mt5") {
		mt5.require("name at least one MT5 server, as in config.example.yaml", "servers")
	}
	c.MT5.Servers = map[string]MT5Server{}
	mt5.each("servers", func(name, path string, value ast.Node) {
		r.goodName(path, name)
		c.MT5.Servers[name] = r.mt5Server(r.section(path, value))
	})
	mt5.close()

	r.credit(s.open("credit"), &c.Credit)
	r.limits(s.open("limits"), &c.Limits)
	r.rates(s.open("rates"), &c.Rates)

	space := s.open("space")
	space.size("stop_claims_below", &c.Space.StopClaimsBelow, 1<<20, 1<<40)
	space.size("refuse_intake_below", &c.Space.RefuseIntakeBelow, 1<<20, 1<<40)
	space.size("max_store", &c.Space.MaxStore, 16<<20, 16<<40)
	space.close()

	schedules := s.open("schedules")
	schedules.schedule("verify", &c.Schedules.Verify)
	schedules.schedule("reconcile", &c.Schedules.Reconcile)
	schedules.close()

	r.reconcile(s.open("reconcile"), &c.Reconcile)
	c.Alerts = r.alerts(s.open("alerts"))

	s.duration("shutdown_timeout", &c.ShutdownTimeout, r.safe(time.Second), 10*time.Minute)
	s.close()
}

// witnessFile is the witness in the folder beside the data directory, where the configuration names no other path.
const witnessFile = "claims"

func (r *reader) store(s *section, c *Config) {
	s.filePath("witness", &c.Store.Witness)
	if inside(c.DataDir, c.Store.Witness) {
		r.fault(s.child("witness"), "lies inside data_dir, so it would be copied and put back together with the store; name a file outside, best on another disk")
	}
	s.filePath("backup_dir", &c.Store.BackupDir)
	if inside(c.DataDir, c.Store.BackupDir) {
		r.fault(s.child("backup_dir"), "lies inside data_dir, so backups would be lost together with the store; name a folder outside, best on another disk")
	}
	s.close()
	if c.Store.Witness == "" {
		c.Store.Witness = filepath.Join(c.DataDir+"-witness", witnessFile)
	}
	if c.Store.BackupDir == "" {
		c.Store.BackupDir = c.DataDir + "-backups"
	}
}

// inside tells whether the file lies in the folder or below it.
func inside(folder, file string) bool {
	rest, err := filepath.Rel(folder, file)
	return file != "" && err == nil && rest != ".." && !strings.HasPrefix(rest, ".."+string(filepath.Separator))
}

func (r *reader) webhooks(s *section, w *Webhooks) {
	s.text("listen", &w.Listen, listenAddress)
	w.TLS = r.tlsPair(s)
	items, paths := s.list("trusted_proxies")
	for i, item := range items {
		if value, ok := r.textOf(paths[i], item); ok {
			if problem := proxyRange(value); problem != "" {
				r.fault(paths[i], "%s", problem)
				continue
			}
			w.TrustedProxies = append(w.TrustedProxies, value)
		}
	}
	// The floor leaves room for the largest events that providers send in practice.
	s.size("max_body", &w.MaxBody, 16<<10, MaxBodyCeiling)
	s.integer("max_in_flight", &w.MaxInFlight, 1, 10000)
	s.close()
}

// proxyRange checks a CIDR range whose X-Forwarded-For header would be believed.
func proxyRange(value string) string {
	p, err := netip.ParsePrefix(value)
	switch {
	case err != nil:
		return fmt.Sprintf("%s is not an address range; write it as address/bits, such as 10.1.2.3/32", shown(value))
	case p.Bits() == 0:
		return value + " trusts everyone; write the range of your own proxies"
	case p.Masked() != p:
		return fmt.Sprintf("%s has address bits beyond its mask; write %s, or a longer mask", shown(value), p.Masked())
	default:
		return ""
	}
}

// tlsPair reads the optional tls section of a listener.
func (r *reader) tlsPair(s *section) *TLSPair {
	t := s.open("tls")
	var pair TLSPair
	if s.has("tls") {
		t.require("name both cert_file and key_file, or delete the tls section", "cert_file", "key_file")
	}
	t.filePath("cert_file", &pair.CertFile)
	t.filePath("key_file", &pair.KeyFile)
	t.close()
	if pair.CertFile == "" || pair.KeyFile == "" {
		return nil
	}
	return &pair
}

func (r *reader) api(s *section, a *API) {
	s.text("listen", &a.Listen, listenAddress)
	a.TLS = r.tlsPair(s)
	items, paths := s.list("keys")
	for i, item := range items {
		k := r.section(paths[i], item)
		var key APIKey
		k.require("creditonce keys new prints a whole entry", "name", "sha256", "scopes")
		k.text("name", &key.Name, func(name string) string {
			if !nameForm.MatchString(name) {
				return fmt.Sprintf("%s is not a usable name; write 1 to 32 of a-z, 0-9 and -", shown(name))
			}
			return ""
		})
		key.SHA256, _ = k.digest("sha256", "take the line that creditonce keys new printed (the key itself does not belong here)")
		key.Scopes = r.scopes(k)
		k.close()
		a.Keys = append(a.Keys, key)
	}
	limit := s.open("rate")
	limit.integer("per_second", &a.Rate.PerSecond, 1, 100000)
	limit.integer("burst", &a.Rate.Burst, 1, 100000)
	limit.close()
	s.close()
}

// adminSocket is the socket's file in the data directory, where the configuration names no other path.
const adminSocket = "admin.sock"

// longestSocket is the most bytes that the path of a unix socket may have on every system that has them.
const longestSocket = 103

var groupForm = regexp.MustCompile(`^([a-z_][a-z0-9_.-]{0,31}|[0-9]{1,10})$`)

func (r *reader) admin(s *section, c *Config) {
	s.filePath("socket", &c.Admin.Socket)
	if len(c.Admin.Socket) > longestSocket {
		r.fault(s.child("socket"), "the path has %d bytes, a socket's may have %d; name a shorter one, such as /run/creditonce/%s",
			len(c.Admin.Socket), longestSocket, adminSocket)
	}
	s.text("group", &c.Admin.Group, func(value string) string {
		if !groupForm.MatchString(value) {
			return fmt.Sprintf("%s is not the name of a unix group; write one of those that getent group lists", shown(value))
		}
		return ""
	})
	s.close()
	if c.Admin.Socket == "" {
		c.Admin.Socket = filepath.Join(c.DataDir, adminSocket)
	}
}

func (r *reader) scopes(k *section) []string {
	items, paths := k.list("scopes")
	var scopes []string
	for i, item := range items {
		value, ok := r.textOf(paths[i], item)
		if !ok {
			continue
		}
		if problem := oneOf(Scopes()...)(value); problem != "" {
			r.fault(paths[i], "%s", problem)
			continue
		}
		if slices.Contains(scopes, value) {
			r.fault(paths[i], "%s is written twice; keep one", value)
			continue
		}
		scopes = append(scopes, value)
	}
	if problem := ForbiddenScopes(scopes); problem != "" {
		r.fault(k.child("scopes"), "%s", problem)
	}
	if k.has("scopes") && len(items) == 0 && len(scopes) == 0 {
		r.fault(k.child("scopes"), "allows nothing; write at least one scope, or delete the key")
	}
	return scopes
}

// ForbiddenScopes returns why no one key may hold these scopes together and what to do, or "" (design.md §5: a
// stolen checkout key must not be able to re-own a login).
func ForbiddenScopes(scopes []string) string {
	if slices.Contains(scopes, scopeAccountsWrite) && slices.Contains(scopes, scopeDepositsWrite) {
		return "accounts:write and deposits:write may not be on one key, because a stolen checkout key could then " +
			"re-own a login; make two keys"
	}
	return ""
}

func (r *reader) secrets(s *section) []Secret {
	if _, ok := s.peek("secrets").(*ast.StringNode); ok {
		_, _ = s.lookUp("secrets")
		r.fault(s.child("secrets"), "is text, but a secret never stands in this file; put it into a file of its own and write - {file: PATH}")
		return nil
	}
	items, paths := s.list("secrets")
	secrets := make([]Secret, len(items))
	for i, item := range items {
		secrets[i] = r.secret(paths[i], item)
	}
	if seq, ok := s.peek("secrets").(*ast.SequenceNode); ok && len(seq.Values) == 0 {
		r.fault(s.child("secrets"), "is empty, so no event could be verified; name at least one: - {file: PATH}")
	}
	return secrets
}

var credentialForm = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$`)

// secret reads where a secret is kept. A secret written in the file itself is refused without being shown.
func (r *reader) secret(path string, node ast.Node) Secret {
	const advice = "write {file: PATH} or {credential: NAME}"
	if _, ok := node.(*ast.MappingNode); !ok {
		r.fault(path, "is %s, but a secret never stands in this file; put it into a file of its own and %s", kindOf(node), advice)
		return Secret{}
	}
	s := r.section(path, node)
	var secret Secret
	s.filePath("file", &secret.File)
	s.text("credential", &secret.Credential, func(value string) string {
		if !credentialForm.MatchString(value) {
			return fmt.Sprintf("%s is not the name of a systemd credential; write the name given in LoadCredential=", shown(value))
		}
		return ""
	})
	switch {
	case s.has("file") && s.has("credential"):
		r.fault(path, "names both a file and a credential; keep one")
	case !s.has("file") && !s.has("credential"):
		r.fault(path, "names no place of the secret; %s", advice)
	}
	s.close()
	return secret
}

// peek returns the node of name without marking it as asked for.
func (s *section) peek(name string) ast.Node {
	for _, e := range s.entries {
		if e.name == name {
			return e.value
		}
	}
	return nil
}

// ValidName reports whether name may label a provider, an MT5 server or an API key.
func ValidName(name string) bool { return nameForm.MatchString(name) }
