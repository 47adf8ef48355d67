package config

import (
	"fmt"
	"maps"
	"math/big"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// smallestStore is the room that a new store takes and a little more: its file is laid out in steps of 16 MiB.
const smallestStore = 32 << 20

// crossCheck reports what only two options together show. It looks at c alone, which holds defaults where an option
// was faulty; the reader only gives the places.
func (r *reader) crossCheck(c *Config) {
	if c.Demo && c.Environment == Live {
		r.fault("demo", "is true in a live environment; delete it, or write environment: test (a demo moves no real money)")
	}
	r.crossListeners(c)
	r.crossKeys(c.API.Keys)
	r.crossProviders(c.Providers)
	r.crossLivemode(c)
	r.crossLists(c)
	r.crossServers(c.MT5.Servers)
	r.crossTiming(c)
	r.crossLimits(c)
	if c.Space.RefuseIntakeBelow >= c.Space.StopClaimsBelow {
		r.fault("space.refuse_intake_below", "%s is not below stop_claims_below (%s); claims must stop while events can still be stored",
			FormatSize(c.Space.RefuseIntakeBelow), FormatSize(c.Space.StopClaimsBelow))
	}
	// The room left below max_store counts like the disk's: a smaller one would refuse everything from the first start.
	if need := c.Space.StopClaimsBelow + smallestStore; c.Space.MaxStore < need {
		r.fault("space.max_store", "%s leaves no room above stop_claims_below (%s), so nothing would ever be accepted; write at least %s",
			FormatSize(c.Space.MaxStore), FormatSize(c.Space.StopClaimsBelow), FormatSize(need))
	}
}

func (r *reader) crossListeners(c *Config) {
	if listenConflict(c.Webhooks.Listen, c.API.Listen) {
		r.fault("api.listen", "%s is also taken by webhooks.listen (%s); give each listener a port of its own",
			c.API.Listen, c.Webhooks.Listen)
	}
	if c.API.TLS == nil && !loopback(c.API.Listen) {
		r.warn("api.listen", "%s is reachable from other hosts without TLS, so keys travel in the clear; "+
			"set api.tls, or listen on 127.0.0.1 behind a TLS proxy", c.API.Listen)
	}
	if c.Webhooks.TLS == nil && !loopback(c.Webhooks.Listen) {
		r.warn("webhooks.listen", "%s is reachable from other hosts without TLS; set webhooks.tls, or listen on "+
			"127.0.0.1 behind a TLS proxy", c.Webhooks.Listen)
	}
}

// listenConflict reports whether two listeners cannot both be opened.
func listenConflict(a, b string) bool {
	hostA, portA, errA := net.SplitHostPort(a)
	hostB, portB, errB := net.SplitHostPort(b)
	numberA, okA := portNumber(portA, 1) // port 0 asks for a free one and conflicts with nothing
	numberB, okB := portNumber(portB, 1)
	if errA != nil || errB != nil || !okA || !okB || numberA != numberB {
		return false
	}
	if everyAddress(hostA) || everyAddress(hostB) {
		return true
	}
	return localName(hostA) == localName(hostB)
}

func everyAddress(host string) bool {
	ip := net.ParseIP(host)
	return host == "" || ip != nil && ip.IsUnspecified()
}

func localName(host string) string {
	if host == "localhost" {
		return "127.0.0.1"
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.Unmap().String()
	}
	return host
}

func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(localName(host))
	return ip != nil && ip.IsLoopback()
}

func (r *reader) crossKeys(keys []APIKey) {
	for i, k := range keys {
		for _, earlier := range keys[:i] {
			path := fmt.Sprintf("api.keys[%d]", i)
			if k.Name != "" && k.Name == earlier.Name {
				r.fault(path+".name", "%s names two keys; give each key a name of its own", k.Name)
			}
			if k.SHA256 != ([32]byte{}) && k.SHA256 == earlier.SHA256 {
				r.fault(path+".sha256", "is the same key as %s; make a new one with creditonce keys new", earlier.Name)
			}
		}
	}
	if len(keys) == 0 {
		r.warn("api.keys", "is empty, so nobody can make a deposit; add what creditonce keys new prints")
	}
}

func (r *reader) crossProviders(providers map[string]Provider) {
	labels := r.sorted("providers", slices.Collect(maps.Keys(providers)))
	owner := map[[2]string]string{}
	for _, label := range labels {
		p := providers[label]
		id := [2]string{p.Kind, p.Account}
		if first, taken := owner[id]; taken && p.Kind != "" && p.Account != "" {
			r.fault("providers."+label+".account", "%s is already provider %s; one merchant account has one entry", p.Account, first)
		}
		owner[id] = label
		for i, secret := range p.Secrets {
			named := secret.File != "" || secret.Credential != ""
			same := func(s Secret) bool { return s.File == secret.File && s.Credential == secret.Credential }
			if named && slices.ContainsFunc(p.Secrets[:i], same) {
				r.fault(fmt.Sprintf("providers.%s.secrets[%d]", label, i), "names the same secret twice; keep one")
			}
		}
	}
	if r.isPlaced("providers") && len(providers) == 0 && !r.faultyWithin("providers") {
		r.fault("providers", "is empty; name at least one payment provider, as in config.example.yaml")
	}
}

// crossLivemode refuses a provider whose every message belongs to the other environment: nothing could ever be credited.
func (r *reader) crossLivemode(c *Config) {
	for label, p := range c.Providers {
		path := "providers." + label + ".payload.livemode"
		if p.Kind != KindStandard || !r.isPlaced(path) || r.faulty(path) || p.Payload.Livemode != "" || c.Environment == "" {
			continue
		}
		if p.Payload.Live != (c.Environment == Live) {
			r.fault(path, "%t says that no message is ever %s, which is this file's environment; correct one of the two",
				p.Payload.Live, c.Environment)
		}
	}
}

// crossLists keeps real money away from a simulated provider.
func (r *reader) crossLists(c *Config) {
	for label, p := range c.Providers {
		if path := "providers." + label + ".api_url"; c.Environment == Live && strings.HasPrefix(p.List.URL, "http:") && !r.faulty(path) {
			r.fault(path, "is http, which only a simulated provider speaks, in a live environment; delete it, or write https://")
		}
	}
}

func (r *reader) crossServers(servers map[string]MT5Server) {
	owner := map[string]string{}
	for _, label := range r.sorted("mt5.servers", slices.Collect(maps.Keys(servers))) {
		identity := servers[label].Identity
		if first, taken := owner[identity]; taken && identity != "" {
			r.fault("mt5.servers."+label+".identity", "%s is already server %s; list all addresses of one server there",
				shown(identity), first)
		}
		owner[identity] = label
	}
	if r.isPlaced("mt5.servers") && len(servers) == 0 && !r.faultyWithin("mt5.servers") {
		r.fault("mt5.servers", "is empty; name at least one MT5 server, as in config.example.yaml")
	}
}

func (r *reader) crossTiming(c *Config) {
	call, label := time.Duration(0), ""
	for _, l := range slices.Sorted(maps.Keys(c.MT5.Servers)) {
		if t := c.MT5.Servers[l].CallTimeout; t > call {
			call, label = t, l
		}
	}
	if call == 0 {
		return
	}
	server := fmt.Sprintf("mt5.servers.%s.call_timeout (%s)", label, plain(call))
	send := c.Credit.SendDeadline
	// Twice the call: the balance call itself and the read that verifies its ticket. A lease that ends before would
	// send every slow call through the quarantine.
	if need := 2*call + send; c.Credit.Lease < need {
		r.fault("credit.lease", "%s is shorter than twice %s plus send_deadline (%s); write at least %s",
			plain(c.Credit.Lease), server, plain(send), plain(need))
	}
	if need := call + send; c.Credit.Quarantine <= need {
		r.fault("credit.quarantine", "%s does not exceed %s plus send_deadline (%s), so a call could still arrive after it; write more than %s",
			plain(c.Credit.Quarantine), server, plain(send), plain(need))
	}
	if need := call + send; c.ShutdownTimeout <= need {
		r.fault("shutdown_timeout", "%s does not exceed %s plus credit.send_deadline (%s), so a stop could cut a call; write more than %s",
			plain(c.ShutdownTimeout), server, plain(send), plain(need))
	}
	if c.Credit.LookEveryWithTask < c.Credit.LookEvery {
		r.fault("credit.look_every_with_task", "%s is shorter than look_every (%s); write at least that",
			plain(c.Credit.LookEveryWithTask), plain(c.Credit.LookEvery))
	}
}

// crossLimits asks for both limits of every currency that an account may have, in digits that the currency has.
func (r *reader) crossLimits(c *Config) {
	digits := map[string]int{}
	for _, server := range c.MT5.Servers {
		for currency, d := range server.Currencies {
			if known, ok := digits[currency]; !ok || d < known {
				digits[currency] = d
			}
		}
	}
	l := c.Limits
	for _, table := range []struct {
		path   string
		amount map[string]string
	}{{"limits.per_credit", l.PerCredit}, {"limits.per_login_day", l.PerLoginDay}} {
		for _, currency := range slices.Sorted(maps.Keys(digits)) {
			if _, ok := table.amount[currency]; !ok && currencyForm.MatchString(currency) && !r.faulty("limits") {
				r.fault(table.path, "has no limit for %s, which an MT5 server accepts; write %s: \"AMOUNT\"", currency, currency)
			}
		}
		for _, currency := range slices.Sorted(maps.Keys(table.amount)) {
			r.limitDigits(table.path+"."+currency, currency, table.amount[currency], digits)
		}
	}
	for _, currency := range slices.Sorted(maps.Keys(l.PerCredit)) {
		one, all := l.PerCredit[currency], l.PerLoginDay[currency]
		if one != "" && all != "" && decimal(one).Cmp(decimal(all)) > 0 {
			r.fault("limits.per_login_day."+currency, "%s is below per_credit (%s), so the larger credit could never pass; raise it, or lower per_credit",
				all, one)
		}
	}
	for _, currency := range slices.Sorted(maps.Keys(l.PerHour)) {
		one, all := l.PerCredit[currency], l.PerHour[currency]
		r.limitDigits("limits.per_hour."+currency, currency, all, digits)
		if one != "" && all != "" && decimal(one).Cmp(decimal(all)) > 0 {
			r.fault("limits.per_hour."+currency, "%s is below per_credit (%s), so the larger credit could never pass; raise it, or lower per_credit",
				all, one)
		}
	}
}

func (r *reader) limitDigits(path, currency, amount string, digits map[string]int) {
	d, used := digits[currency]
	_, fraction, _ := strings.Cut(amount, ".")
	switch {
	case amount == "": // reported where it was read
	case !used && len(digits) > 0 && currencyForm.MatchString(currency):
		r.fault(path, "no MT5 server accepts %s; add it to mt5.servers.NAME.currencies, or delete the limit", currency)
	case used && len(fraction) > d:
		r.fault(path, "%s has more than the %d decimal places of %s; round it", amount, d, currency)
	}
}

// decimal reads a text that amountForm accepted, exactly; anything else counts as zero.
func decimal(text string) *big.Rat {
	if n, ok := new(big.Rat).SetString(text); ok {
		return n
	}
	return new(big.Rat)
}

func (r *reader) isPlaced(path string) bool {
	_, ok := r.where[path]
	return ok
}

// faulty reports whether path itself already has a fault, so that nothing follows from what could not be read.
func (r *reader) faulty(path string) bool {
	return slices.ContainsFunc(r.faults, func(f Fault) bool { return f.Path == path })
}

// faultyWithin is faulty for path and everything inside it.
func (r *reader) faultyWithin(path string) bool {
	return slices.ContainsFunc(r.faults, func(f Fault) bool { return f.Path == path || strings.HasPrefix(f.Path, path+".") })
}

// sorted puts labels into the order of the file, so that the second of two equals is the faulty one.
func (r *reader) sorted(under string, labels []string) []string {
	slices.SortFunc(labels, func(a, b string) int {
		pa, pb := r.where[under+"."+a], r.where[under+"."+b]
		if pa.line != pb.line {
			return pa.line - pb.line
		}
		return pa.column - pb.column
	})
	return labels
}
