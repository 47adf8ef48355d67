package checkout

import (
	"strings"

	"creditonce/credit"
	"creditonce/recon"
)

const (
	colEntity       = "Client Entity ID"
	colType         = "Type"
	colProcessed    = "Processed On"
	colAvailable    = "Available On"
	colHolding      = "Holding Currency"
	colPayoutID     = "Payout ID"
	colPayoutAmount = "Payout Amount"
)

// breakdownColumns must be there; the parts of the deduction are not read: their sum is the deduction, and the file may leave them out.
var breakdownColumns = []string{
	colEntity, colType, "Payment ID", "Reference", colProcessed, colAvailable, colHolding, colPayoutID, "Gross In Holding Currency",
	"Deduction In Holding Currency", "Net In Holding Currency", "Processing Currency", "Gross In Processing Currency",
}

// layout takes milliseconds too: package time reads a fraction behind the seconds unasked.
const layout = "2006-01-02T15:04:05"

// words say what each Type is (providers.md §2.4). What takes a deduction and moves no client's money is a fee, by [feeWords].
var words = map[string]recon.LineType{
	"Charge":     recon.LinePayment,
	"Refund":     recon.LineRefund,
	"Chargeback": recon.LineChargeback,
}

// feeWords begin the Types that only cost.
var feeWords = []string{"Void", "Network Token ", "Account Updater", "Merchant Payout"}

// lineType is what a row of the Type is. The sign of the gross takes part: a charge of nothing is an authorisation that only cost, and a
// chargeback that brings money was won.
func (f *file) lineType(word string, gross credit.Amount) (t recon.LineType, known bool) {
	for _, begin := range feeWords {
		if strings.HasPrefix(word, begin) {
			if gross.IsZero() {
				return recon.LineFee, true
			}
			return recon.LineUnknown, false // it moves a client's money after all
		}
	}
	t, known = recon.WordType(word, words, f.options.RowTypes)
	switch {
	case !known:
		return t, false
	case t == recon.LinePayment && gross.IsZero():
		return recon.LineFee, true
	case t == recon.LineChargeback && gross.Sign() > 0:
		return recon.LineChargebackReversal, true
	case t == recon.LinePayment && gross.Sign() < 0, t == recon.LineRefund && gross.Sign() > 0:
		return recon.LineUnknown, false
	}
	return t, true
}

// movement reads one row of the breakdown.
func (f *file) movement(r recon.Record) error {
	if err := f.own(r); err != nil {
		return err
	}
	line := recon.Line{
		Provider: f.options.Provider, Row: r.Row, Word: strings.Clone(r.Text(colType)), Payment: strings.Clone(r.Text("Payment ID")),
		Code: strings.Clone(r.Text("Reference")), Batch: strings.Clone(r.Text(colPayoutID)),
	}
	if err := f.amounts(r, &line); err != nil {
		return err
	}
	stamp := recon.Stamp{Layout: layout, Location: f.options.Location}
	var err error
	if line.At, err = r.Time(colProcessed, stamp); err != nil {
		return err
	}
	if line.SettledAt, err = r.TimeIfAny(colAvailable, stamp); err != nil {
		return err
	}
	line.Movement = movementID(r)
	line.Shape()
	return f.send(line)
}

// movementID names the row. The report has no id of a single capture or refund unless it was ordered with one, so the time makes two
// movements of one payment two.
func movementID(r recon.Record) string {
	if id := r.Text("Action ID"); id != "" {
		return strings.Clone(id)
	}
	return strings.TrimSpace(r.Text("Payment ID") + " " + r.Text(colProcessed))
}

func (f *file) amounts(r recon.Record, line *recon.Line) error {
	currency, cents, err := f.currency(r, colHolding)
	if err != nil {
		return err
	}
	var read [3]credit.Amount
	for i, column := range []string{"Gross In Holding Currency", "Deduction In Holding Currency", "Net In Holding Currency"} {
		if read[i], err = r.Amount(column, currency, places); err != nil {
			return err
		}
	}
	if sum, err := read[0].Add(read[1]); err != nil || !sum.Equal(read[2]) {
		return r.Fail("does not add up: gross %s and deduction %s are not net %s; the file was changed, get it again", read[0], read[1], read[2])
	}
	line.Gross, line.Fee, line.Net = recon.Short(read[0], cents), recon.Short(read[1], cents), recon.Short(read[2], cents)
	known := false
	if line.Type, known = f.lineType(line.Word, read[0]); !known {
		f.unknown(r, line)
	}
	return f.processed(r, line)
}

// unknown says whether the word is unknown or the direction is.
func (f *file) unknown(r recon.Record, line *recon.Line) {
	if _, word := recon.WordType(line.Word, words, f.options.RowTypes); word || line.Gross.IsZero() {
		f.problems.Add(r.Row, "a %q moves %s: that is not its direction; the row counts nowhere, ask Checkout.com", line.Word, line.Gross)
		return
	}
	f.problems.AddUnknown(r.Row, colType, line.Word)
}

// processed puts what the client paid in place of what the account got: the credit row has that one.
func (f *file) processed(r recon.Record, line *recon.Line) error {
	if r.Text("Processing Currency") == "" || line.Gross.IsZero() {
		return nil
	}
	currency, cents, err := f.currency(r, "Processing Currency")
	if err != nil {
		return err
	}
	paid, err := r.Amount("Gross In Processing Currency", currency, cents)
	if err != nil {
		return err
	}
	if paid.Sign() != line.Gross.Sign() {
		return r.Fail("has %s in the processing currency and %s in the holding currency: the file was changed, get it again", paid, line.Gross)
	}
	line.Gross = paid
	return nil
}
