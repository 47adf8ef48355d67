package credit

import (
	"testing"
	"time"
)

// A re-issued row is looked at every ten minutes for two days. That settles nothing: a row of its login that a task stops
// gets its own task after a quarter of an hour all the same, and no turn of its own each time. Found by the soak test.
func TestLane_AWatchedRowGivesNobodyATurn(t *testing.T) {
	inWorld(t, func(w *world) {
		watched := w.paid(testLogin, 1)
		w.onlyFirstLost()
		w.start()
		w.pass(12 * time.Minute)
		row := w.wantState(watched, Done)
		w.mt5.balance = func(_ int, c Call) CallResult {
			r := w.mt5.apply(c)
			w.mt5.hidden[r.Ticket] = true
			return CallResult{Outcome: OutcomeUnknown, Detail: "reply lost"}
		}
		busy := w.paid(testLogin, 2)
		w.pass(time.Second)
		w.wantState(busy, Unknown)
		waiting := w.paid(testLogin, 3)
		w.pass(time.Second)
		w.edit(func(b *memBook) {
			b.tasks = append(b.tasks, Task{
				ID: 99, Kind: TaskLateAnswer, Entity: RowEntity(watched), OpenedAt: w.clock.Now(), Identity: row.Identity, Login: row.Login,
			})
		})
		clear(w.mt5.hidden)
		for w.row(busy).State != Done {
			w.pass(time.Second)
		}
		w.pass(40 * time.Minute)
		w.wantState(waiting, Pending)
		w.edit(func(b *memBook) {
			for _, e := range b.history[waiting] {
				if e.Move == "followed" {
					t.Errorf("at %v it got a turn although a task stops the login", e.At)
				}
			}
		})
		w.wantTasks("late_answer, stuck")
	})
}

// A refund that came while the row was unknown holds the row once it is pending again, although another row of its login is
// not settled: people see it as refunded, not as one that waits. Found by the simulation.
func TestLane_ARefundedRowIsHeldBehindAnotherRowToo(t *testing.T) {
	inWorld(t, func(w *world) {
		w.mt5.balance = func(_ int, c Call) CallResult {
			r := w.mt5.apply(c)
			w.mt5.hidden[r.Ticket] = true
			return CallResult{Outcome: OutcomeUnknown, Detail: "reply lost"}
		}
		busy := w.paid(testLogin, 1)
		w.start()
		w.pass(time.Second)
		w.wantState(busy, Unknown)
		waiting := w.paid(testLogin, 2)
		w.edit(func(b *memBook) {
			u := b.rows[waiting].Unit
			b.events = append(b.events, Event{
				ID: 99, Kind: u.ProviderKind, Account: u.Account, Facts: Facts{Effect: EffectRefund, Payment: u.Payment},
			})
		})
		w.pass(5 * time.Second)
		if row := w.wantState(waiting, Held); !row.HasHold(HoldReversal) {
			t.Errorf("held for %v", row.Holds)
		}
		w.wantState(busy, Unknown)
	})
}
