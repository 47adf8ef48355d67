package config

import (
	"fmt"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // business zones and server clocks are read on hosts without zone files too

	"github.com/goccy/go-yaml/ast"
)

// Reconcile is how the three lists are laid side by side (docs/reconciliation.md).
type Reconcile struct {
	TimeZone  string            // IANA name of the business zone: a business day is its calendar day
	After     time.Duration     // from the end of a business day until it is compared: providers' lists come late
	Lookback  time.Duration     // how far before the business day MT5's deals are read
	Tolerance map[string]string // by currency, decimal text: the largest difference of two amounts that still match
	Rounding  map[string]string // by currency: the largest rest between a payout and the sum of its lines
}

// Settlement is how a provider's statements come.
type Settlement struct {
	Format     string        // one of SettlementFormats; empty: there are no statements, so settlement is not compared
	UsualDelay time.Duration // from payment to settlement; later is late
	Every      time.Duration // the longest time that statements may lag behind a business day
	TimeZone   string        // IANA name, of times in the file without a zone
	Merchant   string        // the account as the statements write it; empty: the provider's account
	RowTypes   map[string]string
	Absent     []string       // names of statements that seem to be missing, and that the provider never made
	Exponents  map[string]int // decimal places of currencies that ISO 4217 does not have, or that the statements count in another way
	Pull       bool           // pulled from the provider's API
	Manual     bool           // payouts are made by hand at Stripe, which then cannot say what they paid
	PayPal     PayPalAPI
	Mapped     Mapped // of the format mapped
}

// PayPalAPI is the access to PayPal's transaction search.
type PayPalAPI struct {
	ClientID string
	Secret   Secret
	URL      string
}

// ServerClock says how an MT5 server's clock runs: the time of Zone, and Ahead of it. An empty Zone: nothing is known but what is measured.
type ServerClock struct {
	Zone  string // IANA name
	Ahead time.Duration
}

// SettlementFormats are the formats of statements that this build reads.
func SettlementFormats() []string {
	return []string{"stripe", "adyen", "paypal", "checkout", "dlocal", "mapped"}
}

// LineTypes are what a row of a statement can be: the answers for words that a format does not know.
func LineTypes() []string {
	return []string{"payment", "refund", "refund_reversal", "chargeback", "chargeback_reversal", "fee", "conversion", "reserve", "adjustment", "payout"}
}

// pulledFormats are the formats whose lines can be pulled from the provider's API.
var pulledFormats = []string{"stripe", "paypal"}

func (r *reader) reconcile(s *section, c *Reconcile) {
	s.zone("time_zone", &c.TimeZone)
	s.duration("after", &c.After, 0, 20*time.Hour)
	s.duration("lookback", &c.Lookback, r.safe(3*day), longest)
	c.Tolerance, c.Rounding = s.amounts("tolerance"), s.amounts("rounding")
	s.close()
}

// zone reads the name of a time zone. "Local" would be another one on every host.
func (s *section) zone(name string, to *string) {
	s.text(name, to, func(value string) string {
		if _, err := time.LoadLocation(value); err != nil || value == "Local" {
			return fmt.Sprintf("%s is not a time zone; write an IANA name such as Europe/Nicosia, or UTC", shown(value))
		}
		return ""
	})
}

// amounts reads {USD: "0.01"}.
func (s *section) amounts(name string) map[string]string {
	var found map[string]string
	s.each(name, func(currency, path string, value ast.Node) {
		s.r.goodCurrency(path, currency)
		text, ok := s.r.textOf(path, value)
		if ok && !amountForm.MatchString(text) {
			s.r.fault(path, "%s is not an amount; write a plain decimal in quotes, such as \"0.01\"", shown(text))
		}
		if found == nil {
			found = map[string]string{}
		}
		found[currency] = text
	})
	return found
}

func (r *reader) settlement(s *section, p Provider) Settlement {
	out := p.Settlement
	inner := s.open("settlement")
	if !s.has("settlement") {
		return out
	}
	inner.require("write the format of the provider's statements: one of "+strings.Join(SettlementFormats(), ", "), "format")
	inner.text("format", &out.Format, oneOf(SettlementFormats()...))
	inner.duration("usual_delay", &out.UsualDelay, r.safe(time.Hour), longest)
	inner.duration("every", &out.Every, r.safe(time.Hour), longest)
	inner.zone("time_zone", &out.TimeZone)
	inner.text("merchant", &out.Merchant, nil)
	out.RowTypes, out.Exponents = r.rowTypes(inner), r.exponents(inner)
	out.Absent = inner.texts("absent")
	inner.flag("pull", &out.Pull)
	switch out.Format {
	case "paypal":
		out.PayPal = r.payPal(inner, out)
	case "stripe":
		inner.flag("manual_payouts", &out.Manual)
	case "mapped":
		out.Mapped = r.mapped(inner)
	}
	switch {
	case out.Pull && !slices.Contains(pulledFormats, out.Format):
		r.fault(inner.child("pull"), "is true, but only %s have lists that are pulled; import files with `creditonce recon import`", strings.Join(pulledFormats, " and "))
	case out.Pull && out.Format == "stripe" && p.Kind == KindStripe && !p.List.Key.IsSet():
		r.fault(inner.child("pull"), "needs the provider's api_key, with the right to read balance transactions and payouts")
	case out.Pull && out.Format == "stripe" && p.Kind != KindStripe:
		r.fault(inner.child("pull"), "pulls from Stripe for a provider of kind stripe alone; import files with `creditonce recon import`")
	}
	inner.close()
	return out
}

func (r *reader) payPal(s *section, p Settlement) PayPalAPI {
	out := PayPalAPI{URL: "https://api-m.paypal.com"}
	if p.Pull {
		s.require("write the REST app's client id and name its secret: they read the transaction search", "client_id", "client_secret")
	}
	s.text("client_id", &out.ClientID, nil)
	if node := s.value("client_secret"); node != nil {
		out.Secret = r.secret(s.child("client_secret"), node)
	}
	s.text("paypal_url", &out.URL, apiURL)
	return out
}

func (r *reader) rowTypes(s *section) map[string]string {
	found := map[string]string{}
	s.each("row_types", func(word, path string, value ast.Node) {
		text, ok := r.textOf(path, value)
		if !ok {
			return
		}
		if problem := oneOf(LineTypes()...)(text); problem != "" {
			r.fault(path, "%s", problem)
			return
		}
		found[word] = text
	})
	return found
}

// serverClock reads how the server's clock runs; no server is further from its zone than half a day.
func (r *reader) serverClock(s *section, given bool) ServerClock {
	var c ServerClock
	if given {
		s.require("write the zone that the server's clock follows, such as America/New_York with ahead: 7h, or Europe/Athens", "zone")
	}
	s.zone("zone", &c.Zone)
	s.duration("ahead", &c.Ahead, 0, 14*time.Hour)
	s.close()
	return c
}
