package adyen

import (
	"regexp"
	"strings"

	"creditonce/credit"
	"creditonce/recon"
)

// judge brings the line's amounts in the form that its type has and doubts what contradicts itself.
func (f *file) judge(r recon.Record, line *recon.Line) {
	line.Shape() // Gross Currency stands in rows of the account too; no amount belongs to it
	want := direction(line.Type)
	switch {
	case want == 0:
	case line.Payment == "":
		f.doubt(r.Row, line, "has no "+colPayment)
	case !line.Gross.IsSet():
		f.doubt(r.Row, line, "has no gross amount")
	default:
		f.direct(r, line, want)
	}
}

// direct gives gross the sign of its type. Adyen's own sample of the report has the gross of payments under debit, production files have it
// under credit (providers.md §2.2): what the row did to the balance before its fees decides, and a row that contradicts its type is doubted.
func (f *file) direct(r recon.Record, line *recon.Line, want int) {
	before, err := line.Net.Add(line.Fee.Neg())
	if err != nil || before.Sign()*want < 0 {
		f.doubt(r.Row, line, "moves money in the other direction than its type says")
		return
	}
	if line.Gross.Sign() == -want {
		line.Gross = line.Gross.Neg()
	}
	if line.Gross.Currency() == line.Net.Currency() && !line.Gross.Equal(before) {
		f.problems.Add(r.Row, "gross %s less fees %s is %s more or less than net %s: the row is kept as it stands; ask Adyen",
			line.Gross, line.Fee.Neg(), off(line.Gross, before), line.Net)
	}
}

func off(a, b credit.Amount) credit.Amount {
	d, err := a.Add(b.Neg())
	if err != nil {
		return credit.Amount{}
	}
	return d
}

// doubt keeps the row where it counts nowhere.
func (f *file) doubt(row int, line *recon.Line, why string) {
	f.problems.Add(row, "a row of type %s %s: it counts nowhere; ask Adyen", line.Type, why)
	line.Type = recon.LineUnknown
}

// transfer is how a payout row names the bank transfer.
var transfer = regexp.MustCompile(`^TX[0-9]+XT\b`)

// count gives rows of the account a name of their own and adds the row to its batch.
func (f *file) count(r recon.Record, line *recon.Line) error {
	if line.Payment == "" {
		line.Movement = f.batches.name(line, strings.TrimSpace(line.Movement))
	}
	if line.Batch == "" {
		return nil
	}
	if err := f.batches.add(line); err != nil {
		return r.Fail("cannot be added up: %s", err)
	}
	return nil
}

// statement closes the file: each batch's rows are laid beside its payout.
func (f *file) statement() recon.Statement {
	s := recon.Statement{
		Digest: f.sheet.Digest(), Name: f.options.Name, Provider: f.options.Provider, Format: "adyen", Rows: f.rows,
	}
	switch {
	case !f.sheet.Ended():
		s.Incomplete = "the last row has no line end: the file may be cut there. Download it again"
	case f.rows == 0:
		s.Incomplete = "there is no row behind the header, and a batch has at least one: the file is cut. Download it again"
	}
	if s.Incomplete != "" {
		f.problems.Add(f.sheet.Line(), "%s", s.Incomplete)
	}
	totals, open := f.batches.close()
	for _, t := range totals {
		f.problems.AddTotal(t)
	}
	for _, o := range open {
		f.problems.Add(o.row, "%s", o.text)
		if s.Incomplete == "" && o.incomplete {
			s.Incomplete = o.text
		}
	}
	s.Batches = f.batches.numbers()
	s.Totals, s.Problems = totals, f.problems.List()
	return s
}
