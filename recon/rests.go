package recon

import (
	"fmt"

	"creditonce/credit"
)

// Rest is what rounding left between payouts of a provider and the sums of their lines, over the compared days, in one currency: what the
// provider paid out more than its lines add up to. It is a booked sum of its own: no difference is within it.
type Rest struct {
	Provider string        `json:"provider"` // label
	Payouts  int           `json:"payouts"`  // that have a rest
	Amount   credit.Amount `json:"amount"`   // positive: more was paid out
}

// restSum adds up rests.
type restSum struct {
	payouts int
	sum     money
}

// rest books the rest of one payout: where a reader has booked it as a line, or where payout and lines stand in two statements, so that only
// the comparison sees both (checkout; providers.md §3).
func (m *matcher) rest(label string, v money) {
	if v.sign() == 0 {
		return
	}
	k := rollKey{provider: label, currency: v.currency}
	of := m.rests[k]
	m.rests[k] = restSum{of.payouts + 1, of.sum.plus(v)}
}

func (m *matcher) listRests() (out []Rest, err error) {
	for _, k := range sortedKeys(m.rests) {
		r := Rest{Provider: k.provider, Payouts: m.rests[k].payouts}
		if r.Amount, err = m.rests[k].sum.amount(); err != nil {
			return nil, fmt.Errorf("sum up the rounding rests of %q: %w", k.provider, err)
		}
		out = append(out, r)
	}
	return out, nil
}
