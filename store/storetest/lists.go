package storetest

import (
	"errors"
	"slices"
	"sync/atomic"
	"testing"

	"creditonce/credit"
	"creditonce/store"
)

// pagingSeesEachOnce: pages of any size show every record once, in order.
func pagingSeesEachOnce(w *World) {
	const n = 23
	for i := range n {
		code := ""
		if i%3 == 0 {
			code = Code(i)
		}
		f := Paid(Code(i), "", code, 500)
		f.CodesClash = i%2 == 0 // held with a task
		w.Accept(w.Event(f))
	}
	ctx := w.T.Context()
	for _, limit := range []int{1, 2, 7, n, 1000} {
		wantRun(w, "events", n, func(after uint64) (ids []uint64) {
			list, err := w.B.Events(ctx, credit.EventID(after), limit)
			w.Must(err)
			for _, e := range list {
				ids = append(ids, uint64(e.ID))
			}
			return ids
		})
		for _, state := range []credit.State{credit.New, credit.Held} {
			wantRun(w, "rows", n, func(after uint64) (ids []uint64) {
				list, err := w.B.Rows(ctx, credit.RowQuery{State: state, After: credit.ID(after), Limit: limit})
				w.Must(err)
				for _, c := range list {
					ids = append(ids, uint64(c.ID))
				}
				return ids
			})
		}
		for _, open := range []bool{true, false} {
			wantRun(w, "tasks", (n+1)/2, func(after uint64) (ids []uint64) {
				list, err := w.B.Tasks(ctx, store.TaskQuery{OpenOnly: open, After: credit.TaskID(after), Limit: limit})
				w.Must(err)
				for _, t := range list {
					ids = append(ids, uint64(t.ID))
				}
				return ids
			})
		}
	}
	if list, err := w.B.Rows(ctx, credit.RowQuery{State: credit.Done}); err != nil || len(list) != 0 {
		w.T.Errorf("done rows: %v, %v", list, err)
	}
}

// wantRun reads pages until one is empty and wants the numbers 1 to n in all.
func wantRun(w *World, what string, n int, page func(after uint64) []uint64) {
	w.T.Helper()
	var all []uint64
	for after := uint64(0); ; {
		ids := page(after)
		if len(ids) == 0 {
			break
		}
		all = append(all, ids...)
		after = ids[len(ids)-1]
	}
	want := make([]uint64, n)
	for i := range want {
		want[i] = uint64(i + 1)
	}
	if !slices.Equal(all, want) {
		w.T.Errorf("%s: pages show %v", what, all)
	}
}

// tasksOpenOncePerKey: an open task is not opened again; a closed one makes room; closing what is not open is
// nothing. The result says what really happened.
func tasksOpenOncePerKey(w *World) {
	row := w.Pay(1001, 500)
	task := credit.Task{Kind: credit.TaskStuck, Entity: credit.RowEntity(row.ID), Summary: "s", OpenedAt: w.Clock.Now()}
	closing := credit.TaskClose{Key: task.Key(), By: "me", Reason: "over", At: w.Clock.Now()}
	step := func(d credit.Decision, opened, closed int) {
		w.T.Helper()
		res, err := w.B.Advance(w.T.Context(), row.ID, func(credit.Dossier) (credit.Decision, error) { return d, nil })
		w.Must(err)
		if len(res.Opened) != opened || len(res.Closed) != closed {
			w.T.Errorf("opened %d and closed %d, want %d and %d", len(res.Opened), len(res.Closed), opened, closed)
		}
	}
	step(credit.Decision{Close: []credit.TaskClose{closing}}, 0, 0)
	step(credit.Decision{Open: []credit.Task{task, task}}, 1, 0)
	step(credit.Decision{Open: []credit.Task{task}}, 0, 0)
	step(credit.Decision{Close: []credit.TaskClose{closing, closing}}, 0, 1)
	step(credit.Decision{Open: []credit.Task{task}}, 1, 0)
	step(credit.Decision{Open: []credit.Task{task}, Close: []credit.TaskClose{closing}}, 1, 1)
	var opened atomic.Int32
	other := task
	other.Kind = credit.TaskUnsent
	together(40, func(int) {
		res, err := w.B.Advance(w.T.Context(), row.ID, func(credit.Dossier) (credit.Decision, error) {
			return credit.Decision{Open: []credit.Task{other}}, nil
		})
		if err != nil {
			w.T.Errorf("advance: %v", err)
		}
		opened.Add(int32(len(res.Opened)))
	})
	all, err := w.B.Tasks(w.T.Context(), store.TaskQuery{})
	w.Must(err)
	if opened.Load() != 1 || len(all) != 4 || len(w.OpenTasks()) != 2 {
		w.T.Errorf("%d opened at once, %d tasks, %d open; want 1, 4, 2", opened.Load(), len(all), len(w.OpenTasks()))
	}
	if t := all[0]; t.IsOpen() || t.ClosedBy != "me" || t.Reason != "over" {
		w.T.Errorf("the closed task is %+v", t)
	}
}

// countsFollowTheRows: without being asked to count.
func countsFollowTheRows(w *World) {
	w.Pay(1001, 500)
	w.Pay(1002, 500)
	w.Work(2)
	w.Pay(1003, 500)
	w.Accept(w.Event(Paid("pay-1", "", "", 500)))
	f := Paid("pay-2", "", "", 500)
	f.CodesClash = true
	w.Accept(w.Event(f))
	n, err := w.B.Counts(w.T.Context())
	w.Must(err)
	if n.Events != 5 || n.Rows[credit.Done] != 2 || n.Rows[credit.Pending] != 1 || n.Rows[credit.Held] != 2 || n.OpenTasks != 1 {
		w.T.Errorf("counts: %+v", n)
	}
	if len(n.Rows) != len(credit.States()) {
		w.T.Errorf("counts name %d states", len(n.Rows))
	}
}

// lowSpaceRefusesIntake: below the second floor nothing new is taken; below the first, dossiers say so; what is
// under way is settled all the same.
func lowSpaceRefusesIntake(t *testing.T, open func(Setup) *World) {
	var room atomic.Uint64
	room.Store(1 << 40)
	w := open(Setup{Room: room.Load, StopClaimsBelow: 2 << 30, RefuseIntakeBelow: 1 << 30})
	row := w.Pay(1001, 500)
	claim := w.Decisions("process-1")[row.ID]
	room.Store(3 << 29) // between the floors
	if d, err := w.B.Dossier(t.Context(), row.ID); err != nil || !d.LowSpace {
		t.Errorf("between the floors: low space %v, %v", d.LowSpace, err)
	}
	low := false
	_, err := w.B.Advance(t.Context(), row.ID, func(d credit.Dossier) (credit.Decision, error) {
		low = d.LowSpace
		return credit.Decision{}, nil
	})
	w.Must(err)
	if !low {
		t.Error("the deciding transaction does not know that space is low")
	}
	w.Register(1002, "client-1")
	room.Store(1 << 20)
	before, err := w.B.Counts(t.Context())
	w.Must(err)
	_, acceptErr := w.B.Accept(t.Context(), w.Event(Paid("pay-1", "", "", 500)), w.rules().IntakeRules)
	_, depositErr := w.B.MakeDeposit(t.Context(), w.Wish(Code(70), 1001, "client-1", 500), w.rules())
	_, accountErr := w.B.PutAccount(t.Context(), credit.Account{Server: Server, Login: 1003}, "key", w.Clock.Now())
	for _, err := range []error{acceptErr, depositErr, accountErr} {
		if !errors.Is(err, credit.ErrBusy) {
			t.Errorf("below the floor: %v", err)
		}
	}
	after, err := w.B.Counts(t.Context())
	w.Must(err)
	if after.Events != before.Events {
		t.Error("an event was stored below the floor")
	}
	if _, err := w.B.Advance(t.Context(), row.ID, func(d credit.Dossier) (credit.Decision, error) {
		d.LowSpace = false
		return claim(d)
	}); err != nil {
		t.Errorf("advance below the floor: %v", err)
	}
	room.Store(1 << 40)
	w.Accept(w.Event(Paid("pay-1", "", "", 500)))
}
