package app_test

import (
	"context"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/internal/app"
	"creditonce/store"
)

// inStore works on the store of a rig that is halted.
func (r *rig) inStore(do func(db *store.DB)) {
	r.t.Helper()
	db, err := store.Open(filepath.Join(r.load().DataDir, "creditonce.db"), store.Options{})
	if err != nil {
		r.t.Fatal(err)
	}
	do(db)
	if err := db.Close(context.WithoutCancel(r.t.Context())); err != nil {
		r.t.Error(err)
	}
}

// plant opens, by the back door, a task that stands for a state which its row is not in.
func plant(t *testing.T, db *store.DB, row credit.ID) {
	t.Helper()
	_, err := db.ChangeStore(t.Context(), func(s credit.Settings) (credit.StoreChange, error) {
		return credit.StoreChange{Settings: s, Open: []credit.Task{{Kind: credit.TaskFailed, Entity: credit.RowEntity(row), OpenedAt: time.Unix(1_800_000_000, 0)}}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (r *rig) openTasks(db *store.DB, kind credit.TaskKind) (n int) {
	r.t.Helper()
	open, err := db.Tasks(r.t.Context(), store.TaskQuery{OpenOnly: true})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, task := range open {
		if task.Kind == kind {
			n++
		}
	}
	return n
}

func TestBrokenInvariant_HoldsTheServiceAtItsStartAndNeverItsIntake(t *testing.T) {
	t.Parallel()
	var slots atomic.Int64
	r := newRig(t)
	r.step = func(_ context.Context, s credit.Step) {
		if s.Name == credit.StepSlotHeld {
			slots.Add(1)
		}
	}
	r.start()
	r.account("client-1")
	code := r.deposit("client-1", "20.00", "k1")
	if status := r.send(r.maker.EventIntentSucceeded(r.payment(code, 2000))); status != http.StatusOK {
		t.Fatalf("answered %d", status)
	}
	r.awaitState(code, "done")
	r.halt()
	r.inStore(func(db *store.DB) { plant(t, db, 1) })
	before := slots.Load()

	for range 2 { // the second start adds nothing
		r.start()
		next := r.deposit("client-1", "30.00", "k"+time.Now().String())
		if status := r.send(r.maker.EventIntentSucceeded(r.payment(next, 3000))); status != http.StatusOK {
			t.Errorf("in hold, the provider is answered %d", status)
		}
		r.awaitState(next, "pending")
		r.halt()
	}
	const line = "an invariant is broken: the mode is hold, nothing is called; webhooks go on"
	if n := strings.Count(r.log.String(), line); n != 1 {
		t.Errorf("%d log lines say so, want 1:\n%s", n, r.log)
	}
	if slots.Load() != before || len(r.ours()) != 1 {
		t.Errorf("%d turns of pending rows, %d deals", slots.Load()-before, len(r.ours()))
	}
	r.inStore(func(db *store.DB) {
		s, err := db.Settings(t.Context())
		if err != nil || s.Mode != credit.ModeHold || !strings.Contains(s.ModeReason, "I-S4: task 1 (failed) is open, and credit 1 is done") {
			t.Errorf("mode %s, %q, %v", s.Mode, s.ModeReason, err)
		}
		if n := r.openTasks(db, credit.TaskInvariant); n != 1 {
			t.Errorf("%d tasks are open, want 1", n)
		}
		if credits, err := db.Rows(t.Context(), credit.RowQuery{State: credit.Pending}); err != nil || len(credits) != 2 {
			t.Errorf("%d pending, %v", len(credits), err)
		}
	})
}

// A healthy service finds nothing: not at its start, not in its rounds.
func TestHealthyService_HoldsNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, key := range []string{"k1", "k2"} {
		r.start()
		r.account("client-1")
		code := r.deposit("client-1", "20.00", key)
		r.send(r.maker.EventIntentSucceeded(r.payment(code, 2000)))
		r.awaitState(code, "done")
		r.halt()
	}
	if strings.Contains(r.log.String(), "invariant") {
		t.Errorf("log:\n%s", r.log)
	}
}

func TestVerify_NamesTheInvariantAndTheRows(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.start()
	r.account("client-1")
	code := r.deposit("client-1", "20.00", "k1")
	r.send(r.maker.EventIntentSucceeded(r.payment(code, 2000)))
	r.awaitState(code, "done")
	r.halt()
	if in, err := app.Verify(t.Context(), r.load(), nil); err != nil || len(in.Violations) != 0 {
		t.Errorf("a good store: %+v, %v", in.Violations, err)
	}
	r.inStore(func(db *store.DB) { plant(t, db, 1) })
	in, err := app.Verify(t.Context(), r.load(), nil)
	if err != nil || len(in.Violations) != 1 {
		t.Fatalf("%+v, %v", in.Violations, err)
	}
	if v := in.Violations[0]; v.Invariant != "I-S4" || len(v.Rows) != 1 || v.Rows[0] != 1 || !strings.Contains(v.Text, "credit 1 is done") {
		t.Errorf("%+v", v)
	}
}
