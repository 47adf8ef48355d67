package recon

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"creditonce/credit"
)

// bucket is one movement of a roll-forward.
type bucket int

const (
	credited bucket = iota
	refunded
	chargedBack
	withdrawn
	buckets
)

// bucketOf is the movement that a row of the kind is.
func bucketOf(k credit.Kind) bucket {
	switch k {
	case credit.KindRefund:
		return refunded
	case credit.KindChargeback, credit.KindChargebackReversal:
		return chargedBack
	case credit.KindWithdrawal, credit.KindWithdrawalReturn:
		return withdrawn
	case credit.KindDeposit:
		return credited
	default:
		return credited
	}
}

// rollKey names one roll-forward.
type rollKey struct {
	side               Side
	provider, currency string
}

// column is one side of a roll-forward. closing is counted apart from the movements, so that one proves the other.
type column struct {
	opening money
	moved   [buckets]money
	closing money
}

type rollSums struct {
	ours, theirs column
	listed       money
}

// rolls add up what both sides say. It is the one place that knows which moment belongs where.
type rolls struct {
	from, until time.Time
	of          map[rollKey]*rollSums
	costs       map[rollKey]money // by provider and currency
}

func newRolls(r Rules) *rolls {
	return &rolls{from: r.From, until: r.Until, of: map[rollKey]*rollSums{}, costs: map[rollKey]money{}}
}

func (r *rolls) at(k rollKey) *rollSums {
	s := r.of[k]
	if s == nil {
		s = &rollSums{}
		r.of[k] = s
	}
	return s
}

// move is one amount that moved on one side, positive into the balance.
type move struct {
	side     Side
	provider string
	theirs   bool
	bucket   bucket
	value    money
	at       time.Time
}

func (r *rolls) add(m move) {
	if !m.value.set || !m.at.Before(r.until) {
		return
	}
	s := r.at(rollKey{m.side, m.provider, m.value.currency})
	c := &s.ours
	if m.theirs {
		c = &s.theirs
	}
	c.closing = c.closing.plus(m.value)
	switch {
	case m.at.Before(r.from):
		c.opening = c.opening.plus(m.value)
	case m.bucket == credited:
		c.moved[credited] = c.moved[credited].plus(m.value)
	default:
		c.moved[m.bucket] = c.moved[m.bucket].minus(m.value)
	}
}

// list adds what an item says that the sides differ by.
func (r *rolls) list(side Side, provider string, off money) {
	s := r.at(rollKey{side, provider, off.currency})
	s.listed = s.listed.plus(off)
}

// cost adds what a provider took.
func (r *rolls) cost(l *Line) {
	if at := l.Moment(); at.Before(r.from) || !at.Before(r.until) {
		return
	}
	if c := moneyOf(l.Cost()); c.set {
		k := rollKey{provider: l.Provider.Label, currency: c.currency}
		r.costs[k] = r.costs[k].plus(c)
	}
}

func sortedKeys[V any](of map[rollKey]V) []rollKey {
	keys := make([]rollKey, 0, len(of))
	for k := range of {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b rollKey) int {
		return cmp.Or(strings.Compare(string(a.side), string(b.side)), strings.Compare(a.provider, b.provider), strings.Compare(a.currency, b.currency))
	})
	return keys
}

// close gives the roll-forwards in order, or says which does not add up.
func (r *rolls) close() ([]Roll, error) {
	var out []Roll
	for _, k := range sortedKeys(r.of) {
		s := r.of[k]
		exponent := max(s.ours.exponent(), s.theirs.exponent(), s.listed.exponent)
		if off := s.theirs.closing.minus(s.ours.closing).minus(s.listed); off.sign() != 0 {
			return nil, fmt.Errorf("the totals do not add up: on side %s of %q the lists differ by %s, the items say %s: this is a mistake of the comparison",
				k.side, k.provider, s.theirs.closing.minus(s.ours.closing), s.listed)
		}
		roll := Roll{Side: k.side, Provider: k.provider, Currency: k.currency}
		var errs [3]error
		roll.Ours, errs[0] = s.ours.movement(k.currency, exponent)
		roll.Theirs, errs[1] = s.theirs.movement(k.currency, exponent)
		roll.Listed, errs[2] = whole(s.listed, k.currency, exponent)
		if err := errors.Join(errs[:]...); err != nil {
			return nil, fmt.Errorf("sum up side %s of %q in %s: %w", k.side, k.provider, k.currency, err)
		}
		out = append(out, roll)
	}
	return out, nil
}

func (c *column) exponent() int {
	e := max(c.opening.exponent, c.closing.exponent)
	for _, m := range c.moved {
		e = max(e, m.exponent)
	}
	return e
}

func (c *column) movement(currency string, exponent int) (Movement, error) {
	var out Movement
	sum := c.opening.plus(c.moved[credited])
	for _, b := range []bucket{refunded, chargedBack, withdrawn} {
		sum = sum.minus(c.moved[b])
	}
	if c.closing.minus(sum).sign() != 0 {
		return out, errors.New("the totals do not add up: the movements are not what the closing says")
	}
	for _, part := range []struct {
		into *credit.Amount
		from money
	}{
		{&out.Opening, c.opening}, {&out.Credited, c.moved[credited]}, {&out.Refunded, c.moved[refunded]}, {&out.ChargedBack, c.moved[chargedBack]},
		{&out.Withdrawn, c.moved[withdrawn]}, {&out.Closing, c.closing},
	} {
		var err error
		if *part.into, err = whole(part.from, currency, exponent); err != nil {
			return out, err
		}
	}
	return out, nil
}

// whole is the amount with the exponent of its roll-forward; nothing is 0.
func whole(m money, currency string, exponent int) (credit.Amount, error) {
	if !m.set {
		m = money{currency: currency, exponent: exponent, set: true}
	}
	return m.finer(exponent).amount()
}

// finish checks and closes the totals.
func (m *matcher) finish() error {
	var err error
	if m.out.Rolls, err = m.rolls.close(); err != nil {
		return err
	}
	for _, k := range sortedKeys(m.rolls.costs) {
		a, err := m.rolls.costs[k].amount()
		if err != nil {
			return fmt.Errorf("sum up what %q took: %w", k.provider, err)
		}
		m.out.Costs = append(m.out.Costs, Cost{Provider: k.provider, Amount: a})
	}
	if m.out.Rests, err = m.listRests(); err != nil {
		return err
	}
	if m.out.Balances, err = m.balances.list(); err != nil {
		return err
	}
	m.out.Unseen, m.out.Unasked = m.unseen.list(), m.unasked.list()
	for c, items := range m.counts {
		c.Items = items
		m.out.Counts = append(m.out.Counts, c)
	}
	slices.SortFunc(m.out.Counts, func(a, b ClassCount) int {
		return cmp.Or(strings.Compare(a.Provider, b.Provider), cmp.Compare(gravity[a.Class], gravity[b.Class]))
	})
	return nil
}
