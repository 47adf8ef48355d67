package adyen

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"creditonce/credit"
	"creditonce/recon"
)

// The columns that are read, by name: Adyen's customers put them in any order and add others (providers.md §2.2).
const (
	colMerchant     = "Merchant Account"
	colPayment      = "Psp Reference"
	colCode         = "Merchant Reference"
	colCreated      = "Creation Date"
	colCreatedZone  = "TimeZone"
	colBooked       = "Booking Date"          // optional
	colBookedZone   = "Booking Date TimeZone" // optional
	colType         = "Type"
	colModification = "Modification Reference"
	colGrossIn      = "Gross Currency"
	colGrossDebit   = "Gross Debit (GC)"
	colGrossCredit  = "Gross Credit (GC)"
	colNetIn        = "Net Currency"
	colNetDebit     = "Net Debit (NC)"
	colNetCredit    = "Net Credit (NC)"
	colFees         = "Payment Fees (NC)" // optional: the sum of the four
	colBatch        = "Batch Number"
)

// feeColumns are the parts of the fee; each is a cost where it is positive.
var feeColumns = []string{"Commission (NC)", "Markup (NC)", "Scheme Fees (NC)", "Interchange (NC)"}

var required = append([]string{
	colMerchant, colPayment, colCode, colCreated, colCreatedZone, colType, colModification, colGrossIn, colGrossDebit, colGrossCredit,
	colNetIn, colNetDebit, colNetCredit, colBatch,
}, feeColumns...)

// Reader reads one settlement details report.
type Reader struct{ options recon.ReadOptions }

// NewReader takes what the config knows about the provider's files.
func NewReader(o recon.ReadOptions) *Reader { return &Reader{options: o} }

// Read promises what [recon.Reader] says. Amounts are major units in two columns. A batch's stated total is its payout; a batch with money
// in it and no payout row makes the statement incomplete.
func (r *Reader) Read(ctx context.Context, in io.Reader, emit func(recon.Line) error) (recon.Statement, error) {
	f := &file{
		options: r.options, merchant: r.options.Merchant, batches: newBatches(),
		sheet: recon.NewSheet(r.options.Name, in, recon.Dialect{}),
	}
	if f.merchant == "" {
		f.merchant = r.options.Provider.Account
	}
	if err := f.header(); err != nil {
		return recon.Statement{}, err
	}
	err := f.sheet.EachRecord(ctx, func(r recon.Record) error {
		line, err := f.line(r)
		if err != nil {
			return err
		}
		f.rows++
		return emit(line)
	})
	if err != nil {
		return recon.Statement{}, err
	}
	return f.statement(), nil
}

// file is one report while it is read.
type file struct {
	options  recon.ReadOptions
	merchant string
	sheet    *recon.Sheet
	rows     int
	batches  *batches
	problems recon.Problems
}

// header takes the columns, and knows the report that is most often taken for this one.
func (f *file) header() error {
	names, err := f.sheet.Row()
	if errors.Is(err, io.EOF) {
		return f.sheet.Fail(0, "has no header row")
	}
	if err != nil {
		return err
	}
	for _, name := range names {
		switch strings.TrimSpace(name) {
		case "Record Type", "Received (PC)", "Authorised (PC)", "Captured (PC)":
			return f.sheet.Fail(f.sheet.Line(), "is a payments accounting report: it tells the life of payments, not what was settled. "+
				"Download the settlement details report instead (settlement_detail_report_batch_N.csv)")
		}
	}
	return f.sheet.Columns(names, required...)
}

// line reads a row. What makes the row itself doubtful makes it a LineUnknown and a problem; what makes the file unreadable is an error.
func (f *file) line(r recon.Record) (recon.Line, error) {
	if err := f.owner(r); err != nil {
		return recon.Line{}, err
	}
	line := recon.Line{
		Provider: f.options.Provider, Row: r.Row, Word: word(r.Text(colType)), Batch: strings.Clone(r.Text(colBatch)),
		Payment: strings.Clone(r.Text(colPayment)), Movement: strings.Clone(r.Text(colModification)), Code: strings.Clone(r.Text(colCode)),
	}
	if line.Word == "" {
		return recon.Line{}, r.Fail("column %q is empty: nobody can say what the row does", colType)
	}
	known := false
	if line.Type, known = recon.WordType(line.Word, rowTypes, f.options.RowTypes); !known {
		f.problems.AddUnknown(r.Row, colType, line.Word)
	}
	var err error
	if line.At, err = stamp(r, colCreated, colCreatedZone); err != nil {
		return recon.Line{}, err
	}
	if r.Text(colBooked) != "" {
		if line.SettledAt, err = stamp(r, colBooked, colBookedZone); err != nil {
			return recon.Line{}, err
		}
	}
	if err := f.amounts(r, &line); err != nil {
		return recon.Line{}, err
	}
	f.judge(r, &line)
	return line, f.count(r, &line)
}

// owner refuses a file that has rows of another merchant account.
func (f *file) owner(r recon.Record) error {
	switch account := r.Text(colMerchant); {
	case account == "":
		return r.Fail("column %q is empty: get the report of one merchant account", colMerchant)
	case f.merchant == "":
		f.merchant = strings.Clone(account)
	case account != f.merchant:
		return r.Fail("is a row of another merchant account than %s: get the report of that account alone", f.merchant)
	}
	return nil
}

// stamp reads a time with the zone word that stands beside it. The word is a fixed offset: PST is -08:00 whatever the season.
func stamp(r recon.Record, column, zoneColumn string) (time.Time, error) {
	zone, known := recon.ZoneOf(r.Text(zoneColumn))
	if !known {
		return time.Time{}, r.Fail("column %q has no zone word that means one offset: ask Adyen to write the report in UTC", zoneColumn)
	}
	return r.Time(column, recon.Stamp{Layout: time.DateTime, Location: zone})
}

// places are the decimal places of Adyen's own table where they are not ISO 4217's (providers.md §2.2).
var places = map[string]int{"CLP": 2, "ISK": 2}

func (f *file) currency(r recon.Record, column string) (code string, exponent int, err error) {
	code = strings.Clone(r.Text(column))
	if _, named := f.options.Exponents[code]; !named {
		if exponent, own := places[code]; own {
			return code, exponent, nil
		}
	}
	exponent, ok := f.options.Exponent(code)
	if !ok {
		return "", 0, r.Fail("column %q is no currency of ISO 4217 and no exponent of it is configured", column)
	}
	return code, exponent, nil
}

// amounts reads gross, fee and net. Rows of the account have no gross.
func (f *file) amounts(r recon.Record, line *recon.Line) error {
	currency, exponent, err := f.currency(r, colNetIn)
	if err != nil {
		return err
	}
	if line.Net, err = difference(r, colNetCredit, colNetDebit, currency, exponent); err != nil {
		return err
	}
	if !line.Net.IsSet() {
		return r.Fail("has neither %q nor %q", colNetDebit, colNetCredit)
	}
	if line.Fee, err = f.fee(r, currency, exponent); err != nil {
		return err
	}
	if r.Text(colGrossCredit) == "" && r.Text(colGrossDebit) == "" {
		return nil
	}
	if currency, exponent, err = f.currency(r, colGrossIn); err != nil {
		return err
	}
	line.Gross, err = difference(r, colGrossCredit, colGrossDebit, currency, exponent)
	return err
}

// difference is credit less debit; unset where both are empty. Both columns are unsigned: a minus in one of them would be a second sign.
func difference(r recon.Record, creditColumn, debitColumn, currency string, exponent int) (credit.Amount, error) {
	in, err := unsigned(r, creditColumn, currency, exponent)
	if err != nil {
		return credit.Amount{}, err
	}
	out, err := unsigned(r, debitColumn, currency, exponent)
	if err != nil {
		return credit.Amount{}, err
	}
	sum, err := in.Add(out.Neg())
	if err != nil {
		return credit.Amount{}, r.Fail("column %q cannot be added up", creditColumn)
	}
	return sum, nil
}

func unsigned(r recon.Record, column, currency string, exponent int) (credit.Amount, error) {
	a, err := r.AmountIfAny(column, currency, exponent)
	if err == nil && a.Sign() < 0 {
		err = r.Fail("column %q is negative: debits and credits have a column each, so the sign is in doubt; get the report again", column)
	}
	return a, err
}

// fee is the cost of the row, negative: the sum of the four columns, or Payment Fees, which is their sum already.
func (f *file) fee(r recon.Record, currency string, exponent int) (credit.Amount, error) {
	var parts credit.Amount
	for _, column := range feeColumns {
		a, err := r.AmountIfAny(column, currency, exponent)
		if err != nil {
			return credit.Amount{}, err
		}
		if parts, err = parts.Add(a); err != nil {
			return credit.Amount{}, r.Fail("column %q cannot be added up", column)
		}
	}
	sum, err := r.AmountIfAny(colFees, currency, exponent)
	switch {
	case err != nil:
		return credit.Amount{}, err
	case !parts.IsSet():
		return sum.Neg(), nil
	case sum.IsSet() && !sum.Equal(parts):
		f.problems.Add(r.Row, "%s is %s, and its four parts sum up to %s: the parts are taken; ask Adyen", colFees, sum, parts)
	}
	return parts.Neg(), nil
}
