package credit

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"
)

const odd = "caf\xe9 \xff" // as a server in another encoding sends it

// wantText reports odd bytes anywhere in what would be stored: JSON writes each as the escape \ufffd.
func wantText(t *testing.T, what string, v any) {
	t.Helper()
	if b := must(json.Marshal(v)); bytes.Contains(b, []byte(`\ufffd`)) {
		t.Errorf("%s keeps bytes that are no text: %s", what, b)
	}
}

func TestOddBytes_FromMT5CostNoOutcome(t *testing.T) {
	inWorld(t, func(w *world) {
		refused, conflict := w.paid(testLogin, 1), w.paid(6002, 2)
		w.mt5.add(6002, ActionBalance, usd(50000), odd)
		w.mt5.balance = func(int, Call) CallResult {
			return CallResult{Outcome: OutcomeRefused, Code: odd, Detail: odd}
		}
		w.mt5.look = func(s Sighting) Sighting { s.Control, s.Reason = odd, odd; return s }
		w.start()
		w.pass(time.Second)
		w.wantState(refused, Failed)
		w.wantState(conflict, Held)
		for id, entries := range w.book.history {
			wantText(t, w.moves(id), entries)
		}
		wantText(t, "tasks", w.book.tasks)
	})
}

func TestOddBytes_FromAProviderCostNoEvent(t *testing.T) {
	inWorld(t, func(w *world) {
		e := paidEvent(1, w.clock.Now(), odd, usd(100))
		e.MessageKey, e.Facts.Status, e.Facts.Type, e.Headers = odd, odd, odd, map[string]string{odd: odd}
		e.Facts.Parts[0].ID, e.Body = odd, []byte(odd)
		given := e.Facts.Parts[0].ID
		w.receive(e)
		if again := w.receive(e); !again.Repeat {
			t.Error("the same event again is no repeat")
		}
		if len(w.book.events) != 1 || string(w.book.events[0].Body) != odd {
			t.Errorf("%d events, body %q", len(w.book.events), w.book.events[0].Body)
		}
		if e.Facts.Parts[0].ID != given || e.Headers[odd] != odd {
			t.Error("the caller's event was changed")
		}
		wantText(t, "event", w.book.events)
		wantText(t, "rows", w.book.sorted())
		wantText(t, "tasks", w.book.tasks)
	})
}

func TestPlain_LeavesTextAlone(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "500.00 USD", "Überweisung № 5 – 東京 🙂", "\uFFFD", "\x00"} {
		if got := plain(s); got != s {
			t.Errorf("%q becomes %q", s, got)
		}
	}
}
