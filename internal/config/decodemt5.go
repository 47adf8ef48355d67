package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

const (
	// maxSessions bounds the connections to one server; nobody publishes MT5's own bound (mt5-webapi.md).
	maxSessions = 8
	// maxDigits is what an MT5 account currency can have.
	maxDigits = 8
)

var (
	agentForm    = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)
	currencyForm = regexp.MustCompile(`^[A-Z][A-Z0-9]{2,9}$`)
	amountForm   = regexp.MustCompile(`^[0-9]{1,18}(\.[0-9]{1,18})?$`)
)

func (r *reader) mt5Server(s *section) MT5Server {
	m := DefaultMT5Server()
	s.require("write the name the server gives itself (MT5 Administrator, or common/get)", "identity")
	s.text("identity", &m.Identity, func(value string) string {
		if len(value) > 128 {
			return "is longer than 128 bytes; write the name the server gives itself"
		}
		return ""
	})
	s.require("write at least one host:port of the Web API", "addresses")
	m.Addresses = r.addresses(s)
	s.require("write the manager's login, a whole number", "login")
	s.unsigned("login", &m.Login, 1, 1<<63-1)
	s.require("write {file: PATH} or {credential: NAME}", "password")
	if node := s.value("password"); node != nil {
		m.Password = r.secret(s.child("password"), node)
	}
	m.TLS = r.mt5TLS(s.open("tls"))
	s.integer("sessions", &m.Sessions, 1, maxSessions)
	s.duration("call_timeout", &m.CallTimeout, r.safe(time.Second), 2*time.Minute)
	s.text("agent", &m.Agent, func(value string) string {
		if !agentForm.MatchString(value) {
			return "is not usable as agent text; write up to 64 letters, digits and . _ -"
		}
		return ""
	})
	s.require("list the accepted account currencies with their digits, such as {USD: 2}", "currencies")
	m.Currencies = r.currencies(s)
	m.Groups = r.groups(s, "groups")
	m.ProbeGroups = r.groups(s, "probe_groups")
	for i, mask := range m.ProbeGroups {
		if strings.Trim(mask, "*") == "" {
			r.fault(fmt.Sprintf("%s[%d]", s.child("probe_groups"), i), "names every group; write the masks of your test groups")
		}
	}
	m.ReconcileGroups = r.groups(s, "reconcile_groups")
	m.Clock = r.serverClock(s.open("clock"), s.has("clock"))
	s.close()
	return m
}

func (r *reader) addresses(s *section) []string {
	items, paths := s.list("addresses")
	var addresses []string
	for i, item := range items {
		value, ok := r.textOf(paths[i], item)
		if !ok {
			continue
		}
		if problem := remoteAddress(value); problem != "" {
			r.fault(paths[i], "%s", problem)
			continue
		}
		if slices.Contains(addresses, value) {
			r.fault(paths[i], "%s is written twice; keep one", value)
			continue
		}
		addresses = append(addresses, value)
	}
	if seq, ok := s.peek("addresses").(*ast.SequenceNode); ok && len(seq.Values) == 0 {
		r.fault(s.child("addresses"), "is empty; write at least one host:port of the Web API")
	}
	return addresses
}

// groups reads a list of masks of account groups.
func (r *reader) groups(s *section, name string) []string {
	items, paths := s.list(name)
	var groups []string
	allowed := len(items) == 0
	for i, item := range items {
		value, ok := r.textOf(paths[i], item)
		switch {
		case !ok:
		case value == "!":
			r.fault(paths[i], "excludes nothing; write a group after the !, such as !demo*")
		default:
			groups = append(groups, value)
		}
		allowed = allowed || !ok || !strings.HasPrefix(value, "!")
	}
	if !allowed {
		r.fault(s.child(name), "only excludes, so no group is left; end it with a mask that allows, such as *")
	}
	return groups
}

func (r *reader) mt5TLS(s *section) MT5TLS {
	var t MT5TLS
	s.filePath("ca_file", &t.CAFile)
	s.text("server_name", &t.ServerName, func(value string) string {
		if !hostForm.MatchString(value) {
			return fmt.Sprintf("%s is not a host name; write the name that stands in the server's certificate", shown(value))
		}
		return ""
	})
	const advice = "print it with: openssl x509 -noout -fingerprint -sha256 -in server.pem, and take the colons out"
	if sum, ok := s.digest("pin_sha256", advice); ok {
		t.PinSHA256 = &sum
	}
	if s.has("ca_file") && s.has("pin_sha256") {
		s.r.fault(s.path, "names both ca_file and pin_sha256; keep the one that the server's certificate is checked against")
	}
	s.close()
	return t
}

// currencies reads {USD: 2}: which account currencies are accepted, each with the digits its accounts must have.
func (r *reader) currencies(s *section) map[string]int {
	found := map[string]int{}
	s.each("currencies", func(name, path string, value ast.Node) {
		r.goodCurrency(path, name)
		digits := uint64(maxDigits) // stays when unreadable, so that no limit has too many places for it
		r.unsignedOf(path, value, &digits, 0, maxDigits)
		found[name] = int(digits)
	})
	if m, ok := s.peek("currencies").(*ast.MappingNode); ok && len(m.Values) == 0 {
		r.fault(s.child("currencies"), "is empty, so no account could be credited; write such as {USD: 2}")
	}
	return found
}

func (r *reader) goodCurrency(path, name string) {
	if !currencyForm.MatchString(name) {
		r.fault(path, "%s is not a currency code; write capital letters and digits, such as USD", shown(name))
	}
}

func (r *reader) credit(s *section, c *Credit) {
	s.duration("lease", &c.Lease, shortest, time.Hour)
	s.duration("send_deadline", &c.SendDeadline, shortest, 10*time.Second)
	// The account check may not be older than 10 s when the call is sent (design.md §6.2).
	s.duration("fresh_for", &c.FreshFor, shortest, 10*time.Second)
	s.duration("quarantine", &c.Quarantine, r.safe(2*time.Minute), day)
	s.duration("second_look_after", &c.SecondLookAfter, r.safe(time.Minute), day)
	r.looks(s, c)
	s.duration("look_every", &c.LookEvery, r.safe(time.Second), time.Hour)
	s.duration("look_every_with_task", &c.LookEveryWithTask, r.safe(time.Second), day)
	s.duration("task_after", &c.TaskAfter, r.safe(time.Second), day)
	s.duration("deposit_expiry", &c.DepositExpiry, r.safe(time.Minute), longest)
	s.duration("held_grace", &c.HeldGrace, shortest, day)
	s.duration("reissue_watch", &c.ReissueWatch, r.safe(48*time.Hour), longest)
	s.close()
}

// looks reads when the first looks come, counted from the end of the doubtful call: each is later than the one before.
func (r *reader) looks(s *section, c *Credit) {
	items, paths := s.list("looks")
	if seq, ok := s.peek("looks").(*ast.SequenceNode); ok && len(seq.Values) == 0 {
		r.fault(s.child("looks"), "is empty; write at least one, or delete the line to use the default")
	}
	var looks []time.Duration
	for i, item := range items {
		var at time.Duration
		if !r.durationOf(paths[i], item, &at, r.safe(time.Second), day) {
			continue
		}
		if n := len(looks); n > 0 && at <= looks[n-1] {
			r.fault(paths[i], "%s is not later than the look before (%s); write them in ascending order", plain(at), plain(looks[n-1]))
			continue
		}
		looks = append(looks, at)
	}
	if len(looks) > 0 {
		c.Looks = looks
	}
}

func (r *reader) limits(s *section, l *Limits) {
	l.PerCredit = r.amounts(s, "per_credit")
	l.PerLoginDay = r.amounts(s, "per_login_day")
	if hour := r.amounts(s, "per_hour"); len(hour) > 0 {
		l.PerHour = hour
	}
	s.close()
}

// amounts reads {USD: "10000.00"}. A faulty amount is kept, so that its currency does not count as missing.
func (r *reader) amounts(s *section, name string) map[string]string {
	found := map[string]string{}
	s.each(name, func(currency, path string, value ast.Node) {
		r.goodCurrency(path, currency)
		found[currency] = r.amount(path, value)
	})
	return found
}

// amount reads a decimal text above zero. A bare YAML number is refused: reading one as text or as a float is a
// choice that no reader of the file can see.
func (r *reader) amount(path string, node ast.Node) string {
	value, ok := r.textOf(path, node)
	switch {
	case !ok:
	case !amountForm.MatchString(value):
		r.fault(path, "%s is not an amount; write digits with a decimal point, such as \"10000.00\"", shown(value))
	case strings.Trim(value, "0.") == "":
		r.fault(path, "is zero; write a number above zero")
	default:
		return value
	}
	return ""
}

func (r *reader) rates(s *section, rates *Rates) {
	rates.Bands = map[Pair]Band{}
	s.each("bands", func(name, path string, value ast.Node) {
		pair, problem := parsePair(name)
		if problem != "" {
			r.fault(path, "%s", problem)
		}
		b := r.section(path, value)
		b.require("write the lowest and the highest rate that is believed, in quotes", "min", "max")
		var band Band
		if node := b.value("min"); node != nil {
			band.Min = r.amount(b.child("min"), node)
		}
		if node := b.value("max"); node != nil {
			band.Max = r.amount(b.child("max"), node)
		}
		b.close()
		if band.Min != "" && band.Max != "" && decimal(band.Min).Cmp(decimal(band.Max)) > 0 {
			r.fault(path, "has min above max; exchange them")
		}
		rates.Bands[pair] = band
	})
	s.close()
}

// parsePair reads "EUR/USD".
func parsePair(name string) (pair Pair, problem string) {
	paid, credited, ok := strings.Cut(name, "/")
	switch {
	case !ok && len(name) == 6:
		return pair, fmt.Sprintf("%s is not a pair; write %s/%s", shown(name), name[:3], name[3:])
	case !ok, !currencyForm.MatchString(paid), !currencyForm.MatchString(credited):
		return pair, fmt.Sprintf("%s is not a pair; write paid/credited currency, such as EUR/USD", shown(name))
	case paid == credited:
		return pair, fmt.Sprintf("%s converts nothing; delete it", shown(name))
	default:
		return Pair{Paid: paid, Credited: credited}, ""
	}
}
