package dlocal

import (
	"context"
	"io"
	"slices"
	"strings"

	"creditonce/recon"
)

// The columns of the two headers. The first names the totals of a transfer, the second its rows; nothing is read by position but ROW_TYPE,
// which begins every row and tells which header holds.
var (
	totalColumns = []string{colRow, "SETTLEMENT_CURRENCY", colItems, "GROSS_TOTAL_AMOUNT", "FEE_TOTAL_AMOUNT", "NET_TOTAL_AMOUNT", "TRANSFER_DATE", "TRANSFER_ID"}
	rowColumns   = []string{
		colRow, colMID, "CREATION_DATE", "APPROVED_DATE", "TRANSACTION_ID", "DLOCAL_TRANSACTION_ID", "LOCAL_AMOUNT", "LOCAL_CURRENCY",
		"GROSS_AMOUNT", "FEE_AMOUNT", "NET_AMOUNT",
	}
)

const (
	colRow    = "ROW_TYPE"
	colItems  = "NUMBER_OF_ITEMS"
	colMID    = "MID"
	wordTotal = "HEADER"

	// places are the decimals of the rows' settlement amounts (providers.md §3).
	places = 6
)

// Reader reads one settlement file.
type Reader struct{ options recon.ReadOptions }

// NewReader takes what the config knows about the provider's files: Merchant is the MID, Location the zone of its times.
func NewReader(o recon.ReadOptions) *Reader { return &Reader{options: o} }

// Read promises what [recon.Reader] says. The HEADER row becomes the payout of the transfer; the rest between its total and the rows, where
// it is rounding, becomes a LineRounding behind them. A larger one makes the statement incomplete.
func (r *Reader) Read(ctx context.Context, in io.Reader, emit func(recon.Line) error) (recon.Statement, error) {
	f := &file{options: r.options, sheet: recon.NewSheet(r.options.Name, in, recon.Dialect{}), emit: emit}
	if f.options.Merchant == "" {
		f.options.Merchant = f.options.Provider.Account
	}
	if err := f.sheet.Each(ctx, f.row); err != nil {
		return recon.Statement{}, err
	}
	return f.finish()
}

// part is what the next row must be.
type part int

const (
	beforeTotals part = iota // the names of the totals
	atTotals                 // the totals
	beforeRows               // the names of the rows
	inRows
)

// file is one settlement file while it is read.
type file struct {
	options    recon.ReadOptions
	sheet      *recon.Sheet
	emit       func(recon.Line) error
	part       part
	transfer   transfer
	totals     []recon.StatedTotal
	incomplete string
	emitted    int
	problems   recon.Problems
}

// row takes one row of the file, whatever it is.
func (f *file) row(fields []string) error {
	first := strings.TrimSpace(fields[0])
	switch {
	case f.part == beforeTotals || f.part == inRows && first == colRow:
		return f.openTransfer(fields)
	case f.part == atTotals:
		return f.takeTotals(fields)
	case f.part == beforeRows:
		f.part = inRows
		return f.sheet.Columns(fields, rowColumns...)
	}
	record, err := f.sheet.Record(fields)
	if err != nil {
		return err
	}
	line, err := f.line(record)
	if err != nil {
		return err
	}
	return f.send(line)
}

// openTransfer closes the transfer before it and takes the names of the totals.
func (f *file) openTransfer(fields []string) error {
	if f.part == inRows {
		if err := f.closeTransfer(); err != nil {
			return err
		}
	}
	f.part = atTotals
	return f.sheet.Columns(trimmed(fields), totalColumns...)
}

// trimmed cuts the empty fields at the end away, which the file has where a header is shorter than the widest row.
func trimmed(fields []string) []string {
	for len(fields) > 1 && fields[len(fields)-1] == "" {
		fields = fields[:len(fields)-1]
	}
	return fields
}

func (f *file) takeTotals(fields []string) error {
	names := len(f.sheet.Names())
	if len(fields) > names && slices.ContainsFunc(fields[names:], func(s string) bool { return s != "" }) {
		return f.sheet.Fail(f.sheet.Line(), "has a value behind the last named total: the file was changed, get it again")
	}
	record, err := f.sheet.Record(fields[:min(names, len(fields))])
	if err != nil {
		return err
	}
	if word := record.Text(colRow); word != wordTotal {
		return record.Fail("is no HEADER row with the totals of a transfer: the file is cut or of another kind; get it again")
	}
	if err := f.newTransfer(record); err != nil {
		return err
	}
	f.part = beforeRows
	return f.send(f.transfer.payout(f.options.Provider))
}

func (f *file) send(line recon.Line) error {
	if err := f.emit(line); err != nil {
		return err
	}
	f.emitted++
	return nil
}

func (f *file) finish() (recon.Statement, error) {
	if f.part != inRows {
		return recon.Statement{}, f.sheet.Fail(f.sheet.Line(), "ends before the rows of a transfer: the file is cut, get it again")
	}
	if err := f.closeTransfer(); err != nil {
		return recon.Statement{}, err
	}
	return recon.Statement{
		Digest: f.sheet.Digest(), Name: f.options.Name, Provider: f.options.Provider, Format: "dlocal", Rows: f.emitted,
		Incomplete: f.incomplete, Totals: f.totals, Problems: f.problems.List(),
	}, nil
}
