package cli

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"
	"unicode/utf8"
)

// starters are what a cell must not begin with: what spreadsheets take for a formula, in any script, and what some strip
// before they look.
const starters = "=+-@\t\r\n|%＝＋－＠"

// FuzzCSV: a list as CSV has one line a record whatever its values hold, no cell that a spreadsheet would run, and says
// what the value says.
func FuzzCSV(f *testing.F) {
	for _, s := range []string{
		"", "500.00", "-500.00", "=1+1", "+1", "-1+2", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "|x", "%x", "＝1+1", "－1", "a,b", `a"b`, "a\nb", "1234567890123456", "-0", "--1",
		"=cmd|' /C calc'!A0", "'=1", "\ufeff=1", "\x00=1", "\xff=1", " =1", "\u200b=1", "\u202e=1", "dep:8QK800AFQN6Y47J371", "1.", ".5", "1e5", "-", "-x",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, value string) {
		var out bytes.Buffer
		same := func(s string) string { return s }
		if err := writeCSV(&out, []string{value, "next"}, []column[string]{{head: "A", value: same}, {head: "B b", value: same}}); err != nil {
			t.Fatal(err)
		}
		records, err := csv.NewReader(&out).ReadAll()
		if err != nil || len(records) != 3 || len(records[1]) != 2 || records[1][0] != records[1][1] || records[2][0] != "next" {
			t.Fatalf("%q became %q, %v", value, records, err)
		}
		cell := records[1][0]
		if first, _ := utf8.DecodeRuneInString(strings.TrimLeft(cell, " ")); cell != "" && strings.ContainsRune(starters, first) && !number(cell) {
			t.Fatalf("%q became the cell %q", value, cell)
		}
		if !utf8.ValidString(cell) || strings.ContainsAny(cell, "\x00\x1b\r\n") {
			t.Fatalf("%q became the cell %q", value, cell)
		}
		if said := plain(value); cell != said && cell != "'"+said {
			t.Fatalf("%q says %q, its cell is %q", value, said, cell)
		}
	})
}
