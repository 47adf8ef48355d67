package report

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"creditonce/recon"
)

const (
	narrowest    = 40 // columns; a narrower terminal wraps
	terminalMore = 20 // items of one class that the terminal shows
)

// Text writes the report for a terminal of so many columns (at least 40): the verdict, what was found, the totals, and for each difference
// the three records side by side, or below each other where they do not fit. It shows at most 20 items of each class.
func Text(w io.Writer, d Data, width int) error {
	g, err := gather(d, terminalMore)
	if err != nil {
		return err
	}
	t := &terminal{width: max(width, narrowest), loc: g.loc}
	if notice := d.notice(); notice != "" {
		t.line(notice)
	}
	v := g.verdict(d)
	t.wrap("", v.Headline)
	for _, detail := range v.Details {
		t.wrap("  ", detail)
	}
	t.line("")
	for _, f := range facts(d, g) {
		t.wrap("", fmt.Sprintf("%-14s %s", f.Name, f.line()))
	}
	signed := "not signed off yet"
	if s := d.Run.SignOff; s != nil {
		signed = clip(s.By, pageText) + ", " + both(s.At, g.loc)
	}
	t.wrap("", fmt.Sprintf("%-14s %s", "Sign-off", signed))
	if s := d.Run.SignOff; s != nil && s.Note != "" {
		t.wrap("", fmt.Sprintf("%-14s %s", "Note", clip(s.Note, pageText)))
	}
	t.notes(d.Run.Sources)
	t.found(d.Run.Outcome, g)
	t.totals(g.forwards(d.Run.Outcome.Rolls))
	t.earlier(d.Run)
	for _, class := range recon.Classes() {
		if of := g.groups[class]; of != nil {
			t.group(d, of)
		}
	}
	if _, err := io.WriteString(w, t.b.String()); err != nil {
		return fmt.Errorf("print the report of run %d: %w", d.Run.ID, err)
	}
	return nil
}

// SideBySide writes one item for a terminal of so many columns: why it is listed, what to do, and its three records side by side.
func SideBySide(w io.Writer, d Data, item recon.Item, width int) error {
	loc, err := d.zone()
	if err != nil {
		return err
	}
	t := &terminal{width: max(width, narrowest), loc: loc}
	words := WordsOf(item.Key.Class)
	t.line(words.Title)
	t.wrap("  ", words.Means)
	if words.Do != "" {
		t.wrap("  ", "What to do: "+words.Do)
	}
	t.item(d, item)
	_, err = io.WriteString(w, t.b.String())
	return err
}

type terminal struct {
	b     strings.Builder
	width int
	loc   *time.Location
}

func (t *terminal) line(text string) { t.b.WriteString(strings.TrimRight(text, " ") + "\n") }

// wrap breaks a text at blanks; a word that is longer than the line is broken where the line ends.
func (t *terminal) wrap(indent, text string) {
	for _, line := range wrapped(text, t.width-len(indent)) {
		t.line(indent + line)
	}
}

func wrapped(text string, width int) []string {
	var out []string
	rest := []rune(strings.TrimRight(text, " "))
	for len(rest) > width {
		at := width
		for i := width; i > 0; i-- {
			if rest[i] == ' ' {
				at = i
				break
			}
		}
		out = append(out, strings.TrimRight(string(rest[:at]), " "))
		rest = []rune(strings.TrimLeft(string(rest[at:]), " "))
	}
	return append(out, string(rest))
}

// notes are what a reader should know of the lists although they are complete.
func (t *terminal) notes(sources []recon.Source) {
	head := false
	for _, s := range sources {
		for _, n := range s.Notes {
			if !head {
				t.line("")
				t.line("NOTES ON THE LISTS")
				head = true
			}
			t.wrap("  ", firstUpper(listTitle(s))+": "+clip(n, 600))
		}
	}
}

func (t *terminal) found(o recon.Outcome, g *gathered) {
	cells := [][]string{{"WHAT WAS FOUND", "ITEMS", "AMOUNT"}}
	for _, class := range recon.Classes() {
		if o.Classes[class] > 0 {
			l := g.classLine(class, o)
			cells = append(cells, []string{l.Title, l.Items, l.Off})
		}
	}
	t.table(cells, 1)
}

func (t *terminal) totals(list []forward) {
	if len(list) == 0 {
		return
	}
	cells := [][]string{{"TOTALS", "", "OURS", "THEIRS", "DIFFERENCE", "LISTED", "NOT EXPLAINED"}}
	for _, f := range list {
		side := "statements"
		if f.Side == recon.SideMT5 {
			side = "MT5"
		}
		cells = append(cells, []string{
			provider(f.Provider) + " " + shown(f.Currency), side,
			figure(f.Ours.Closing), figure(f.Theirs.Closing), figure(f.AtClosing), figure(f.Sum), figure(f.Unexplained),
		})
	}
	t.table(cells, 2)
}

// table aligns columns; those from the given one on are figures, to the right. A table that is too wide has each line's cells below each other.
func (t *terminal) table(cells [][]string, figures int) {
	t.line("")
	widths := make([]int, len(cells[0]))
	all := -2
	for i := range widths {
		for _, row := range cells {
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
		all += widths[i] + 2
	}
	for n, row := range cells {
		if all > t.width {
			t.stacked(cells[0], row, n)
			continue
		}
		line := ""
		for i, c := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c))
			if i >= figures {
				c = pad + c
			} else {
				c += pad
			}
			line += c + "  "
		}
		t.line(line)
	}
}

func (t *terminal) stacked(heads, row []string, n int) {
	if n == 0 {
		return
	}
	t.wrap("", row[0])
	for i, c := range row[1:] {
		if c != "" {
			t.wrap("  ", strings.TrimSpace(strings.ToLower(heads[i+1])+" "+c))
		}
	}
}

func (t *terminal) group(d Data, of *group) {
	words := WordsOf(of.class)
	t.line("")
	t.line(fmt.Sprintf("%s: %s", strings.ToUpper(words.Title), count(of.items)))
	t.wrap("  ", words.Means)
	if words.Do != "" {
		t.wrap("  ", "What to do: "+words.Do)
	}
	for _, item := range of.kept {
		t.item(d, item)
	}
	if more := of.items - len(of.kept); more > 0 {
		t.line("")
		t.wrap("  ", count(more)+" more of this class: see the CSV of this run.")
	}
}

func (t *terminal) item(d Data, item recon.Item) {
	t.line("")
	head := clip(item.Key.Entity, pageText)
	if offs := item.Offs(); len(offs) > 0 {
		head += "  " + moneys(offs)
	}
	if task, some := d.task(item.Key); some {
		head += "  (" + taskText(task) + ")"
	}
	t.wrap("  ", head)
	t.wrap("  ", clip(item.Why, 2*pageText))
	t.wrap("  ", fmt.Sprintf("Business day %s, %s; %s", day(item.At, t.loc), both(item.At, t.loc), many(age(item.At, d.Run.Started, t.loc), "day old", "days old")))
	if item.Key.Class.Difference() {
		t.matrix(sides(item, t.loc))
	}
}

// matrix writes records beside each other where each has at least 22 columns, else one value a line.
func (t *terminal) matrix(m matrix) {
	const label, gap = 16, 2
	each := (t.width-2-label)/len(m.Heads) - gap
	if each < 22 {
		for _, l := range m.Lines {
			for i, c := range l.Cells {
				if c != "" {
					t.wrap("  ", fmt.Sprintf("%-*s %-10s %s", label, marked(l), m.Heads[i], c))
				}
			}
		}
		return
	}
	t.cells("", m.Heads, label, each, gap)
	for _, l := range m.Lines {
		t.cells(marked(l), l.Cells, label, each, gap)
	}
}

func marked(l matrixLine) string {
	name := l.Name
	if name == "business zone" {
		name = ""
	}
	if l.Differs {
		return "≠ " + name
	}
	return "  " + name
}

func (t *terminal) cells(name string, cells []string, label, each, gap int) {
	parts := make([][]string, len(cells))
	height := 1
	for i, c := range cells {
		if c == "" {
			c = "–"
		}
		parts[i] = wrapped(c, each)
		height = max(height, len(parts[i]))
	}
	for n := range height {
		line := "  " + padded(name, label)
		name = ""
		for _, p := range parts {
			text := ""
			if n < len(p) {
				text = p[n]
			}
			line += padded(text, each+gap)
		}
		t.line(line)
	}
}

func padded(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
}
