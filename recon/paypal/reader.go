package paypal

import (
	"context"
	"io"
	"strings"

	"creditonce/recon"
)

// The columns of a section's body that are read, by name; the header record CH names them, and some accounts have forty more.
const (
	colTransaction   = "Transaction ID"
	colInvoice       = "Invoice ID"
	colReference     = "PayPal Reference ID"
	colReferenceType = "PayPal Reference ID Type"
	colEvent         = "Transaction Event Code"
	colInitiated     = "Transaction Initiation Date"
	colCompleted     = "Transaction Completion Date"
	colSide          = "Transaction Debit or Credit"
	colGross         = "Gross Transaction Amount"
	colGrossIn       = "Gross Transaction Currency"
	colFeeSide       = "Fee Debit or Credit"
	colFee           = "Fee Amount"
	colFeeIn         = "Fee Currency"
	colCustom        = "Custom Field"         // optional
	colStatus        = "Transactional Status" // optional: S settled, P pending, D denied
)

var required = []string{
	colTransaction, colInvoice, colReference, colReferenceType, colEvent, colInitiated, colCompleted, colSide, colGross, colGrossIn,
	colFeeSide, colFee, colFeeIn,
}

var clock = recon.Stamp{Layout: "2006/01/02 15:04:05 -0700"}

// Reader reads one settlement report file.
type Reader struct{ options recon.ReadOptions }

// NewReader takes what the config knows about the provider's files.
func NewReader(o recon.ReadOptions) *Reader { return &Reader{options: o} }

// Read promises what [recon.Reader] says. Every amount has two decimal places, JPY too, as in the file. Section and report footers are laid
// beside the rows; a section without one, and a header of file or report without its footer, make the statement incomplete.
func (r *Reader) Read(ctx context.Context, in io.Reader, emit func(recon.Line) error) (recon.Statement, error) {
	f := &file{
		options: r.options, merchant: r.options.Merchant, sheet: recon.NewSheet(r.options.Name, in, recon.Dialect{}),
		report: newSums(),
	}
	if f.merchant == "" {
		f.merchant = r.options.Provider.Account
	}
	err := f.sheet.Each(ctx, func(fields []string) error {
		if fields[0] != "SB" {
			return f.frame(fields)
		}
		line, err := f.body(fields)
		if err != nil {
			return err
		}
		f.rows++
		return emit(line)
	})
	if err != nil {
		return recon.Statement{}, err
	}
	return f.statement()
}

// body reads one row of a section.
func (f *file) body(fields []string) (recon.Line, error) {
	if f.section == nil || !f.section.columns {
		return recon.Line{}, f.fail("is a row (SB) before its section's header (SH) and columns (CH): the file is cut at its beginning; get it again")
	}
	if f.section.footers > 0 {
		return recon.Line{}, f.fail("is a row (SB) behind its section's footer (SF): the file was changed; get it again")
	}
	r, err := f.sheet.Record(fields)
	if err != nil {
		return recon.Line{}, err
	}
	line := recon.Line{
		Provider: f.options.Provider, Row: r.Row, Word: strings.Clone(r.Text(colEvent)), Movement: strings.Clone(r.Text(colTransaction)),
		Code: strings.Clone(r.Text(colCustom)),
	}
	if line.Code == "" {
		line.Code = strings.Clone(r.Text(colInvoice))
	}
	if line.Movement == "" {
		return recon.Line{}, r.Fail("column %q is empty: nothing names the movement; get the file again", colTransaction)
	}
	if err := f.times(r, &line); err != nil {
		return recon.Line{}, err
	}
	if err := f.amounts(r, &line); err != nil {
		return recon.Line{}, err
	}
	gross, fee := line.Gross, line.Fee // as the file has them: what the row is called changes no total
	f.judge(r, &line)
	return line, f.count(r, gross, fee, line.Type == recon.LinePayout && gross.Sign() < 0)
}

func (f *file) times(r recon.Record, line *recon.Line) (err error) {
	if line.At, err = r.Time(colInitiated, clock); err != nil {
		return err
	}
	line.SettledAt, err = r.TimeIfAny(colCompleted, clock)
	return err
}

// judge says what the row is, or doubts what contradicts itself: a row that is doubted counts nowhere.
func (f *file) judge(r recon.Record, line *recon.Line) {
	known := false
	if line.Type, known = lineType(line.Word, f.options.RowTypes); !known {
		f.problems.AddUnknown(r.Row, colEvent, line.Word)
		return
	}
	id, named := paymentID(line.Type, r.Text(colTransaction), r.Text(colReference), r.Text(colReferenceType))
	status := r.Text(colStatus)
	switch want := direction(line.Type); {
	case status == "P" || status == "D":
		f.doubt(r.Row, line, "is not settled: its status is "+status)
	case !named:
		f.doubt(r.Row, line, "refers to no transaction")
	case line.Gross.Sign()*want < 0:
		f.doubt(r.Row, line, "moves money in the other direction than its code says")
	}
	line.Payment = strings.Clone(id)
	line.Shape()
}

func (f *file) doubt(row int, line *recon.Line, why string) {
	f.problems.Add(row, "a row with code %s (%s) %s: it counts nowhere; ask PayPal", line.Word, line.Type, why)
	line.Type = recon.LineUnknown
}
