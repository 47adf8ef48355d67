package credit

import (
	"strings"
	"testing"
	"time"
)

// Whoever gets the task must not have to search the log for what MT5 said.
func TestRefusedCall_TaskSaysWhatMT5Answered(t *testing.T) {
	inWorld(t, func(w *world) {
		w.mt5.balance = func(int, Call) CallResult {
			return CallResult{Outcome: OutcomeRefused, Code: "10019 no money", Status: 200}
		}
		w.start()
		id := w.paid(testLogin, 1)
		w.pass(time.Second)
		w.wantState(id, Failed)
		w.wantTasks("failed")
		if s := w.book.tasks[0].Summary; !strings.Contains(s, "10019 no money") || !strings.Contains(s, loginText(testLogin)) {
			t.Errorf("the task says %q", s)
		}
	})
}
