package recon

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"creditonce/credit"
)

// MostCarried is how many differences of one run get tasks. More are no list that people work off: most often one mistake made them all, as a
// mapping that reads the wrong column, and a task for each would fill the store.
const MostCarried = 500

// TooMany tells that the run has more differences than get tasks.
func (r Run) TooMany() bool { return r.Differences() > MostCarried }

// carry opens, refreshes and closes the tasks of the run's differences. Of too many it takes a share of each class and closes nothing: what
// was left out is not gone. It counts the differences that a person has accepted.
func (r *Runner) carry(ctx context.Context, run Run, before standing) (accepted int, err error) {
	left := shares(run.Outcome.Classes, MostCarried)
	for after := 0; ; {
		items, next, err := r.Book.Findings(ctx, run.ID, after, pieceOfItems)
		if err != nil {
			return accepted, err
		}
		var differences []Item
		for _, i := range items {
			if left[i.Key.Class] > 0 {
				left[i.Key.Class]--
				differences = append(differences, i)
			}
		}
		if len(differences) > 0 {
			did, err := r.Book.Carry(ctx, run, differences)
			if err != nil {
				return accepted, err
			}
			r.Step.at(ctx, StepTasksCarried)
			accepted += did.Accepted
		}
		if next == 0 {
			break
		}
		after = next
	}
	if run.TooMany() {
		return accepted, nil
	}
	spared, err := r.spared(ctx, run, before)
	if err != nil {
		return accepted, err
	}
	_, err = r.Book.CarryGone(ctx, run, spared)
	return accepted, err
}

// shares divides most between the classes of differences: those with the fewest items first, so that a mass of one class hides no other; of
// equal ones the graver first.
func shares(classes map[Class]int, most int) map[Class]int {
	var order []Class
	for _, c := range Classes() { // the gravest first
		if c.Difference() && classes[c] > 0 {
			order = append(order, c)
		}
	}
	slices.SortStableFunc(order, func(a, b Class) int { return cmp.Compare(classes[a], classes[b]) })
	out := map[Class]int{}
	for _, c := range order {
		out[c] = min(classes[c], most)
		most -= out[c]
	}
	return out
}

// manyTask opens the task about a run with too many differences; a complete run with fewer closes it.
func (r *Runner) manyTask(ctx context.Context, run Run) error {
	t := credit.Task{Kind: credit.TaskReconMany, Entity: reconEntity, OpenedAt: run.Finished}
	n := run.Differences()
	switch {
	case run.TooMany():
		t.Summary = fmt.Sprintf("run %d of %s has %s differences, tasks were opened for %d of them, and none was closed", run.ID, daysText(run), grouped(n), MostCarried)
		t.Next = "look at the report (`creditonce recon report`): so many differences mostly have one cause, as a payment column or a unit in the mapping " +
			"that is not right, or the clock rule of an MT5 server. Mend it and run again; this task closes with the next complete run that has fewer"
		for _, c := range Classes() {
			if c.Difference() && run.Outcome.Classes[c] > 0 {
				if len(t.Records) == 0 {
					t.Records = []credit.Record{{Source: "run"}}
				}
				t.Records[0].Fields = append(t.Records[0].Fields, credit.Field{Name: string(c), Value: grouped(run.Outcome.Classes[c])})
			}
		}
		return r.Book.RunTask(ctx, t, nil)
	case run.State != RunComplete:
		return nil // what it has not read may be what there was too much of
	}
	return r.Book.RunTask(ctx, t, &credit.TaskClose{
		Key: t.Key(), By: byReconciliation, Reason: fmt.Sprintf("run %d of %s is complete and has %s", run.ID, daysText(run), plural(n, "difference", "differences")), At: run.Finished,
	})
}

// grouped is a number for people: 264,600.
func grouped(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
