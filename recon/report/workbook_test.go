package report

import (
	"archive/zip"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"creditonce/recon"
)

func workbook(t *testing.T, d Data) *excelize.File {
	t.Helper()
	f, err := excelize.OpenReader(strings.NewReader(rendered(t, func(w *strings.Builder) error { return XLSX(w, d) })))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// eachCell gives every cell with its stored value; a formula fails the test.
func eachCell(t *testing.T, f *excelize.File, see func(sheet, at, value string, kind excelize.CellType)) {
	t.Helper()
	for _, sheet := range f.GetSheetList() {
		rows, err := f.GetRows(sheet, excelize.Options{RawCellValue: true})
		if err != nil {
			t.Fatal(err)
		}
		for r, cells := range rows {
			for c, value := range cells {
				at, err := excelize.CoordinatesToCellName(c+1, r+1)
				if err != nil {
					t.Fatal(err)
				}
				if formula, err := f.GetCellFormula(sheet, at); err != nil || formula != "" {
					t.Errorf("%s!%s is the formula %q (%v)", sheet, at, formula, err)
				}
				kind, err := f.GetCellType(sheet, at)
				if err != nil {
					t.Fatal(err)
				}
				see(sheet, at, value, kind)
			}
		}
	}
}

// table gives a sheet's rows by the heads of its first row.
func table(t *testing.T, f *excelize.File, sheet string) []map[string]string {
	t.Helper()
	rows, err := f.GetRows(sheet, excelize.Options{RawCellValue: true})
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]string
	for _, cells := range rows[1:] {
		line := map[string]string{}
		for i, value := range cells {
			line[rows[0][i]] = value
		}
		out = append(out, line)
	}
	return out
}

func TestWorkbook_IdsAreTextAndAmountsAreExactNumbers(t *testing.T) {
	t.Parallel()
	d := example()
	huge := amount(1234567890123456789, "USDT", 18)
	exact := amount(-123456789012345, "USD", 2)
	tokens := deal(4799, 0, "token", moment("2026-10-25T10:00:00Z"))
	tokens.Amount = huge
	large := deal(4800, 0, "large", moment("2026-10-25T10:00:00Z"))
	large.Amount = exact
	d.Items = each(recon.Item{
		Key: recon.Key{Class: recon.DealWithoutReference, Entity: "deal/x/4799"}, Side: recon.SideMT5, Off: huge, At: tokens.At, Deals: []recon.Deal{tokens, large},
		Rows: []recon.Row{row(17, "900719925474099300", 250, "done", tokens.At)},
	})
	d.Run.Outcome.Classes = map[recon.Class]int{recon.DealWithoutReference: 1}
	f := workbook(t, d)
	numbers := []string{"off", "paid", "fee", "net", "credited"}
	rows, err := f.GetRows(sheetDifferences)
	if err != nil {
		t.Fatal(err)
	}
	eachCell(t, f, func(sheet, at, value string, kind excelize.CellType) {
		column, line, _ := excelize.CellNameToCoordinates(at)
		if sheet != sheetDifferences || line == 1 || value == "" {
			return
		}
		isNumber := kind == excelize.CellTypeNumber || kind == excelize.CellTypeUnset
		head := rows[0][column-1]
		want := slices.Contains(numbers, head) && value != huge.Decimal()
		if isNumber != want {
			t.Errorf("%s (%s): %q is a number: %v", at, head, value, isNumber)
		}
	})
	got := table(t, f, sheetDifferences)
	for i, want := range []map[string]string{
		{"id": "credit/17", "payment": "900719925474099300", "ticket": "9007199254740993", "off": huge.Decimal(), "paid": "2.5", "credited": "2.5"},
		{"credited": huge.Decimal(), "credited_currency": "USDT", "off": ""},
		{"credited": "-1234567890123.45", "off": ""},
	} {
		for head, value := range want {
			if got[i][head] != value {
				t.Errorf("line %d, %s: %q, want %q", i+1, head, got[i][head], value)
			}
		}
	}
	shownRow := rows[1][slices.Index(rows[0], "paid")]
	if shownRow != "2.50" {
		t.Errorf("the amount is shown as %q", shownRow)
	}
}

func TestWorkbook_HasItsSheetsWithAFrozenHead(t *testing.T) {
	t.Parallel()
	f := workbook(t, example())
	want := []string{sheetSummary, sheetDifferences, sheetWaiting, sheetTolerance, sheetTotals, sheetSources}
	if got := f.GetSheetList(); !slices.Equal(got, want) {
		t.Fatalf("sheets %v", got)
	}
	for _, sheet := range want[1:] {
		panes, err := f.GetPanes(sheet)
		if err != nil || !panes.Freeze || panes.YSplit != 1 {
			t.Errorf("%s: head is not frozen: %+v, %v", sheet, panes, err)
		}
	}
	first, err := f.GetCellValue(sheetSummary, "A1")
	if err != nil || first != "5 differences, 10.00 EUR and 465.00 USD, as far as the statements reach" {
		t.Errorf("the verdict is not first: %q, %v", first, err)
	}
	for sheet, rows := range map[string]int{sheetDifferences: 10, sheetWaiting: 1, sheetTolerance: 1, sheetTotals: 5, sheetSources: 4} {
		if got := table(t, f, sheet); len(got) != rows {
			t.Errorf("%s has %d rows, want %d", sheet, len(got), rows)
		}
	}
	totals := table(t, f, sheetTotals)
	if totals[4]["theirs_closing"] != "423367.5" || totals[4]["listed_waiting"] != "-120" || totals[4]["not_explained"] != "0" {
		t.Errorf("totals of stripe: %v", totals[4])
	}
}

// Whatever reads zip files can read the workbook, and its first entry is the list of content types.
func TestWorkbook_IsAWholeZip(t *testing.T) {
	t.Parallel()
	text := rendered(t, func(w *strings.Builder) error { return XLSX(w, example()) })
	r, err := zip.NewReader(strings.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	if r.File[0].Name != "[Content_Types].xml" {
		t.Errorf("the first entry is %s", r.File[0].Name)
	}
	for _, entry := range r.File {
		in, err := entry.Open()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, in); err != nil { // checks the sum
			t.Errorf("%s: %v", entry.Name, err)
		}
		if !entry.Modified.Equal(exampleRun().Finished) {
			t.Errorf("%s is of %s", entry.Name, entry.Modified)
		}
	}
}
