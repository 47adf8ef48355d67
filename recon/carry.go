package recon

import (
	"fmt"
	"strings"
	"time"

	"creditonce/credit"
)

// Reconciler is who closes and reopens the tasks of discrepancies where no person does.
const Reconciler = "reconciliation"

// DiscrepancyState says what became of a discrepancy.
type DiscrepancyState string

// The states of a discrepancy. Exactly an open one has an open task.
const (
	DiscrepancyOpen      DiscrepancyState = "open"
	DiscrepancyExplained DiscrepancyState = "explained" // a complete run does not show it any more
	DiscrepancyAccepted  DiscrepancyState = "accepted"  // a person closed its task; it stays so as long as it shows the same
)

// Discrepancy is one difference across runs.
type Discrepancy struct {
	Key      Key              `json:"key"`
	State    DiscrepancyState `json:"state"`
	Subject  Subject          `json:"subject"`
	Evidence string           `json:"evidence"` // SHA-256 of what the newest run that showed it showed, hex; see [Evidence]
	Amounts  string           `json:"amounts"`  // the same, as far as it is money, for a person
	Task     credit.TaskID    `json:"task"`     // its task: there is one, which is opened again
	First    RunID            `json:"first,string"`
	Last     RunID            `json:"last,string"`           // the newest run that showed it
	Gone     RunID            `json:"gone,omitempty,string"` // the newest run that explained it; 0: none did
}

// Carrying is what is to be written about one discrepancy.
type Carrying struct {
	Discrepancy Discrepancy
	Task        *credit.Task // to be written; ID 0: a new one. nil: it stays as it is
	Did         CarryAct     // CarryNothing: nothing is to be written
}

// CarryAct says what became of a discrepancy's task.
type CarryAct int

// The acts.
const (
	CarryNothing CarryAct = iota
	CarryOpened
	CarryReopened
	CarryRefreshed // still there: the task shows what there is now
	CarryClosed
	CarryAccepted // still there as a person accepted it
	CarryForgot   // what a person accepted is gone: should it come back, it counts as new
)

// Carried decides about a difference that a run shows. prior is what is known of its key and task its task; both nil where there is none. An
// older run than the newest one that spoke of the key changes nothing, and the same run twice changes nothing more. at is UTC. It is pure.
func Carried(run Run, at time.Time, prior *Discrepancy, task *credit.Task, item Item) Carrying {
	if !item.Key.Class.Difference() || (prior != nil && (prior.Last > run.ID || prior.Gone > run.ID)) {
		return Carrying{}
	}
	evidence, amounts := Evidence(item), AmountsOf(item)
	now := Discrepancy{
		Key: item.Key, State: DiscrepancyOpen, Subject: item.Subject(), Evidence: evidence, Amounts: amounts, First: run.ID, Last: run.ID,
	}
	if prior == nil || task == nil {
		fresh := taskOf(item)
		fresh.OpenedAt = at
		return Carrying{now, &fresh, CarryOpened}
	}
	now.First, now.Gone, now.Task = prior.First, prior.Gone, prior.Task
	after := *task
	switch {
	case prior.State == DiscrepancyAccepted && prior.Evidence == evidence:
		now.State = DiscrepancyAccepted
		return Carrying{now, nil, CarryAccepted}
	case task.IsOpen() && prior.Evidence == evidence:
		return Carrying{now, nil, CarryRefreshed}
	case task.IsOpen():
		after = shows(after, item)
		if prior.Amounts != amounts {
			after = noted(after, at, fmt.Sprintf("the amounts changed (run %d): %s; before: %s", run.ID, amounts, prior.Amounts))
		}
		return Carrying{now, &after, CarryRefreshed}
	}
	return Carrying{now, reopened(run, at, *prior, after, item), CarryReopened}
}

// reopened opens the task again and says when it was closed and why it is back.
func reopened(run Run, at time.Time, prior Discrepancy, t credit.Task, item Item) *credit.Task {
	why := "it came back"
	if prior.State == DiscrepancyAccepted {
		why = "it does not show any more what was accepted: " + AmountsOf(item) + "; before: " + prior.Amounts
	}
	text := fmt.Sprintf("closed at %s by %s (%s), open again at run %d: %s", timeOf(t.ClosedAt), t.ClosedBy, t.Reason, run.ID, why)
	t.ClosedAt, t.ClosedBy, t.Reason = time.Time{}, "", ""
	t = noted(shows(t, item), at, text)
	return &t
}

// Gone decides about a discrepancy that a run does not show. rows are the credit rows that it is about, as they are now. Only a complete run
// that looked at all that the discrepancy rests on says anything by not showing it. at is UTC. It is pure.
func Gone(run Run, at time.Time, prior Discrepancy, task credit.Task, rows []credit.Credit) Carrying {
	if !prior.judgedBy(run) {
		return Carrying{}
	}
	now := prior
	now.State, now.Gone = DiscrepancyExplained, run.ID
	if !task.IsOpen() {
		return Carrying{now, nil, CarryForgot}
	}
	task.ClosedAt, task.ClosedBy = at, Reconciler
	task.Reason = fmt.Sprintf("run %d compared %s again, with complete lists, and there is no difference any more%s", run.ID, daysText(run), rowsNow(rows))
	return Carrying{now, &task, CarryClosed}
}

func daysText(run Run) string {
	if run.First == run.Last {
		return "the day " + string(run.First)
	}
	return "the days " + string(run.First) + " to " + string(run.Last)
}

// rowsNow says in a few words how the rows stand that explain a difference.
func rowsNow(rows []credit.Credit) string {
	var out []string
	for _, c := range rows[:min(len(rows), 5)] {
		text := fmt.Sprintf("credit %d is %s", c.ID, c.State)
		if c.Amount.IsSet() {
			text += " over " + c.Amount.String()
		}
		if c.Ticket != 0 {
			text += fmt.Sprintf(" with deal %d", c.Ticket)
		}
		out = append(out, text)
	}
	if len(out) == 0 {
		return ""
	}
	return ": " + strings.Join(out, ", ")
}

// mostNotes is the most notes of a task; beyond it the oldest one of reconciliation makes room.
const mostNotes = 200

func noted(t credit.Task, at time.Time, text string) credit.Task {
	notes := make([]credit.TaskNote, 0, len(t.Notes)+1)
	drop := len(t.Notes) >= mostNotes
	for _, n := range t.Notes {
		if drop && n.By == Reconciler {
			drop = false
			continue
		}
		notes = append(notes, n)
	}
	t.Notes = append(notes, credit.TaskNote{At: at, By: Reconciler, Text: validText(text)})
	return t
}

// Accept is what becomes of a discrepancy when a person closes its task. It is pure; false: nothing does.
func Accept(d Discrepancy, t credit.Task) (Discrepancy, bool) {
	if d.State != DiscrepancyOpen || d.Task != t.ID || t.IsOpen() || t.ClosedBy == Reconciler {
		return d, false
	}
	d.State = DiscrepancyAccepted
	return d, true
}
