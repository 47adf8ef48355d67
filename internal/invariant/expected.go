package invariant

import (
	"cmp"
	"slices"

	"creditonce/credit"
)

// ExpectedUnit is a unit that the stored events say was paid.
type ExpectedUnit struct {
	Kind credit.Kind
	Unit credit.Unit
	Paid credit.Amount // unset where events disagree
	Code string        // the only deposit code that events name; empty: none, or several
	// Deposit tells that a deposit with the code exists.
	Deposit bool
	// Reversed tells that a refund or dispute of the payment is known.
	Reversed bool
	first    credit.EventID
}

// Expected is the set of units that the events and deposits end in, in whatever order and however often they came
// (I-D3): sorted by unit. Events that differ from an earlier one under their message key, that belong to another
// environment or merchant, or that name no payment make none.
func Expected(environment string, events []credit.Event, deposits []credit.Deposit) []ExpectedUnit {
	units := map[credit.Unit]*ExpectedUnit{}
	reversed := map[payment]bool{}
	var order []*ExpectedUnit
	for i := range events {
		e := &events[i]
		p := payment{e.Kind, e.Account, e.Facts.Payment}
		if e.Facts.Effect == "refund" || e.Facts.Effect == "dispute" {
			reversed[p] = true
		}
		if !pays(environment, e) {
			continue
		}
		for _, part := range partsOf(e) {
			u := credit.Unit{ProviderKind: e.Kind, Account: e.Account, Payment: e.Facts.Payment, Part: part.ID}
			x := units[u]
			if x == nil {
				x = &ExpectedUnit{Kind: "deposit", Unit: u, Paid: part.Amount, first: e.ID}
				units[u], order = x, append(order, x)
			}
			x.join(e, part)
		}
	}
	codes := make(map[string]bool, len(deposits))
	for i := range deposits {
		codes[deposits[i].Code] = true
	}
	out := make([]ExpectedUnit, 0, len(order))
	for _, x := range order {
		if x.Code == severalCodes {
			x.Code = ""
		}
		x.Deposit = x.Code != "" && codes[x.Code]
		x.Reversed = reversed[payment{x.Unit.ProviderKind, x.Unit.Account, x.Unit.Payment}]
		out = append(out, *x)
	}
	slices.SortFunc(out, func(a, b ExpectedUnit) int {
		return cmp.Or(cmp.Compare(a.Unit.ProviderKind, b.Unit.ProviderKind), cmp.Compare(a.Unit.Account, b.Unit.Account),
			cmp.Compare(a.Unit.Payment, b.Unit.Payment), cmp.Compare(a.Unit.Part, b.Unit.Part))
	})
	return out
}

// severalCodes stands for codes that disagree while events are gathered; no code has this form.
const severalCodes = "\x00"

// join adds what one event says about the unit.
func (x *ExpectedUnit) join(e *credit.Event, part credit.Part) {
	if x.Paid.IsSet() && !same(x.Paid, part.Amount) {
		x.Paid = credit.Amount{}
	}
	switch {
	case e.Facts.CodesClash:
		x.Code = severalCodes
	case e.Facts.Code == "" || x.Code == e.Facts.Code:
	case x.Code == "":
		x.Code = e.Facts.Code
	default:
		x.Code = severalCodes
	}
}

// pays tells that an event makes units: it says paid, for this store, and which payment.
func pays(environment string, e *credit.Event) bool {
	f := &e.Facts
	return f.Effect == "paid" && e.Variant == "" && f.Live == (environment == "live") && (f.Merchant == "" || f.Merchant == e.Account) && f.Payment != ""
}

// partsOf lists the parts that can be taken: more than nothing, and each once.
func partsOf(e *credit.Event) []credit.Part {
	var out []credit.Part
	for _, p := range e.Facts.Parts {
		if p.Amount.Sign() > 0 && !slices.ContainsFunc(out, func(q credit.Part) bool { return q.ID == p.ID }) {
			out = append(out, p)
		}
	}
	return out
}
