package store_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/recon"
	"creditonce/store"
	"creditonce/store/storetest"
)

// other is a second merchant account.
var other = recon.Provider{Label: "psp2", Kind: "psp", Account: "acct_2"}

// otherLines is the one line of a file of the second account.
func otherLines(digest string) []recon.Line {
	l := storetest.Settled(digest, 2, "p-"+digest, 500)
	l.Provider = other
	return []recon.Line{l}
}

// Where the room comes near to what payments need, reconciliation adds nothing more, takes away what it may, and payments go on.
func TestTightRoom_StopsReconciliationBeforePayments(t *testing.T) {
	t.Parallel()
	const floor = 64 << 20
	var free atomic.Uint64
	free.Store(1 << 40)
	w, db := world(t, func(o *store.Options) {
		o.StopClaimsBelow, o.RefuseIntakeBelow, o.Strict = floor, floor/2, false
		o.Free = func(string) (uint64, error) { return free.Load(), nil }
	})
	ctx := t.Context()
	open := w.Begin("d1")
	whole, _, _, err := db.BeginImport(ctx, other, "d2")
	w.Must(errors.Join(err, db.AddLines(ctx, whole, otherLines("d2"))))
	run, err := db.BeginRun(ctx)
	w.Must(err)
	item := recon.Item{Key: recon.Key{Class: recon.Late, Entity: "payment/psp/acct_1/p1"}, Side: recon.SideProvider, Provider: "psp", Why: "late"}
	w.Must(db.SaveFindings(ctx, run, []recon.Item{item}))
	r := recon.Run{ID: run, First: "2026-05-04", Last: "2026-05-04", State: recon.RunComplete, Findings: 1}

	free.Store(floor + floor/2) // more than the floor for claims
	_, _, _, begin := db.BeginImport(ctx, storetest.Bank, "d3")
	_, finish := db.FinishImport(ctx, whole, recon.Statement{Digest: "d2", Provider: other, Rows: 1}, "anna", w.Clock.Now())
	_, carry := db.Carry(ctx, r, []recon.Item{item})
	_, beginRun := db.BeginRun(ctx)
	for name, err := range map[string]error{
		"BeginImport": begin, "AddLines": db.AddLines(ctx, open, settled("d1", 3)), "FinishImport": finish,
		"SaveFindings": db.SaveFindings(ctx, run, []recon.Item{item}), "Carry": carry, "BeginRun": beginRun, "FinishRun": db.FinishRun(ctx, r),
		"RoomInStore": db.RoomInStore(0), "RoomOnDisk": db.RoomOnDisk(0),
	} {
		if !errors.Is(err, credit.ErrBusy) || !strings.Contains(err.Error(), "space.stop_claims_below") {
			t.Errorf("%s with little room: %v", name, err)
		}
	}
	if _, err := db.CarryGone(ctx, r, nil); err != nil {
		t.Errorf("closing what a run explains: %v", err)
	}
	if err := db.DropImport(ctx, open); err != nil {
		t.Errorf("dropping an import: %v", err)
	}
	if a := w.Accept(w.Event(storetest.Paid("pay-1", "", "", 500))); len(a.Rows) != 1 {
		t.Errorf("intake: %+v", a)
	}
	free.Store(1 << 40)
	if _, _, _, err := db.BeginImport(ctx, storetest.Bank, "d3"); err != nil {
		t.Errorf("with room again: %v", err)
	}
	w.End()
}

// Statements and findings without end meet a refusal long before the file's limit: the store goes on, and so do claims and intake.
func TestK_StatementsWithoutEndNeverStopTheStore(t *testing.T) {
	t.Parallel()
	w, db := world(t, func(o *store.Options) {
		o.MaxSize, o.StopClaimsBelow, o.RefuseIntakeBelow, o.Strict = 128<<20, 32<<20, 16<<20, false
		o.Free = func(string) (uint64, error) { return 1 << 40, nil }
	})
	w.Must(db.RoomInStore(8 << 20))
	if err := db.RoomInStore(1 << 30); !errors.Is(err, credit.ErrBusy) || !strings.Contains(err.Error(), "about 1024 MiB in the store") {
		t.Errorf("room for more than the file may have: %v", err)
	}
	id := w.Begin("d1")
	run, err := db.BeginRun(t.Context())
	w.Must(err)
	n, failure := 0, error(nil)
	for failure == nil && n < 200_000 {
		var piece []recon.Line
		var items []recon.Item
		for range 400 {
			n++
			l := storetest.Settled("d1", n+1, fmt.Sprintf("p%d", n*7919%1_000_003), 500)
			piece = append(piece, l)
			items = append(items, recon.Item{Key: recon.Key{Class: recon.SettledWithoutCredit, Entity: "payment/psp/acct_1/" + l.Payment}, Side: recon.SideProvider, Lines: []recon.Line{l}})
		}
		if failure = db.AddLines(t.Context(), id, piece); failure == nil {
			failure = db.SaveFindings(t.Context(), run, items)
		}
	}
	if !errors.Is(failure, credit.ErrBusy) || !strings.Contains(failure.Error(), "space.max_store") {
		t.Fatalf("after %d lines: %v", n, failure)
	}
	if a := w.Accept(w.Event(storetest.Paid("pay-1", "", "", 500))); len(a.Rows) != 1 {
		t.Errorf("intake: %+v", a)
	}
	looked := errors.New("looked")
	if _, err = db.Advance(t.Context(), 1, func(d credit.Dossier) (credit.Decision, error) {
		if d.LowSpace {
			t.Error("reconciliation has stopped claims")
		}
		return credit.Decision{}, looked
	}); !errors.Is(err, looked) {
		t.Errorf("looking at the payment: %v", err)
	}
	w.Must(db.DropImport(t.Context(), id))
	if err := db.RoomInStore(1 << 20); err != nil {
		t.Errorf("what was dropped gives no room: %v", err)
	}
	w.End()
}

// What a killed process left half-stored goes away in the background, and what is under way now stays.
func TestLeftOfAKilledProcess_IsDropped_WhatIsUnderWayStays(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	db := open(t, path, store.Options{New: settings(), UnsafeNoSync: true})
	ctx := context.WithoutCancel(t.Context())
	if _, err := importFile(ctx, db, "d0", settled("d0", 5)); err != nil {
		t.Fatal(err)
	}
	begin := func(p recon.Provider, digest string, lines []recon.Line) recon.StatementID {
		id, _, _, err := db.BeginImport(ctx, p, digest)
		for piece := range slices.Chunk(lines, 400) {
			err = errors.Join(err, db.AddLines(ctx, id, piece))
		}
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	items := make([]recon.Item, 1200)
	for i := range items {
		items[i] = recon.Item{Key: recon.Key{Class: recon.Late, Entity: fmt.Sprintf("payment/psp/acct_1/p%d", i)}, Side: recon.SideProvider}
	}
	begin(storetest.Bank, "d1", settled("d1", 1300))
	begin(other, "d2", otherLines("d2"))
	run, err := db.BeginRun(ctx)
	if err = errors.Join(err, db.SaveFindings(ctx, run, items)); err != nil {
		t.Fatal(err)
	}
	closeWhole(t, db)

	db = open(t, path, store.Options{UnsafeNoSync: true})
	now := begin(other, "d3", otherLines("d3"))
	if n, err := db.DropLeft(ctx); n != 2 || err != nil { // the begun import has dropped one itself
		t.Errorf("dropped %d, %v; want the import of d1 and the run", n, err)
	}
	if kept, _, err := db.KeptLines(ctx, 0, 2000); err != nil || len(kept) != 6 {
		t.Errorf("%d lines, %v: want the 5 that count and the one under way", len(kept), err)
	}
	if _, _, err := db.Findings(ctx, run, 0, 10); !errors.Is(err, credit.ErrNotFound) {
		t.Errorf("the run that was under way: %v", err)
	}
	at := time.Unix(1_800_000_000, 0)
	if _, err := db.FinishImport(ctx, now, recon.Statement{Digest: "d3", Provider: other, Rows: 1}, "schedule", at); err != nil {
		t.Errorf("the import under way: %v", err)
	}
	if n, err := db.DropLeft(ctx); n != 0 || err != nil {
		t.Errorf("a second time dropped %d, %v", n, err)
	}
	closeWhole(t, db)
}
