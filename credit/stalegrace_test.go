package credit

import (
	"strings"
	"testing"
	"time"
)

// The task of a payment without a deposit record says that it goes on by itself. Once the record has come and
// something else stops the row, or a refund is known, that is not true any more: a person must not wait for it.
func TestGrace_TaskIsReplacedWhenTheRowWaitsForSomethingElse(t *testing.T) {
	for name, happens := range map[string]func(w *world){
		"amount":              func(w *world) { w.deposit(codeOf(1), 40000, testLogin) },
		"no_deposit reversal": func(w *world) { w.receive(reversalEvent(1, w.clock.Now(), EffectRefund)) },
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.start()
				id := w.receive(paidEvent(1, w.clock.Now(), codeOf(1), usd(50000))).Rows[0].After.ID
				w.pass(11 * time.Minute)
				w.wantTasks("held")
				happens(w)
				w.wantState(id, Held)
				open := 0
				for _, task := range w.book.tasks {
					if task.Kind != TaskHeld || !task.IsOpen() {
						continue
					}
					open++
					if !strings.Contains(task.Summary, "waits: held: "+name) || strings.Contains(task.Next, "by itself") {
						t.Errorf("the open task says %q, %q", task.Summary, task.Next)
					}
				}
				if open != 1 {
					t.Errorf("%d open tasks of the row, want 1", open)
				}
			})
		})
	}
}
