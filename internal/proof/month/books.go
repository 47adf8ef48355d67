package month

import (
	"cmp"
	"math/big"
	"slices"
	"time"

	"creditonce/recon"
)

// flow is one of the movements of a roll-forward.
type flow int

const (
	credited flow = iota
	refunded
	chargedBack
	withdrawn
	flows
)

// Column is one column of a page of the books, in 10^-18 of the currency ([Exact]). What goes out is positive.
type Column struct {
	Opening, Credited, Refunded, ChargedBack, Withdrawn, Closing *big.Int
}

// Page is what the firm's own books say of one side, provider and currency over the days of the month: the credit rows in Ours, the
// statements or the MT5 deals in Theirs, and in Off the sum of the differences that were planted or that time makes.
type Page struct {
	Side     recon.Side
	Provider string
	Currency string
	Ours     Column
	Theirs   Column
	Off      *big.Int
}

type pageKey struct {
	side               recon.Side
	provider, currency string
}

type column struct {
	opening *big.Int
	moved   [flows]*big.Int
}

func newColumn() *column {
	c := &column{opening: new(big.Int)}
	for i := range c.moved {
		c.moved[i] = new(big.Int)
	}
	return c
}

// close gives the column as others read it: opening + credited - refunded - charged back - withdrawn = closing.
func (c *column) close() Column {
	closing := new(big.Int).Add(c.opening, c.moved[credited])
	for _, out := range []flow{refunded, chargedBack, withdrawn} {
		closing.Sub(closing, c.moved[out])
	}
	return Column{
		Opening: c.opening, Credited: c.moved[credited], Refunded: c.moved[refunded], ChargedBack: c.moved[chargedBack],
		Withdrawn: c.moved[withdrawn], Closing: closing,
	}
}

// entry is one movement in the books: what it is about (of a refund or chargeback positive, of one that comes back negative) and when.
type entry struct {
	page   pageKey
	theirs bool
	flow   flow
	amount *big.Int
	at     time.Time
}

// cost is what a provider took by one line; negative is a cost.
type cost struct {
	provider, currency string
	amount             *big.Int
	at                 time.Time
}

// books are kept while the month is made: every story enters what it moved. They can be closed for any days.
type books struct {
	entries []entry
	costs   []cost
}

// post enters a movement.
func (b *books) post(p pageKey, theirs bool, f flow, amount *big.Int, at time.Time) {
	b.entries = append(b.entries, entry{p, theirs, f, amount, at})
}

// count adds an entry to its column: to the opening where it lies before the first day.
func (c *column) count(e entry, from time.Time) {
	switch {
	case !e.at.Before(from):
		c.moved[e.flow].Add(c.moved[e.flow], e.amount)
	case e.flow == credited:
		c.opening.Add(c.opening, e.amount)
	default:
		c.opening.Sub(c.opening, e.amount)
	}
}

// Pages closes the books for the days of [from, until), UTC: sorted by side, provider and currency, without pages on which nothing stands.
func (m *Month) Pages(from, until time.Time) []Page {
	type pair struct {
		ours, theirs *column
		off          *big.Int
	}
	pages := map[pageKey]*pair{}
	page := func(k pageKey) *pair {
		if pages[k] == nil {
			pages[k] = &pair{newColumn(), newColumn(), new(big.Int)}
		}
		return pages[k]
	}
	for _, e := range m.books.entries {
		if !e.at.Before(until) {
			continue
		}
		if e.theirs {
			page(e.page).theirs.count(e, from)
		} else {
			page(e.page).ours.count(e, from)
		}
	}
	for _, e := range m.Expected(until) {
		if e.Key.Class != recon.PayoutDifference { // it compares a statement with itself
			for currency, v := range e.Off {
				off := page(pageKey{e.Side, e.Provider, currency}).off
				off.Add(off, v)
			}
		}
	}
	out := make([]Page, 0, len(pages))
	for k, p := range pages {
		out = append(out, Page{k.side, k.provider, k.currency, p.ours.close(), p.theirs.close(), p.off})
	}
	slices.SortFunc(out, func(a, b Page) int {
		return cmp.Or(cmp.Compare(a.Side, b.Side), cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Currency, b.Currency))
	})
	return out
}

// Account names what a provider took in one currency.
type Account struct{ Provider, Currency string }

// Costs are what the providers took over the days of [from, until), in 10^-18 of the currency; negative is a cost.
func (m *Month) Costs(from, until time.Time) map[Account]*big.Int {
	out := map[Account]*big.Int{}
	for _, c := range m.books.costs {
		if c.at.Before(from) || !c.at.Before(until) {
			continue
		}
		k := Account{c.provider, c.currency}
		if out[k] == nil {
			out[k] = new(big.Int)
		}
		out[k].Add(out[k], c.amount)
	}
	return out
}
