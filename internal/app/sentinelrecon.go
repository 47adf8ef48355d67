package app

import (
	"context"
	"errors"

	"creditonce/credit"
	"creditonce/internal/invariant"
	"creditonce/recon"
	"creditonce/store"
)

// What one look judges of the reconciliation: so little of each that it costs some ten milliseconds, whatever the store holds.
const (
	reconDifferences = 200
	reconTasks       = 500
	reconLines       = 200
	reconItems       = 4000    // of one run
	reconCounted     = 200_000 // lines of one statement that are counted; of a larger one the verification counts them
)

// reconExcerpts is what the sentinel reads of the reconciliation.
type reconExcerpts interface {
	DifferencesAfter(ctx context.Context, after recon.Key, limit int) (store.ReconExcerpt, recon.Key, error)
	DifferenceTasksAfter(ctx context.Context, after credit.TaskID, limit int) (store.ReconExcerpt, credit.TaskID, error)
	MovementsAfter(ctx context.Context, after recon.LineID, limit int) (store.ReconExcerpt, recon.LineID, error)
	StatementBelow(ctx context.Context, below recon.StatementID, most int) (x store.ReconExcerpt, id recon.StatementID, own int, counted bool, err error)
	Runs(ctx context.Context, below recon.RunID, limit int) ([]recon.Run, error)
	Findings(ctx context.Context, id recon.RunID, after, limit int) ([]recon.Item, int, error)
}

// reconRound goes round what reconciliation stored, a little at each look. Each piece is judged in one snapshot, or does not change any more.
type reconRound struct {
	difference recon.Key
	task       credit.TaskID
	line       recon.LineID
	statement  recon.StatementID // below it; 0: from the newest

	run   recon.RunID // below it; 0: from the newest
	under *recon.Run  // whose items are being read
	after int
	tally *invariant.Tally
}

// look judges the next piece of each list. What is damaged is a breach like every other; that list begins again then.
func (r *reconRound) look(ctx context.Context, book reconExcerpts) (out []credit.Breach, err error) {
	for _, part := range []func(context.Context, reconExcerpts) (*invariant.Recon, []credit.Task, error){r.differences, r.tasks, r.lines, r.statements, r.runs} {
		x, tasks, err := part(ctx, book)
		switch {
		case errors.Is(err, credit.ErrImpossible):
			out = append(out, damaged(err))
			continue
		case err != nil:
			return out, err
		case x == nil:
			continue
		}
		w := invariant.World{Missing: reconMissing, Part: true, Tasks: tasks, Recon: x}
		for _, v := range invariant.Check(w) {
			out = append(out, breachOf(v))
		}
	}
	return out, nil
}

// reconMissing are all lists but the tasks.
const reconMissing = invariant.NoJournals | invariant.Settings | invariant.Rows | invariant.Events | invariant.Deposits

func (r *reconRound) differences(ctx context.Context, book reconExcerpts) (*invariant.Recon, []credit.Task, error) {
	x, last, err := book.DifferencesAfter(ctx, r.difference, reconDifferences)
	r.difference = last
	return &invariant.Recon{Discrepancies: x.Discrepancies}, x.Tasks, err
}

func (r *reconRound) tasks(ctx context.Context, book reconExcerpts) (*invariant.Recon, []credit.Task, error) {
	x, last, err := book.DifferenceTasksAfter(ctx, r.task, reconTasks)
	r.task = last
	return &invariant.Recon{Discrepancies: x.Discrepancies}, x.Tasks, err
}

func (r *reconRound) lines(ctx context.Context, book reconExcerpts) (*invariant.Recon, []credit.Task, error) {
	x, last, err := book.MovementsAfter(ctx, r.line, reconLines)
	r.line = last
	out := &invariant.Recon{Statements: x.Statements, Lines: x.Lines}
	for _, p := range x.Repeats {
		out.Repeats = append(out.Repeats, invariant.Repeat(p))
	}
	return out, nil, err
}

func (r *reconRound) statements(ctx context.Context, book reconExcerpts) (*invariant.Recon, []credit.Task, error) {
	x, id, own, counted, err := book.StatementBelow(ctx, r.statement, reconCounted)
	r.statement = id
	if err != nil || id == 0 {
		return nil, nil, err
	}
	out := &invariant.Recon{Statements: x.Statements, Leaning: []recon.StatementID{id}, Own: map[recon.StatementID]int{}}
	if counted {
		out.Own[id] = own
	}
	return out, nil, nil
}

// runs goes on with the items of a run, which do not change any more; at their end the run is judged. A run whose items are removed meanwhile
// is taken up again without them.
func (r *reconRound) runs(ctx context.Context, book reconExcerpts) (*invariant.Recon, []credit.Task, error) {
	if r.under == nil {
		list, err := book.Runs(ctx, r.run, 1)
		if err != nil || len(list) == 0 {
			r.run = 0
			return nil, nil, err
		}
		r.under, r.after, r.tally = &list[0], 0, &invariant.Tally{}
	}
	run := *r.under
	end := run.Purged
	for read := 0; !end && read < reconItems; {
		items, next, err := book.Findings(ctx, run.ID, r.after, reconItems/4)
		if refusedAs(err, "purged") {
			r.under = nil
			return nil, nil, nil
		}
		if err != nil {
			r.under, r.run = nil, run.ID // the next one
			return nil, nil, err
		}
		for _, i := range items {
			r.tally.Add(i)
		}
		read, r.after, end = read+len(items), next, next == 0
	}
	if !end {
		return nil, nil, nil
	}
	tally := r.tally
	r.under, r.tally, r.run = nil, nil, run.ID
	return &invariant.Recon{Runs: []invariant.ReconRun{{Run: run, Tally: tally}}}, nil, nil
}
