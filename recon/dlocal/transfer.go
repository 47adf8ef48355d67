package dlocal

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"creditonce/credit"
	"creditonce/recon"
)

// transfer is one HEADER row with the sums of the rows below it.
type transfer struct {
	row      int
	id       string
	currency string
	cents    int // decimals of the currency as a bank counts it
	items    string
	at       time.Time

	gross, fee, net          credit.Amount // stated
	sumGross, sumFee, sumNet credit.Amount
	rows                     int
}

// maxTransfers bounds what a hostile file can make the reader hold.
const maxTransfers = 1000

func (f *file) newTransfer(r recon.Record) error {
	currency := r.Text("SETTLEMENT_CURRENCY")
	cents, known := f.options.Exponent(currency)
	if !known {
		return r.Fail("column %q is no currency whose decimals are known: name it in settlement.exponents", "SETTLEMENT_CURRENCY")
	}
	t := transfer{row: r.Row, id: strings.Clone(r.Text("TRANSFER_ID")), currency: strings.Clone(currency), cents: cents, items: strings.Clone(r.Text(colItems))}
	if t.id == "" {
		return r.Fail("has no TRANSFER_ID: nothing names the payout; get the file again")
	}
	if len(f.totals) >= 3*maxTransfers {
		return r.Fail("is transfer number %d: this is no settlement file", len(f.totals)/3+1)
	}
	var err error
	if t.at, err = r.Time("TRANSFER_DATE", recon.Stamp{Layout: time.DateOnly, Location: f.options.Location}); err != nil {
		return err
	}
	for _, c := range []struct {
		column string
		stated *credit.Amount
		sum    *credit.Amount
	}{{"GROSS_TOTAL_AMOUNT", &t.gross, &t.sumGross}, {"FEE_TOTAL_AMOUNT", &t.fee, &t.sumFee}, {"NET_TOTAL_AMOUNT", &t.net, &t.sumNet}} {
		if *c.stated, err = r.Amount(c.column, t.currency, places); err != nil {
			return err
		}
		if *c.sum, err = credit.Minor(0, t.currency, places); err != nil {
			return r.Fail("column %q: %s", c.column, err)
		}
	}
	f.transfer = t
	return nil
}

// payout is the line of the transfer itself.
func (t *transfer) payout(p recon.Provider) recon.Line {
	line := t.own(p, recon.LinePayout, wordTotal, t.net.Neg())
	line.Movement = t.id
	return line
}

// own is a line of the transfer that no row of the file states.
func (t *transfer) own(p recon.Provider, kind recon.LineType, word string, net credit.Amount) recon.Line {
	return recon.Line{
		Provider: p, Row: t.row, Type: kind, Word: word, Batch: t.id, Movement: word,
		Net: recon.Short(net, t.cents), At: t.at, SettledAt: t.at,
	}
}

func (t *transfer) add(gross, fee, net credit.Amount) error {
	var errs [3]error
	t.sumGross, errs[0] = t.sumGross.Add(gross)
	t.sumFee, errs[1] = t.sumFee.Add(fee)
	t.sumNet, errs[2] = t.sumNet.Add(net)
	t.rows++
	return errors.Join(errs[:]...)
}

// closeTransfer lays the three totals beside the sums. The rest of the net is money: it becomes a line.
func (f *file) closeTransfer() error {
	t := &f.transfer
	for _, total := range []recon.StatedTotal{
		{Name: "gross of transfer " + t.id, Stated: t.gross, Summed: t.sumGross},
		{Name: "fees of transfer " + t.id, Stated: t.fee, Summed: t.sumFee},
		{Name: "payout of transfer " + t.id, Batch: t.id, Stated: t.net, Summed: t.sumNet},
	} {
		total.Row = t.row
		total = f.options.BookRest(total)
		total.Stated, total.Summed, total.Rest = recon.Short(total.Stated, t.cents), recon.Short(total.Summed, t.cents), recon.Short(total.Rest, t.cents)
		f.totals = append(f.totals, total)
		if f.problems.AddTotal(total); !total.Agrees() {
			f.incomplete = total.Name + " is not the sum of its rows: the file is cut or changed; get it again"
			f.countItems(t)
			continue
		}
		if total.Batch != "" && total.Rest.IsSet() {
			if err := f.send(t.own(f.options.Provider, recon.LineRounding, "rounding", total.Rest)); err != nil {
				return err
			}
		}
	}
	return nil
}

// countItems says how many rows the transfer should have. It is evidence only beside a sum that disagrees: what dLocal counts as an item is
// nowhere written.
func (f *file) countItems(t *transfer) {
	if t.items != "" && t.items != strconv.Itoa(t.rows) {
		f.problems.Add(t.row, "transfer %s states %s items and has %d rows", t.id, t.items, t.rows)
	}
}
