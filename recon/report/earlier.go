package report

import (
	"fmt"
	"strings"
	"time"

	"creditonce/credit"
	"creditonce/recon"
)

// shortfalls say of each provider whose statements end before the compared days do how far they reach.
func shortfalls(r recon.Run) (out []string) {
	for _, b := range r.Behind() {
		out = append(out, fmt.Sprintf("The statements of %s reach %s, %s before the end: what was settled after that is not in this report.",
			provider(b.Provider), utc(b.At), behind(b.Behind)))
	}
	return out
}

// stretches say from when to when the statements of each provider are: a payment of before is not asked for its line, and one of later days
// may not have it yet.
func stretches(r recon.Run) string {
	var out []string
	for _, s := range r.Sources {
		if s.List != recon.ListSettlements || !s.Complete || s.Reaches.IsZero() {
			continue
		}
		text := provider(s.Name)
		if !s.From.IsZero() {
			text += " from " + utc(s.From)
		}
		out = append(out, text+" until "+utc(s.Reaches))
	}
	return strings.Join(out, "\n")
}

// rests are what rounding left between payouts and their lines.
func rests(r recon.Run) string {
	var out []string
	for _, x := range r.Outcome.Rests {
		out = append(out, fmt.Sprintf("%s left in %s of %s", money(x.Amount), many(x.Payouts, "payout", "payouts"), provider(x.Provider)))
	}
	return strings.Join(out, "\n")
}

// behind writes how much is missing, in whole hours or minutes.
func behind(d time.Duration) string {
	if d < time.Hour {
		return many(max(1, int(d.Minutes())), "minute", "minutes")
	}
	return many(int(d.Hours()), "hour", "hours")
}

// contradicted says which earlier report does not hold any more, and by what.
func contradicted(r recon.Run) (out []string) {
	for _, e := range r.Earlier {
		if changes := e.Unexpected(); len(changes) > 0 {
			out = append(out, fmt.Sprintf("%s counted %s that %s now: see what changed since.", firstUpper(reportOf(e)), many(len(changes), "sum", "sums"), isOr(len(changes))))
		}
	}
	return out
}

func isOr(n int) string {
	if n == 1 {
		return "is another one"
	}
	return "are others"
}

// reportOf names an earlier report.
func reportOf(e recon.Earlier) string {
	text := fmt.Sprintf("the report of %s (run %d", period(recon.Run{First: e.First, Last: e.Last}), e.Run)
	if e.SignedBy != "" {
		text += ", signed by " + clip(e.SignedBy, pageText)
	}
	return text + ")"
}

// sinceLine is one sum of an earlier report beside what it is now.
type sinceLine struct {
	Report, Provider, Currency, List, Before, Why string
	Then, Now, Off                                credit.Amount
}

// since are the sums of earlier reports that are other ones now.
func since(r recon.Run) (out []sinceLine) {
	for _, e := range r.Earlier {
		for _, c := range e.Changes {
			l := sinceLine{
				Report: firstUpper(reportOf(e)), Provider: provider(c.Provider), Currency: shown(c.Currency), List: sideOfList(c.List), Before: utc(c.Before),
				Then: c.Then, Now: c.Now, Off: minus(c.Now, c.Then),
			}
			for _, b := range c.Because {
				l.Why = appended(l.Why, clip(b, pageText))
			}
			if c.Expected {
				l.Why = appended(l.Why, "statements of later days may hold rows of before")
			}
			out = append(out, l)
		}
	}
	return out
}

func appended(text, more string) string {
	if text == "" {
		return more
	}
	return text + "; " + more
}

func sideOfList(l recon.ListName) string {
	if l == recon.ListRows {
		return "our rows"
	}
	return "statements"
}

// carriedLine is the way from a closing balance of the report before to the opening one.
type carriedLine struct {
	Provider, Currency, List string
	recon.CarriedOver
}

// carried are the closing balances of the report before that are not the opening ones of this report.
func carried(r recon.Run) (before string, out []carriedLine) {
	for _, e := range r.Earlier {
		for _, c := range e.Carried {
			before = reportOf(e)
			out = append(out, carriedLine{provider(c.Provider), shown(c.Currency), sideOfList(c.List), c})
		}
	}
	return before, out
}

// earlier prints what became of earlier reports.
func (t *terminal) earlier(r recon.Run) {
	if lines := since(r); len(lines) > 0 {
		t.line("")
		t.line("CHANGED SINCE EARLIER REPORTS")
		for _, l := range lines {
			text := fmt.Sprintf("%s: %s, %s, before %s: %s then, %s now (%s)", l.Report, l.Provider, l.List, l.Before, money(l.Then), money(l.Now), money(l.Off))
			t.wrap("  ", appended(text, l.Why))
		}
	}
	before, lines := carried(r)
	if len(lines) == 0 {
		return
	}
	cells := [][]string{{"FROM CLOSING TO OPENING", "", "CLOSING", "CHANGED", "CAME", "MOVED", "OPENING"}}
	for _, l := range lines {
		cells = append(cells, []string{
			l.Provider + " " + l.Currency, l.List, figure(l.Closing), figure(l.Changed), figure(l.Came), figure(l.Moved), figure(l.Opening),
		})
	}
	t.table(cells, 2)
	t.wrap("  ", "Closing is that of "+before+". "+carriedMeans)
}

// carriedMeans explains the columns.
const carriedMeans = "Changed: what it counted is another sum now. Came: of the time that its statements did not reach. Moved: counts at another time, since what belongs to it came or went."
