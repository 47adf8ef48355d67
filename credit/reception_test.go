package credit

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestReception_AcknowledgesOnlyWhatIsCommitted(t *testing.T) {
	inWorld(t, func(w *world) {
		for _, fault := range []error{ErrBusy, ErrStopped, errors.New("disk on fire")} {
			w.book.fault = func(string) error { return fault }
			_, err := w.reception.Receive(context.Background(), paidEvent(1, noon, codeOf(1), usd(100)))
			if !errors.Is(err, fault) {
				t.Errorf("receive returned %v, want %v", err, fault)
			}
		}
		w.book.fault = nil
		if len(w.book.events) != 0 || len(w.see.notes) != 0 {
			t.Errorf("%d events stored, %d notes after refused commits", len(w.book.events), len(w.see.notes))
		}
	})
}

func TestReception_RepeatIsAcknowledgedAsTheFirstEventAndWakesNobody(t *testing.T) {
	inWorld(t, func(w *world) {
		w.deposit(codeOf(1), 100, testLogin)
		e := paidEvent(1, w.clock.Now(), codeOf(1), usd(100))
		first := w.receive(e)
		if len(w.wake) != 1 {
			t.Fatal("a pending row did not wake the lane")
		}
		<-w.wake
		again := w.receive(e)
		if !again.Repeat || again.Event != first.Event || len(again.Rows) != 0 {
			t.Errorf("repeat gives %+v, want the first event %d and no rows", again, first.Event)
		}
		if len(w.wake) != 0 {
			t.Error("a repeat woke the lane")
		}
		if w.see.noted("event stored") != 1 || w.see.noted("event repeated") != 1 {
			t.Errorf("notes: stored %d, repeated %d; want one each", w.see.noted("event stored"), w.see.noted("event repeated"))
		}
	})
}

func TestReception_TellsRowsAndTasksAndKeepsTheBodyToItself(t *testing.T) {
	inWorld(t, func(w *world) {
		e := paidEvent(1, w.clock.Now(), codeOf(1), usd(100))
		e.Body = []byte("card 4242")
		w.receive(e)
		w.receive(reversalEvent(1, w.clock.Now(), EffectRefund))
		w.deposit(codeOf(1), 100, testLogin)
		if w.see.noted("row moved") != 2 || w.see.noted("task opened") != 2 {
			t.Errorf("%d rows moved, %d tasks opened; want 2 and 2", w.see.noted("row moved"), w.see.noted("task opened"))
		}
		for _, n := range w.see.notes {
			if n.Event != nil && n.Event.Body != nil {
				t.Error("a note carries the raw body")
			}
		}
	})
}

func TestReception_EventThatWaitsWakesNobody(t *testing.T) {
	inWorld(t, func(w *world) {
		w.receive(paidEvent(1, w.clock.Now(), codeOf(1), usd(100)))
		if len(w.wake) != 0 {
			t.Error("a held row woke the lane")
		}
	})
}

func TestWakePending_CallsOnceForEachPendingRowsServerAndNeverForOthers(t *testing.T) {
	t.Parallel()
	pending, held := joinedRow(Pending), joinedRow(Held)
	var woken []string
	wake := func(server string) { woken = append(woken, server) }
	WakePending([]RowChange{{After: held}, {After: pending}}, wake)
	WakePending(nil, wake)
	WakePending([]RowChange{{After: pending}}, nil)
	if len(woken) != 1 || woken[0] != testServer {
		t.Errorf("woken %v, want %q once", woken, testServer)
	}
}

func TestSchedule_FollowsTheBootClockFromTheProcessStart(t *testing.T) {
	inWorld(t, func(w *world) {
		start := w.clock.Now()
		w.clock.step(year)
		w.clock.suspend(time.Hour)
		time.Sleep(time.Minute)
		if got, want := w.process.Schedule(w.clock), start.Add(61*time.Minute); !got.Equal(want) {
			t.Errorf("schedule %v, want %v", got, want)
		}
		if got := (Process{}).Schedule(w.clock); !got.Equal(w.clock.Now()) {
			t.Errorf("schedule without a start %v, want the wall clock", got)
		}
	})
}
