package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"creditonce/credit"
	"creditonce/recon"
)

// Bank is the provider whose statements the suite imports.
var Bank = recon.Provider{Label: Provider, Kind: "psp", Account: Merchant}

// Settled is a line of a settled payment in the file with the digest.
func Settled(digest string, row int, payment string, minor int64) recon.Line {
	return recon.Line{
		Provider: Bank, Digest: digest, Row: row, Type: recon.LinePayment, Word: "charge", Payment: payment, Movement: "txn-" + payment, Batch: "po-1",
		Gross: Money(minor), Fee: Money(-10), Net: Money(minor - 10), At: time.Date(2026, 5, 4, 8, row, 0, 0, time.UTC),
	}
}

// Begin begins an import, which must be a new one.
func (w *World) Begin(digest string) recon.StatementID {
	w.T.Helper()
	id, _, done, err := w.B.BeginImport(w.T.Context(), Bank, digest)
	w.Must(err)
	if done {
		w.T.Fatalf("statement %s was imported before", digest)
	}
	return id
}

// Finish ends an import of so many lines.
func (w *World) Finish(id recon.StatementID, digest string, rows int) (recon.Imported, error) {
	return w.B.FinishImport(w.T.Context(), id, recon.Statement{Digest: digest, Name: digest + ".csv", Provider: Bank, Format: "mapped", Rows: rows}, "anna", w.Clock.Now())
}

// Import imports the lines, two at a time.
func (w *World) Import(digest string, lines ...recon.Line) recon.Imported {
	w.T.Helper()
	id := w.Begin(digest)
	for piece := range slices.Chunk(lines, 2) {
		w.Must(w.B.AddLines(w.T.Context(), id, piece))
	}
	im, err := w.Finish(id, digest, len(lines))
	w.Must(err)
	return im
}

// counted reads all lines that count, pages of the given size, as "payment amount".
func (w *World) counted(limit int) []string {
	w.T.Helper()
	var out []string
	for after := uint64(0); ; {
		page, next, err := w.B.Lines(w.T.Context(), nil, after, limit)
		w.Must(err)
		for _, l := range page {
			out = append(out, l.Payment+" "+l.Gross.Decimal())
		}
		if next == 0 {
			return out
		}
		after = next
	}
}

func (w *World) wantCounted(what string, want ...string) {
	w.T.Helper()
	for _, limit := range []int{1, 2, 100} {
		if got := w.counted(limit); !slices.Equal(got, want) {
			w.T.Errorf("%s: pages of %d show %v, want %v", what, limit, got, want)
		}
	}
}

// importingTwiceChangesNothing: the same bytes are known, whoever brings them.
func importingTwiceChangesNothing(w *World) {
	first := w.Import("d1", Settled("d1", 2, "p1", 500), Settled("d1", 3, "p2", 600), Settled("d1", 4, "p3", 700))
	id, before, done, err := w.B.BeginImport(w.T.Context(), Bank, "d1")
	if err != nil || !done || id != first.ID || before.Stored != 3 || before.By != "anna" || !before.At.Equal(first.At) {
		w.T.Errorf("the second time: statement %d, %+v, %v, %v", id, before, done, err)
	}
	w.wantCounted("after two imports", "p1 5.00", "p2 6.00", "p3 7.00")
	if err := w.B.AddLines(w.T.Context(), id, []recon.Line{Settled("d1", 9, "p9", 1)}); !errors.Is(err, credit.ErrConflict) {
		w.T.Errorf("a finished statement takes lines: %v", err)
	}
	if err := w.B.DropImport(w.T.Context(), id); !errors.Is(err, credit.ErrRefused) {
		w.T.Errorf("a finished statement can be dropped: %v", err)
	}
	other := Bank
	other.Account = "acct_2"
	if _, _, done, err := w.B.BeginImport(w.T.Context(), other, "d1"); err != nil || done {
		w.T.Errorf("the same bytes for another account: %v, %v", done, err)
	}
	if !first.Reaches.Equal(Settled("d1", 4, "", 0).At) {
		w.T.Errorf("it reaches to %s", first.Reaches)
	}
}

// reissuedLinesCountOnce: what an earlier statement has is counted, not stored; other facts are kept beside and asked about.
func reissuedLinesCountOnce(w *World) {
	w.Import("d1", Settled("d1", 2, "p1", 500), Settled("d1", 3, "p2", 600))
	again, changed := Settled("d2", 7, "p1", 500), Settled("d2", 8, "p2", 601)
	again.At = again.At.Add(time.Hour) // times and file are no facts
	im := w.Import("d2", again, changed, Settled("d2", 9, "p3", 700))
	if im.Stored != 2 || im.Duplicates != 1 || len(im.Conflicts) != 1 {
		w.T.Fatalf("imported %+v", im)
	}
	if c := im.Conflicts[0]; c.Row != 8 || c.Earlier != "d1" || c.Line != 3 || !strings.Contains(c.Text, "gross was 6.00 USD, now 6.01 USD") {
		w.T.Errorf("conflict %+v", c)
	}
	w.wantCounted("the earlier line goes on counting", "p1 5.00", "p2 6.00", "p3 7.00")
	open := w.OpenTasks()
	if len(open) != 1 || open[0].Kind != credit.TaskStatement {
		w.T.Errorf("open tasks %+v", open)
	}
	third := w.Import("d3", Settled("d3", 2, "p2", 601), Settled("d3", 3, "p3", 700))
	if third.Stored != 0 || third.Duplicates != 2 || len(third.Conflicts) != 0 {
		w.T.Errorf("what was told once is told again: %+v", third)
	}
	lines, err := w.B.LinesOf(w.T.Context(), Bank, "p2")
	w.Must(err)
	if len(lines) != 2 || lines[0].Standing != recon.LineCounts || lines[1].Standing != recon.LineContradicts || lines[1].Line.Row != 8 {
		w.T.Errorf("lines of the payment: %+v", lines)
	}
}

// whatOneStatementNamesTwiceIsTwo: two equal rows of one file are two movements, and stay two when the file is issued again.
func whatOneStatementNamesTwiceIsTwo(w *World) {
	twice := func(digest string) []recon.Line {
		return []recon.Line{Settled(digest, 2, "p1", 500), Settled(digest, 3, "p1", 500), Settled(digest, 4, "p2", 1), Settled(digest, 5, "p1", 500)}
	}
	w.Import("d1", twice("d1")...)
	again := w.Import("d2", append(twice("d2"), Settled("d2", 6, "p1", 500))...)
	if again.Duplicates != 4 || again.Stored != 1 || len(again.Conflicts) != 0 {
		w.T.Errorf("imported %+v", again)
	}
	w.wantCounted("as often as the fuller file says", "p1 5.00", "p1 5.00", "p2 0.01", "p1 5.00", "p1 5.00")
	nameless := Settled("d3", 2, "", 500)
	nameless.Movement = ""
	w.Import("d3", nameless)
	nameless.Digest = "d4"
	if im := w.Import("d4", nameless); im.Duplicates != 0 {
		w.T.Errorf("a line that nothing names was taken for another: %+v", im)
	}
}

// halfAnImportIsInvisible: until it is finished nothing counts, and what is left of it is gone when the next one begins.
func halfAnImportIsInvisible(w *World) {
	ctx := w.T.Context()
	left := w.Begin("d1")
	for at := range 3 {
		var piece []recon.Line
		for i := range 300 {
			row := at*300 + i + 2
			piece = append(piece, Settled("d1", row, fmt.Sprintf("p%d", row), 500))
		}
		w.Must(w.B.AddLines(ctx, left, piece))
	}
	w.wantCounted("half an import")
	if list, err := w.B.Statements(ctx, recon.StatementQuery{}); err != nil || len(list) != 0 {
		w.T.Errorf("statements %+v, %v", list, err)
	}
	if _, err := w.Finish(left, "d1", 901); !errors.Is(err, credit.ErrConflict) {
		w.T.Errorf("finished with a line missing: %v", err)
	}
	next := w.Begin("d1")
	if err := w.B.AddLines(ctx, left, []recon.Line{Settled("d1", 2, "p2", 500)}); !errors.Is(err, credit.ErrConflict) {
		w.T.Errorf("the import that was given up takes lines: %v", err)
	}
	if _, err := w.Finish(left, "d1", 900); !errors.Is(err, credit.ErrConflict) {
		w.T.Errorf("the import that was given up is finished: %v", err)
	}
	w.Must(w.B.DropImport(ctx, left))
	if kept, _, err := w.B.KeptLines(ctx, 0, 0); err != nil || len(kept) != 0 {
		w.T.Errorf("%d lines of it are left, %v", len(kept), err)
	}
	w.Must(w.B.AddLines(ctx, next, []recon.Line{Settled("d1", 2, "p2", 500)}))
	w.Must(w.B.DropImport(ctx, next))
	w.Import("d1", Settled("d1", 2, "p2", 500))
	w.wantCounted("after a clean import", "p2 5.00")
}

// strangeLinesAreRefused: a piece is taken whole or not at all.
func strangeLinesAreRefused(w *World) {
	id := w.Begin("d1")
	foreign, otherFile := Settled("d1", 3, "p2", 600), Settled("d2", 3, "p2", 600)
	foreign.Provider.Account = "acct_2"
	for name, bad := range map[string]recon.Line{"another account": foreign, "another file": otherFile} {
		if err := w.B.AddLines(w.T.Context(), id, []recon.Line{Settled("d1", 2, "p1", 500), bad}); !errors.Is(err, credit.ErrInvalid) {
			w.T.Errorf("%s: %v", name, err)
		}
	}
	odd := Settled("d1", 2, "p1", 500)
	odd.Word = "caf\xe9"
	w.Must(w.B.AddLines(w.T.Context(), id, []recon.Line{odd}))
	_, err := w.Finish(id, "d1", 1)
	w.Must(err)
	w.wantCounted("an odd byte costs nothing", "p1 5.00")
}

// linesPageOverWhatCounts: lines of unfinished imports lie between, and each that counts is seen once, in order.
func linesPageOverWhatCounts(w *World) {
	var want []string
	for i := range 5 {
		digest := fmt.Sprintf("d%d", i)
		if i == 3 {
			w.Must(w.B.AddLines(w.T.Context(), w.Begin("left"), []recon.Line{Settled("left", 2, "no", 1), Settled("left", 3, "none", 1)}))
			continue
		}
		if i == 4 {
			break
		}
		w.Import(digest, Settled(digest, 2, digest+"a", 100), Settled(digest, 3, digest+"b", 200))
		want = append(want, digest+"a 1.00", digest+"b 2.00")
	}
	w.wantCounted("with half an import at the end", want...)
	list, err := w.B.Statements(w.T.Context(), recon.StatementQuery{Provider: Bank, Limit: 2})
	w.Must(err)
	if len(list) != 2 || list[0].Statement.Digest != "d2" || list[1].Statement.Digest != "d1" {
		w.T.Errorf("newest statements %+v", list)
	}
	list, err = w.B.Statements(w.T.Context(), recon.StatementQuery{Below: list[1].ID})
	if err != nil || len(list) != 1 || list[0].Statement.Digest != "d0" {
		w.T.Errorf("older statements %+v, %v", list, err)
	}
	if list, err = w.B.Statements(w.T.Context(), recon.StatementQuery{Provider: recon.Provider{Kind: "psp", Account: "acct_2"}}); err != nil || len(list) != 0 {
		w.T.Errorf("another account's statements %+v, %v", list, err)
	}
}
