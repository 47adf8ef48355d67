package config

import (
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/goccy/go-yaml/ast"
)

var (
	stripeAccountForm = regexp.MustCompile(`^acct_[A-Za-z0-9]{1,64}$`)
	accountForm       = regexp.MustCompile(`^[A-Za-z0-9_:-]{1,64}$`)
)

func (r *reader) provider(s *section) Provider {
	s.require("write kind: stripe, or kind: standard for any system that signs by Standard Webhooks", "kind")
	var kind string
	s.text("kind", &kind, oneOf(providerKinds()...))
	p := DefaultProvider(kind)
	if kind == KindStandard {
		s.require("name your account there by a text of your choice; it tells payments of two such systems apart for ever", "account")
	} else {
		s.require("write the firm's own account id, which the provider's dashboard shows (Stripe: acct_...)", "account")
	}
	s.text("account", &p.Account, func(value string) string { return accountProblem(kind, value) })
	s.require("name at least one signing secret: - {file: PATH} or - {credential: NAME}", "secrets")
	p.Secrets = r.secrets(s)
	s.duration("max_age", &p.MaxAge, time.Minute, 7*day)
	s.duration("max_future", &p.MaxFuture, 0, 5*time.Minute)
	switch kind {
	case KindStripe:
		p.List = r.list(s, p.List)
	case KindStandard:
		s.require("say where a message keeps type, payment, amount and so on, as in config.example.yaml", "payload")
		if s.has("payload") {
			p.Payload = r.payload(s.open("payload"))
		}
	case "":
		for _, name := range []string{"payload", "api_key", "api_url", "pull_every"} {
			_, _ = s.lookUp(name) // whether it belongs here depends on the kind, which was reported
		}
	}
	p.Settlement = r.settlement(s, p)
	s.close()
	return p
}

// list reads how the provider's own list of events is pulled.
func (r *reader) list(s *section, l List) List {
	if node := s.value("api_key"); node != nil {
		l.Key = r.secret(s.child("api_key"), node)
	}
	s.text("api_url", &l.URL, apiURL)
	s.duration("pull_every", &l.Every, r.safe(time.Minute), time.Hour)
	return l
}

// apiURL takes the address of an API: https, or http on this host; the path is the provider's own.
func apiURL(value string) string {
	u, err := url.Parse(value)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") != "":
		return "is not the address of an API; write https:// and a host, such as https://api.stripe.com"
	case u.Scheme == "https", u.Scheme == "http" && loopbackIP(u.Hostname()):
		return ""
	default:
		return "is not https, so the API key would travel in the clear; write https:// (http:// is for a simulated provider on 127.0.0.1)"
	}
}

func loopbackIP(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

func accountProblem(kind, value string) string {
	switch {
	case kind == KindStripe && !stripeAccountForm.MatchString(value):
		return fmt.Sprintf("%s is not a Stripe account id; write acct_ and the id that the dashboard shows", shown(value))
	case !accountForm.MatchString(value):
		return fmt.Sprintf("%s is not an account id; write 1 to 64 of letters, digits, _, : and -", shown(value))
	}
	return ""
}

// payload reads where the messages of a standard provider keep what.
func (r *reader) payload(s *section) (p Payload) {
	s.require("write the path of the message's type, such as type (names with full stops between)", "type")
	s.memberPath("type", &p.Type)
	s.require("write the path of the time: Unix seconds as a number, or RFC 3339 as text", "occurred_at")
	s.memberPath("occurred_at", &p.OccurredAt)
	s.require("write the path of a true or false, or true or false itself when every message is of one kind", "livemode")
	if fixed, ok := s.peek("livemode").(*ast.BoolNode); ok {
		_, _ = s.lookUp("livemode")
		p.Live = fixed.Value
	} else {
		s.memberPath("livemode", &p.Livemode)
	}
	s.memberPath("merchant", &p.Merchant)
	s.memberPath("status", &p.Status)
	s.require("write minor for a whole number of minor units (50000), decimal for text in major units (\"500.00\")", "amount_is")
	s.text("amount_is", &p.AmountIs, oneOf("minor", "decimal"))
	s.require("name the types of message that say that money was received, and the paths in them", "paid")
	paid := s.open("paid")
	if s.has("paid") {
		paid.require("write the path in a paid message", "payment", "amount", "currency", "code")
	}
	p.Paid.Types = paid.types(s.has("paid"))
	paid.memberPath("payment", &p.Paid.Payment)
	paid.memberPath("part", &p.Paid.Part)
	paid.memberPath("amount", &p.Paid.Amount)
	paid.memberPath("currency", &p.Paid.Currency)
	paid.memberPath("code", &p.Paid.Code)
	paid.close()
	p.Refund, p.Dispute = r.reversal(s, "refund"), r.reversal(s, "dispute")
	p.Ignored = s.typeList("ignored")
	p.Exponents = r.exponents(s)
	s.close()
	r.typesOnce(s, p)
	r.nestedPaths(s, p)
	return p
}

func (r *reader) reversal(s *section, name string) (m ReversalMessages) {
	inner := s.open(name)
	if s.has(name) {
		inner.require("write the path of the payment's id in such a message", "payment")
	}
	m.Types = inner.types(s.has(name))
	inner.memberPath("payment", &m.Payment)
	inner.memberPath("movement", &m.Movement)
	inner.memberPath("amount", &m.Amount)
	inner.memberPath("currency", &m.Currency)
	if inner.has("amount") != inner.has("currency") {
		r.fault(inner.path, "names an amount or a currency without the other; write both, or none")
	}
	inner.close()
	return m
}

// exponents reads {USDT: 6}: the decimal places of currencies that ISO 4217 does not know, or that the sender counts
// differently.
func (r *reader) exponents(s *section) map[string]int {
	found := map[string]int{}
	s.each("exponents", func(name, path string, value ast.Node) {
		r.goodCurrency(path, name)
		var places uint64
		r.unsignedOf(path, value, &places, 0, 18)
		found[name] = int(places)
	})
	return found
}

// types reads the section's own list of types; required tells that there must be one.
func (s *section) types(required bool) []string {
	if required {
		s.require("list the types of message, such as [payment.paid]", "types")
	}
	types := s.typeList("types")
	if seq, ok := s.peek("types").(*ast.SequenceNode); ok && len(seq.Values) == 0 {
		s.r.fault(s.child("types"), "is empty; list at least one type of message, such as [payment.paid]")
	}
	return types
}

func (s *section) typeList(name string) (types []string) {
	items, paths := s.list(name)
	for i, item := range items {
		if value, ok := s.r.textOf(paths[i], item); ok {
			types = append(types, value)
		}
	}
	return types
}

// memberPath reads the path of a member of a message.
func (s *section) memberPath(name string, to *string) {
	s.text(name, to, func(value string) string {
		names := strings.Split(value, ".")
		bad := func(n string) bool {
			return n == "" || len(n) > 64 || strings.ContainsFunc(n, func(c rune) bool { return unicode.IsSpace(c) || !unicode.IsPrint(c) })
		}
		if len(names) > 8 || slices.ContainsFunc(names, bad) {
			return fmt.Sprintf("%s is not a path; write at most 8 names with full stops between, such as data.id (lists cannot be entered)", shown(value))
		}
		return ""
	})
}

// typesOnce reports a type that is listed twice: it would have two meanings.
func (r *reader) typesOnce(s *section, p Payload) {
	first := map[string]string{}
	for _, list := range []struct {
		path  string
		types []string
	}{{"paid.types", p.Paid.Types}, {"refund.types", p.Refund.Types}, {"dispute.types", p.Dispute.Types}, {"ignored", p.Ignored}} {
		for _, name := range list.types {
			if before, taken := first[name]; taken {
				r.fault(s.child(list.path), "the type %s is also in %s; keep one", shown(name), before)
			}
			first[name] = list.path
		}
	}
}

// nestedPaths reports a path that lies inside another one of the same message: the outer one leads to a value, so the
// inner one could never be found.
func (r *reader) nestedPaths(s *section, p Payload) {
	type named struct{ option, path string }
	common := []named{{"type", p.Type}, {"occurred_at", p.OccurredAt}, {"livemode", p.Livemode}, {"merchant", p.Merchant}, {"status", p.Status}}
	reversal := func(name string, m ReversalMessages) []named {
		return []named{{name + ".payment", m.Payment}, {name + ".movement", m.Movement}, {name + ".amount", m.Amount}, {name + ".currency", m.Currency}}
	}
	for _, message := range [][]named{
		{{"paid.payment", p.Paid.Payment}, {"paid.part", p.Paid.Part}, {"paid.amount", p.Paid.Amount}, {"paid.currency", p.Paid.Currency}, {"paid.code", p.Paid.Code}},
		reversal("refund", p.Refund), reversal("dispute", p.Dispute), nil,
	} {
		all := slices.Concat(common, message)
		for i, inner := range all {
			for _, outer := range all {
				// Two of the common options are reported once, by the round that has no others.
				if message != nil && i < len(common) && slices.Contains(common, outer) {
					continue
				}
				if outer.path != "" && strings.HasPrefix(inner.path, outer.path+".") {
					r.fault(s.child(inner.option), "%s lies inside %s (%s), which leads to a value, not to an object; correct one of the two",
						inner.path, outer.path, outer.option)
				}
			}
		}
	}
}
