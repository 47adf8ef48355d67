package mapped

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"creditonce/credit"
	"creditonce/recon"
)

// Reader reads one export by its config.
type Reader struct {
	options recon.ReadOptions
	config  Config
	happens clock
	settles clock
}

// NewReader takes what the config knows about the provider, and the form of its export. A config with faults is credit.ErrInvalid, with the
// first of them.
func NewReader(o recon.ReadOptions, c Config) (*Reader, error) {
	if faults := c.Check(); len(faults) > 0 {
		return nil, fmt.Errorf("mapped statement: %s %s: %w", faults[0].Path, faults[0].Text, credit.ErrInvalid)
	}
	if c.NetCurrency.Column == "" && c.NetCurrency.Fixed == "" {
		c.NetCurrency = c.Currency
	}
	happens, err := newClock(c.Time, o.Location)
	if err != nil {
		return nil, fmt.Errorf("mapped statement: time: %w", err)
	}
	settles, err := newClock(c.Settled, o.Location)
	if err != nil {
		return nil, fmt.Errorf("mapped statement: settled: %w", err)
	}
	return &Reader{options: o, config: c, happens: happens, settles: settles}, nil
}

// Read promises what [recon.Reader] says.
func (r *Reader) Read(ctx context.Context, in io.Reader, emit func(recon.Line) error) (recon.Statement, error) {
	f := r.open(in)
	if err := f.header(); err != nil {
		return recon.Statement{}, bare(err)
	}
	err := f.sheet.Each(ctx, func(fields []string) error {
		line, counts, err := f.row(fields)
		if err != nil || !counts {
			return err
		}
		f.rows++
		return emit(line)
	})
	if err != nil {
		return recon.Statement{}, bare(err)
	}
	return f.statement(), nil
}

// bare takes a FileError of the decoding out of the sheet's message, which names the file too.
func bare(err error) error {
	if fault := (*recon.FileError)(nil); errors.As(err, &fault) {
		return fault
	}
	return err
}

// file is one export while it is read.
type file struct {
	*Reader
	sheet    *recon.Sheet
	rows     int
	named    map[string]int // rows of the account that are equal but for their place
	sums     sums
	problems recon.Problems
}

func (r *Reader) open(in io.Reader) *file {
	comma, _ := delimiter(r.config.File.Delimiter)
	return &file{
		Reader: r, named: map[string]int{},
		sheet: recon.NewSheet(r.options.Name, in, recon.Dialect{
			Comma: comma, Decode: decoder(r.options.Name, r.config.File.Encoding),
			Number: recon.Number{Comma: r.config.File.Decimal == "comma", Group: r.config.File.Group},
		}),
	}
}

// preambleRows bounds the rows above the header.
const preambleRows = 100

// header finds the header row and takes its columns.
func (f *file) header() error {
	for range preambleRows {
		fields, err := f.sheet.Row()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		isHeader := func(name string) bool { return strings.TrimSpace(name) == f.config.File.Header }
		if f.config.File.Header == "" || slices.ContainsFunc(fields, isHeader) {
			return f.sheet.Columns(fields, f.config.required()...)
		}
	}
	if f.config.File.Header == "" {
		return f.sheet.Fail(0, "has no header row")
	}
	return f.sheet.Fail(0, "has no column %q in its first %d rows: it is separated by something else, or another export", f.config.File.Header, preambleRows)
}

// required are the columns that the config names: one that is missing was renamed, and what it said would be lost in silence.
func (c Config) required() []string {
	all := []string{
		c.Columns.Payment, c.Columns.Movement, c.Columns.Code, c.Columns.Batch, c.Columns.Merchant, c.Currency.Column, c.NetCurrency.Column,
		c.Gross.Column, c.Gross.Credit, c.Gross.Debit, c.Gross.Direction, c.Net.Column, c.Net.Credit, c.Net.Debit, c.Net.Direction,
	}
	all = append(append(append(all, c.Time.Columns...), c.Settled.Columns...), c.Type.Columns...)
	for _, fee := range c.Fees {
		all = append(all, fee.Column)
	}
	for _, filter := range c.Filters {
		all = append(all, filter.Column)
	}
	var out []string
	for _, name := range all {
		if name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// row reads one row below the header; counts is false for rows that are no movement.
func (f *file) row(fields []string) (line recon.Line, counts bool, err error) {
	first := strings.TrimSpace(fields[0])
	switch {
	case !slices.ContainsFunc(fields, func(field string) bool { return strings.TrimSpace(field) != "" }):
		return recon.Line{}, false, nil
	case slices.ContainsFunc(f.config.File.Footer, func(begin string) bool { return strings.HasPrefix(first, begin) }):
		return recon.Line{}, false, nil
	}
	record, err := f.sheet.Record(fields)
	if err != nil {
		return recon.Line{}, false, err
	}
	if begin := f.config.Totals.Begins; begin != "" && strings.HasPrefix(first, begin) {
		return recon.Line{}, false, f.takeTotals(record)
	}
	if keep, err := f.keep(record); err != nil || !keep {
		return recon.Line{}, false, err
	}
	line, err = f.line(record)
	return line, err == nil, err
}

// keep applies the filters. A word that nobody named refuses the file: whether it moved money is not known.
func (f *file) keep(r recon.Record) (bool, error) {
	keep := true
	for _, filter := range f.config.Filters {
		word := strings.TrimSpace(r.Text(filter.Column))
		switch {
		case slices.Contains(filter.Keep, word):
		case slices.Contains(filter.Ignore, word):
			keep = false
		default:
			return false, r.Fail("column %q has the word %q, which the config neither keeps nor ignores: ask the provider whether such rows move money, then add it to filters", filter.Column, clip(word))
		}
	}
	return keep, nil
}

// statement closes the file.
func (f *file) statement() recon.Statement {
	st := recon.Statement{Digest: f.sheet.Digest(), Name: f.options.Name, Provider: f.options.Provider, Format: "mapped", Rows: f.rows}
	switch {
	case f.config.Totals.Begins != "" && !f.sums.stated:
		st.Incomplete = fmt.Sprintf("there is no row that begins with %q and states the totals: the file is cut; get it again", f.config.Totals.Begins)
	case f.config.Totals.Begins == "" && !f.config.File.OpenEnd && !f.sheet.Ended():
		st.Incomplete = "the last row has no line end: the file may be cut behind it; get it again, or say open_end where the export never has one"
	}
	if st.Incomplete != "" {
		f.problems.Add(f.sheet.Line(), "%s", st.Incomplete)
	}
	st.Totals = f.totals()
	st.Problems = f.problems.List()
	return st
}
