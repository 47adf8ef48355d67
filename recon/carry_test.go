package recon

import (
	"strings"
	"testing"
	"time"

	"creditonce/credit"
)

var carryTime = time.Date(2026, 5, 5, 2, 0, 0, 0, time.UTC)

func carryMoney(minor int64) credit.Amount {
	a, err := credit.Minor(minor, "USD", 2)
	if err != nil {
		panic(err)
	}
	return a
}

// carryRun is a run with whole lists over one day.
func carryRun(id RunID) Run {
	return Run{
		ID: id, First: "2026-05-04", Last: "2026-05-04", Until: carryTime, State: RunComplete,
		Sources: []Source{{List: ListSettlements, Entity: "psp", Complete: true}, {List: ListRows, Complete: true}},
	}
}

func carryItem(minor int64) Item {
	return Item{
		Key: Key{SettledWithoutCredit, "payment/psp/acct_1/pi_1"}, Side: SideProvider, Provider: "psp", Off: carryMoney(minor), Why: "settled and not credited",
		Lines: []Line{{Type: LinePayment, Payment: "pi_1", Digest: "d1", Row: 3, Gross: carryMoney(minor)}},
	}
}

// carryStory is one discrepancy and its task as runs go by.
type carryStory struct {
	d *Discrepancy
	t *credit.Task
}

func (s *carryStory) keep(c Carrying) CarryAct {
	if c.Did != CarryNothing {
		s.d = &c.Discrepancy
	}
	if c.Task != nil {
		t := *c.Task
		t.ID = 7
		s.t, s.d.Task = &t, 7
	}
	return c.Did
}

func (s *carryStory) shows(run RunID, minor int64) CarryAct {
	return s.keep(Carried(carryRun(run), carryTime, s.d, s.t, carryItem(minor)))
}

func (s *carryStory) gone(r Run, rows ...credit.Credit) CarryAct {
	return s.keep(Gone(r, carryTime, *s.d, *s.t, rows))
}

func (s *carryStory) accept(t *testing.T) {
	t.Helper()
	s.t.ClosedAt, s.t.ClosedBy, s.t.Reason = carryTime, "oscar", "known"
	d, ok := Accept(*s.d, *s.t)
	if !ok {
		t.Fatal("a person's close is no word")
	}
	s.d = &d
}

func TestCarried_OneTaskFromRunToRun(t *testing.T) {
	t.Parallel()
	var s carryStory
	want := func(step string, got, want CarryAct) {
		t.Helper()
		if got != want {
			t.Errorf("%s: act %d, want %d", step, got, want)
		}
	}
	want("new", s.shows(1, 500), CarryOpened)
	want("the same", s.shows(2, 500), CarryRefreshed)
	want("an older run", s.shows(1, 900), CarryNothing)
	want("other amounts", s.shows(3, 501), CarryRefreshed)
	if n := s.t.Notes; len(n) != 1 || !strings.Contains(n[0].Text, "5.01 USD") || !strings.Contains(n[0].Text, "before: provider 5.00 USD") {
		t.Errorf("notes %+v", n)
	}
	want("not shown by the run that showed it", s.gone(carryRun(3)), CarryNothing)
	blind := carryRun(4)
	blind.Sources[0].Complete = false
	want("not looked at", s.gone(blind), CarryNothing)
	blind = carryRun(4)
	blind.State = RunIncomplete
	want("an incomplete run", s.gone(blind), CarryNothing)
	want("explained", s.gone(carryRun(4), credit.Credit{ID: 9, State: credit.Done, Ticket: 44}), CarryClosed)
	if s.t.ClosedBy != Reconciler || !strings.Contains(s.t.Reason, "run 4") || !strings.Contains(s.t.Reason, "credit 9 is done with deal 44") {
		t.Errorf("closed by %s: %s", s.t.ClosedBy, s.t.Reason)
	}
	want("explained once", s.gone(carryRun(5)), CarryNothing)
	want("a run older than the explanation", s.shows(3, 501), CarryNothing)
	want("back", s.shows(6, 501), CarryReopened)
	if !s.t.IsOpen() || s.d.First != 1 || s.d.Last != 6 {
		t.Errorf("task %+v, discrepancy %+v", s.t, s.d)
	}
	s.accept(t)
	want("accepted, the same", s.shows(7, 501), CarryAccepted)
	want("accepted, something else", s.shows(8, 502), CarryReopened)
	s.accept(t)
	want("accepted and gone", s.gone(carryRun(9)), CarryForgot)
	want("accepted, gone and back", s.shows(10, 502), CarryReopened)
}

func TestCarried_NoDifferenceOpensNothing(t *testing.T) {
	t.Parallel()
	for _, class := range []Class{Matched, MatchedWithin, Waiting} {
		i := carryItem(500)
		i.Key.Class = class
		if c := Carried(carryRun(1), carryTime, nil, nil, i); c.Did != CarryNothing {
			t.Errorf("%s: act %d", class, c.Did)
		}
	}
}

// Every class of a difference has a kind of task of its own, and tells a person what to do.
func TestEveryDifference_HasATask(t *testing.T) {
	t.Parallel()
	kinds := map[credit.TaskKind]bool{}
	for _, k := range credit.TaskKinds() {
		kinds[k] = true
	}
	for _, class := range Classes() {
		if class.Difference() && (!kinds[credit.TaskKind(class)] || whatNext[class] == "") {
			t.Errorf("%s: kind known %v, next %q", class, kinds[credit.TaskKind(class)], whatNext[class])
		}
		k := Key{class, "credit/1"}
		if back, ok := KeyOfTask(credit.Task{Kind: TaskKeyOf(k).Kind, Entity: k.Entity}); ok != class.Difference() || (ok && back != k) {
			t.Errorf("%s: the key of its task leads to %v, %v", class, back, ok)
		}
	}
}

func TestEvidence_ChangesWithFactsAlone(t *testing.T) {
	t.Parallel()
	first := carryItem(500)
	same := carryItem(500)
	same.Why, same.At, same.Lines[0].Digest, same.Lines[0].Row = "3 days old", carryTime, "d2", 9
	if Evidence(first) != Evidence(same) {
		t.Error("a re-issued statement or a further day is news")
	}
	for name, change := range map[string]func(*Item){
		"amount": func(i *Item) { i.Lines[0].Gross = carryMoney(501) },
		"off":    func(i *Item) { i.Off = carryMoney(501) },
		"beside": func(i *Item) { i.Beside = []credit.Amount{carryMoney(1)} },
		"row":    func(i *Item) { i.Rows = []Row{{ID: 1, State: credit.Done}} },
		"deal":   func(i *Item) { i.Deals = []Deal{{Deal: credit.Deal{Ticket: 1}}} },
		"type":   func(i *Item) { i.Lines[0].Type = LineRefund },
	} {
		other := carryItem(500)
		change(&other)
		if Evidence(first) == Evidence(other) {
			t.Errorf("%s: the evidence stays", name)
		}
	}
}

func TestNotes_MakeRoomForTheNewestOfReconciliation(t *testing.T) {
	t.Parallel()
	task := credit.Task{Notes: []credit.TaskNote{{By: "anna", Text: "mine"}}}
	for range mostNotes + 20 {
		task = noted(task, carryTime, "again")
	}
	if len(task.Notes) != mostNotes || task.Notes[0].By != "anna" {
		t.Errorf("%d notes, the first by %s", len(task.Notes), task.Notes[0].By)
	}
}

func TestEntityParts_AreThoseThatWereWritten(t *testing.T) {
	t.Parallel()
	kind, parts := EntityParts(paymentEntity("psp", "acct%2F1", "pi/1%"))
	if kind != "payment" || len(parts) != 3 || parts[1] != "acct%2F1" || parts[2] != "pi/1%" {
		t.Errorf("%s %q", kind, parts)
	}
}

func TestStatementTask_NamesSumsRowsAndConflicts(t *testing.T) {
	t.Parallel()
	im := Imported{ID: 3, Statement: Statement{Digest: "d1", Name: "may.csv", Provider: Provider{Label: "psp", Kind: "psp", Account: "acct_1"}}}
	if _, asks := StatementTask(im, carryTime); asks {
		t.Error("a sound statement asks")
	}
	im.Statement.Totals = []StatedTotal{{Name: "payout po_1", Stated: carryMoney(500), Summed: carryMoney(499)}}
	im.Statement.Problems = []Problem{{Row: 9, Text: "the type \"x\" is not known"}}
	for n := range 30 {
		im.Conflicts = append(im.Conflicts, Conflict{Row: n + 20, Earlier: "d0", Line: 4, Text: "gross was 1.00 USD, now 2.00 USD"})
	}
	task, asks := StatementTask(im, carryTime)
	fields := task.Records[0].Fields
	if !asks || task.Kind != credit.TaskStatement || task.Summary != "statement may.csv of psp: 1 row needs an answer, 30 rows differ from an earlier statement, 1 sum does not agree" {
		t.Errorf("%v %s", asks, task.Summary)
	}
	if len(fields) != mostStatementRows+3 || fields[len(fields)-1].Value != "12" || fields[2].Value != "stated 5.00 USD, the lines sum up to 4.99 USD" {
		t.Errorf("fields %+v", fields)
	}
}
