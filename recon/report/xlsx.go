package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/xuri/excelize/v2"

	"creditonce/credit"
	"creditonce/recon"
)

// The sheets of a workbook, in their order.
const (
	sheetSummary     = "Summary"
	sheetDifferences = "Differences"
	sheetWaiting     = "Waiting"
	sheetTolerance   = "Within tolerance"
	sheetTotals      = "Totals"
	sheetSources     = "Sources"
)

// sheetRows is how many rows of items one sheet gets; a sheet can hold 1,048,576.
const sheetRows = 1_000_000

// XLSX writes a workbook: summary, differences, waiting, within tolerance, totals, sources. Ids, tickets, logins and times are text; an amount
// is a number where the format's 15 digits hold it exactly, else text. There is no formula in it. Rows are spooled to the folder for
// temporary files while they are many. A sheet takes 1,000,000 rows and says so when there are more.
func XLSX(w io.Writer, d Data) error {
	g, err := gather(d, 0)
	if err != nil {
		return err
	}
	b, err := newBook(d, g)
	if err != nil {
		return fmt.Errorf("make the workbook of run %d: %w", d.Run.ID, err)
	}
	defer func() { _ = b.file.Close() }()
	for item, err := range d.items() {
		if err != nil {
			return err
		}
		if err := b.item(item); err != nil {
			return fmt.Errorf("write the workbook of run %d: %w", d.Run.ID, err)
		}
	}
	if err := b.finish(); err != nil {
		return fmt.Errorf("write the workbook of run %d: %w", d.Run.ID, err)
	}
	return b.write(w)
}

type book struct {
	data   Data
	g      *gathered
	file   *excelize.File
	sheets map[string]*sheet
	text   int // style of text cells
	head   int
	bold   int
	money  map[int]int // style of amounts by exponent
}

type sheet struct {
	stream *excelize.StreamWriter
	row    int
	left   int // entries that no longer fit
}

func newBook(d Data, g *gathered) (*book, error) {
	b := &book{data: d, g: g, file: excelize.NewFile(), sheets: map[string]*sheet{}, money: map[int]int{}}
	for _, s := range []struct {
		to    *int
		style excelize.Style
	}{
		{&b.text, excelize.Style{NumFmt: 49}},
		{&b.bold, excelize.Style{NumFmt: 49, Font: &excelize.Font{Bold: true}}},
		{&b.head, excelize.Style{NumFmt: 49, Font: &excelize.Font{Bold: true}, Border: []excelize.Border{{Type: "bottom", Style: 1, Color: "4B5F70"}}}},
	} {
		id, err := b.file.NewStyle(&s.style)
		if err != nil {
			return nil, err
		}
		*s.to = id
	}
	names := []string{sheetSummary, sheetDifferences, sheetWaiting, sheetTolerance, sheetTotals, sheetSources}
	for i, name := range names {
		if i == 0 {
			if err := b.file.SetSheetName("Sheet1", name); err != nil {
				return nil, err
			}
		} else if _, err := b.file.NewSheet(name); err != nil {
			return nil, err
		}
		stream, err := b.file.NewStreamWriter(name)
		if err != nil {
			return nil, err
		}
		b.sheets[name] = &sheet{stream: stream}
	}
	for _, name := range names[1:4] {
		if err := b.openItems(name); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// openItems writes widths, the frozen head and the heads of a sheet of items. A stream takes widths and panes before the first row only.
func (b *book) openItems(name string) error {
	var widths []int
	for _, c := range columns {
		widths = append(widths, c.width)
		if c.amount != nil {
			widths = append(widths, 9)
		}
	}
	return b.open(name, widths, heads())
}

func (b *book) open(name string, widths []int, heads []string) error {
	s := b.sheets[name]
	for i, width := range widths {
		if err := s.stream.SetColWidth(i+1, i+1, whole(width)); err != nil {
			return err
		}
	}
	if err := s.stream.SetPanes(&excelize.Panes{Freeze: true, YSplit: 1, TopLeftCell: "A2", ActivePane: "bottomLeft"}); err != nil {
		return err
	}
	cells := make([]any, len(heads))
	for i, h := range heads {
		cells[i] = excelize.Cell{StyleID: b.head, Value: h}
	}
	return s.add(cells)
}

func (s *sheet) add(cells []any) error {
	s.row++
	return s.stream.SetRow("A"+strconv.Itoa(s.row), cells)
}

func (b *book) item(item recon.Item) error {
	s := b.sheets[sheetTolerance]
	switch {
	case item.Key.Class == recon.Matched:
		return nil
	case item.Key.Class == recon.Waiting:
		s = b.sheets[sheetWaiting]
	case item.Key.Class.Difference():
		s = b.sheets[sheetDifferences]
	}
	for _, e := range entries(&b.data, b.g.loc, item) {
		if s.row > sheetRows {
			s.left++
			continue
		}
		cells := make([]any, 0, 2*len(columns))
		for _, c := range columns {
			if c.amount == nil {
				cells = append(cells, b.plain(c.text(e)))
				continue
			}
			a := c.amount(e)
			cells = append(cells, b.number(a), b.plain(a.Currency()))
		}
		if err := s.add(cells); err != nil {
			return err
		}
	}
	return nil
}

// plain is a text cell; nothing for an empty text.
func (b *book) plain(text string) any {
	if text == "" {
		return nil
	}
	return excelize.Cell{StyleID: b.text, Value: clip(text, cellText)}
}

// number is an amount as a number with its decimal places where the number is exact, else as text.
func (b *book) number(a credit.Amount) any {
	if !a.IsSet() {
		return nil
	}
	text := a.Decimal()
	// The last conversion, for showing: at most 15 significant digits survive it, which is proven by writing it back.
	value, err := strconv.ParseFloat(text, 64)
	if err != nil || len(strings.Trim(strings.ReplaceAll(text, ".", ""), "-0")) > 15 || strconv.FormatFloat(value, 'f', a.Exponent(), 64) != text {
		return b.plain(text)
	}
	style, known := b.money[a.Exponent()]
	if !known {
		format := "#,##0"
		if a.Exponent() > 0 {
			format += "." + strings.Repeat("0", a.Exponent())
		}
		if style, err = b.file.NewStyle(&excelize.Style{CustomNumFmt: &format}); err != nil {
			return b.plain(text)
		}
		b.money[a.Exponent()] = style
	}
	return excelize.Cell{StyleID: style, Value: value}
}

// finish writes the sheets that stand on the whole run and closes the streams.
func (b *book) finish() error {
	for _, step := range []func() error{b.summary, b.totals, b.sources} {
		if err := step(); err != nil {
			return err
		}
	}
	for _, s := range b.sheets {
		if s.left > 0 {
			note := fmt.Sprintf("%s more lines do not fit on this sheet: they are in the CSV of this run", count(s.left))
			if err := s.add([]any{excelize.Cell{StyleID: b.bold, Value: note}}); err != nil {
				return err
			}
		}
		if err := s.stream.Flush(); err != nil {
			return err
		}
	}
	at := b.data.Run.Finished.UTC().Format("2006-01-02T15:04:05Z")
	return b.file.SetDocProps(&excelize.DocProperties{
		Title: "Reconciliation " + period(b.data.Run), Creator: "creditonce", LastModifiedBy: "creditonce", Created: at, Modified: at,
	})
}

func (b *book) summary() error {
	s := b.sheets[sheetSummary]
	for i, width := range []int{34, 60, 16, 10} {
		if err := s.stream.SetColWidth(i+1, i+1, whole(width)); err != nil {
			return err
		}
	}
	var rows [][]any
	add := func(style int, name string, more ...any) {
		rows = append(rows, append([]any{excelize.Cell{StyleID: style, Value: name}}, more...))
	}
	if notice := b.data.notice(); notice != "" {
		add(b.bold, notice)
	}
	v := b.g.verdict(b.data)
	add(b.bold, v.Headline)
	for _, detail := range v.Details {
		add(b.text, detail)
	}
	add(b.text, "")
	for _, f := range facts(b.data, b.g) {
		add(b.bold, f.Name, b.plain(f.line()))
	}
	for _, f := range signOff(b.data, b.g) {
		add(b.bold, f.Name, b.plain(f.line()))
	}
	if b.data.Run.SignOff == nil {
		add(b.bold, "Sign-off", b.plain("not signed off yet"))
	}
	add(b.text, "")
	add(b.head, "Class", excelize.Cell{StyleID: b.head, Value: "What to do"}, excelize.Cell{StyleID: b.head, Value: "Items"})
	for _, class := range recon.Classes() {
		if n := b.data.Run.Outcome.Classes[class]; n > 0 {
			add(b.text, WordsOf(class).Title, b.plain(WordsOf(class).Do), n)
		}
	}
	add(b.text, "")
	add(b.text, Never)
	for _, cells := range rows {
		if err := s.add(cells); err != nil {
			return err
		}
	}
	return nil
}

func (b *book) totals() error {
	names := []string{"compared", "provider", "currency"}
	widths := []int{26, 18, 10}
	for _, c := range rollColumns {
		names, widths = append(names, c.head), append(widths, 16)
	}
	if err := b.open(sheetTotals, widths, names); err != nil {
		return err
	}
	for _, f := range b.g.forwards(b.data.Run.Outcome.Rolls) {
		cells := []any{b.plain(compared(f.Side)), b.plain(f.Provider), b.plain(f.Currency)}
		for _, c := range rollColumns {
			cells = append(cells, b.number(c.value(f)))
		}
		if err := b.sheets[sheetTotals].add(cells); err != nil {
			return err
		}
	}
	return nil
}

func (b *book) sources() error {
	if err := b.open(sheetSources, []int{40, 10, 40, 26, 70, 60}, []string{"list", "rows", "state", "complete_from_utc", "sha256", "notes"}); err != nil {
		return err
	}
	for _, src := range b.data.Run.Sources {
		v := viewSource(src)
		cells := []any{b.plain(v.Title), src.Rows, b.plain(v.State), b.plain(v.From), b.plain(v.Digest), b.plain(strings.Join(v.Notes, "; "))}
		if err := b.sheets[sheetSources].add(cells); err != nil {
			return err
		}
	}
	return nil
}

// whole is a column's width as the library wants it.
func whole(width int) float64 { return float64(width) } //nolint:forbidigo // a width in characters, not money
