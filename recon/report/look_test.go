package report

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"creditonce/credit"
	"creditonce/recon"
)

// An item at 23:30 UTC stands on its business day in every list, in the weeks in which clocks change too.
func TestHalfPastElevenUTC_StandsOnItsBusinessDay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ zone, at, day, local string }{
		{"Europe/Berlin", "2026-03-28T23:30:00Z", "2026-03-29", "2026-03-29 00:30:00 CET"},
		{"Europe/Berlin", "2026-03-29T23:30:00Z", "2026-03-30", "2026-03-30 01:30:00 CEST"},
		{"Europe/Berlin", "2026-10-24T23:30:00Z", "2026-10-25", "2026-10-25 01:30:00 CEST"},
		{"Europe/Berlin", "2026-10-25T23:30:00Z", "2026-10-26", "2026-10-26 00:30:00 CET"},
		{"America/New_York", "2026-03-08T23:30:00Z", "2026-03-08", "2026-03-08 19:30:00 EDT"},
		{"America/New_York", "2026-11-01T23:30:00Z", "2026-11-01", "2026-11-01 18:30:00 EST"},
		{"Asia/Dubai", "2026-10-25T23:30:00Z", "2026-10-26", "2026-10-26 03:30:00 UTC+04"},
		{"UTC", "2026-10-25T23:30:00Z", "2026-10-25", "2026-10-25 23:30:00 UTC"},
	} {
		t.Run(c.zone+" "+c.at, func(t *testing.T) {
			t.Parallel()
			at := moment(c.at)
			d := example()
			d.Run.Zone = c.zone
			d.Items = each(
				recon.Item{Key: recon.Key{Class: recon.SettledWithoutCredit, Entity: "payment/1"}, Side: recon.SideProvider, Provider: "stripe", Off: usd(1), At: at, Lines: []recon.Line{line("pi_1", 1, at)}},
				recon.Item{Key: recon.Key{Class: recon.Waiting, Entity: "credit/2"}, Side: recon.SideProvider, Provider: "stripe", Off: usd(1), At: at, Rows: []recon.Row{row(2, "pi_2", 1, credit.Done, at)}},
			)
			d.Run.Outcome.Classes = map[recon.Class]int{recon.SettledWithoutCredit: 1, recon.Waiting: 1}
			utcText := strings.Replace(strings.TrimSuffix(c.at, "Z"), "T", " ", 1) + " UTC"

			page := rendered(t, func(w *strings.Builder) error { return HTML(w, d) })
			for _, want := range []string{"Business day " + c.day + " (" + utcText, `class="day">` + c.day + `<span class="when">` + utcText, strings.ReplaceAll(c.local, "+", "&#43;")} {
				if !strings.Contains(page, want) {
					t.Errorf("the page does not have %q", want)
				}
			}
			tables := readCSV(t, rendered(t, func(w *strings.Builder) error { return CSV(w, d) }))
			f := workbook(t, d)
			tables = append(append(tables, table(t, f, sheetDifferences)...), table(t, f, sheetWaiting)...)
			if len(tables) != 4 {
				t.Fatalf("%d lines", len(tables))
			}
			for _, l := range tables {
				if l["business_day"] != c.day || l["item_utc"] != utcText || l["item_business_zone"] != c.local || l["zone"] != c.zone {
					t.Errorf("day %q, %q = %q in %q", l["business_day"], l["item_utc"], l["item_business_zone"], l["zone"])
				}
			}
			if text := rendered(t, func(w *strings.Builder) error { return JSON(w, d) }); strings.Count(text, `"business_day":"`+c.day+`"`) != 2 {
				t.Error("the JSON has another business day")
			}
			if text := rendered(t, func(w *strings.Builder) error { return Text(w, d, 120) }); strings.Count(text, "Business day "+c.day+", "+utcText) != 2 {
				t.Error("the text has another business day")
			}
		})
	}
}

func TestAge_CountsBusinessDays(t *testing.T) {
	t.Parallel()
	loc, err := Data{Run: recon.Run{Zone: "Europe/Berlin"}}.zone()
	if err != nil {
		t.Fatal(err)
	}
	read := moment("2026-10-26T03:00:00Z")
	for at, want := range map[string]int{
		"2026-10-26T02:00:00Z": 0, "2026-10-25T23:30:00Z": 0, "2026-10-25T22:30:00Z": 1, "2026-10-24T21:59:00Z": 2, "2026-10-18T12:00:00Z": 8, "2026-11-01T00:00:00Z": 0,
	} {
		if got := age(moment(at), read, loc); got != want {
			t.Errorf("%s is %d days old, want %d", at, got, want)
		}
	}
}

// Text and its ground differ enough for people who see less (WCAG 2.2 §1.4.3: 4.5 to 1; lines of pictures §1.4.11: 3 to 1).
func TestColours_HaveContrast(t *testing.T) {
	t.Parallel()
	themes := regexp.MustCompile(`(?s):root \{(.*?)\}`).FindAllStringSubmatch(pageStyle, -1)
	if len(themes) != 3 {
		t.Fatalf("%d sets of colours, want light, dark and print", len(themes))
	}
	for i, name := range []string{"light", "dark", "print"} {
		colours := map[string]string{}
		for _, m := range regexp.MustCompile(`--([a-z]+): (#[0-9a-f]{6});`).FindAllStringSubmatch(themes[i][1], -1) {
			colours[m[1]] = m[2]
		}
		for _, pair := range []struct {
			over, under string
			least       float64
		}{
			{"ink", "paper", 7}, {"ink", "faint", 7}, {"quiet", "paper", 4.5}, {"quiet", "faint", 4.5}, {"link", "paper", 4.5}, {"bad", "paper", 4.5}, {"bad", "faint", 4.5},
			{"good", "goodpaper", 4.5}, {"bad", "badpaper", 4.5}, {"doubt", "doubtpaper", 4.5}, {"ink", "goodpaper", 7}, {"ink", "badpaper", 7}, {"ink", "doubtpaper", 7},
			{"edge", "paper", 3},
		} {
			got := contrast(t, colours[pair.over], colours[pair.under])
			if got < pair.least {
				t.Errorf("%s: %s on %s has contrast %.2f, want %.1f", name, pair.over, pair.under, got, pair.least)
			}
		}
	}
	for _, m := range regexp.MustCompile(`#[0-9a-fA-F]{3,8}`).FindAllStringIndex(strings.Split(pageStyle, "@media print")[0], -1) {
		before := pageStyle[:m[0]]
		if root, page := strings.LastIndex(before, ":root {"), strings.LastIndex(before, "@page"); strings.LastIndex(before, "}") > root && page < 0 {
			t.Errorf("a colour outside the sets: %s", pageStyle[m[0]:m[1]])
		}
	}
}

// contrast is that of WCAG 2.2: (L1 + 0.05) / (L2 + 0.05).
func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	x, y := luminance(t, a), luminance(t, b)
	return (math.Max(x, y) + 0.05) / (math.Min(x, y) + 0.05)
}

func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	if len(colour) != 7 {
		t.Fatalf("colour %q", colour)
	}
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		v, err := strconv.ParseUint(colour[1+2*i:3+2*i], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		c := float64(v) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}

func TestCharts_StayInTheirFrameAndSayTheFigures(t *testing.T) {
	t.Parallel()
	loss := recon.Outcome{
		Rolls: []recon.Roll{
			{Side: recon.SideProvider, Provider: "a", Currency: "USD", Theirs: recon.Movement{Credited: usd(1000), Refunded: usd(2500), ChargedBack: usd(100)}},
			{Side: recon.SideMT5, Provider: "a", Currency: "USD", Ours: recon.Movement{Credited: amount(100000, "USD", 4)}, Theirs: recon.Movement{Credited: usd(1000)}},
		},
		Costs: []recon.Cost{{Provider: "a", Amount: usd(-50)}},
	}
	list := waterfalls(loss)
	if len(list) != 1 {
		t.Fatalf("%d charts", len(list))
	}
	var said []string
	for _, b := range list[0].Bars {
		said = append(said, b.Label+" "+b.Figures[0])
	}
	if got, want := strings.Join(said, ", "), "Settled gross 10.00, Fees -0.50, Refunds -25.00, Chargebacks -1.00, = Net -16.50, Credited (rows) 10.0000, MT5 deals 10.00"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if list[0].Zero != 622 { // 16.50 of 26.50 lie below nothing
		t.Errorf("nothing stands at %d", list[0].Zero)
	}
	if none := waterfalls(recon.Outcome{Rolls: []recon.Roll{{Side: recon.SideMT5, Currency: "USD", Ours: recon.Movement{Credited: usd(0)}}}}); len(none) != 0 {
		t.Errorf("a chart of nothing: %+v", none)
	}
	share, _ := shareChart(recon.Outcome{Counts: []recon.ClassCount{{Provider: "a", Class: recon.Late, Items: 1}, {Provider: "a", Class: recon.Matched, Items: 999_999}}})
	if b := share.Bars[0]; fmt.Sprint(b.Figures) != "[999,999 0 1 99.9 %]" || len(b.Spans) != 2 || b.Spans[1].Width < seen {
		t.Errorf("one among a million is not seen: %+v", b)
	}
	g, err := gather(example(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range append(append(waterfalls(exampleRun().Outcome), list...), share, g.ageingChart()) {
		for _, b := range c.Bars {
			for _, s := range b.Spans {
				if s.X < 0 || s.Width < 0 || s.X+s.Width > steps+2 {
					t.Errorf("%s, %s: from %d, %d wide", c.Title, b.Label, s.X, s.Width)
				}
			}
		}
	}
	if g.ageing != [4]int{3, 0, 1, 1} {
		t.Errorf("ages %v", g.ageing)
	}
}

func TestPercent_IsFullOnlyWhenAllAgree(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n, all int
		want   string
	}{{0, 3, "0.0 %"}, {1, 3, "33.3 %"}, {999_999, 1_000_000, "99.9 %"}, {7, 7, "100.0 %"}} {
		if got := percent(c.n, c.all); got != c.want {
			t.Errorf("%d of %d: %s, want %s", c.n, c.all, got, c.want)
		}
	}
}

func TestGrouped_PutsCommasBetweenThousands(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"0": "0", "-12.50": "-12.50", "1000": "1,000", "-1234567.891": "-1,234,567.891", "999999": "999,999"} {
		if got := grouped(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}
