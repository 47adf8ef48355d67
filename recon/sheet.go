package recon

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"creditonce/credit"
)

// Dialect is how a CSV file is written. The zero value is commas and UTF-8, with or without a byte order mark.
type Dialect struct {
	Comma  rune                      // 0: ','
	Number Number                    // how its decimals are written
	Decode func(io.Reader) io.Reader // to UTF-8; nil: it is UTF-8. The digest is of the bytes before it
}

// Sheet reads a CSV file row by row, columns by header name. It holds one row in memory, whatever the file's size, and refuses rather
// than guesses: every fault is a *FileError with the line and what to do; what the file's own reader returns comes as it is, wrapped.
// After an error it gives the same error again. It is used by one goroutine.
type Sheet struct {
	name    string
	dialect Dialect
	csv     *csv.Reader
	source  *feed
	digest  *digest
	line    int            // where the newest row starts
	names   []string       // of the columns
	columns map[string]int // by name
	ended   error
}

const (
	maxColumns = 1000    // of a header
	maxField   = 1 << 16 // bytes; payments' metadata are the longest that real files have
)

// NewSheet starts to read the file; name is for messages. It closes nothing.
func NewSheet(name string, in io.Reader, d Dialect) *Sheet {
	s := &Sheet{name: name, dialect: d, digest: newDigest(in)}
	in = s.digest
	if d.Decode != nil {
		in = d.Decode(in)
	}
	s.source = &feed{in: in}
	s.csv = csv.NewReader(s.source)
	s.csv.FieldsPerRecord = -1
	s.csv.ReuseRecord = true
	if d.Comma != 0 {
		s.csv.Comma = d.Comma
	}
	return s
}

// Row returns the fields of the next row, whatever their number, and io.EOF after the last. Lines without a character are passed over.
// The slice is good until the next call.
func (s *Sheet) Row() ([]string, error) {
	if s.ended != nil {
		return nil, s.ended
	}
	s.source.allow()
	fields, err := s.csv.Read()
	if fault := s.source.failed; fault != nil && !errors.Is(fault, io.EOF) {
		err = fault // the CSV reader saw only that its feed ended
	}
	if err != nil {
		s.ended = s.fault(err)
		return nil, s.ended
	}
	s.line, _ = s.csv.FieldPos(0)
	for _, field := range fields {
		if len(field) > maxField {
			s.ended = s.Fail(s.line, "has a field longer than 64 KiB: a quote is not closed, or this is no statement")
			return nil, s.ended
		}
		if !utf8.ValidString(field) {
			s.ended = s.Fail(s.line, "is not UTF-8: export it as UTF-8, or name its encoding")
			return nil, s.ended
		}
	}
	return fields, nil
}

// fault says which file and line, and what to do.
func (s *Sheet) fault(err error) error {
	var parse *csv.ParseError
	switch {
	case errors.Is(err, io.EOF):
		return io.EOF
	case errors.Is(err, errEmpty), errors.Is(err, errUTF16):
		return s.Fail(0, "%s", err)
	case errors.Is(err, errBinary):
		return s.Fail(s.source.lines+1, "%s", err)
	case errors.Is(err, errTooLong):
		return s.Fail(s.line+1, "%s", err)
	case errors.As(err, &parse) && errors.Is(err, csv.ErrQuote):
		return s.Fail(parse.StartLine, "a quoted field is not closed, or goes on behind its closing quote: the file is cut, was edited, or has another delimiter; get it again")
	case errors.As(err, &parse):
		return s.Fail(parse.StartLine, "a quote stands inside a field without quotes: the file was edited, or its delimiter is another one")
	default:
		return fmt.Errorf("read %s: %w", s.name, err)
	}
}

// Header takes the next row as the names of the columns.
func (s *Sheet) Header(required ...string) error {
	fields, err := s.Row()
	if errors.Is(err, io.EOF) {
		return s.Fail(0, "has no header row")
	}
	if err != nil {
		return err
	}
	return s.Columns(fields, required...)
}

// Columns takes the fields of a row as the names of the columns from here on: without blanks around them, none twice, the required ones
// among them. A column without a name must stay empty.
func (s *Sheet) Columns(fields []string, required ...string) error {
	if len(fields) > maxColumns {
		return s.Fail(s.line, "has %d columns: this is no statement", len(fields))
	}
	names, columns := make([]string, len(fields)), make(map[string]int, len(fields))
	for i, field := range fields {
		name := strings.Clone(strings.TrimSpace(field))
		if names[i] = name; name == "" {
			continue
		}
		if _, doubled := columns[name]; doubled {
			return s.Fail(s.line, "has two columns %q: nobody can say which one counts; get the file again", clip(name))
		}
		columns[name] = i
	}
	var missing []string
	for _, name := range required {
		if _, there := columns[name]; !there {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return s.missing(fields, missing)
	}
	s.names, s.columns = names, columns
	return nil
}

// missing explains columns that are not there: by another delimiter, or by name.
func (s *Sheet) missing(fields, missing []string) error {
	for _, other := range []string{",", ";", "\t", "|"} {
		if len(fields) <= 2 && rune(other[0]) != s.csv.Comma && strings.Contains(strings.Join(fields, ""), other) {
			return s.Fail(s.line, "is separated by %q and not by %q: was it saved by a spreadsheet? Get it again from the provider", other, string(s.csv.Comma))
		}
	}
	return s.Fail(s.line, "has no column %s: renamed, left out, or another report; nothing is read by position", quoted(missing))
}

// Record binds the fields of a row to the columns. A row that has more or fewer fields is refused. It is good until the next row is read.
func (s *Sheet) Record(fields []string) (Record, error) {
	if len(fields) != len(s.names) {
		return Record{}, s.Fail(s.line, "has %d fields where the header has %d: the row is cut, or a field with the delimiter has no quotes", len(fields), len(s.names))
	}
	for i, name := range s.names {
		if name == "" && fields[i] != "" {
			return Record{}, s.Fail(s.line, "has a value in column %d, which has no name", i+1)
		}
	}
	return Record{sheet: s, fields: fields, Row: s.line}, nil
}

// Each gives row the fields of each row that is left, whatever their number. It ends with the last one, with the first error, which it returns
// as it is, or with ctx.
func (s *Sheet) Each(ctx context.Context, row func(fields []string) error) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		fields, err := s.Row()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = row(fields)
		}
		if err != nil {
			return err
		}
	}
}

// EachRecord is [Sheet.Each] with each row as a [Sheet.Record].
func (s *Sheet) EachRecord(ctx context.Context, row func(Record) error) error {
	return s.Each(ctx, func(fields []string) error {
		r, err := s.Record(fields)
		if err != nil {
			return err
		}
		return row(r)
	})
}

// Has tells that the header names the column.
func (s *Sheet) Has(column string) bool {
	_, there := s.columns[column]
	return there
}

// Names are the header's columns in the order of the file.
func (s *Sheet) Names() []string { return slices.Clone(s.names) }

// Line is the line of the file, from 1, where the newest row starts.
func (s *Sheet) Line() int { return s.line }

// Digest is the SHA-256 of the file's bytes, hex, once the last row was read.
func (s *Sheet) Digest() string { return s.digest.hex() }

// Ended tells, once the last row was read, that the last row ends with a line end. One that does not may be cut in its last field.
func (s *Sheet) Ended() bool { return s.source.last == '\n' }

// Fail makes the error that refuses the whole file; row 0 is about the whole. The text says what is wrong and what to do, and holds no
// personal data.
func (s *Sheet) Fail(row int, format string, args ...any) *FileError {
	return &FileError{Name: s.name, Row: row, Text: fmt.Sprintf(format, args...)}
}

// Record is one row by column names.
type Record struct {
	Row    int // line of the file, from 1
	sheet  *Sheet
	fields []string
}

// Text is the field as it stands in the file; "" where the file lacks the column. It shares memory with the row: clone what is kept long.
func (r Record) Text(column string) string {
	if i, there := r.sheet.columns[column]; there {
		return r.fields[i]
	}
	return ""
}

// Amount reads a decimal in major units, exactly, in the dialect's form; empty is refused.
func (r Record) Amount(column, currency string, exponent int) (credit.Amount, error) {
	a, err := r.sheet.dialect.Number.Amount(r.Text(column), currency, exponent)
	if err != nil {
		return credit.Amount{}, r.Fail("column %q %s", column, err)
	}
	return a, nil
}

// AmountIfAny is Amount, and no amount where the field is empty or the file lacks the column.
func (r Record) AmountIfAny(column, currency string, exponent int) (credit.Amount, error) {
	if r.Text(column) == "" {
		return credit.Amount{}, nil
	}
	return r.Amount(column, currency, exponent)
}

// Fail refuses the whole file because of this row.
func (r Record) Fail(format string, args ...any) *FileError {
	return r.sheet.Fail(r.Row, format, args...)
}

// clip keeps outside text in messages short and printable in one line.
func clip(s string) string {
	const most = 40
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

// quoted are names for people, each in quotes.
func quoted(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = strconv.Quote(n)
	}
	return strings.Join(out, ", ")
}
