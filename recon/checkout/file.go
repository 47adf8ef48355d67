package checkout

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"creditonce/recon"
)

// Reader reads one file of either report; the header tells which.
type Reader struct{ options recon.ReadOptions }

// NewReader takes what the config knows about the provider's files; Merchant is the client entity id and Location the zone of times.
func NewReader(o recon.ReadOptions) *Reader { return &Reader{options: o} }

// Read promises what [recon.Reader] says. A row whose net is not gross and deduction together refuses the file. Neither report states a sum of
// its own rows: what a payout differs from its lines by is the comparison's to say, which has both (recon.Rest).
func (r *Reader) Read(ctx context.Context, in io.Reader, emit func(recon.Line) error) (recon.Statement, error) {
	f := &file{options: r.options, sheet: recon.NewSheet(r.options.Name, in, recon.Dialect{}), emit: emit}
	if f.options.Merchant == "" {
		f.options.Merchant = f.options.Provider.Account
	}
	row, err := f.open()
	if err != nil {
		return recon.Statement{}, err
	}
	if err := f.sheet.EachRecord(ctx, row); err != nil {
		return recon.Statement{}, err
	}
	return f.finish()
}

// file is one report while it is read.
type file struct {
	options    recon.ReadOptions
	sheet      *recon.Sheet
	emit       func(recon.Line) error
	covers     period
	incomplete string
	emitted    int
	problems   recon.Problems
}

// open reads the header and returns what takes the rows of that report.
func (f *file) open() (func(recon.Record) error, error) {
	fields, err := f.sheet.Row()
	if errors.Is(err, io.EOF) {
		return nil, f.sheet.Fail(0, "has no header row")
	}
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(fields, func(name string) bool { return strings.TrimSpace(name) == colPayoutAmount }) {
		return f.payout, f.sheet.Columns(fields, payoutColumns...)
	}
	return f.movement, f.sheet.Columns(fields, breakdownColumns...)
}

func (f *file) send(line recon.Line) error {
	if err := f.emit(line); err != nil {
		return err
	}
	f.emitted++
	return nil
}

func (f *file) finish() (recon.Statement, error) {
	if !f.sheet.Ended() {
		f.incomplete = "the last row has no line end: the file may be cut behind it; get it again"
		f.problems.Add(f.sheet.Line(), "%s", f.incomplete)
	}
	return recon.Statement{
		Digest: f.sheet.Digest(), Name: f.options.Name, Provider: f.options.Provider, Format: "checkout", From: f.covers.from, Until: f.covers.until,
		Rows: f.emitted, Incomplete: f.incomplete, Problems: f.problems.List(),
	}, nil
}

// own refuses a row of another entity.
func (f *file) own(r recon.Record) error {
	if entity := r.Text(colEntity); entity != "" && f.options.Merchant != "" && entity != f.options.Merchant {
		return r.Fail("belongs to another entity than the configured one (settlement.merchant): get the report of that entity alone")
	}
	return nil
}

// places are the decimals that Checkout.com's reports may have, whatever the currency.
const places = 8

// currency reads a currency and the decimals of its minor unit.
func (f *file) currency(r recon.Record, column string) (code string, cents int, err error) {
	code = strings.Clone(r.Text(column))
	cents, known := f.options.Exponent(code)
	if !known {
		return "", 0, r.Fail("column %q is no currency whose decimals are known: name it in settlement.exponents", column)
	}
	return code, cents, nil
}
