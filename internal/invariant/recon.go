package invariant

import (
	"fmt"

	"creditonce/credit"
	"creditonce/recon"
)

// Recon is what reconciliation stored, all of it; in a world that is a part, a selection in which nothing is torn from what it is judged by:
// differences with their tasks, tasks with their differences and the tasks of those, lines with all lines of their movements and the statements
// of them, runs with all of their items.
type Recon struct {
	Statements    []recon.Imported // finished ones, in any order
	Lines         []recon.KeptLine // by number
	Runs          []ReconRun       // finished ones, by number
	Discrepancies []recon.Discrepancy

	Repeats []Repeat                  // only in a part: the repeats of Lines, as far as Statements made them
	Leaning []recon.StatementID       // only in a part: the statements that are here with all that they lean on
	Own     map[recon.StatementID]int // only in a part: how many lines a statement has, for those whose lines were counted
}

// Repeat is a line of an earlier statement that a statement repeats.
type Repeat struct {
	Statement recon.StatementID
	Line      recon.LineID
}

// ReconRun is a finished run with its stored items; none where it was purged. Tally may stand for the items, which may be too many to hold.
type ReconRun struct {
	Run   recon.Run
	Items []recon.Item
	Tally *Tally // of all items; nil: Items has them
}

func reconRules() []Invariant {
	return []Invariant{
		{"I-R1", "a difference between the three lists has one task for life, which closes and opens again: never a second one", Tasks, oneTask},
		{"I-R2", "a difference is open exactly as long as its task is; who closed it said why, and what a person accepted a person has closed", Tasks, differencesHaveTasks},
		{"I-R3", "a run's items are all there, as many of each class as it says, and its totals are exactly what the items explain", 0, runsAddUp},
		{"I-R4", "a settlement line counts once, and only as part of a statement that was imported whole", 0, linesCountOnce},
	}
}

// differences are the kinds of tasks that stand for a difference between the lists.
var differences = map[credit.TaskKind]bool{
	"duplicate_reference": true, "wrong_login": true, "wrong_amount": true, "wrong_currency": true, "failed_but_deal": true, "cancelled_but_deal": true,
	"deal_without_row": true, "damaged_reference": true, "done_without_deal": true, "settled_without_credit": true, "deal_without_reference": true,
	"reversal_missing": true, "cancelled_not_refunded": true, "payout_difference": true, "late": true,
}

func oneTask(v *view) {
	if v.w.Recon == nil {
		return
	}
	first := map[credit.TaskKey]credit.TaskID{}
	for i := range v.w.Tasks {
		t := &v.w.Tasks[i]
		if !differences[t.Kind] {
			continue
		}
		k := credit.TaskKey{Kind: t.Kind, Entity: t.Entity}
		if other, twice := first[k]; twice {
			v.find(nil, "tasks %d and %d are both about %s of %s", other, t.ID, t.Kind, t.Entity)
			continue
		}
		first[k] = t.ID
	}
}

func differencesHaveTasks(v *view) {
	if v.w.Recon == nil {
		return
	}
	byID := map[credit.TaskID]*credit.Task{}
	for i := range v.w.Tasks {
		byID[v.w.Tasks[i].ID] = &v.w.Tasks[i]
	}
	taken := map[credit.TaskID]bool{}
	for i := range v.w.Recon.Discrepancies {
		d := &v.w.Recon.Discrepancies[i]
		t := byID[d.Task]
		if t == nil || string(t.Kind) != string(d.Key.Class) || t.Entity != d.Key.Entity {
			v.find(nil, "%s of %s has no task of its own, it names task %d", d.Key.Class, d.Key.Entity, d.Task)
			continue
		}
		taken[t.ID] = true
		open := t.ClosedAt.IsZero()
		switch {
		case open != (d.State == "open"):
			v.find(nil, "%s of %s is %s, and its task %d is closed by %q at %s", d.Key.Class, d.Key.Entity, d.State, t.ID, t.ClosedBy, t.ClosedAt)
		case d.State == "accepted" && (t.ClosedBy == "" || t.ClosedBy == "reconciliation"):
			v.find(nil, "%s of %s is accepted, and no person has closed its task %d", d.Key.Class, d.Key.Entity, t.ID)
		}
	}
	for i := range v.w.Tasks {
		if t := &v.w.Tasks[i]; differences[t.Kind] && t.ClosedAt.IsZero() && !taken[t.ID] {
			v.find(nil, "task %d (%s, %s) is open, and no difference has it", t.ID, t.Kind, t.Entity)
		}
	}
}

func runsAddUp(v *view) {
	if v.w.Recon == nil {
		return
	}
	for i := range v.w.Recon.Runs {
		r := &v.w.Recon.Runs[i]
		if !r.Run.Purged {
			v.itemsOf(r)
		}
		for j := range r.Run.Outcome.Rolls {
			v.roll(r, &r.Run.Outcome.Rolls[j])
		}
	}
}

// itemsOf compares the stored items of a run with what it counts.
func (v *view) itemsOf(r *ReconRun) {
	have := r.tally()
	if have.items != r.Run.Findings {
		v.find(nil, "run %d says that it has %d items, %d are stored", r.Run.ID, r.Run.Findings, have.items)
	}
	for _, k := range have.twice {
		v.find(nil, "run %d has two items for %s of %s", r.Run.ID, k.Class, k.Entity)
	}
	for _, class := range recon.Classes() {
		if said := r.Run.Outcome.Classes[class]; class != "matched" && said != have.classes[class] {
			v.find(nil, "run %d counts %d items as %s, %d are stored", r.Run.ID, said, class, have.classes[class])
		}
	}
}

// roll checks one roll-forward: each side adds up, and what they differ by is what the items add.
func (v *view) roll(r *ReconRun, roll *recon.Roll) {
	name := fmt.Sprintf("run %d, %s %s %s", r.Run.ID, roll.Side, roll.Provider, roll.Currency)
	for i, m := range []recon.Movement{roll.Ours, roll.Theirs} {
		side := [...]string{"our", "their"}[i]
		if want := total(m.Opening, m.Credited, m.Refunded.Neg(), m.ChargedBack.Neg(), m.Withdrawn.Neg()); !sameMoney(want, m.Closing) {
			v.find(nil, "%s: %s side moves to %s, its closing is %s", name, side, want, m.Closing)
		}
	}
	if off := total(roll.Theirs.Closing, roll.Ours.Closing.Neg()); !sameMoney(off, roll.Listed) {
		v.find(nil, "%s: the sides differ by %s, the items explain %s", name, off, roll.Listed)
	}
	if r.Run.Purged {
		return
	}
	if sum := r.tally().sums[rollOf{roll.Side, roll.Provider, roll.Currency}]; !sameMoney(sum, roll.Listed) {
		v.find(nil, "%s: the stored items add up to %s, the totals say %s", name, sum, roll.Listed)
	}
}

// total adds amounts of one currency, whatever their exponents.
func total(amounts ...credit.Amount) credit.Amount {
	var out credit.Amount
	for _, a := range amounts {
		if !a.IsSet() {
			continue
		}
		wide, err := credit.NewAmount(fine(a), a.Currency(), credit.MaxExponent)
		if err != nil {
			return credit.Amount{}
		}
		if out, err = out.Add(wide); err != nil {
			return credit.Amount{}
		}
	}
	return out
}

// sameMoney is same, and takes no amount for nothing.
func sameMoney(a, b credit.Amount) bool {
	if a.IsZero() && b.IsZero() {
		return true
	}
	return a.IsSet() && b.IsSet() && same(a, b)
}
