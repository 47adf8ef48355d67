package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
	"weak"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"creditonce/credit"
	"creditonce/recon"
)

func TestSameData_SameBytes(t *testing.T) {
	t.Parallel()
	for format, render := range formats {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			first := rendered(t, func(w *strings.Builder) error { return render(w, example()) })
			for range 5 { // the orders of maps differ from one to the next
				if again := rendered(t, func(w *strings.Builder) error { return render(w, example()) }); again != first {
					t.Fatal("the same data gave other bytes")
				}
			}
		})
	}
}

func TestEveryClass_HasWordsAndWhatToDo(t *testing.T) {
	t.Parallel()
	titles := map[string]recon.Class{}
	for _, class := range recon.Classes() {
		w := WordsOf(class)
		if w.Title == "" || w.Means == "" || class.Difference() && w.Do == "" {
			t.Errorf("%s: %+v", class, w)
		}
		if twin, taken := titles[w.Title]; taken {
			t.Errorf("%s and %s have one title", class, twin)
		}
		titles[w.Title] = class
	}
	if len(words) != len(recon.Classes()) {
		t.Errorf("%d texts for %d classes", len(words), len(recon.Classes()))
	}
}

func TestVerdict_SaysFirstWhatCounts(t *testing.T) {
	t.Parallel()
	unread := func(d *Data) {
		d.Run.State = recon.RunIncomplete
		d.Run.Sources[3].Complete, d.Run.Sources[3].Reason = false, "the server did not answer; run again."
	}
	for _, c := range []struct {
		name, state, headline, detail string
		data                          func() Data
	}{
		{"clean", clean, "Clean: 1,240 payments agree", "", cleanExample},
		{"differences", differences, "5 differences, 10.00 EUR and 465.00 USD, as far as the statements reach", "1,241 payments agree.", example},
		{"incomplete and different", incomplete, "Incomplete: the list of MT5 deals of server main, because the server did not answer; run again", "What was compared shows 5 differences", func() Data {
			d := example()
			unread(&d)
			return d
		}},
		{"incomplete, nothing found", incomplete, "Incomplete: the list of MT5 deals", "What was compared shows no difference.", func() Data {
			d := cleanExample()
			unread(&d)
			return d
		}},
		{"clean, and statements end early", clean, "Clean as far as the statements reach: 1,240 payments agree", "The statements of stripe reach 2026-10-25 04:30:00 UTC, 18 hours before the end", func() Data {
			d := cleanExample()
			d.Run.Sources[1].Reaches = moment("2026-10-25T04:30:00Z")
			return d
		}},
		{"a newer run was incomplete", incomplete, "Incomplete: a newer run of this business day could not read every list",
			"Run 323, finished 2026-10-26 09:00:00 UTC", func() Data { return overtaken(example(), 1) }},
		{"newer runs were incomplete, and the run is clean", incomplete, "Incomplete: 5 newer runs of this business day could not read every list",
			"Nor could 2 others before, from run 319 on.\nWhat follows is of the older run 318, finished", func() Data { return overtaken(cleanExample(), 5) }},
		{"a newer run is complete", differences, "5 differences", "Run 330 has compared 2026-10-25 since, at 2026-10-26 09:00:00 UTC", func() Data {
			d := example()
			d.Newer.Complete = []recon.Run{{ID: 330, First: "2026-10-25", Last: "2026-10-25", State: recon.RunComplete, Finished: moment("2026-10-26T09:00:00Z")}}
			return d
		}},
		{"a signed report does not hold", differences, "5 differences", "The report of 2026-10-24 (run 301, signed by anna) counted 1 sum that is another one now", example},
		{"incomplete without a list", incomplete, "Incomplete: the run says so", "", func() Data {
			d := cleanExample()
			d.Run.State = recon.RunIncomplete
			return d
		}},
		{"items are missing", incomplete, `Incomplete: this report lists 0 of the 1 that the run found under "Late settlement"`, "", func() Data {
			d := cleanExample()
			d.Run.Outcome.Classes[recon.Late] = 1
			return d
		}},
		{"totals are not explained", differences, "5 differences", "Not explained by the listed items: 1.00 USD of stripe (MT5 deals against rows)", func() Data {
			d := example()
			d.Run.Outcome.Rolls[2].Theirs.Closing = usd(42727350)
			return d
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := c.data()
			g, err := gather(d, 0)
			if err != nil {
				t.Fatal(err)
			}
			v := g.verdict(d)
			if v.State != c.state || !strings.HasPrefix(v.Headline, c.headline) || !strings.Contains(strings.Join(v.Details, "\n"), c.detail) {
				t.Errorf("got %+v", v)
			}
			page := rendered(t, func(w *strings.Builder) error { return HTML(w, d) })
			first := strings.Index(page, "class=\"headline\"")
			if first < 0 || first > strings.Index(page, "<table") && strings.Contains(page, "<table") {
				t.Error("the verdict is not first on the page")
			}
		})
	}
}

// The sums of the table are those of the roll-forwards: an item's amount stands once.
func TestCSV_ColumnOfAmountsAddsUpToTheListedSums(t *testing.T) {
	t.Parallel()
	lines := readCSV(t, rendered(t, func(w *strings.Builder) error { return CSV(w, example()) }))
	got := map[string]credit.Amount{}
	for _, l := range lines {
		if l["off"] == "" {
			continue
		}
		a, err := credit.ParseAmount(l["off"], l["off_currency"], 2)
		if err != nil {
			t.Fatal(err)
		}
		key := l["compared"] + " " + l["provider"] + " " + l["off_currency"]
		got[key] = plus(got[key], a)
	}
	for _, r := range exampleRun().Outcome.Rolls {
		key := fmt.Sprintf("%s %s %s", r.Side, r.Provider, r.Currency)
		if !r.Listed.IsZero() && !got[key].Equal(r.Listed) {
			t.Errorf("%s: %s, the roll-forward lists %s", key, got[key], r.Listed)
		}
	}
}

func readCSV(t *testing.T, text string) []map[string]string {
	t.Helper()
	records, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]string
	for _, r := range records[1:] {
		line := map[string]string{}
		for i, head := range records[0] {
			line[head] = r[i]
		}
		out = append(out, line)
	}
	return out
}

// overtaken is a report after whose run so many others of its day were incomplete.
func overtaken(d Data, n int) Data {
	for id := range recon.RunID(n) {
		d.Newer.Numbers = append(d.Newer.Numbers, 323-id)
		if id < recon.MostNewer {
			r := recon.Run{ID: 323 - id, First: "2026-10-25", Last: "2026-10-25", State: recon.RunIncomplete, Finished: moment("2026-10-26T09:00:00Z")}
			r.Sources = []recon.Source{{List: recon.ListDeals, Name: "main", Reason: "the server did not answer"}}
			d.Newer.Incomplete = append(d.Newer.Incomplete, r)
		}
	}
	return d
}

func TestJSON_IsWhatTheSchemaSays(t *testing.T) {
	t.Parallel()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	demo := example()
	demo.Demo = true
	for name, d := range map[string]Data{"differences": example(), "overtaken": overtaken(example(), 2), "clean": cleanExample(), "demo": demo, "hostile": hostile()} {
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(rendered(t, func(w *strings.Builder) error { return JSON(w, d) })))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := s.Validate(value); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestItemJSON_IsTheItemOfTheReport(t *testing.T) {
	t.Parallel()
	d := example()
	var whole struct{ Items []json.RawMessage }
	if err := json.Unmarshal([]byte(rendered(t, func(w *strings.Builder) error { return JSON(w, d) })), &whole); err != nil {
		t.Fatal(err)
	}
	n := 0
	for item, err := range d.Items {
		if err != nil {
			t.Fatal(err)
		}
		one := rendered(t, func(w *strings.Builder) error { return ItemJSON(w, d, item) })
		if strings.TrimSpace(one) != string(whole.Items[n]) {
			t.Errorf("item %d: %s, the report has %s", n, one, whole.Items[n])
		}
		n++
	}
	if n != len(whole.Items) {
		t.Errorf("%d items in the report, want %d", len(whole.Items), n)
	}
}

// A report of 50,000 items holds no more of them than it shows.
func TestManyItems_AreNotHeld(t *testing.T) {
	t.Parallel()
	const many = 50_000
	for format, render := range formats {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			var held []weak.Pointer[recon.Line]
			d := example()
			d.Run.Outcome.Classes = map[recon.Class]int{recon.SettledWithoutCredit: many, recon.Matched: 3}
			d.Items = func(yield func(recon.Item, error) bool) {
				held = held[:0]
				for i := range many {
					lines := []recon.Line{line(fmt.Sprintf("pi_%d", i), 7500, moment("2026-10-25T09:00:00Z"))}
					held = append(held, weak.Make(&lines[0]))
					item := recon.Item{
						Key: recon.Key{Class: recon.SettledWithoutCredit, Entity: fmt.Sprintf("payment/%d", i)}, Side: recon.SideProvider, Provider: "stripe",
						Off: usd(7500), At: lines[0].At, Lines: lines, Why: "no row",
					}
					if !yield(item, nil) {
						return
					}
				}
				runtime.GC()
				alive := 0
				for _, p := range held {
					if p.Value() != nil {
						alive++
					}
				}
				if alive > shownItems+10 {
					t.Errorf("%d of %d items are held", alive, many)
				}
			}
			text := rendered(t, func(w *strings.Builder) error { return render(w, d) })
			switch format {
			case "html":
				if !strings.Contains(text, "49,800 more of this class are in the CSV") || strings.Count(text, "<article>") != shownItems {
					t.Error("the page does not say what it leaves out")
				}
			case "csv":
				if n := strings.Count(text, "\r\n"); n != many+1 {
					t.Errorf("%d lines", n)
				}
			case "txt":
				if !strings.Contains(text, "49,980 more of this class: see the CSV") {
					t.Error("the text does not say what it leaves out")
				}
			}
		})
	}
}

func TestErrorsOfItemsAndWriter_EndTheReport(t *testing.T) {
	t.Parallel()
	broken := errors.New("the store is closed")
	for format, render := range formats {
		d := example()
		d.Items = func(yield func(recon.Item, error) bool) { yield(recon.Item{}, broken) }
		if err := render(&strings.Builder{}, d); !errors.Is(err, broken) {
			t.Errorf("%s: got %v", format, err)
		}
		d = example()
		d.Run.Zone = "Europe/Nowhere"
		if err := render(&strings.Builder{}, d); !errors.Is(err, credit.ErrInvalid) {
			t.Errorf("%s with an unknown zone: got %v", format, err)
		}
	}
	full := writerFunc(func([]byte) (int, error) { return 0, broken })
	for name, err := range map[string]error{
		"html": HTML(full, example()), "csv": CSV(full, example()), "rolls": CSVRolls(full, example()), "xlsx": XLSX(full, example()), "json": JSON(full, example()),
		"text": Text(full, example(), 80), "side by side": SideBySide(full, example(), recon.Item{}, 80), "item": ItemJSON(full, example(), recon.Item{}),
	} {
		if !errors.Is(err, broken) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

type writerFunc func([]byte) (int, error)

// Write calls the function.
func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

func TestDemoAndTest_AreSaidInEveryFormat(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"html", "json", "txt", "csv"} {
		for want, change := range map[string]func(*Data){
			"DEMO: simulated money": func(d *Data) { d.Demo = true },
			"TEST: no real money":   func(d *Data) { d.Environment = "test" },
		} {
			d := example()
			change(&d)
			if format == "csv" {
				want = strings.ToLower(strings.Split(want, ":")[0]) // a column
			}
			text := rendered(t, func(w *strings.Builder) error { return formats[format](w, d) })
			if !strings.Contains(text, want) {
				t.Errorf("%s does not say %q", format, want)
			}
		}
		if text := rendered(t, func(w *strings.Builder) error { return formats[format](w, example()) }); strings.Contains(text, "real money") {
			t.Errorf("%s of a live store says that its money is not real", format)
		}
	}
}

func TestText_FitsTheTerminal(t *testing.T) {
	t.Parallel()
	for _, d := range []Data{example(), hostile()} {
		for _, width := range []int{1, 40, 57, 80, 100, 120, 200} {
			for n, l := range strings.Split(rendered(t, func(w *strings.Builder) error { return Text(w, d, width) }), "\n") {
				if got := utf8.RuneCountInString(l); got > max(width, narrowest) {
					t.Errorf("width %d: line %d has %d columns: %q", width, n+1, got, l)
				}
			}
		}
	}
}

func TestText_RecordsStandBesideEachOtherOrBelow(t *testing.T) {
	t.Parallel()
	var item recon.Item
	for i, err := range example().Items {
		if err == nil && i.Key.Class == recon.WrongAmount {
			item = i
		}
	}
	wide := rendered(t, func(w *strings.Builder) error { return SideBySide(w, example(), item, 110) })
	if !slices.ContainsFunc(strings.Split(wide, "\n"), func(l string) bool {
		return strings.Contains(l, "≠ Credited") && strings.Contains(l, "1,000.00 USD") && strings.Contains(l, "910.00 USD")
	}) {
		t.Errorf("the amounts do not stand beside each other:\n%s", wide)
	}
	narrow := rendered(t, func(w *strings.Builder) error { return SideBySide(w, example(), item, 60) })
	for _, want := range []string{"≠ Credited       Our row    1,000.00 USD", "≠ Credited       MT5        910.00 USD"} {
		if !strings.Contains(narrow, want) {
			t.Errorf("%q is not in\n%s", want, narrow)
		}
	}
}
