package cli

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"creditonce/internal/admin"
)

// The formats of -o.
const (
	outTable = "table"
	outJSON  = "json"
	outLines = "jsonl"
	outCSV   = "csv"
)

func outputs() []string { return []string{outTable, outJSON, outLines, outCSV} }

// tableWidth is how wide a terminal is taken to be that does not tell: what two windows side by side show.
const tableWidth = 100

// screen is where results go. On a terminal of so many columns a table cuts what does not fit; in a file or a pipe (0 columns) nothing is
// cut, since somebody searches there.
type screen struct {
	io.Writer
	columns int
}

// columnsIn is how many columns a table may have; 0: as many as it needs.
func columnsIn(w io.Writer) int {
	if s, ok := w.(screen); ok {
		return s.columns
	}
	return 0
}

// column is one value of a record. A wide column is in CSV only, a narrow one, which joins or shortens values for people,
// in tables only. The last column of a table that is too wide for its terminal is cut to what is left, and before it those that have a most.
type column[T any] struct {
	head   string
	wide   bool
	narrow bool
	most   int // characters in a table that would be too wide; 0: it is never cut
	value  func(T) string
}

// list prints records in the format of -o. On stdout stands nothing but them.
func list[T any](o *operator, items []T, more bool, columns []column[T]) error {
	if err := render(o.p.screen(), o.output, items, columns); err != nil {
		return fmt.Errorf("print the list: %w", err)
	}
	if more {
		_, _ = fmt.Fprintf(o.p.Stderr, "the list goes on after %s; ask for more with --limit (0: all)\n", entries(len(items)))
	}
	if len(items) == 0 && o.output == outTable {
		_, _ = fmt.Fprintln(o.p.Stderr, "nothing to list")
	}
	return nil
}

func entries(n int) string {
	if n == 1 {
		return "1 entry"
	}
	return fmt.Sprintf("%d entries", n)
}

// render writes records in one of the formats.
func render[T any](w io.Writer, output string, items []T, columns []column[T]) error {
	switch output {
	case outJSON:
		return writeJSON(w, struct {
			Items []T `json:"items"`
		}{items})
	case outLines:
		for _, item := range items {
			if err := json.NewEncoder(w).Encode(item); err != nil {
				return err
			}
		}
		return nil
	case outCSV:
		return writeCSV(w, items, columns)
	default:
		return writeTable(w, items, columns)
	}
}

func writeJSON(w io.Writer, value any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(value)
}

func writeCSV[T any](w io.Writer, items []T, columns []column[T]) error {
	columns = slices.DeleteFunc(slices.Clone(columns), func(c column[T]) bool { return c.narrow })
	out := csv.NewWriter(w)
	record := make([]string, len(columns))
	for i, c := range columns {
		record[i] = strings.ReplaceAll(strings.ToLower(c.head), " ", "_")
	}
	if err := out.Write(record); err != nil {
		return err
	}
	for _, item := range items {
		for i, c := range columns {
			record[i] = guard(plain(c.value(item)))
		}
		if err := out.Write(record); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// formulaStarts begin a formula, the full-width ones too: some spreadsheets take them for the others.
const formulaStarts = "=+-@\t\r\n|%＝＋－＠"

// guard keeps a spreadsheet from running a value as a formula, and from rounding a number of more than 15 digits:
// such a value begins with an apostrophe, which spreadsheets take as "this is text". An amount stays a number.
func guard(value string) string {
	switch {
	case value == "":
		return ""
	case number(value):
		if len(value) > 15 && !strings.Contains(value, ".") {
			return "'" + value
		}
		return value
	case strings.IndexAny(strings.TrimLeft(value, " "), formulaStarts) == 0:
		return "'" + value
	default:
		return value
	}
}

func number(value string) bool {
	whole, fraction, point := strings.Cut(strings.TrimPrefix(value, "-"), ".")
	return digitsOnly(whole) && (!point || digitsOnly(fraction))
}

func digitsOnly(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

func writeTable[T any](w io.Writer, items []T, columns []column[T]) error {
	if len(items) == 0 {
		return nil
	}
	var shown []column[T]
	for _, c := range columns {
		if !c.wide {
			shown = append(shown, c)
		}
	}
	cells := make([][]string, 0, len(items)+1)
	head, most := make([]string, len(shown)), make([]int, len(shown))
	for i, c := range shown {
		head[i], most[i] = strings.ToUpper(c.head), c.most
	}
	cells = append(cells, head)
	for _, item := range items {
		row := make([]string, len(shown))
		for i, c := range shown {
			row[i] = plain(c.value(item))
		}
		cells = append(cells, row)
	}
	fitted(cells, most, columnsIn(w))
	_, err := io.WriteString(w, aligned(cells))
	return err
}

// fitted cuts the cells of a table that is wider than so many columns: those of the columns that have a most, then the last one.
func fitted(cells [][]string, most []int, columns int) {
	if columns == 0 || totalOf(widthsOf(cells)) <= columns {
		return
	}
	for _, row := range cells {
		for i, n := range most {
			if n > 0 {
				row[i] = cut(row[i], n)
			}
		}
	}
	last := len(cells[0]) - 1
	room := max(12, columns-totalOf(widthsOf(cells)[:last])-2)
	for _, row := range cells {
		row[last] = cut(row[last], room)
	}
}

func widthsOf(cells [][]string) []int {
	widths := make([]int, len(cells[0]))
	for _, row := range cells {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	return widths
}

// totalOf is how wide columns are together, two blanks apart.
func totalOf(widths []int) int {
	all := -2
	for _, n := range widths {
		all += n + 2
	}
	return all
}

// aligned lays cells out in columns two blanks apart.
func aligned(cells [][]string) string {
	widths := widthsOf(cells)
	var b strings.Builder
	for _, row := range cells {
		line := ""
		for i, cell := range row {
			line += cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// cut shortens text to at most n characters, with a sign that it did.
func cut(text string, n int) string {
	runes := []rune(text)
	if len(runes) <= n {
		return text
	}
	return string(runes[:n-1]) + "…"
}

// wrapped breaks a text at blanks into lines that fit below an indent of two on so many columns; 0: one line.
func wrapped(text string, columns int) []string {
	text = plain(text)
	if columns == 0 {
		return []string{text}
	}
	var out []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > max(20, columns-2) {
			out, line = append(out, line), ""
		}
		line = strings.TrimLeft(line+" "+word, " ")
	}
	return append(out, line)
}

// plain makes text of others safe for a terminal: nothing in it moves the cursor, changes colours or starts a line.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

// sheet is one record for a person: names and values, one a line; empty values are left out.
type sheet struct {
	rows [][2]string
}

func (s *sheet) add(name, value string) {
	if value != "" {
		s.rows = append(s.rows, [2]string{name, plain(value)})
	}
}

// addTime adds a moment, with its zone.
func (s *sheet) addTime(name string, t time.Time) {
	if !t.IsZero() {
		s.add(name, t.UTC().Format(time.DateTime)+" UTC")
	}
}

func (s *sheet) write(w io.Writer, indent string) error {
	width := 0
	for _, r := range s.rows {
		width = max(width, utf8.RuneCountInString(r[0]))
	}
	for _, r := range s.rows {
		if _, err := fmt.Fprintf(w, "%s%-*s  %s\n", indent, width, r[0], r[1]); err != nil {
			return err
		}
	}
	return nil
}

// utc writes a moment for a table whose head names the zone.
func utc(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04")
}

// stamp writes a moment exactly, for CSV.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

func sum(m *admin.Money) string {
	if m == nil {
		return ""
	}
	return m.Amount
}

func currency(m *admin.Money) string {
	if m == nil {
		return ""
	}
	return m.Currency
}
