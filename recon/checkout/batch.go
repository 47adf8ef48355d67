package checkout

import (
	"time"

	"creditonce/credit"
	"creditonce/recon"
)

// batch is the lines of one payout in one currency.
type batch struct {
	id, currency string
	cents        int
	row          int // the first one
	at           time.Time
	sum          credit.Amount // net, in places decimals
}

// batches are in the order in which they first came.
type batches struct {
	at   map[[2]string]int
	list []batch
}

// maxBatches bounds what a hostile file can make the reader hold; a breakdown has one.
const maxBatches = 20_000

// count adds a line of the breakdown to its payout. What is unknown counts nowhere.
func (f *file) count(r recon.Record, line recon.Line) error {
	if line.Batch == "" || line.Type == recon.LineUnknown {
		return nil
	}
	if f.batches.at == nil {
		f.batches.at = map[[2]string]int{}
	}
	key := [2]string{line.Batch, line.Net.Currency()}
	at, known := f.batches.at[key]
	if !known {
		if len(f.batches.list) >= maxBatches {
			return r.Fail("is of payout number %d: this is no settlement breakdown", maxBatches+1)
		}
		cents, _ := f.options.Exponent(key[1])
		at = len(f.batches.list)
		f.batches.at[key] = at
		f.batches.list = append(f.batches.list, batch{id: key[0], currency: key[1], cents: cents, row: r.Row, at: line.Moment()})
	}
	net, err := r.Amount("Net In Holding Currency", key[1], places)
	if err != nil {
		return err
	}
	b := &f.batches.list[at]
	if b.sum, err = b.sum.Add(net); err != nil {
		return r.Fail("cannot be added up: %s", err)
	}
	if moment := line.Moment(); moment.After(b.at) {
		b.at = moment
	}
	return nil
}

// closeBatch lays the breakdown's lines beside the payout, where the payouts report was there first.
func (f *file) closeBatch(b batch) error {
	stated := f.known.payout(b.id, b.currency)
	if !stated.IsSet() {
		return nil
	}
	stated, err := credit.ParseAmount(stated.Decimal(), b.currency, places)
	if err != nil {
		return f.sheet.Fail(b.row, "belongs to payout %s, whose stated amount cannot be compared: %s", b.id, err)
	}
	return f.beside(b, stated)
}

// beside states the total and books its rest. One name for the rest, whichever report comes second, so that it is booked once.
func (f *file) beside(b batch, stated credit.Amount) error {
	if !b.sum.IsSet() {
		return nil
	}
	sum, err := credit.ParseAmount(b.sum.Decimal(), b.currency, places)
	if err != nil {
		return f.sheet.Fail(b.row, "belongs to payout %s, whose lines cannot be compared: %s", b.id, err)
	}
	total := f.options.BookRest(recon.StatedTotal{Name: "payout " + b.id, Row: b.row, Batch: b.id, Stated: stated, Summed: sum})
	total.Stated, total.Summed, total.Rest = recon.Short(total.Stated, b.cents), recon.Short(total.Summed, b.cents), recon.Short(total.Rest, b.cents)
	f.totals = append(f.totals, total)
	f.problems.AddTotal(total)
	if !total.Rest.IsSet() {
		return nil
	}
	return f.send(recon.Line{
		Provider: f.options.Provider, Row: b.row, Type: recon.LineRounding, Word: "rounding", Movement: b.id, Batch: b.id,
		Net: total.Rest, At: b.at, SettledAt: b.at,
	})
}
