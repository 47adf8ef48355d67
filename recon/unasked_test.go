package recon

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestMatch_CountsTheCreditsThatAreNotAskedForTheirLine(t *testing.T) {
	t.Parallel()
	rules := testRules()
	rules.LinesFrom[cards] = noon
	var l lists
	l.credited("pi_1", "10")
	paidBefore := func(r *Row) { r.PaidAt = noon.Add(-time.Second) }
	l.credited("pi_2", "20", paidBefore)
	l.credited("pi_3", "30", paidBefore, func(r *Row) { r.ClaimedAt = begin.Add(-time.Second) }) // of the days before
	l.credited("pi_4", "40", paidBefore)
	l.line(LinePayment, "pi_4", "40") // there all the same
	items, out := compare(t, rules, l)
	if len(out.Unasked) != 1 || out.Unasked[0] != (Unasked{Provider: cards, From: noon, Days: 1, All: 2}) {
		t.Errorf("%+v", out.Unasked)
	}
	if out.Classes[Late]+out.Classes[Waiting] != 1 {
		t.Errorf("%v, %d items", out.Classes, len(items))
	}
	run := Run{Outcome: out, Sources: []Source{{List: ListSettlements, Entity: cards, Complete: true, Notes: []string{"first"}}, {List: ListSettlements, Entity: "other", Complete: true}, {List: ListRows}}}
	tellUnasked(&run, rules.LinesFrom)
	s := run.Sources[0]
	if !s.From.Equal(noon) || len(s.Notes) != 2 || !strings.HasSuffix(s.Notes[1], "payments of before are not asked for their line: 1 credit of these days, 2 in all") {
		t.Errorf("%+v", s)
	}
	if len(run.Sources[1].Notes) != 0 || !run.Sources[1].From.IsZero() {
		t.Errorf("%+v", run.Sources[1])
	}
}

func TestRun_NamesTheStatementsThatEndBeforeItsDays(t *testing.T) {
	t.Parallel()
	until := begin.AddDate(0, 0, 1)
	source := func(name string, complete bool, reaches time.Time) Source {
		return Source{List: ListSettlements, Name: name, Entity: name, Complete: complete, Reaches: reaches}
	}
	run := Run{Until: until, Sources: []Source{
		source("whole", true, until), source("short", true, until.Add(-26*time.Hour)), source("missing", false, until.Add(-200*time.Hour)), source("unlisted", true, time.Time{}),
		{List: ListDeals, Complete: true, Reaches: begin},
	}}
	if got := run.Behind(); !slices.Equal(got, []Reach{{"short", until.Add(-26 * time.Hour), 26 * time.Hour}}) {
		t.Errorf("%+v", got)
	}
}

// What the flow of before the cut-over credits is compared with nothing, so it is no payment that agrees: it is counted, and noted.
func TestMatch_PaymentsOfBeforeTheCutOverAreCountedAndAgreeWithNothing(t *testing.T) {
	t.Parallel()
	rules, l := testRules(), lists{}
	rules.PaysSince = noon.Add(2 * time.Hour)
	l.line(LinePayment, "pi_1", "100")
	l.line(LinePayment, "pi_2", "50", func(l *Line) { l.At = rules.PaysSince.Add(time.Hour) })
	l.credited("pi_3", "70")
	l.line(LinePayment, "pi_3", "70")
	items, out := compare(t, rules, l)
	if got, want := describe(items), "settled_without_credit "+pay+"pi_2 provider 50.00 USD\nmatched credit/1 provider\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if out.Before[cards] != 1 || out.Classes[Matched] != 1 {
		t.Errorf("before the cut-over %v, classes %v", out.Before, out.Classes)
	}
	run := Run{Sources: []Source{{List: ListSettlements, Entity: cards}, {List: ListRows, Entity: cards}}, Outcome: out}
	tellBefore(&run)
	want := "1 settled payment of before the cut-over is not compared: the flow before credits it"
	if len(run.Sources[0].Notes) != 1 || run.Sources[0].Notes[0] != want || len(run.Sources[1].Notes) != 0 {
		t.Errorf("the notes are %q and %q", run.Sources[0].Notes, run.Sources[1].Notes)
	}
}
