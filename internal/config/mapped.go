package config

import (
	"github.com/goccy/go-yaml/ast"
)

// Mapped says how a CSV export is written that no format of its own reads: which column is what (docs/settlement-formats.md). What its parts
// mean, and what fits together, is the reader's to say: [Config] holds the texts.
type Mapped struct {
	File                  MappedFile
	Columns               MappedColumns
	Time, Settled         MappedTime
	Currency, NetCurrency MappedCurrency
	Unit                  string
	Gross, Net            MappedAmount
	Fees                  []MappedFee
	Type                  MappedType
	Filters               []MappedFilter
	TotalsBegin           string
}

// MappedFile is the form of the text.
type MappedFile struct {
	Delimiter, Encoding, Header, Decimal, Group string
	Footer                                      []string
	OpenEnd                                     bool
}

// MappedColumns are the names of what identifies a row.
type MappedColumns struct{ Payment, Movement, Code, Batch, Merchant string }

// MappedTime is where a time stands and how it is written.
type MappedTime struct {
	Columns      []string
	Layout, Zone string
}

// MappedCurrency is a column or one currency for the whole export.
type MappedCurrency struct {
	Column, Fixed string
	Names         map[string]string
}

// MappedAmount is where an amount stands and what gives it its direction.
type MappedAmount struct {
	Column, Credit, Debit, Sign, Direction string
	In, Out                                []string
}

// MappedFee is one column of fees.
type MappedFee struct{ Column, Sign string }

// MappedType is what makes a row a payment, a refund and so on.
type MappedType struct {
	Columns []string
	Fixed   string
	Words   map[string]string
}

// MappedFilter keeps rows by the word in a column.
type MappedFilter struct {
	Column       string
	Keep, Ignore []string
}

func (r *reader) mapped(s *section) Mapped {
	m := s.open("mapped")
	if !s.has("mapped") {
		r.fault(s.child("mapped"), "is missing; say which column is what, as in docs/settlement-formats.md")
	}
	var out Mapped
	out.File = mappedFile(m.open("file"))
	out.Columns = mappedColumns(m.open("columns"))
	out.Time, out.Settled = mappedTime(m.open("time")), mappedTime(m.open("settled"))
	out.Currency, out.NetCurrency = r.mappedCurrency(m.open("currency")), r.mappedCurrency(m.open("net_currency"))
	m.text("unit", &out.Unit, oneOf("major", "minor", "hundredths"))
	out.Gross, out.Net = mappedAmount(m.open("gross")), mappedAmount(m.open("net"))
	for _, f := range m.sections("fees") {
		var fee MappedFee
		f.text("column", &fee.Column, nil)
		f.text("sign", &fee.Sign, oneOf("cost", "signed"))
		f.close()
		out.Fees = append(out.Fees, fee)
	}
	out.Type = r.mappedType(m.open("type"))
	for _, f := range m.sections("filters") {
		var filter MappedFilter
		f.text("column", &filter.Column, nil)
		filter.Keep, filter.Ignore = f.texts("keep"), f.texts("ignore")
		f.close()
		out.Filters = append(out.Filters, filter)
	}
	totals := m.open("totals")
	totals.text("begins", &out.TotalsBegin, nil)
	totals.close()
	m.close()
	return out
}

func mappedFile(s *section) (f MappedFile) {
	s.text("delimiter", &f.Delimiter, nil)
	s.text("encoding", &f.Encoding, oneOf("utf-8", "utf-16", "windows-1252"))
	s.text("header", &f.Header, nil)
	s.text("decimal", &f.Decimal, oneOf("point", "comma"))
	s.rawText("group", &f.Group)
	f.Footer = s.texts("footer")
	s.flag("open_end", &f.OpenEnd)
	s.close()
	return f
}

func mappedColumns(s *section) (c MappedColumns) {
	s.text("payment", &c.Payment, nil)
	s.text("movement", &c.Movement, nil)
	s.text("code", &c.Code, nil)
	s.text("batch", &c.Batch, nil)
	s.text("merchant", &c.Merchant, nil)
	s.close()
	return c
}

func mappedTime(s *section) (t MappedTime) {
	t.Columns = s.texts("columns")
	s.text("layout", &t.Layout, nil)
	s.zone("zone", &t.Zone)
	s.close()
	return t
}

func (r *reader) mappedCurrency(s *section) (c MappedCurrency) {
	s.text("column", &c.Column, nil)
	s.text("fixed", &c.Fixed, nil)
	c.Names = s.pairs("names")
	s.close()
	return c
}

func mappedAmount(s *section) (a MappedAmount) {
	s.text("column", &a.Column, nil)
	s.text("credit", &a.Credit, nil)
	s.text("debit", &a.Debit, nil)
	s.text("sign", &a.Sign, oneOf("signed", "reversed", "type", "direction"))
	s.text("direction", &a.Direction, nil)
	a.In, a.Out = s.texts("in"), s.texts("out")
	s.close()
	return a
}

func (r *reader) mappedType(s *section) (t MappedType) {
	t.Columns = s.texts("columns")
	s.text("fixed", &t.Fixed, oneOf(LineTypes()...))
	t.Words = s.pairs("words")
	for word, kind := range t.Words {
		if problem := oneOf(LineTypes()...)(kind); problem != "" {
			r.fault(s.child("words")+"."+word, "%s", problem)
		}
	}
	s.close()
	return t
}

// sections opens each item of a list as a section.
func (s *section) sections(name string) []*section {
	items, paths := s.list(name)
	out := make([]*section, len(items))
	for i, item := range items {
		out[i] = s.r.section(paths[i], item)
	}
	return out
}

// texts reads a list of texts.
func (s *section) texts(name string) (out []string) {
	items, paths := s.list(name)
	for i, item := range items {
		if text, ok := s.r.textOf(paths[i], item); ok {
			out = append(out, text)
		}
	}
	return out
}

// pairs reads a mapping of texts.
func (s *section) pairs(name string) map[string]string {
	var out map[string]string
	s.each(name, func(key, path string, value ast.Node) {
		if text, ok := s.r.textOf(path, value); ok {
			if out == nil {
				out = map[string]string{}
			}
			out[key] = text
		}
	})
	return out
}

// rawText reads a text that may be a blank.
func (s *section) rawText(name string, to *string) {
	switch n := s.value(name).(type) {
	case nil:
	case *ast.StringNode:
		*to = n.Value
	default:
		s.r.fault(s.child(name), "is %s where text is expected; put it in quotes", kindOf(n))
	}
}
