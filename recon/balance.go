package recon

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"creditonce/credit"
)

// Balance is what both lists say that had moved of one provider's payments in one currency before a moment. Unlike in a [Roll], each movement
// counts at its own moment ([Line.Moment], [Row.Moment]), whatever belongs to it: so the balance of a moment stays what it is, unless the lists
// themselves change. All amounts of one provider and currency have one exponent.
type Balance struct {
	Provider string    `json:"provider"` // label
	Currency string    `json:"currency"`
	At       time.Time `json:"at"` // UTC; what moved before it counts
	// Positive is money to the firm.
	Theirs credit.Amount `json:"theirs"` // gross of the lines that move a client's money
	Ours   credit.Amount `json:"ours"`   // paid of the rows whose client has the money
}

// Marked asks for the balances of a provider, by kind and account, at some moments.
type Marked struct {
	Provider Provider
	At       []time.Time // UTC
}

// balances add up what moved before each mark. They hold a sum for each span between two marks, so that a line is added once.
type balances struct {
	of map[[2]string]*markedSums // by kind and account
}

type markedSums struct {
	label string
	marks []time.Time          // ascending, each once
	spans map[string][]balance // by currency: what moved before each mark and not before the one in front of it
}

type balance struct{ theirs, ours money }

func newBalances(marked []Marked) *balances {
	b := &balances{of: map[[2]string]*markedSums{}}
	for _, m := range marked {
		marks := slices.Clone(m.At)
		slices.SortFunc(marks, time.Time.Compare)
		b.of[[2]string{m.Provider.Kind, m.Provider.Account}] = &markedSums{
			label: m.Provider.Label, marks: slices.CompactFunc(marks, time.Time.Equal), spans: map[string][]balance{},
		}
	}
	return b
}

// at is where what moves at the moment is added; nil where no mark is later.
func (b *balances) at(kind, account, currency string, moment time.Time) *balance {
	s := b.of[[2]string{kind, account}]
	if s == nil {
		return nil
	}
	i := sort.Search(len(s.marks), func(i int) bool { return moment.Before(s.marks[i]) })
	if i == len(s.marks) {
		return nil
	}
	spans := s.spans[currency]
	if spans == nil {
		spans = make([]balance, len(s.marks))
		s.spans[currency] = spans
	}
	return &spans[i]
}

// line counts a line that moves a client's money.
func (b *balances) line(l *Line) {
	v := moneyOf(l.Gross)
	if !v.set || !moves(l.Type) {
		return
	}
	if of := b.at(l.Provider.Kind, l.Provider.Account, v.currency, l.Moment()); of != nil {
		of.theirs = of.theirs.plus(v)
	}
}

// row counts a row whose client has the money.
func (b *balances) row(p *paired) {
	r := &p.Row
	v := moneyOf(r.Kind.Signed(r.Paid))
	if !v.set || !p.given {
		return
	}
	if of := b.at(r.Unit.ProviderKind, r.Unit.Account, v.currency, r.Moment()); of != nil {
		of.ours = of.ours.plus(v)
	}
}

// list gives the balances by provider, currency and time.
func (b *balances) list() ([]Balance, error) {
	var out []Balance
	for _, s := range b.of {
		for currency, spans := range s.spans {
			some, err := s.sum(currency, spans)
			if err != nil {
				return nil, fmt.Errorf("sum up what moved of %q in %s: %w", s.label, currency, err)
			}
			out = append(out, some...)
		}
	}
	slices.SortFunc(out, func(a, b Balance) int {
		return cmp.Or(strings.Compare(a.Provider, b.Provider), strings.Compare(a.Currency, b.Currency), a.At.Compare(b.At))
	})
	return out, nil
}

func (s *markedSums) sum(currency string, spans []balance) (out []Balance, err error) {
	var now balance
	for _, span := range spans {
		now.theirs, now.ours = now.theirs.plus(span.theirs), now.ours.plus(span.ours)
	}
	exponent := max(now.theirs.exponent, now.ours.exponent)
	now = balance{}
	for i, span := range spans {
		now.theirs, now.ours = now.theirs.plus(span.theirs), now.ours.plus(span.ours)
		b := Balance{Provider: s.label, Currency: currency, At: s.marks[i]}
		if b.Theirs, err = whole(now.theirs, currency, exponent); err != nil {
			return nil, err
		}
		if b.Ours, err = whole(now.ours, currency, exponent); err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	return out, nil
}
