package invariant

import (
	"slices"
	"strings"

	"creditonce/credit"
)

func stateRules() []Invariant {
	return []Invariant{
		{"I-S1", "every stored move is a legal one (docs/state-machine.md) by one who may make it, and the history only grows and chains", Rows, historyHolds},
		{"I-S2", "unknown becomes pending on evidence alone, and never failed; claimed never becomes pending", Rows, neverBack},
		{"I-S3", "rows, deposits, events and indexes agree with each other", Rows, agrees},
		{"I-S4", "each discrepancy has one open task, and each open task a discrepancy; who closed one said why", Rows | Tasks, tasksFit},
		{"I-L1", "once all is quiet, each row is settled or waits with a task", Rows | Tasks, settled},
		{"I-L2", "found is accepted at once", Rows, foundAtOnce},
	}
}

// historyHolds judges the entries that are new, and that the old ones are still there.
func historyHolds(v *view) {
	for i := range v.w.Rows {
		r, s := &v.w.Rows[i], v.seen[i]
		if len(r.History) < s.entries {
			v.row(i, "credit %d had %d history entries, now it has %d", r.Credit.ID, s.entries, len(r.History))
			s.state, s.head = r.Credit.State, r.Credit.Head
			continue
		}
		for n := s.from; n < len(r.History); n++ {
			v.entry(i, n)
		}
		if c := &r.Credit; c.State != s.state || c.Entries != len(r.History) || c.Head != s.head {
			v.row(i, "credit %d is %s after %d entries, its history ends in %s after %d, or with another digest", c.ID, c.State, c.Entries, s.state, len(r.History))
			s.state, s.head = c.State, c.Head // told once
		}
	}
}

func (v *view) entry(i, n int) {
	s, e := v.seen[i], &v.w.Rows[i].History[n]
	switch by := moves[step{e.From, e.To}]; {
	case e.Seq != n+1 || e.Previous != s.head:
		v.row(i, "history entry %d of credit %d does not follow the one before", e.Seq, e.Credit)
	case e.From != s.state:
		v.row(i, "history entry %d of credit %d leaves %s, the row was %s", e.Seq, e.Credit, e.From, s.state)
	case e.From == e.To || isNeverBack(e):
	case !slices.Contains(by, e.By):
		v.row(i, "history entry %d of credit %d: %s moved %q to %q", e.Seq, e.Credit, e.By, e.From, e.To)
	}
	if e.Actor == "" || e.Move == "" || e.At.IsZero() {
		v.row(i, "history entry %d of credit %d lacks its actor, its name or its time", e.Seq, e.Credit)
	}
	s.state, s.head = e.To, digest(*e)
}

// isNeverBack tells the moves that I-S2 speaks of.
func isNeverBack(e *credit.Entry) bool {
	return (e.From == "claimed" && e.To == "pending") || (e.From == "unknown" && (e.To == "failed" || e.To == "pending"))
}

func neverBack(v *view) {
	for i := range v.w.Rows {
		h := v.w.Rows[i].History
		for n := v.seen[i].from; n < len(h); n++ {
			e := &h[n]
			switch {
			case !isNeverBack(e):
			case e.To == "failed", e.From == "claimed":
				v.row(i, "history entry %d of credit %d: %s moved %q to %q", e.Seq, e.Credit, e.By, e.From, e.To)
			case e.By == "resolver": // on an absence, which I-M8 judges
			case e.By != "worker" || n == 0 || !unsent(&h[n-1], e):
				v.row(i, "history entry %d of credit %d: %s put it back to pending, and nothing shows that its call was not sent", e.Seq, e.Credit, e.By)
			}
		}
	}
}

// unsent tells that the entry before put down, in the same process, that not one byte of the call left.
func unsent(before, e *credit.Entry) bool {
	ev := before.Evidence
	return before.From == "claimed" && before.To == "unknown" && ev != nil && ev.Call != nil && ev.Call.Outcome == "not_sent" &&
		e.Evidence != nil && e.Evidence.Process != "" && e.Evidence.Process == ev.Call.Ended.Process
}

func agrees(v *view) {
	for _, f := range v.w.Findings {
		v.find(nil, "the store's verification: %s", f)
	}
	for i := range v.w.Rows {
		c := &v.w.Rows[i].Credit
		if (c.State == "held") != (len(c.Holds) > 0) {
			v.row(i, "credit %d is %s with the holds %v", c.ID, c.State, c.Holds)
		}
		if c.Deposit == "" && (c.Login != 0 || c.Amount.IsSet() || c.Reference != "" || (c.State != "held" && c.State != "cancelled")) {
			v.row(i, "credit %d is %s and has a login, an amount or a reference, or has none and is not held, without a deposit", c.ID, c.State)
		}
	}
	if v.w.Part {
		return
	}
	for i := range v.w.Deposits {
		d := &v.w.Deposits[i]
		if d.Credit == 0 {
			continue
		}
		if row, ok := v.byID[d.Credit]; !ok || v.w.Rows[row].Credit.Deposit != d.Code {
			v.find([]credit.ID{d.Credit}, "deposit %s is taken by credit %d, which is not for it", d.Code, d.Credit)
		}
	}
	for i := range v.w.Events {
		for _, id := range v.w.Events[i].Rows {
			if _, ok := v.byID[id]; !ok {
				v.find([]credit.ID{id}, "event %d names credit %d, which does not exist", v.w.Events[i].ID, id)
			}
		}
	}
}

// stands are the kinds of tasks that stand for a row's state.
var stands = map[credit.TaskKind]credit.State{
	"held": "held", "failed": "failed", "stuck": "pending", "no_answer": "unknown", "conflict": "unknown", "handed_over": "unknown",
}

func tasksFit(v *view) {
	openOnes := make(map[credit.TaskKey]credit.TaskID, len(v.open))
	for i := range v.w.Tasks {
		t := &v.w.Tasks[i]
		id := rowOf(t.Entity)
		about := v.ids(-1)
		if id != 0 {
			about = []credit.ID{id}
		}
		if !t.ClosedAt.IsZero() {
			if t.ClosedBy == "" || t.Reason == "" {
				v.find(about, "task %d (%s, %s) is closed, and nobody says by whom or why", t.ID, t.Kind, t.Entity)
			}
			continue
		}
		k := credit.TaskKey{Kind: t.Kind, Entity: t.Entity}
		if other, twice := openOnes[k]; twice {
			v.find(about, "tasks %d and %d are both open for %s, %s", other, t.ID, t.Kind, t.Entity)
		}
		openOnes[k] = t.ID
		row, known := v.byID[id]
		switch state, ok := stands[t.Kind]; {
		case strings.HasPrefix(t.Entity, "credit/") && !known && !v.w.Part:
			v.find(about, "task %d (%s) is about %s, which does not exist", t.ID, t.Kind, t.Entity)
		case known && ok && v.w.Rows[row].Credit.State != state:
			v.row(row, "task %d (%s) is open, and credit %d is %s", t.ID, t.Kind, id, v.w.Rows[row].Credit.State)
		}
	}
	for i := range v.w.Rows {
		c := &v.w.Rows[i].Credit
		if kind := wanted(c); kind != "" && !v.isOpen(kind, c.ID) {
			v.row(i, "credit %d is %s with the holds %v, and no task %s is open", c.ID, c.State, c.Holds, kind)
		}
	}
}

// wanted is the task that a row must have at every moment; empty: none. A row from before the cut-over, one that was born
// after a restore and only waits for its release, and one within the grace of a missing deposit have none.
func wanted(c *credit.Credit) credit.TaskKind {
	switch c.State {
	case "failed":
		return "failed"
	case "unknown":
		if c.HandedOver {
			return "handed_over"
		}
	case "held":
		own := 0 // reasons beside those
		for _, h := range c.Holds {
			if h != "no_deposit" && (h != "restored" || c.Restored) {
				own++
			}
		}
		if own > 0 && !holds(c, "pre_cutover") {
			return "held"
		}
	default:
	}
	return ""
}

func (v *view) isOpen(kind credit.TaskKind, id credit.ID) bool {
	_, ok := v.open[credit.TaskKey{Kind: kind, Entity: entity(id)}]
	return ok
}

func settled(v *view) {
	for i := range v.w.Rows {
		c := &v.w.Rows[i].Credit
		if c.State == "unknown" && c.NextAt.IsZero() {
			v.row(i, "credit %d is unknown and nobody will look again", c.ID)
		}
		if !v.w.Quiescent {
			continue
		}
		switch c.State {
		case "done", "cancelled":
		case "claimed":
			v.row(i, "credit %d is still claimed", c.ID)
		case "pending":
			if v.w.Settings.Mode == "live" && v.tasksOf[c.ID] == 0 {
				v.row(i, "credit %d is still pending, and no task says why", c.ID)
			}
		default:
			waits := holds(c, "pre_cutover") || (holds(c, "restored") && v.w.Settings.Mode == "hold")
			if v.tasksOf[c.ID] == 0 && !waits {
				v.row(i, "credit %d is still %s (%v), and no task asks anybody about it", c.ID, c.State, c.Holds)
			}
		}
	}
}

func foundAtOnce(v *view) {
	for i := range v.w.Rows {
		for _, e := range v.w.Rows[i].History[v.seen[i].from:] {
			loop := e.By == "worker" || e.By == "resolver"
			if loop && e.From == "unknown" && e.To == "unknown" && e.Evidence != nil && e.Evidence.Look != nil && e.Evidence.Look.Verdict == "found" {
				v.row(i, "history entry %d of credit %d found the deal and left the row unknown", e.Seq, e.Credit)
			}
		}
	}
}
