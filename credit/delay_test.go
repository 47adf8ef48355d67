package credit

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// wantNext compares what the newest open task asks for.
func (w *world) wantNext(kind TaskKind, want, not string) {
	w.t.Helper()
	w.book.mu.Lock()
	defer w.book.mu.Unlock()
	for _, t := range w.book.tasks {
		if t.IsOpen() && t.Kind == kind {
			if !strings.Contains(t.Next, want) || not != "" && strings.Contains(t.Next, not) {
				w.t.Errorf("%s: %q asks for %q, want %q and not %q", t.Kind, t.Summary, t.Next, want, not)
			}
			return
		}
	}
	w.t.Errorf("no task %s is open", kind)
}

// Whoever reads the task of a payment that gets no further is told what to do about the cause, and about nothing else.
func TestStuckTask_AsksForWhatItsCauseNeeds(t *testing.T) {
	for name, c := range map[string]struct {
		cause     func(w *world)
		want, not string
	}{
		"full disk":   {func(w *world) { w.book.lowSpace = true }, "make room", "MT5"},
		"MT5 is away": {func(w *world) { w.mt5.ready = func() error { return errors.New("dial refused") } }, "MT5 and the account can be reached", "deal-gone"},
		"slow looks":  {func(w *world) { w.mt5.lookTakes, w.mt5.relookTakes = 40*time.Second, 11*time.Second }, "answers so slowly", "deal-gone"},
		"looks are cut": {func(w *world) {
			w.mt5.look = func(s Sighting) Sighting { s.Complete, s.Reason = false, "page cut"; return s }
		}, "deal-gone", "room"},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.paid(testLogin, 1)
				c.cause(w)
				w.start()
				w.pass(17 * time.Minute)
				w.wantNext(TaskStuck, c.want, c.not)
			})
		})
	}
}

// A row that waits for another one of its login says which.
func TestStuckTask_BehindAnotherRowNamesThatRow(t *testing.T) {
	inWorld(t, func(w *world) {
		first := w.paid(testLogin, 1)
		w.mt5.balance = func(int, Call) CallResult { return CallResult{Outcome: OutcomeUnknown, Detail: "reply lost"} }
		w.mt5.look = func(s Sighting) Sighting {
			if w.mt5.callCount() > 0 {
				s.Complete, s.Reason = false, "page cut"
			}
			return s
		}
		w.start()
		w.pass(time.Second)
		w.wantState(first, Unknown)
		w.paid(testLogin, 2)
		w.pass(20 * time.Minute)
		w.wantNext(TaskStuck, "creditonce credits show 1", "MT5")
	})
}
