package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the page's template and style
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"creditonce/credit"
	"creditonce/recon"
)

// shownItems is how many items of one class the page shows; the CSV has all.
const shownItems = 200

//go:embed page.gohtml
var pageSource string

//go:embed page.css
var pageStyle string

// policy lets the page use its own style sheet and nothing else: no script, no picture, no address outside.
var policy = "default-src 'none'; style-src 'sha256-" + sha256Base64(pageStyle) + "'; base-uri 'none'; form-action 'none'"

func sha256Base64(s string) string {
	sum := sha256.Sum256([]byte(s))
	return base64.StdEncoding.EncodeToString(sum[:])
}

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"clip":     func(s string) string { return clip(s, pageText) },
	"money":    money,
	"figure":   figure,
	"count":    func(n int) string { return count(n) },
	"utc":      utc,
	"words":    WordsOf,
	"provider": provider,
	"compared": compared,
	"set":      func(a credit.Amount) bool { return !a.IsZero() },
}).Parse(pageSource))

// HTML writes one page that needs nothing but itself: no script, no other file, no network. It shows at most 200 items of each class and says
// how many more the CSV has. Errors are those of the items, of an unknown business zone, and of the writer.
func HTML(w io.Writer, d Data) error {
	g, err := gather(d, shownItems)
	if err != nil {
		return err
	}
	var page bytes.Buffer
	if err := pageTemplate.Execute(&page, newPage(d, g)); err != nil {
		return fmt.Errorf("write the page of run %d: %w", d.Run.ID, err)
	}
	_, err = page.WriteTo(w)
	return err
}

// page is what the template shows. Its texts are harmless already; the template escapes them once more for HTML.
type page struct {
	Policy string
	Style  template.CSS

	Title, Period, Notice string
	Verdict               verdict
	Mark                  string
	Facts                 []fact
	Classes               []classLine
	Forwards              []forward
	Cards                 []card
	Since                 []sinceLine
	Before                string // the report from which Carried goes on
	Carried               []carriedLine
	CarriedMeans          string
	Charts                []chart
	Groups                []groupView // differences
	Quiet                 []groupView // waiting, within tolerance
	Sources               []sourceView
	SignOff               []fact
	Never                 string
}

// fact is a name with its value, of one or several lines.
type fact struct{ Name, Value string }

// line is the value in one line.
func (f fact) line() string { return strings.ReplaceAll(f.Value, "\n", ", ") }

type classLine struct {
	Title, Items, Off, Anchor string
	Difference                bool
}

type groupView struct {
	Anchor, Title, Means, Do string
	Items                    int
	More                     int // items that are not shown
	Shown                    []itemView
}

type itemView struct {
	Entity, Provider, Task, Off, Why, Day, At, Amount string
	AtLines                                           string // At, each zone on a line
	Age                                               int
	Matrix                                            matrix
}

type sourceView struct {
	Title, Digest, Rows, State, From string
	Notes                            []string
}

func newPage(d Data, g *gathered) page {
	p := page{
		Policy: policy, Style: template.CSS(pageStyle), // #nosec G203 -- a file of this package
		Title: "Reconciliation " + period(d.Run), Period: period(d.Run), Notice: d.notice(),
		Verdict: g.verdict(d), Facts: facts(d, g), Forwards: g.forwards(d.Run.Outcome.Rolls), Charts: waterfalls(d.Run.Outcome),
		SignOff: signOff(d, g), Never: Never,
	}
	p.Mark = map[string]string{clean: "✓", differences: "≠", incomplete: "?"}[p.Verdict.State]
	p.Cards, p.Since, p.CarriedMeans = cards(p.Forwards), since(d.Run), carriedMeans
	p.Before, p.Carried = carried(d.Run)
	if n, _ := g.differences(); n > 0 {
		p.Charts = append(p.Charts, g.ageingChart())
	}
	if c, some := shareChart(d.Run.Outcome); some {
		p.Charts = append(p.Charts, c)
	}
	for _, class := range recon.Classes() {
		p.Classes = append(p.Classes, g.classLine(class, d.Run.Outcome))
		of := g.groups[class]
		switch {
		case of == nil:
		case class.Difference():
			p.Groups = append(p.Groups, g.view(d, of))
		default:
			p.Quiet = append(p.Quiet, g.view(d, of))
		}
	}
	for _, s := range d.Run.Sources {
		p.Sources = append(p.Sources, viewSource(s))
	}
	return p
}

func (g *gathered) classLine(class recon.Class, o recon.Outcome) classLine {
	line := classLine{Title: WordsOf(class).Title, Items: count(o.Classes[class]), Difference: class.Difference()}
	if of := g.groups[class]; of != nil {
		line.Anchor = string(class)
		line.Off = moneys(of.off.list())
	}
	return line
}

func (g *gathered) view(d Data, of *group) groupView {
	w := WordsOf(of.class)
	out := groupView{Anchor: string(of.class), Title: w.Title, Means: w.Means, Do: w.Do, Items: of.items, More: of.items - len(of.kept)}
	for _, item := range of.kept {
		v := itemView{
			Entity: clip(item.Key.Entity, pageText), Provider: provider(item.Provider), Off: moneys(item.Offs()), Why: clip(item.Why, 2*pageText),
			Day: day(item.At, g.loc), At: both(item.At, g.loc), AtLines: apart(item.At, g.loc), Age: age(item.At, d.Run.Started, g.loc), Amount: money(mainAmount(item)),
		}
		if task, some := d.task(item.Key); some {
			v.Task = taskText(task)
		}
		if of.class.Difference() {
			v.Matrix = sides(item, g.loc)
		}
		out.Shown = append(out.Shown, v)
	}
	return out
}

func taskText(t Task) string {
	text := fmt.Sprintf("task %d, %s", t.ID, shown(t.State))
	if !t.Opened.IsZero() {
		text += ", opened " + utc(t.Opened)
	}
	return text
}

func viewSource(s recon.Source) sourceView {
	out := sourceView{Title: firstUpper(listTitle(s)), Digest: clip(s.Digest, pageText), Rows: count(s.Rows), State: "complete", From: utc(s.From)}
	if !s.Complete {
		out.State = "not complete: " + clip(s.Reason, 600)
	}
	for _, n := range s.Notes {
		out.Notes = append(out.Notes, clip(n, 600))
	}
	return out
}

func firstUpper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// facts are the head of the report: what was compared, when, by what.
func facts(d Data, g *gathered) []fact {
	r := d.Run
	name := "Business day"
	if r.First != r.Last {
		name = "Business days"
	}
	out := []fact{
		{name, period(r) + ", " + clip(r.Zone, pageText)},
		{"Interval", interval(r) + "\n" + many(int(r.Until.Sub(r.From).Hours()), "hour", "hours")},
		{"Environment", d.environment()},
		{"Run", fmt.Sprintf("%d, by %s", r.ID, clip(r.By, pageText))},
		{"Lists read", apart(r.Started, g.loc)},
		{"Finished", apart(r.Finished, g.loc)},
		{"Compared", fmt.Sprintf("%s\n%s\n%s", many(r.Outcome.Lines, "statement line", "statement lines"), many(r.Outcome.Rows, "credit row", "credit rows"), many(r.Outcome.Deals, "MT5 deal", "MT5 deals"))},
		{"Program", "creditonce " + clip(r.Version, pageText)},
		{"Digest", clip(r.Digest, pageText)},
	}
	if text := rests(r); text != "" {
		out = append(out, fact{"Rounding", text})
	}
	if text := stretches(r); text != "" {
		out = slices.Insert(out, 2, fact{"Statements", text})
	}
	return out
}

// signOff is a person's stored word, or nothing: the page then has lines to sign by hand.
func signOff(d Data, g *gathered) []fact {
	s := d.Run.SignOff
	if s == nil {
		return nil
	}
	out := []fact{{"Read and signed off by", clip(s.By, pageText)}, {"At", apart(s.At, g.loc)}}
	if s.Note != "" {
		out = append(out, fact{"Note", clip(s.Note, 600)})
	}
	return out
}

// card is one roll-forward for reading; lines in which nothing moved are left out.
type card struct {
	Title, Theirs, Currency string
	Lines                   []cardLine
	Listed                  []fact // what the difference comes from
}

type cardLine struct {
	Name, Ours, Theirs, Difference string
	Strong, Differs                bool
}

func cards(list []forward) []card {
	out := make([]card, 0, len(list))
	for _, f := range list {
		c := card{Title: provider(f.Provider) + ", " + compared(f.Side), Theirs: "Statements", Currency: shown(f.Currency)}
		if f.Side == recon.SideMT5 {
			c.Theirs = "MT5"
		}
		o, t := f.Ours, f.Theirs
		c.line("Opening", o.Opening, t.Opening, true)
		c.line("+ credited", o.Credited, t.Credited, false)
		c.line("− refunded", o.Refunded, t.Refunded, false)
		c.line("− charged back", o.ChargedBack, t.ChargedBack, false)
		c.line("− withdrawn", o.Withdrawn, t.Withdrawn, false)
		c.line("= Closing", o.Closing, t.Closing, true)
		for _, l := range []struct {
			name string
			a    credit.Amount
		}{{"differences", f.Split.differences}, {"waiting", f.Split.waiting}, {"within tolerance", f.Split.tolerance}} {
			if !l.a.IsZero() {
				c.Listed = append(c.Listed, fact{l.name, figure(l.a)})
			}
		}
		out = append(out, c)
	}
	return out
}

func (c *card) line(name string, ours, theirs credit.Amount, strong bool) {
	if !strong && ours.IsZero() && theirs.IsZero() {
		return
	}
	difference := minus(theirs, ours)
	c.Lines = append(c.Lines, cardLine{
		Name: name, Ours: figure(ours), Theirs: figure(theirs), Difference: figure(difference), Strong: strong, Differs: !difference.IsZero(),
	})
}
