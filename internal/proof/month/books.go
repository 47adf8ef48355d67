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

type sheet struct {
	ours, theirs *column
	off          *big.Int
}

// books are kept while the month is made: every story says what it moved, on which column and when.
type books struct {
	from, until time.Time
	pages       map[pageKey]*sheet
}

func newBooks(from, until time.Time) *books {
	return &books{from: from, until: until, pages: map[pageKey]*sheet{}}
}

func (b *books) page(k pageKey) *sheet {
	p := b.pages[k]
	if p == nil {
		p = &sheet{ours: newColumn(), theirs: newColumn(), off: new(big.Int)}
		b.pages[k] = p
	}
	return p
}

// post books one movement on one column. amount is what the movement is about; of a refund or chargeback it is positive, of one that
// comes back negative. What moved before the first day is in the opening, what moved after the last is not in the books.
func (b *books) post(c *column, f flow, amount *big.Int, at time.Time) {
	switch {
	case !at.Before(b.until):
	case at.Before(b.from) && f == credited:
		c.opening.Add(c.opening, amount)
	case at.Before(b.from):
		c.opening.Sub(c.opening, amount)
	default:
		c.moved[f].Add(c.moved[f], amount)
	}
}

// close gives all pages, sorted by side, provider and currency.
func (b *books) close() []Page {
	out := make([]Page, 0, len(b.pages))
	for k, p := range b.pages {
		out = append(out, Page{k.side, k.provider, k.currency, p.ours.close(), p.theirs.close(), p.off})
	}
	slices.SortFunc(out, func(a, b Page) int {
		return cmp.Or(cmp.Compare(a.Side, b.Side), cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Currency, b.Currency))
	})
	return out
}
