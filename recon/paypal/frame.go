package paypal

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"creditonce/credit"
	"creditonce/recon"
)

// file is one file while it is read.
type file struct {
	options     recon.ReadOptions
	merchant    string
	sheet       *recon.Sheet
	rows        int // SB
	records     int // of every kind
	section     *section
	sections    int
	report      *sums
	from, until time.Time

	reportHeader, reportFooter bool
	fileHeader, fileFooter     bool
	number                     int // of the file in its report; 0 where it does not say
	totals                     []recon.StatedTotal
	incomplete                 string
	problems                   recon.Problems
}

// section is what stands between SH and its footers.
type section struct {
	row     int
	columns bool // CH was read
	footers int
	sums    *sums
}

// mostTotals bounds what a hostile file can make the reader hold.
const mostTotals = 20_000

func (f *file) fail(format string, args ...any) error {
	return f.sheet.Fail(f.sheet.Line(), format, args...)
}

// frame reads every record that is no row.
func (f *file) frame(fields []string) error {
	if f.fileFooter {
		return f.fail("stands behind the file's footer (FF): two files in one; import them one by one")
	}
	switch f.records++; fields[0] {
	case "RH":
		f.reportHeader = true
		return f.owner(fields)
	case "FH":
		f.fileHeader = true
		f.number, _ = strconv.Atoi(field(fields, 1))
		return nil
	case "SH":
		return f.begin(fields)
	case "CH":
		return f.columns(fields)
	case "SF", "SC":
		return f.sectionFooter(fields)
	case "RF", "RC":
		return f.reportFoot(fields)
	case "FF":
		return f.fileFoot(fields)
	}
	return f.fail("is no record of a settlement report (RH FH SH CH SB SF SC RF RC FF): is it another report? Get the settlement report (STL-yyyymmdd.….CSV)")
}

func field(fields []string, i int) string {
	if i < len(fields) {
		return fields[i]
	}
	return ""
}

// owner refuses a file of another merchant; the id stands in the same place of RH and SH.
func (f *file) owner(fields []string) error {
	switch account := field(fields, 3); {
	case account == "":
		return f.fail("names no merchant account: the file is cut or was changed; get it again")
	case f.merchant == "":
		f.merchant = strings.Clone(account)
	case account != f.merchant:
		return f.fail("belongs to another merchant account than %s: get the report of that account", f.merchant)
	}
	return nil
}

func (f *file) begin(fields []string) error {
	f.end()
	if err := f.owner(fields); err != nil {
		return err
	}
	from, err := clock.Time(fields[1])
	if err != nil {
		return f.fail("the section's beginning %s", err)
	}
	until, err := clock.Time(fields[2])
	if err != nil {
		return f.fail("the section's end %s", err)
	}
	until = until.Add(time.Second) // the file names the last second of the day
	if f.from.IsZero() || from.Before(f.from) {
		f.from = from
	}
	if until.After(f.until) {
		f.until = until
	}
	f.sections++
	f.section = &section{row: f.sheet.Line(), sums: newSums()}
	return nil
}

func (f *file) columns(fields []string) error {
	if f.section == nil || f.section.columns {
		return f.fail("names columns (CH) outside a section or twice in one: the file was changed; get it again")
	}
	f.section.columns = true
	return f.sheet.Columns(fields, required...)
}

// end closes a section and says what it lacks.
func (f *file) end() {
	if f.section == nil {
		return
	}
	s := f.section
	f.section = nil
	if s.footers == 0 {
		f.lacks(s.row, "the section that begins in line %d has no footer (SF): the file is cut, more rows may follow. Get it again", s.row)
		return
	}
	for _, currency := range s.sums.order {
		if !s.sums.currencies[currency] {
			f.lacks(s.row, "the section that begins in line %d has no footer (SF) for %s: the file is cut. Get it again", s.row, currency)
		}
	}
}

// lacks notes that lines may be missing.
func (f *file) lacks(row int, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	f.problems.Add(row, "%s", text)
	if f.incomplete == "" {
		f.incomplete = text
	}
}

func (f *file) sectionFooter(fields []string) error {
	s := f.section
	if s == nil || !s.columns {
		return f.fail("is a footer (%s) outside a section: the file is cut or was changed; get it again", fields[0])
	}
	s.footers++
	if fields[0] == "SC" {
		return f.counted(fields, "the section's count (SC)", s.sums.rows)
	}
	currency := field(fields, 1)
	if stated, rows := s.sums.currencies[currency]; stated && rows {
		return f.fail("is a second footer (SF) for %s in one section: the file was changed; get it again", currency)
	}
	if _, rows := s.sums.currencies[currency]; rows {
		s.sums.currencies[currency] = true
	}
	return f.footer(fields, fmt.Sprintf("section %d", f.sections), s.sums)
}

// reportFoot reads the totals of the report. Of a report in several files they cover all of them, and stand in the last.
func (f *file) reportFoot(fields []string) error {
	f.end()
	first := !f.reportFooter
	f.reportFooter = true
	switch {
	case f.number > 1:
		if first {
			f.problems.Add(f.sheet.Line(), "the report's totals cover all of its files, this one is number %d: they are not compared", f.number)
		}
		return nil
	case fields[0] == "RC":
		return f.counted(fields, "the report's count (RC)", f.report.rows)
	}
	return f.footer(fields, "report", f.report)
}

// footer reads currency, gross credits, gross debits, fees, fees; balances and a number follow, which are not about the rows.
func (f *file) footer(fields []string, name string, s *sums) error {
	if len(fields) < 6 {
		return f.fail("has %d fields, a footer has six and more: the file is cut; get it again", len(fields))
	}
	var of [4]credit.Amount
	for i := range of {
		a, ok := hundredths(fields[2+i], strings.Clone(fields[1]))
		if !ok {
			return f.fail("has a total that is no whole number of hundredths, or no currency: the file was changed; get it again")
		}
		of[i] = a
	}
	if len(f.totals) >= mostTotals {
		return f.fail("is footer number %d: this is no settlement report", len(f.totals))
	}
	for _, t := range s.stated(name, f.sheet.Line(), of) {
		f.totals = append(f.totals, t)
		f.problems.AddTotal(t)
	}
	return nil
}

// counted compares a count of rows; a file may count a footer's own kind of records too.
func (f *file) counted(fields []string, what string, counts ...int) error {
	n, err := strconv.Atoi(field(fields, 1))
	if err != nil || n < 0 {
		return f.fail("%s is no number: the file is cut or was changed; get it again", what)
	}
	for _, is := range counts {
		if n == is {
			return nil
		}
	}
	f.lacks(f.sheet.Line(), "%s says %d, there are %d: rows are missing or doubled. Get the file again", what, n, counts[0])
	return nil
}

// fileFoot reads the last record. Whether it counts rows or records of every kind is not said; both are taken.
func (f *file) fileFoot(fields []string) error {
	f.end()
	f.fileFooter = true
	all := f.records + f.rows
	return f.counted(fields, "the file's count (FF)", f.rows, all, all-1, all-2)
}

// statement closes the file.
func (f *file) statement() (recon.Statement, error) {
	f.end()
	last := f.sheet.Line()
	switch {
	case f.sections == 0:
		return recon.Statement{}, f.sheet.Fail(0, "has no section (SH): it is cut, or no settlement report of PayPal; get it again")
	case !f.sheet.Ended():
		f.lacks(last, "the last record has no line end: the file may be cut there. Get it again")
	case f.fileHeader && !f.fileFooter:
		f.lacks(last, "the file has a header (FH) and no footer (FF): it is cut. Get it again")
	case f.reportHeader && !f.reportFooter && !f.fileFooter:
		f.lacks(last, "the report has a header (RH) and no footer (RF, RC): the file is cut. Get it again")
	case f.reportHeader && !f.reportFooter:
		f.problems.Add(last, "the report goes on in another file: import that one too")
	}
	return recon.Statement{
		Digest: f.sheet.Digest(), Name: f.options.Name, Provider: f.options.Provider, Format: "paypal", From: f.from, Until: f.until, Consecutive: true, Rows: f.rows,
		Totals: f.totals, Problems: f.problems.List(), Incomplete: f.incomplete,
	}, nil
}
