package standard

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Path names a member of the body: names from the outermost object inward, with full stops between ("data.id").
// Lists cannot be entered.
type Path string

// deepest bounds a path.
const deepest = 8

// Problem says what is wrong with the path and what to do; empty when it can be used.
func (p Path) Problem() string {
	names := p.names()
	if len(names) > deepest {
		return fmt.Sprintf("is deeper than %d names, name the member more directly", deepest)
	}
	for _, name := range names {
		if name == "" || len(name) > 64 || strings.ContainsFunc(name, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }) {
			return "is not a path, write names with full stops between, such as data.id"
		}
	}
	return ""
}

func (p Path) names() []string { return strings.Split(string(p), ".") }

// Form is how amounts are written.
type Form string

// The forms of amounts. Nothing is guessed from what an amount looks like: 500 may be either.
const (
	Minor   Form = "minor"   // a JSON integer of minor units: 50000
	Decimal Form = "decimal" // a JSON text in major units: "500.00"
)

// Payload says where the body keeps what, and which types of message mean what. Every path that is not empty must lead
// to a value of the right kind in every message of its section, save where a field says otherwise.
type Payload struct {
	Type       Path // a text: the type of the message, or a status where that decides
	OccurredAt Path // Unix seconds as a JSON integer, or RFC 3339 as a text
	Livemode   Path // true or false; empty: Live
	Live       bool // where there is no Livemode: the environment of every message
	Merchant   Path // text; optional: the merchant account, which must then be the configured one
	Status     Path // text; optional, kept as evidence
	AmountIs   Form
	Paid       Paid
	Refund     Reversal // without types: the sender reports no refunds
	Dispute    Reversal
	Ignored    []string       // types that are known and move no money
	Exponents  map[string]int // decimal places by currency, before those of ISO 4217
}

// Paid says how a message reads that money was received.
type Paid struct {
	Types    []string
	Payment  Path // text or integer: the payment's id
	Part     Path // text or integer; optional: the id of one part of the payment
	Amount   Path
	Currency Path
	Code     Path // text: the deposit code. A message without the member, or with null, is a payment without a code
}

// Reversal says how a message reads that money goes back or is contested.
type Reversal struct {
	Types    []string
	Payment  Path // the id of the payment, as in Paid
	Movement Path // text or integer; optional: the refund's or dispute's own id
	// Amount and Currency are optional, and an amount that cannot be read is left out: it is no reason to miss that the
	// payment is contested.
	Amount   Path
	Currency Path
}

// rules are a payload that was checked.
type rules struct {
	Payload
	meaning map[string]effect
}

// compile checks the payload and returns the rules that it makes.
func (p Payload) compile() (rules, error) {
	r := rules{Payload: p, meaning: map[string]effect{}}
	if p.AmountIs != Minor && p.AmountIs != Decimal {
		return rules{}, fmt.Errorf("make standard provider: amounts are %q, want %s or %s", p.AmountIs, Minor, Decimal)
	}
	if len(p.Paid.Types) == 0 {
		return rules{}, errors.New("make standard provider: no type means paid")
	}
	for _, g := range []struct {
		types  []string
		effect effect
	}{{p.Paid.Types, paid}, {p.Refund.Types, refund}, {p.Dispute.Types, dispute}, {p.Ignored, ignored}} {
		for _, name := range g.types {
			if _, taken := r.meaning[name]; taken || name == "" {
				return rules{}, fmt.Errorf("make standard provider: the type %q is empty or listed twice", name)
			}
			r.meaning[name] = g.effect
		}
	}
	if err := p.checkPaths(); err != nil {
		return rules{}, err
	}
	for currency, places := range p.Exponents {
		if places < 0 || places > 18 || !isCurrency(currency) {
			return rules{}, fmt.Errorf("make standard provider: exponent %d of %q", places, currency)
		}
	}
	return r, nil
}

func (p Payload) checkPaths() error {
	required := map[string]Path{
		"type": p.Type, "occurred_at": p.OccurredAt, "paid.payment": p.Paid.Payment, "paid.amount": p.Paid.Amount,
		"paid.currency": p.Paid.Currency, "paid.code": p.Paid.Code,
	}
	optional := map[string]Path{"livemode": p.Livemode, "merchant": p.Merchant, "status": p.Status, "paid.part": p.Paid.Part}
	for name, r := range map[string]Reversal{"refund": p.Refund, "dispute": p.Dispute} {
		if len(r.Types) > 0 {
			required[name+".payment"] = r.Payment
		}
		if (r.Amount == "") != (r.Currency == "") {
			return fmt.Errorf("make standard provider: %s names an amount without a currency, or a currency without an amount", name)
		}
		optional[name+".movement"], optional[name+".amount"], optional[name+".currency"] = r.Movement, r.Amount, r.Currency
	}
	var problems []string
	for name, path := range required {
		if problem := path.Problem(); problem != "" {
			problems = append(problems, fmt.Sprintf("%s %q %s", name, path, problem))
		}
	}
	for name, path := range optional {
		if problem := path.Problem(); path != "" && problem != "" {
			problems = append(problems, fmt.Sprintf("%s %q %s", name, path, problem))
		}
	}
	if len(problems) == 0 {
		return nil
	}
	slices.Sort(problems)
	return fmt.Errorf("make standard provider: %s", strings.Join(problems, "; "))
}
