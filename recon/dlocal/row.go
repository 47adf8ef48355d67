package dlocal

import (
	"strings"
	"time"

	"creditonce/credit"
	"creditonce/recon"
)

// words say what each ROW_TYPE is (providers.md §2.16).
var words = map[string]recon.LineType{
	"PAYMENT":        recon.LinePayment,
	"CAPTURE":        recon.LinePayment,
	"REFUND":         recon.LineRefund,
	"CHARGEBACK":     recon.LineChargeback,
	"ADJUSTMENT":     recon.LineAdjustment,
	"SETTLEMENT_FEE": recon.LineFee,
}

// line reads one row of a transfer.
func (f *file) line(r recon.Record) (recon.Line, error) {
	if mid := r.Text(colMID); mid != "" && f.options.Merchant != "" && mid != f.options.Merchant {
		return recon.Line{}, r.Fail("belongs to another MID than the configured one (settlement.merchant): get the file of that merchant alone")
	}
	t := &f.transfer
	line := recon.Line{Provider: f.options.Provider, Row: r.Row, Word: strings.Clone(r.Text(colRow)), Batch: t.id, SettledAt: t.at}
	known := false
	if line.Type, known = recon.WordType(line.Word, words, f.options.RowTypes); !known {
		f.problems.AddUnknown(r.Row, colRow, line.Word)
	}
	f.ids(r, &line)
	if err := f.when(r, &line); err != nil {
		return recon.Line{}, err
	}
	if err := f.amounts(r, &line); err != nil {
		return recon.Line{}, err
	}
	line.Shape()
	return line, nil
}

// ids names the payment and the movement. The file has no id of a single capture or refund, so the time makes two of one payment two.
func (f *file) ids(r recon.Record, line *recon.Line) {
	id := strings.Clone(r.Text("DLOCAL_TRANSACTION_ID"))
	line.Movement = id
	switch line.Type {
	case recon.LinePayment, recon.LineRefund, recon.LineRefundReversal, recon.LineChargeback, recon.LineChargebackReversal:
		line.Payment, line.Code = id, strings.Clone(r.Text("TRANSACTION_ID"))
		line.Movement = strings.TrimSpace(id + " " + moment(r))
	default: // of the account; its id is the movement's own
	}
}

// moment is the text of when it happened: a payment counts from its approval.
func moment(r recon.Record) string {
	if at := r.Text("APPROVED_DATE"); at != "" {
		return at
	}
	return r.Text("CREATION_DATE")
}

// when reads it; rows of the account without a time happened with their transfer.
func (f *file) when(r recon.Record, line *recon.Line) error {
	line.At = f.transfer.at
	for _, column := range []string{"APPROVED_DATE", "CREATION_DATE"} {
		at, err := r.TimeIfAny(column, recon.Stamp{Layout: time.DateTime, Location: f.options.Location})
		if err != nil {
			return err
		}
		if !at.IsZero() {
			line.At = at
			return nil
		}
	}
	return nil
}

// amounts reads what the row did to the settlement, and what the client paid in the own currency.
func (f *file) amounts(r recon.Record, line *recon.Line) error {
	t := &f.transfer
	var read [3]credit.Amount
	for i, column := range []string{"GROSS_AMOUNT", "FEE_AMOUNT", "NET_AMOUNT"} {
		var err error
		if read[i], err = r.Amount(column, t.currency, places); err != nil {
			return err
		}
	}
	gross, fee, net := read[0], read[1], read[2]
	if !addsUp(gross, fee, net) {
		return r.Fail("does not add up: gross %s and fee %s are not net %s; the file was changed, get it again", gross, fee, net)
	}
	if line.Type == recon.LinePayment && gross.Sign() < 0 || line.Type == recon.LineRefund && gross.Sign() > 0 {
		return r.Fail("has a gross amount of the wrong sign for its type: the signs of the whole file are in doubt; ask dLocal")
	}
	if line.Type != recon.LineUnknown { // it counts nowhere until somebody says what it is
		if err := t.add(gross, fee, net); err != nil {
			return r.Fail("cannot be added up: %s", err)
		}
	}
	line.Gross, line.Fee, line.Net = recon.Short(gross, t.cents), recon.Short(fee, t.cents), recon.Short(net, t.cents)
	return f.local(r, line)
}

// addsUp allows one millionth: each of the three is rounded on its own.
func addsUp(gross, fee, net credit.Amount) bool {
	sum, err := gross.Add(fee)
	if err != nil {
		return false
	}
	rest, err := sum.Add(net.Neg())
	return err == nil && rest.Units().IsInt64() && rest.Units().Int64() >= -1 && rest.Units().Int64() <= 1
}

// local puts what the client paid in place of what the settlement got: the credit row has that one. The direction is the settlement's.
func (f *file) local(r recon.Record, line *recon.Line) error {
	currency := r.Text("LOCAL_CURRENCY")
	if currency == "" || line.Payment == "" {
		return nil
	}
	cents, known := f.options.Exponent(currency)
	if !known {
		return r.Fail("column %q is no currency whose decimals are known: name it in settlement.exponents", "LOCAL_CURRENCY")
	}
	local, err := r.Amount("LOCAL_AMOUNT", strings.Clone(currency), cents)
	if err != nil {
		return err
	}
	if local.Sign()*line.Gross.Sign() < 0 {
		local = local.Neg()
	}
	line.Gross = local
	return nil
}
