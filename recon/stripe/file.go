package stripe

import (
	"context"
	"io"
	"math/big"
	"strings"
	"time"

	"creditonce/credit"
	psp "creditonce/internal/psp/stripe"
	"creditonce/recon"
)

// The columns that a report must have; others are used where the file has them. Stripe lets whoever makes the report choose its columns
// (providers.md §2.1).
var required = []string{
	"balance_transaction_id", "created_utc", "available_on_utc", "currency", "gross", "fee", "net", "reporting_category",
	"source_id", "charge_id", "payment_intent_id",
}

// codeColumn carries the deposit code where the firm's server put it into the payment's metadata (design §5.3).
const codeColumn = "payment_metadata[creditonce_deposit]"

// Reader reads the itemized report files payout_reconciliation and balance_change_from_activity. It is made for one file.
type Reader struct{ options recon.ReadOptions }

// NewReader takes what the config knows about the provider's files.
func NewReader(o recon.ReadOptions) *Reader { return &Reader{options: o} }

// Read promises what [recon.Reader] says. Amounts are major units with Stripe's own exponents; a row whose net is not gross less fee
// refuses the file. A payout's stated total is the payout's own row; a payout whose lines are in another file states none.
func (r *Reader) Read(ctx context.Context, in io.Reader, emit func(recon.Line) error) (recon.Statement, error) {
	f := &file{options: r.options, sheet: recon.NewSheet(r.options.Name, in, recon.Dialect{}), batches: map[string]bool{}}
	if err := f.sheet.Header(required...); err != nil {
		return recon.Statement{}, err
	}
	if f.options.Merchant == "" {
		f.options.Merchant = f.options.Provider.Account
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
	sheet    *recon.Sheet
	rows     int
	sums     recon.Tally // net of the lines by payout, without the payout's own row
	batches  map[string]bool
	payouts  []payout
	problems recon.Problems
}

type payout struct {
	row int
	id  string
	net credit.Amount
}

// maxPayouts bounds what a hostile file can make the reader hold; a year of daily payouts in ten currencies is less.
const maxPayouts = 20_000

func (f *file) line(record recon.Record) (recon.Line, error) {
	if account := record.Text("connected_account_id"); account != "" && account != f.options.Merchant {
		return recon.Line{}, record.Fail("belongs to another account than %s: get the report of that account alone", f.options.Merchant)
	}
	line := recon.Line{
		Provider: f.options.Provider, Row: record.Row, Word: strings.Clone(record.Text("reporting_category")),
		Movement: strings.Clone(record.Text("balance_transaction_id")), Unique: true, Code: strings.Clone(record.Text(codeColumn)),
		Batch: strings.Clone(record.Text("automatic_payout_id")), Payment: strings.Clone(payment(record)),
	}
	if line.Movement == "" {
		return recon.Line{}, record.Fail("has no balance_transaction_id: nothing names the movement; get the report again")
	}
	if err := f.amounts(record, &line); err != nil {
		return recon.Line{}, err
	}
	if err := times(record, &line); err != nil {
		return recon.Line{}, err
	}
	known := false
	if line.Type, known = lineType(line.Word, f.options.RowTypes); !known {
		f.problems.AddUnknown(record.Row, "reporting_category", line.Word)
	}
	line.Shape()
	return line, f.count(record, &line)
}

// payment is the id that ties the row to a credit: the payment intent, else the charge.
func payment(record recon.Record) string {
	if id := record.Text("payment_intent_id"); id != "" {
		return id
	}
	return record.Text("charge_id")
}

func (f *file) amounts(record recon.Record, line *recon.Line) error {
	currency, exponent, err := f.currency(record, "currency")
	if err != nil {
		return err
	}
	if line.Gross, err = record.Amount("gross", currency, exponent); err != nil {
		return err
	}
	fee, err := record.Amount("fee", currency, exponent)
	if err != nil {
		return err
	}
	line.Fee = fee.Neg()
	if line.Net, err = record.Amount("net", currency, exponent); err != nil {
		return err
	}
	if sum, err := line.Gross.Add(line.Fee); err != nil || !sum.Equal(line.Net) {
		return record.Fail("does not add up: gross %s less fee %s is not net %s; the file was changed, get it again", line.Gross, fee, line.Net)
	}
	return f.customerFacing(record, line)
}

// customerFacing puts what the client paid in place of what the balance got, where the file has it and the currency is another one.
func (f *file) customerFacing(record recon.Record, line *recon.Line) error {
	if text := record.Text("customer_facing_currency"); text == "" || strings.EqualFold(text, line.Net.Currency()) {
		return f.wholeUnits(record, line.Gross)
	}
	currency, exponent, err := f.currency(record, "customer_facing_currency")
	if err != nil {
		return err
	}
	paid, err := record.AmountIfAny("customer_facing_amount", currency, exponent)
	if err != nil || !paid.IsSet() {
		return err
	}
	if paid.Sign() != line.Gross.Sign() && paid.Sign()*line.Gross.Sign() != 0 {
		paid = paid.Neg() // the column is unsigned in some versions of the report; the balance's side has the direction
	}
	line.Gross = paid
	return f.wholeUnits(record, line.Gross)
}

// wholeUnits refuses a client's amount in ISK or UGX with decimals: the unit of the file would be in doubt.
func (f *file) wholeUnits(record recon.Record, gross credit.Amount) error {
	if record.Text("reporting_category") != "charge" || !psp.HundredsOnly(gross.Currency()) || gross.Exponent() != 2 {
		return nil
	}
	if new(big.Int).Rem(gross.Units(), big.NewInt(100)).Sign() != 0 {
		return record.Fail("charges %s, a currency without decimals at Stripe: the file's unit is in doubt; ask Stripe", gross)
	}
	return nil
}

func (f *file) currency(record recon.Record, column string) (code string, exponent int, err error) {
	code, ok := psp.CurrencyCode(record.Text(column))
	if !ok {
		return "", 0, record.Fail("column %q is not a currency of three letters", column)
	}
	if places, named := f.options.Exponents[code]; named {
		return code, places, nil
	}
	exponent, _ = psp.Exponent(code)
	return code, exponent, nil
}

// times takes when it happened and when it was settled: when its payout arrives, and without a payout when it becomes available.
func times(record recon.Record, line *recon.Line) error {
	form := recon.Stamp{Layout: time.DateTime}
	var err error
	if line.At, err = record.Time("created_utc", form); err != nil {
		return err
	}
	if line.SettledAt, err = record.TimeIfAny("automatic_payout_effective_at_utc", form); err != nil || !line.SettledAt.IsZero() {
		return err
	}
	line.SettledAt, err = record.Time("available_on_utc", form)
	return err
}

// count adds the line to its payout's sum, or keeps the payout that states one.
func (f *file) count(record recon.Record, line *recon.Line) error {
	if line.Type == recon.LinePayout {
		line.Payment = ""
		if line.Batch != "" && line.Word == "payout" {
			f.payouts = append(f.payouts, payout{row: line.Row, id: line.Batch, net: line.Net})
		}
		if len(f.payouts) > maxPayouts {
			return record.Fail("is payout number %d: this is no statement", len(f.payouts))
		}
		return nil
	}
	if line.Batch == "" {
		return nil
	}
	f.batches[line.Batch] = true
	if line.Type == recon.LineUnknown {
		return nil
	}
	if err := f.sums.Add(line.Batch, line.Net); err != nil {
		return record.Fail("cannot be added up: %s", err)
	}
	return nil
}

// statement closes the file: every payout that has lines here is laid beside their sum.
func (f *file) statement() recon.Statement {
	st := recon.Statement{Digest: f.sheet.Digest(), Name: f.options.Name, Provider: f.options.Provider, Format: "stripe", Rows: f.rows}
	if !f.sheet.Ended() {
		st.Incomplete = "the last row has no line end: the file may be cut behind it; get it again"
		f.problems.Add(f.sheet.Line(), "%s", st.Incomplete)
	}
	for _, p := range f.payouts {
		if !f.batches[p.id] {
			continue // its lines are in another file
		}
		total := recon.StatedTotal{Name: "payout " + p.id, Row: p.row, Batch: p.id, Stated: p.net.Neg(), Summed: f.sums.Sum(p.id, p.net)}
		st.Totals = append(st.Totals, total)
		f.problems.AddTotal(total)
	}
	st.Problems = f.problems.List()
	return st
}
