package storetest

import (
	"slices"

	"creditonce/credit"
	"creditonce/recon"
)

// inBatch is a line of a settled payment that names its batch; "" where it is not known yet.
func inBatch(digest string, row int, payment, batch string) recon.Line {
	l := Settled(digest, row, payment, 500)
	l.Batch = batch
	return l
}

// standingsOf are the standings of the lines of a payment, by number.
func (w *World) standingsOf(payment string) (out []recon.LineStanding) {
	w.T.Helper()
	lines, err := w.B.LinesOf(w.T.Context(), Bank, payment)
	w.Must(err)
	for _, l := range lines {
		out = append(out, l.Standing)
	}
	return out
}

func (w *World) wantStandings(payment string, want ...recon.LineStanding) {
	w.T.Helper()
	if got := w.standingsOf(payment); !slices.Equal(got, want) {
		w.T.Errorf("lines of %s: %v, want %v", payment, got, want)
	}
}

// wantImported looks at what an import counted.
func (w *World) wantImported(im recon.Imported, stored, duplicates, replaced, conflicts int) {
	w.T.Helper()
	if im.Stored != stored || im.Duplicates != duplicates || im.Replaced != replaced || len(im.Conflicts) != conflicts {
		w.T.Errorf("statement %s: stored %d, duplicates %d, replaced %d, conflicts %v; want %d, %d, %d, %d", im.Statement.Digest,
			im.Stored, im.Duplicates, im.Replaced, im.Conflicts, stored, duplicates, replaced, conflicts)
	}
}

// batchFilledInLaterCountsOnce: a row that is issued again with the batch that it lacked takes the place of the earlier one.
func batchFilledInLaterCountsOnce(w *World) {
	w.Import("d1", inBatch("d1", 2, "p1", ""), inBatch("d1", 3, "p2", "po-1"))
	im := w.Import("d2", inBatch("d2", 2, "p1", "po-1"), inBatch("d2", 3, "p2", ""))
	w.wantImported(im, 0, 2, 1, 0)
	if !slices.Equal(im.LeansOn, recon.StatementIDs{1}) {
		w.T.Errorf("it leans on %v", im.LeansOn)
	}
	w.wantCounted("filled in", "p2 5.00", "p1 5.00")
	w.wantStandings("p1", recon.LineSuperseded, recon.LineCounts)
	w.wantStandings("p2", recon.LineCounts)
	// Whatever comes after meets the line that counts now.
	third := w.Import("d3", inBatch("d3", 2, "p1", "po-1"), inBatch("d3", 3, "p1", ""), inBatch("d3", 4, "p2", "po-1"))
	w.wantImported(third, 1, 2, 0, 0) // it names p1 twice
	if !slices.Equal(third.LeansOn, recon.StatementIDs{1, 2}) {
		w.T.Errorf("the third leans on %v", third.LeansOn)
	}
	other := w.Import("d4", inBatch("d4", 2, "p2", "po-2"))
	w.wantImported(other, 1, 0, 0, 1)
	w.wantStandings("p2", recon.LineCounts, recon.LineContradicts)
	if open := w.OpenTasks(); len(open) != 1 || open[0].Kind != credit.TaskStatement {
		w.T.Errorf("tasks %+v", open)
	}
	w.wantImported(w.Import("d5", inBatch("d5", 2, "p2", "po-2"), inBatch("d5", 3, "p2", "")), 0, 2, 0, 0)
}

// batchesAreMetOneByOne: of rows alike, each takes one place only, and rather that of its own batch.
func batchesAreMetOneByOne(w *World) {
	w.Import("d1", inBatch("d1", 2, "p1", ""), inBatch("d1", 3, "p1", ""), inBatch("d1", 4, "p1", "po-1"))
	im := w.Import("d2", inBatch("d2", 2, "p1", "po-1"), inBatch("d2", 3, "p1", "po-1"), inBatch("d2", 4, "p1", "po-1"), inBatch("d2", 5, "p1", "po-1"))
	w.wantImported(im, 1, 3, 2, 0)
	w.wantStandings("p1", recon.LineSuperseded, recon.LineSuperseded, recon.LineCounts, recon.LineCounts, recon.LineCounts, recon.LineCounts)
	nameless := func(digest string, row int, batch string) recon.Line {
		l := inBatch(digest, row, "p2", batch)
		l.Movement = ""
		return l
	}
	w.Import("d3", nameless("d3", 2, "po-1"))
	w.wantImported(w.Import("d4", nameless("d4", 2, "po-2"), nameless("d4", 3, "po-1")), 1, 1, 0, 0)
}

// halfAReissueChangesNothing: until it is finished the earlier lines count, and afterwards if it never is.
func halfAReissueChangesNothing(w *World) {
	w.Import("d1", inBatch("d1", 2, "p1", ""))
	id := w.Begin("d2")
	w.Must(w.B.AddLines(w.T.Context(), id, []recon.Line{inBatch("d2", 2, "p1", "po-1")}))
	w.wantStandings("p1", recon.LineCounts, recon.LineImporting)
	w.Must(w.B.DropImport(w.T.Context(), id))
	w.wantStandings("p1", recon.LineCounts)
	w.wantImported(w.Import("d2", inBatch("d2", 2, "p1", "po-1")), 0, 1, 1, 0)
	w.wantStandings("p1", recon.LineSuperseded, recon.LineCounts)
}

// statementsReachNoLaterThanTheirImport: a date that has not come yet says nothing about how far a list reaches.
func statementsReachNoLaterThanTheirImport(w *World) {
	future := Settled("d1", 2, "p1", 500)
	future.At = w.Clock.Now().AddDate(70, 0, 0)
	im := w.Import("d1", future)
	if im.Reaches.IsZero() || !im.Reaches.Equal(im.At) {
		w.T.Errorf("it reaches %s, imported at %s", im.Reaches, im.At)
	}
	id := w.Begin("d2")
	im, err := w.B.FinishImport(w.T.Context(), id, recon.Statement{Digest: "d2", Provider: Bank, Until: w.Clock.Now().AddDate(1, 0, 0)}, "anna", w.Clock.Now())
	if err != nil || !im.Reaches.Equal(im.At) {
		w.T.Errorf("it reaches %s, imported at %s, %v", im.Reaches, im.At, err)
	}
}
