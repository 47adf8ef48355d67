package credit

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"
)

const year = 365 * 24 * time.Hour

// crashInCall runs a process that dies with a call under way, and returns the row and the state MT5 was left in.
func (w *world) crashInCall(applied bool) ID {
	w.t.Helper()
	id := w.paid(testLogin, 1)
	w.edit(func(b *memBook) {
		d, err := b.dossier(id)
		if err != nil {
			w.t.Fatal(err)
		}
		lease := w.lane.mark()
		lease.Boot += w.timing.Lease
		dec, err := w.lane.decideClaim("token-dead", lease, &LookEvidence{Verdict: VerdictAbsent, Complete: true}, nil)(d)
		if err != nil {
			w.t.Fatal(err)
		}
		ch, err := dec.Changes(d.Row)
		if err != nil {
			w.t.Fatal(err)
		}
		if _, _, err := b.write(ch); err != nil {
			w.t.Fatal(err)
		}
	})
	row := w.wantState(id, Claimed)
	if applied {
		w.mt5.add(row.Login, ActionBalance, row.DealAmount(), string(row.Reference))
	}
	return id
}

func TestProcessStart_ClaimedBecomesUnknownAndIsFound(t *testing.T) {
	inWorld(t, func(w *world) {
		id := w.crashInCall(true)
		w.pass(30 * time.Second)
		w.newProcess()
		w.start()
		w.pass(time.Second)
		w.wantState(id, Done)
		w.wantCalls(0, 1)
		if got := w.moves(id); got != "born, claimed, orphaned, found" {
			t.Errorf("moves %q", got)
		}
	})
}

func TestProcessStart_ClaimedWithoutADealWaitsItsQuarantineFromTheStart(t *testing.T) {
	inWorld(t, func(w *world) {
		id := w.crashInCall(false)
		w.pass(3 * time.Hour) // what passed while no process ran counts for nothing
		w.newProcess()
		w.start()
		w.pass(10*time.Minute + 55*time.Second)
		w.wantState(id, Unknown)
		w.wantCalls(0, 0)
		w.pass(time.Minute)
		w.wantState(id, Done)
		w.wantCalls(1, 1)
	})
}

func TestProcessStart_FirstLookOfAnEarlierProcessDoesNotCount(t *testing.T) {
	inWorld(t, func(w *world) {
		id := w.paid(testLogin, 1)
		w.onlyFirstLost()
		w.start()
		w.pass(10*time.Minute + 30*time.Second)
		if row := w.wantState(id, Unknown); row.FirstAbsent == nil {
			t.Fatal("no first look is stored")
		}
		w.stop()
		w.newProcess()
		w.start()
		w.pass(10*time.Minute + 55*time.Second)
		w.wantState(id, Unknown)
		w.wantCalls(1, 0)
		w.pass(2 * time.Minute)
		w.wantState(id, Done)
		w.wantCalls(2, 1)
	})
}

func TestProcessStart_NotSentOfAnEarlierProcessIsNoEvidence(t *testing.T) {
	row := joinedRow(Unknown)
	row.NotSent = &Mark{Process: "earlier"}
	if _, _, err := Apply(row, resent(noon, "lane", "this", noon)); err == nil {
		t.Error("another process's byte count put a row back to pending")
	}
	row.NotSent = &Mark{Process: "this"}
	if _, _, err := Apply(row, resent(noon, "lane", "this", noon)); err != nil {
		t.Errorf("own evidence refused: %v", err)
	}
}

func TestProcessStart_PlansOfAnotherClockAreBroughtForward(t *testing.T) {
	inWorld(t, func(w *world) {
		w.clock.step(year) // the machine's clock was wrong
		w.newProcess()
		pending := w.paid(testLogin, 1)
		lost := w.receive(paidEvent(2, w.clock.Now(), codeOf(2), usd(50000))).Rows[0].After.ID
		w.clock.step(-year) // and is right after the restart
		w.newProcess()
		w.start()
		w.pass(time.Second)
		w.wantState(pending, Done)
		w.pass(time.Minute)
		if w.wantState(lost, Held); w.openTasks() != "held" {
			t.Errorf("open tasks %q: the held row's grace ends in a year", w.openTasks())
		}
	})
}

func TestProcessStart_SweepsMoreRowsThanOnePage(t *testing.T) {
	inWorld(t, func(w *world) {
		const n = 2*batchSize + 3
		for i := range n {
			row := joinedRow(Claimed)
			row.ID, row.Unit.Payment, row.Reference, row.Login = ID(i+1), paymentOf(i), Reference(fmt.Sprint(i)), uint64(i)
			w.book.rows[row.ID] = row
		}
		keeper := &Keeper{Book: w.book, Clock: w.clock, Observer: w.see, Process: w.process, Timing: w.timing}
		if err := keeper.Start(context.Background()); err != nil {
			t.Fatal(err)
		}
		for id, row := range w.book.rows {
			if row.State != Unknown || row.UnknownSince.Process != w.process.ID || row.NextAt.IsZero() {
				t.Errorf("credit %d is %s since %v", id, row.State, row.UnknownSince)
			}
		}
		clear(w.book.rows) // made without a history
	})
}

func TestGrace_HeldRowWithoutADepositIsATaskAfter10MinutesAndClosesByItself(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start()
		id := w.receive(paidEvent(1, w.clock.Now(), codeOf(1), usd(50000))).Rows[0].After.ID
		w.pass(9*time.Minute + 50*time.Second)
		w.wantTasks("")
		w.pass(15 * time.Second)
		w.wantTasks("held")
		w.pass(time.Hour)
		w.deposit(codeOf(1), 50000, testLogin)
		w.wantTasks("")
		w.pass(2 * time.Second)
		w.wantState(id, Done)
	})
}

func TestGrace_DepositWithinItMakesNoTaskAtAll(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start()
		id := w.receive(paidEvent(1, w.clock.Now(), codeOf(1), usd(50000))).Rows[0].After.ID
		w.pass(5 * time.Minute)
		w.deposit(codeOf(1), 50000, testLogin)
		w.pass(time.Hour)
		w.wantState(id, Done)
		if len(w.book.tasks) != 0 {
			t.Errorf("tasks %v, want none ever", w.book.tasks)
		}
	})
}

func TestKeeper_LeavesALiveLeaseAlone(t *testing.T) {
	inWorld(t, func(w *world) {
		id := w.paid(testLogin, 1)
		w.mt5.balance = func(_ int, c Call) CallResult {
			time.Sleep(110 * time.Second)
			return w.mt5.apply(c)
		}
		w.start()
		w.pass(109 * time.Second)
		w.wantState(id, Claimed)
		w.pass(2 * time.Second)
		w.wantState(id, Done)
		w.wantTasks("")
	})
}

// Every wait runs on the boot clock: a wall clock that jumps changes what is shown and nothing else.
func TestWallClock_JumpsOfAYearMoveNoDeadline(t *testing.T) {
	for _, jump := range []time.Duration{year, -year} {
		t.Run(jump.String(), func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.start()
				unknown := w.paid(testLogin, 1)
				w.onlyFirstLost()
				w.pass(5 * time.Second)
				w.wantState(unknown, Unknown)

				w.clock.step(jump)
				ended := w.clock.Boot() - 5*time.Second
				fresh := w.paid(6002, 2)
				waiting := w.receive(paidEvent(3, w.clock.Now(), codeOf(3), usd(100))).Rows[0].After.ID
				w.pass(2 * time.Second)
				w.wantState(fresh, Done)
				w.pass(9 * time.Minute)
				w.wantTasks("")
				w.pass(ended + 11*time.Minute - 2*time.Second - w.clock.Boot())
				w.wantState(unknown, Unknown)
				w.pass(5 * time.Second)
				w.wantState(unknown, Done)
				w.wantTasks("held") // of the row that waits for its deposit: the grace ran 10 min, not a year
				w.wantState(waiting, Held)

				row := w.row(unknown)
				w.mt5.add(row.Login, ActionBalance, row.Amount, string(row.Reference))
				w.pass(11 * time.Minute) // the watch looks every 10 min
				w.wantTasks("held, second_deal")
			})
		})
	}
}

func TestH6_WallClockJumpDoesNotEndALease(t *testing.T) {
	inWorld(t, func(w *world) {
		id := w.paid(testLogin, 1)
		w.mt5.balance = func(_ int, c Call) CallResult {
			w.clock.step(year)
			time.Sleep(15 * time.Second)
			return w.mt5.apply(c)
		}
		w.start()
		w.pass(20 * time.Second)
		w.wantState(id, Done)
		if got := w.moves(id); got != "born, claimed, done" {
			t.Errorf("moves %q", got)
		}
	})
}

func TestWallClock_JumpWhileAPendingRowIsStuckNeitherHurriesNorDelaysItsTask(t *testing.T) {
	for _, jump := range []time.Duration{year, -year} {
		t.Run(jump.String(), func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.paid(testLogin, 1)
				w.mt5.look = func(s Sighting) Sighting { s.Complete = false; return s }
				w.start()
				w.pass(time.Minute)
				w.clock.step(jump)
				w.pass(13 * time.Minute)
				w.wantTasks("")
				w.pass(3 * time.Minute)
				w.wantTasks("stuck")
			})
		})
	}
}

func TestWallClock_JumpAfterALateAnswerDoesNotDelayTheNextLook(t *testing.T) {
	inWorld(t, func(w *world) {
		id := w.paid(testLogin, 1)
		w.mt5.balance = func(_ int, c Call) CallResult {
			time.Sleep(3 * time.Minute)
			w.clock.step(year)
			return w.mt5.apply(c)
		}
		w.start()
		w.pass(3*time.Minute + 2*time.Second)
		w.wantState(id, Done)
	})
}

func TestSuspendedMachine_SendsNothingOnAnOldClaimAndCountsTheTime(t *testing.T) {
	inWorld(t, func(w *world) {
		id := w.paid(testLogin, 1)
		w.mt5.balance = func(n int, c Call) CallResult {
			if n == 1 {
				w.clock.suspend(time.Hour) // between the claim and the write
			}
			if w.clock.Boot() >= c.Deadline {
				return CallResult{Outcome: OutcomeNotSent, Detail: "send deadline passed"}
			}
			return w.mt5.apply(c)
		}
		w.start()
		w.pass(10 * time.Second)
		w.wantState(id, Done)
		w.wantCalls(2, 1)
	})
}

func TestSuspendedMachine_BetweenTheAccountCheckAndTheClaimStartsAgain(t *testing.T) {
	inWorld(t, func(w *world) {
		id := w.paid(testLogin, 1)
		w.atLook(func() { w.clock.suspend(time.Hour) })
		w.start()
		w.pass(10 * time.Second)
		w.wantState(id, Done)
		want := []string{"account", "look", "account", "relook", "balance on claimed", "deal"}
		if got := w.mt5.took(); !slices.Equal(got, want) {
			t.Errorf("order %v, want %v", got, want)
		}
	})
}
