package report

import (
	"maps"
	"math/big"
	"slices"

	"creditonce/credit"
	"creditonce/recon"
)

// steps is the width of a chart in its own units; the page stretches it.
const steps = 1000

// bar is one line of a chart. The label and the figures say everything that the picture shows.
type bar struct {
	Label    string
	Figures  []string
	Spans    []span
	Total    bool  // a level, not a movement
	From, To int64 // where the connecting lines to the lines above and below stand; both 0: none
}

// span is a piece of a bar. Its look (solid, outlined, hatched) comes with a word in the table's head, never with colour alone.
type span struct {
	X, Width int64
	Look     string
}

// chart is a table with a picture in each line.
type chart struct {
	Title string
	Note  string
	Heads []string // of Figures
	Bars  []bar
	Zero  int64 // where nothing stands
}

// waterfalls shows for each currency how what the providers settled becomes what remains, beside what the logins got.
func waterfalls(o recon.Outcome) []chart {
	byCurrency := map[string]*flows{}
	of := func(currency string) *flows {
		if byCurrency[currency] == nil {
			byCurrency[currency] = &flows{}
		}
		return byCurrency[currency]
	}
	for _, r := range o.Rolls {
		f := of(r.Currency)
		switch r.Side {
		case recon.SideProvider:
			f.settled = plus(f.settled, r.Theirs.Credited)
			f.refunds = plus(f.refunds, r.Theirs.Refunded)
			f.chargebacks = plus(f.chargebacks, r.Theirs.ChargedBack)
		case recon.SideMT5:
			f.credited = plus(f.credited, r.Ours.Credited)
			f.deals = plus(f.deals, r.Theirs.Credited)
		}
	}
	for _, c := range o.Costs {
		f := of(c.Amount.Currency())
		f.fees = plus(f.fees, c.Amount)
	}
	var out []chart
	for _, currency := range slices.Sorted(maps.Keys(byCurrency)) {
		if c, some := byCurrency[currency].chart(currency); some {
			out = append(out, c)
		}
	}
	return out
}

// flows are the sums of one currency. Fees are signed, negative is a cost; refunds and chargebacks are positive.
type flows struct {
	settled, fees, refunds, chargebacks, credited, deals credit.Amount
}

func (f flows) chart(currency string) (chart, bool) {
	w := waterfall{}
	if f.settled.IsSet() || f.fees.IsSet() {
		w.level("Settled gross", f.settled)
		w.move("Fees", f.fees)
		w.move("Refunds", f.refunds.Neg())
		w.move("Chargebacks", f.chargebacks.Neg())
		w.level("= Net", w.sum)
	}
	w.apart()
	w.level("Credited (rows)", f.credited)
	w.level("MT5 deals", f.deals)
	if !w.moved {
		return chart{}, false
	}
	return chart{
		Title: "From settled to credited, " + currency,
		Note:  "Solid bars are levels, outlined bars take away or add. What was credited compares with what was settled gross: fees are the firm's cost.",
		Heads: []string{currency},
		Bars:  w.bars(), Zero: w.x(new(big.Int)),
	}, true
}

// waterfall collects levels and movements before the scale is known.
type waterfall struct {
	sum   credit.Amount
	lines []waterLine
	moved bool // anything but zero was drawn
	after bool
}

type waterLine struct {
	label    string
	value    credit.Amount
	from, to credit.Amount
	total    bool
	apart    bool
}

func (w *waterfall) level(label string, a credit.Amount) {
	if !a.IsSet() {
		return
	}
	w.moved = w.moved || !a.IsZero()
	w.lines = append(w.lines, waterLine{label: label, value: a, to: a, total: true, apart: w.after})
	w.sum = a
}

func (w *waterfall) move(label string, a credit.Amount) {
	if !a.IsSet() || a.IsZero() {
		return
	}
	next := plus(w.sum, a)
	w.moved = true
	w.lines = append(w.lines, waterLine{label: label, value: a, from: w.sum, to: next})
	w.sum = next
}

// apart ends the connecting lines: what follows is compared, not derived.
func (w *waterfall) apart() { w.after = true }

func (w *waterfall) bars() []bar {
	var out []bar
	for i, l := range w.lines {
		from, to := w.x(w.units(l.from)), w.x(w.units(l.to))
		b := bar{Label: l.label, Figures: []string{figure(l.value)}, Total: l.total}
		look := "outline"
		if l.total {
			look = "solid"
		}
		b.Spans = []span{{X: min(from, to), Width: max(2, max(from, to)-min(from, to)), Look: look}}
		if !l.apart {
			b.To = to
			if i > 0 {
				b.From = out[i-1].To
			}
			if i+1 == len(w.lines) || w.lines[i+1].apart {
				b.To = 0
			}
		}
		out = append(out, b)
	}
	return out
}

func (w *waterfall) exponent() int {
	e := 0
	for _, l := range w.lines {
		e = max(e, l.from.Exponent(), l.to.Exponent())
	}
	return e
}

func (w *waterfall) units(a credit.Amount) *big.Int { return scaled(a, w.exponent()).Units() }

// x is where a value stands between the lowest and the highest of the chart.
func (w *waterfall) x(value *big.Int) int64 {
	low, high := new(big.Int), new(big.Int)
	for _, l := range w.lines {
		for _, v := range []*big.Int{w.units(l.from), w.units(l.to)} {
			if v.Cmp(low) < 0 {
				low = v
			}
			if v.Cmp(high) > 0 {
				high = v
			}
		}
	}
	return part(new(big.Int).Sub(value, low), new(big.Int).Sub(high, low), steps)
}

// ageingChart shows how old the differences are.
func (g *gathered) ageingChart() chart {
	labels := []string{"0–1 days", "2–3 days", "4–7 days", "8 days and more"}
	c := chart{
		Title: "Age of the differences",
		Note:  "Business days from the item to the moment at which the lists were read.",
		Heads: []string{"Differences"},
	}
	largest := big.NewInt(int64(slices.Max(g.ageing[:])))
	for i, n := range g.ageing {
		c.Bars = append(c.Bars, bar{
			Label: labels[i], Figures: []string{count(n)}, Total: true,
			Spans: []span{{Width: part(big.NewInt(int64(n)), largest, steps), Look: "solid"}},
		})
	}
	return c
}

// shareChart shows for each provider how much of what was compared agrees.
func shareChart(o recon.Outcome) (chart, bool) {
	c := chart{
		Title: "What agrees, by provider",
		Note:  "In each bar from the left: solid agrees, outlined waits for settlement, hatched is different.",
		Heads: []string{"Agree", "Wait", "Differ", "Share"},
	}
	for _, p := range shares(o.Counts) {
		all := int64(p.agree + p.wait + p.differ)
		if all == 0 {
			continue
		}
		whole := big.NewInt(all)
		agree, wait := part(big.NewInt(int64(p.agree)), whole, steps), part(big.NewInt(int64(p.wait)), whole, steps)
		b := bar{Label: p.label, Figures: []string{count(p.agree), count(p.wait), count(p.differ), percent(p.agree, int(all))}, Total: true}
		b.Spans = spans([]span{{Width: agree, Look: "solid"}, {Width: wait, Look: "outline"}, {Width: steps - agree - wait, Look: "hatch"}}, []int{p.agree, p.wait, p.differ})
		c.Bars = append(c.Bars, b)
	}
	return c, len(c.Bars) > 0
}

// seen is the least width of a piece that is there at all.
const seen = 8

// spans puts pieces side by side. Few among many must still be seen, so the largest piece gives the rest what they need.
func spans(pieces []span, counts []int) []span {
	largest, x := 0, int64(0)
	for i := range pieces {
		if pieces[i].Width > pieces[largest].Width {
			largest = i
		}
	}
	var out []span
	for i := range pieces {
		if need := seen - pieces[i].Width; counts[i] > 0 && need > 0 {
			pieces[i].Width += need
			pieces[largest].Width -= need
		}
		if counts[i] == 0 {
			pieces[largest].Width += pieces[i].Width
			pieces[i].Width = 0
		}
	}
	for _, p := range pieces {
		if p.Width > 0 {
			p.X = x
			x += p.Width
			out = append(out, p)
		}
	}
	return out
}

type share struct {
	label               string
	agree, wait, differ int
}

func shares(counts []recon.ClassCount) []share {
	var out []share
	for _, c := range counts {
		label := provider(c.Provider)
		if len(out) == 0 || out[len(out)-1].label != label {
			out = append(out, share{label: label})
		}
		p := &out[len(out)-1]
		switch {
		case c.Class == recon.Waiting:
			p.wait += c.Items
		case c.Class.Difference():
			p.differ += c.Items
		default:
			p.agree += c.Items
		}
	}
	return out
}

// percent is cut, not rounded: 100.0 % means all.
func percent(n, all int) string {
	tenths := part(big.NewInt(int64(n)), big.NewInt(int64(all)), 1000)
	return withTenth(tenths) + " %"
}

func withTenth(tenths int64) string {
	return count(int(tenths/10)) + "." + count(int(tenths%10))
}
