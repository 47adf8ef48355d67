package credit

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// closeTask is what a person does who has looked into it.
func (w *world) closeTask(kind TaskKind) {
	w.t.Helper()
	w.edit(func(b *memBook) {
		i := slices.IndexFunc(b.tasks, func(t Task) bool { return t.Kind == kind && t.IsOpen() })
		if i < 0 {
			w.t.Errorf("no task %s is open", kind)
			return
		}
		b.tasks[i].ClosedAt, b.tasks[i].ClosedBy, b.tasks[i].Reason = w.clock.Now(), "anna", "taken back at MT5"
	})
}

func TestSecondDeal_StopsClaimsOnItsLoginUntilAPersonHasSettledIt(t *testing.T) {
	inWorld(t, func(w *world) {
		id := w.paid(testLogin, 1)
		w.onlyFirstLost()
		w.start()
		w.pass(12 * time.Minute)
		row := w.wantState(id, Done)
		w.mt5.add(row.Login, ActionBalance, row.Amount, string(row.Reference))
		w.pass(11 * time.Minute)
		w.wantTasks("second_deal")

		next, other := w.paid(testLogin, 2), w.paid(6002, 3)
		w.pass(20 * time.Minute)
		w.wantState(next, Pending)
		w.wantState(other, Done)
		w.wantTasks("second_deal, stuck")
		w.edit(func(b *memBook) {
			if last := b.history[next][len(b.history[next])-1]; !strings.Contains(last.Reason, "second_deal, credit/1") {
				t.Errorf("it waits for %q", last.Reason)
			}
		})

		w.closeTask(TaskSecondDeal)
		w.pass(5 * time.Minute)
		w.wantState(next, Done)
		w.wantTasks("")
	})
}

func TestConflictBeforeTheCall_StopsTheOtherRowsOfTheLogin(t *testing.T) {
	inWorld(t, func(w *world) {
		first := w.paid(testLogin, 1)
		row := w.row(first)
		w.mt5.add(row.Login, ActionBalance, usd(1), string(row.Reference))
		w.start()
		w.pass(time.Second)
		if row := w.wantState(first, Held); holdsOf(row) != "conflict" {
			t.Fatalf("held for %q", holdsOf(row))
		}
		next := w.paid(testLogin, 2)
		w.pass(20 * time.Minute)
		w.wantState(next, Pending)
		w.wantTasks("held, stuck")
		w.wantCalls(0, 1)
	})
}

func TestLookAlikeBeforeTheCall_StopsNoOtherRowOfTheLogin(t *testing.T) {
	inWorld(t, func(w *world) {
		first := w.paid(testLogin, 1)
		w.mt5.add(testLogin, ActionBalance, w.row(first).Amount, "by hand")
		w.start()
		w.pass(time.Second)
		w.wantState(first, Held)
		w.deposit(codeOf(2), 70000, testLogin)
		next := w.receive(paidEvent(2, w.clock.Now(), codeOf(2), usd(70000))).Rows[0].After.ID
		w.pass(time.Minute)
		w.wantState(next, Done)
	})
}

// The task may be opened between the look and the claim: the claim's own transaction decides.
func TestClaim_IsRefusedInItsTransactionWhileSomethingStopsTheLogin(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stops []Task
		want  string // the move
	}{
		"nothing open":                      {nil, "claimed"},
		"a second deal of another row":      {[]Task{{ID: 4, Kind: TaskSecondDeal, Entity: "credit/9"}}, "postponed"},
		"a late answer of another row":      {[]Task{{ID: 4, Kind: TaskLateAnswer, Entity: "credit/9"}}, "postponed"},
		"its own late answer, looked after": {[]Task{{ID: 4, Kind: TaskLateAnswer, Entity: "credit/1"}}, "claimed"},
		"its own, and a conflict":           {[]Task{{ID: 4, Kind: TaskLateAnswer, Entity: "credit/1"}, {ID: 5, Kind: TaskHeld, Entity: "credit/2"}}, "postponed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			row := joinedRow(Pending)
			row.ID = 1
			l := &Lane{Clock: &bubbleClock{origin: time.Now()}, Process: Process{ID: "p"}, Timing: DefaultTiming()}
			d := Dossier{Row: row, Account: &Account{Client: row.Client}, Settings: Settings{Mode: ModeLive}, Stops: c.stops}
			dec, err := l.decideClaim("token", Mark{Process: "p"}, &LookEvidence{}, nil)(d)
			if err != nil {
				t.Fatal(err)
			}
			if dec.Move.Name() != c.want {
				t.Errorf("the row was %s, want %s", dec.Move.Name(), c.want)
			}
		})
	}
}
