package credit

import (
	"context"
	"errors"
	"testing"
	"time"
)

// halfOpen is a session whose line goes silent after a balance call was answered: each read waits for the adapter's time-outs.
type halfOpen struct {
	*fakeMT5
	silent bool
}

// readTimeout is what a read of a fresh deal takes at most: a new connection, its authentication, and the read.
const readTimeout = 25 * time.Second

// Deal implements Session.
func (h *halfOpen) Deal(ctx context.Context, ticket uint64) (Deal, error) {
	if !h.silent {
		return h.fakeMT5.Deal(ctx, ticket)
	}
	h.enter("deal")
	select {
	case <-ctx.Done():
		return Deal{}, ctx.Err()
	case <-time.After(readTimeout):
		return Deal{}, errors.New("no answer in time")
	}
}

// stopTakes stops the loops and tells how long that took.
func (w *world) stopTakes() time.Duration {
	w.t.Helper()
	begun := w.clock.Boot()
	w.stop()
	return w.clock.Boot() - begun
}

func TestStop_OverALineThatWentSilentAfterTheAnswerTakesNoLongerThanASend(t *testing.T) {
	inWorld(t, func(w *world) {
		id := w.paid(testLogin, 1)
		w.lane.Session = &halfOpen{w.mt5, true}
		w.start()
		w.pass(time.Second)
		w.wantState(id, Claimed)
		if took := w.stopTakes(); took > w.timing.SendWithin {
			t.Errorf("the stop took %s", took)
		}
		row := w.wantState(id, Unknown)
		if got := w.moves(id); got != "born, claimed, lost" || !row.Answered {
			t.Errorf("moves %q, answered %v", got, row.Answered)
		}

		// What was answered is found by looking, and never called for again.
		w.newProcess()
		w.start()
		w.pass(time.Hour)
		w.wantState(id, Done)
		w.wantCalls(1, 1)
		w.wantTasks("")
	})
}

func TestStop_DuringTheCallLetsItsDealBeReadBack(t *testing.T) {
	for name, c := range map[string]struct {
		silent bool
		want   State
		took   time.Duration
	}{
		"the deal is read":       {false, Done, 9 * time.Second},
		"the line is silent now": {true, Unknown, 11 * time.Second}, // the call, and one send
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				id := w.paid(testLogin, 1)
				w.lane.Session = &halfOpen{w.mt5, c.silent}
				w.mt5.balance = func(_ int, call Call) CallResult {
					r := w.mt5.apply(call)
					time.Sleep(10 * time.Second)
					return r
				}
				w.start()
				w.pass(time.Second)
				if took := w.stopTakes(); took != c.took {
					t.Errorf("the stop took %s, want %s", took, c.took)
				}
				w.wantState(id, c.want)
				w.wantCalls(1, 1)
			})
		})
	}
}

func TestVerify_WithoutAStopTheReadsMayTakeAsLongAsTheAdapterLets(t *testing.T) {
	inWorld(t, func(w *world) {
		id := w.paid(testLogin, 1)
		w.lane.Session = &halfOpen{w.mt5, true}
		w.start()
		w.pass(2*readTimeout + time.Second)
		w.wantState(id, Claimed)
		w.pass(readTimeout)
		w.wantState(id, Unknown)
		if took := w.stopTakes(); took > w.timing.SendWithin {
			t.Errorf("the stop took %s", took)
		}
	})
}
