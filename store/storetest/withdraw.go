package storetest

import (
	"errors"
	"slices"
	"strings"
	"time"

	"creditonce/credit"
	"creditonce/internal/desk"
	"creditonce/recon"
	"creditonce/store"
)

// takeBack withdraws a statement at somebody's word, with the line in the audit log that belongs to it.
func (w *World) takeBack(id recon.StatementID, by desk.PersonID, reason string) error {
	q := desk.Query{Act: desk.Act{Kind: desk.ReconWithdraw, Subject: "recon"}, Now: w.Clock.Now()}
	_, err := w.act(q, func(_ desk.Found, c *desk.Changes) {
		c.Record.Person, c.Record.At, c.Record.Reason, c.TakesOut = by, q.Now, reason, uint64(id)
	})
	return err
}

// withdraw takes a statement back, which must be possible.
func (w *World) withdraw(id recon.StatementID) recon.Imported {
	w.T.Helper()
	w.Must(w.takeBack(id, "carl", "the unit was wrong"))
	list, err := w.B.Statements(w.T.Context(), recon.StatementQuery{Below: id + 1, Limit: 1})
	w.Must(err)
	return list[0]
}

// notWithdrawn wants a withdrawal to be refused, says why, and wants no line about it in the audit log.
func (w *World) notWithdrawn(id recon.StatementID, code, says string) {
	w.T.Helper()
	before, err := w.B.NewestRecords(w.T.Context(), 0, 1)
	w.Must(err)
	err = w.takeBack(id, "carl", "the unit was wrong")
	var refused *credit.RefusedError
	if !errors.As(err, &refused) || refused.Code != code || !strings.Contains(refused.Error(), says) {
		w.T.Errorf("withdraw statement %d: %v, want %s with %q", id, err, code, says)
	}
	if after, err := w.B.NewestRecords(w.T.Context(), 0, 1); err != nil || len(after) != len(before) || (len(after) > 0 && after[0].Seq != before[0].Seq) {
		w.T.Errorf("the refused withdrawal left a record: %+v, %v", after, err)
	}
}

// withdrawnStatementsCountNowhere: their lines are kept as evidence, the task closes, and the same file comes in again as a new one.
func withdrawnStatementsCountNowhere(w *World) {
	ctx := w.T.Context()
	id := w.Begin("d1")
	w.Must(w.B.AddLines(ctx, id, []recon.Line{Settled("d1", 2, "p1", 50000), Settled("d1", 3, "p2", 60000)}))
	err := w.takeBack(id, "carl", "too early")
	if !errors.Is(err, credit.ErrNotFound) {
		w.T.Errorf("an import under way was withdrawn: %v", err)
	}
	st := recon.Statement{Digest: "d1", Name: "d1.csv", Provider: Bank, Format: "mapped", Rows: 2, Problems: []recon.Problem{{Row: 3, Text: "unknown type"}}}
	_, err = w.B.FinishImport(ctx, id, st, "anna", w.Clock.Now())
	w.Must(err)
	kept := w.Import("d2", Settled("d2", 2, "p9", 100))
	if len(w.OpenTasks()) != 1 {
		w.T.Errorf("open tasks %+v", w.OpenTasks())
	}
	for _, fault := range [][2]string{{"", "r"}, {"carl", ""}, {"carl", strings.Repeat("x", 1001)}} {
		if err := w.takeBack(id, desk.PersonID(fault[0]), fault[1]); !errors.Is(err, credit.ErrInvalid) {
			w.T.Errorf("withdrawn by %q because of %q: %v", fault[0], fault[1], err)
		}
	}
	at := w.Clock.Now().Truncate(time.Microsecond)
	if im := w.withdraw(id); im.Withdrawn == nil || im.Withdrawn.By != "carl" || im.Withdrawn.Reason != "the unit was wrong" || !im.Withdrawn.At.Equal(at) || im.Stored != 2 {
		w.T.Errorf("withdrawn %+v", im)
	}
	w.wantCounted("withdrawn", "p9 1.00")
	w.wantStandings("p1", recon.LineWithdrawn)
	task, err := w.B.Tasks(ctx, store.TaskQuery{})
	w.Must(err)
	if len(task) != 1 || task[0].IsOpen() || task[0].ClosedBy != "carl" || task[0].Reason != "the unit was wrong" {
		w.T.Errorf("its task: %+v", task)
	}
	w.notWithdrawn(id, "withdrawn", "was withdrawn by carl")
	if err := w.B.DropImport(ctx, id); !errors.Is(err, credit.ErrRefused) {
		w.T.Errorf("a withdrawn statement can be dropped: %v", err)
	}
	again := w.Import("d1", Settled("d1", 2, "p1", 500), Settled("d1", 3, "p2", 600))
	w.wantImported(again, 2, 0, 0, 0)
	w.wantCounted("imported again", "p9 1.00", "p1 5.00", "p2 6.00")
	w.wantStandings("p1", recon.LineWithdrawn, recon.LineCounts)
	list, err := w.B.Statements(ctx, recon.StatementQuery{Provider: Bank})
	if err != nil || len(list) != 3 || list[0].ID != again.ID || list[1].ID != kept.ID || list[2].ID != id || list[2].Withdrawn == nil || list[0].Withdrawn != nil {
		w.T.Errorf("statements %+v, %v", list, err)
	}
	if err := w.takeBack(99, "carl", "r"); !errors.Is(err, credit.ErrNotFound) {
		w.T.Errorf("a statement that is not there: %v", err)
	}
}

// withdrawalWaitsForThoseThatLeanOnIt: what later statements repeat, replace or contradict stands in the first only, which stays until they
// are withdrawn.
func withdrawalWaitsForThoseThatLeanOnIt(w *World) {
	first := w.Import("d1", inBatch("d1", 2, "p1", ""), Settled("d1", 3, "p2", 500), Settled("d1", 4, "p3", 500))
	free := w.Import("d2", Settled("d2", 2, "p4", 500))
	repeats := w.Import("d3", Settled("d3", 2, "p2", 500))
	contradicts := w.Import("d4", Settled("d4", 2, "p3", 900))
	replaces := w.Import("d5", inBatch("d5", 2, "p1", "po-1"))
	over := w.Import("d6", inBatch("d6", 2, "p1", "po-1"))
	if !slices.Equal(over.LeansOn, recon.StatementIDs{replaces.ID}) {
		w.T.Errorf("the last leans on %v", over.LeansOn)
	}
	w.notWithdrawn(first.ID, "repeated", "withdraw first statements 6, 5, 4, 3, then this one")
	w.notWithdrawn(replaces.ID, "repeated", "withdraw first statement 6, then this one")
	w.wantCounted("refused", "p2 5.00", "p3 5.00", "p4 5.00", "p1 5.00")
	w.withdraw(free.ID)
	w.withdraw(over.ID)
	w.withdraw(replaces.ID)
	w.wantCounted("the line that was replaced counts again", "p1 5.00", "p2 5.00", "p3 5.00")
	w.wantStandings("p1", recon.LineCounts, recon.LineWithdrawn)
	w.notWithdrawn(first.ID, "repeated", "withdraw first statements 4, 3, then this one")
	w.withdraw(contradicts.ID)
	w.withdraw(repeats.ID)
	w.withdraw(first.ID)
	w.wantCounted("nothing is left")
	w.Import("d4", Settled("d4", 2, "p3", 900))
	im := w.Import("d1", inBatch("d1", 2, "p1", ""), Settled("d1", 3, "p2", 500), Settled("d1", 4, "p3", 500))
	w.wantImported(im, 3, 0, 0, 1)
	w.wantCounted("the later row holds now", "p3 9.00", "p1 5.00", "p2 5.00")
	if open := w.OpenTasks(); len(open) != 1 || !strings.HasSuffix(open[0].Entity, "/d1") {
		w.T.Errorf("open tasks %+v", open)
	}
}

// importsThatLeanOnAWithdrawnStatementAreGivenUp: what was compared with it is compared again.
func importsThatLeanOnAWithdrawnStatementAreGivenUp(w *World) {
	ctx := w.T.Context()
	first, other := w.Import("d1", Settled("d1", 2, "p1", 500)), w.Import("d2", Settled("d2", 2, "p2", 500))
	id := w.Begin("d3")
	w.Must(w.B.AddLines(ctx, id, []recon.Line{Settled("d3", 2, "p1", 500)}))
	w.withdraw(other.ID) // it has nothing to do with it
	w.Must(w.B.AddLines(ctx, id, []recon.Line{Settled("d3", 3, "p2", 500)}))
	w.withdraw(first.ID)
	if err := w.B.AddLines(ctx, id, []recon.Line{Settled("d3", 4, "p3", 500)}); !errors.Is(err, credit.ErrConflict) {
		w.T.Errorf("it takes lines: %v", err)
	}
	if _, err := w.Finish(id, "d3", 2); !errors.Is(err, credit.ErrConflict) {
		w.T.Errorf("it is finished: %v", err)
	}
	w.wantImported(w.Import("d3", Settled("d3", 2, "p1", 500), Settled("d3", 3, "p2", 500)), 2, 0, 0, 0)
	w.wantCounted("once", "p1 5.00", "p2 5.00")
}
