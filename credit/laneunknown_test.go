package credit

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"
)

// lostCall makes every call end unknown; applied says whether MT5 made the deal all the same.
func (w *world) lostCall(applied, answered bool) {
	w.mt5.balance = func(_ int, c Call) CallResult {
		if applied {
			w.mt5.apply(c)
		}
		return CallResult{Outcome: OutcomeUnknown, Answered: answered, Detail: "time-out"}
	}
}

// onlyFirstLost loses the first call without a deal and applies every later one.
func (w *world) onlyFirstLost() {
	w.mt5.balance = func(n int, c Call) CallResult {
		if n == 1 {
			return CallResult{Outcome: OutcomeUnknown, Detail: "time-out"}
		}
		return w.mt5.apply(c)
	}
}

func TestUnknown_FoundIsTakenAtTheFirstLook(t *testing.T) {
	inWorld(t, func(w *world) {
		id := w.paid(testLogin, 1)
		w.lostCall(true, false)
		w.start()
		w.pass(time.Second)
		w.wantState(id, Unknown)
		w.pass(1500 * time.Millisecond)
		row := w.wantState(id, Done)
		w.wantCalls(1, 1)
		if !row.WatchUntil.IsZero() {
			t.Error("a row that was never re-issued is watched")
		}
	})
}

func TestH4_DealThatBecomesVisibleLateIsFoundAndNeverDoubled(t *testing.T) {
	inWorld(t, func(w *world) {
		id := w.paid(testLogin, 1)
		w.mt5.balance = func(_ int, c Call) CallResult {
			w.mt5.hidden[w.mt5.apply(c).Ticket] = true
			return CallResult{Outcome: OutcomeUnknown}
		}
		w.start()
		w.pass(10*time.Minute + 30*time.Second)
		w.wantState(id, Unknown)
		clear(w.mt5.hidden)
		w.pass(2 * time.Minute)
		w.wantState(id, Done)
		w.wantCalls(1, 1)
	})
}

func TestUnknown_AbsentAfterTheGateIsReissuedOnceAndThenHandedOver(t *testing.T) {
	inWorld(t, func(w *world) {
		id := w.paid(testLogin, 1)
		w.lostCall(false, false)
		w.start()
		w.pass(11*time.Minute - 5*time.Second)
		w.wantState(id, Unknown)
		w.wantCalls(1, 0)
		w.pass(10 * time.Second)
		if row := w.wantState(id, Unknown); row.Reissues != 1 || row.Attempt != 2 {
			t.Errorf("reissues %d, attempt %d; want 1 and 2", row.Reissues, row.Attempt)
		}
		w.wantTasks("")
		w.pass(11*time.Minute - 10*time.Second)
		w.wantTasks("")
		w.pass(20 * time.Second)
		w.wantTasks("handed_over")
		w.pass(5 * time.Hour)
		row := w.wantState(id, Unknown)
		if !row.HandedOver {
			t.Error("row is not marked as handed over")
		}
		w.wantCalls(2, 0)
	})
}

func TestUnknown_HandedOverRowIsLookedAtEvery10MinutesAndStillFound(t *testing.T) {
	inWorld(t, func(w *world) {
		id := w.paid(testLogin, 1)
		w.lostCall(false, false)
		w.start()
		w.pass(time.Hour)
		before := len(w.mt5.looks())
		w.pass(time.Hour)
		if n := len(w.mt5.looks()) - before; n != 6 {
			t.Errorf("%d looks in an hour, want 6", n)
		}
		row := w.row(id)
		w.mt5.add(row.Login, ActionBalance, row.Amount, string(row.Reference))
		w.pass(10*time.Minute + time.Second)
		w.wantState(id, Done)
		w.wantTasks("")
	})
}

func TestUnknown_OnceAnsweredSuccessIsNeverReissuedAutomatically(t *testing.T) {
	inWorld(t, func(w *world) {
		id := w.paid(testLogin, 1)
		w.lostCall(false, true)
		w.start()
		w.pass(12 * time.Minute)
		w.wantState(id, Unknown)
		w.wantTasks("handed_over")
		w.pass(5 * time.Hour)
		w.wantState(id, Unknown)
		w.wantCalls(1, 0)
	})
}

func TestUnknown_LooksFollowTheSchedule(t *testing.T) {
	inWorld(t, func(w *world) {
		w.paid(testLogin, 1)
		w.lostCall(false, false)
		w.mt5.look = func(s Sighting) Sighting {
			if w.mt5.callCount() > 0 {
				s.Complete, s.Reason = false, "page cut"
			}
			return s
		}
		w.start()
		w.pass(time.Millisecond)
		w.mt5.mu.Lock()
		ended := w.mt5.lookAt[0]
		w.mt5.lookAt = nil
		w.mt5.mu.Unlock()
		w.pass(46 * time.Minute)
		var got []time.Duration
		for _, at := range w.mt5.looks() {
			got = append(got, at-ended)
		}
		want := []time.Duration{
			2 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute,
			11 * time.Minute, 12 * time.Minute, 13 * time.Minute, 14 * time.Minute, 15 * time.Minute,
			25 * time.Minute, 35 * time.Minute, 45 * time.Minute,
		}
		if !slices.Equal(got, want) {
			t.Errorf("looks at %v, want %v", got, want)
		}
		w.wantTasks("no_answer")
	})
}

func TestUnknown_NoAnswerIsATaskAfter15MinutesAndNeverAbsent(t *testing.T) {
	for name, break_ := range map[string]func(w *world){
		"incomplete looks": func(w *world) {
			w.mt5.look = func(s Sighting) Sighting { s.Complete = w.mt5.callCount() == 0; return s }
		},
		"session down": func(w *world) {
			w.mt5.ready = func() error {
				if w.mt5.callCount() > 0 {
					return errors.New("dial refused")
				}
				return nil
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				id := w.paid(testLogin, 1)
				w.lostCall(false, false)
				break_(w)
				w.start()
				w.pass(14 * time.Minute)
				w.wantTasks("")
				w.pass(2 * time.Minute)
				w.wantTasks("no_answer")
				w.pass(5 * time.Hour)
				w.wantState(id, Unknown)
				w.wantCalls(1, 0)
			})
		})
	}
}

func TestUnknown_ConflictStaysUnknownWithItsTask(t *testing.T) {
	for name, deal := range map[string]func(w *world, r Credit){
		"twice": func(w *world, r Credit) {
			w.mt5.add(r.Login, 2, r.Amount, string(r.Reference))
			w.mt5.add(r.Login, 2, r.Amount, string(r.Reference))
		},
		"wrong amount": func(w *world, r Credit) { w.mt5.add(r.Login, 2, usd(1), string(r.Reference)) },
		"damaged":      func(w *world, r Credit) { w.mt5.add(r.Login, 2, usd(1), string(r.Reference)[:12]) },
		"look-alike":   func(w *world, r Credit) { w.mt5.add(r.Login, 2, r.Amount, "by hand") },
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				id := w.paid(testLogin, 1)
				w.lostCall(false, false)
				w.start()
				w.pass(time.Second)
				deal(w, w.wantState(id, Unknown))
				w.pass(5 * time.Hour)
				w.wantState(id, Unknown)
				w.wantTasks("conflict")
				if n := w.mt5.callCount(); n != 1 {
					t.Errorf("%d calls, want 1", n)
				}
			})
		})
	}
}

func TestH3_ReissuedIsWatchedForASecondDealFor48Hours(t *testing.T) {
	inWorld(t, func(w *world) {
		id := w.paid(testLogin, 1)
		w.onlyFirstLost()
		w.start()
		w.pass(12 * time.Minute)
		row := w.wantState(id, Done)
		w.wantCalls(2, 1)
		if got := row.WatchUntil.Sub(w.clock.Now()); got < 47*time.Hour || got > 48*time.Hour {
			t.Errorf("watched for %v more, want almost 48 h", got)
		}
		w.pass(20 * time.Hour)
		w.mt5.add(row.Login, ActionBalance, row.Amount, string(row.Reference)) // the late one
		w.pass(11 * time.Minute)
		w.wantTasks("second_deal")
		w.wantState(id, Done)
	})
}

func TestReissued_WatchEndsAfter48HoursAndSeesNoGhosts(t *testing.T) {
	inWorld(t, func(w *world) {
		id := w.paid(testLogin, 1)
		w.onlyFirstLost()
		w.start()
		w.pass(12 * time.Minute)
		w.wantState(id, Done)
		w.pass(48*time.Hour + 20*time.Minute)
		row := w.row(id)
		if !row.WatchUntil.IsZero() || !row.NextAt.IsZero() {
			t.Errorf("watch until %v, next at %v; want none", row.WatchUntil, row.NextAt)
		}
		looks := len(w.mt5.looks())
		w.pass(time.Hour)
		if n := len(w.mt5.looks()); n != looks {
			t.Errorf("%d looks after the watch", n-looks)
		}
		w.wantTasks("")
	})
}

func TestH7_LeaseEndsWhileTheCallHangsThenLateSuccess_IsKeptAndFound(t *testing.T) {
	inWorld(t, func(w *world) {
		id := w.paid(testLogin, 1)
		w.mt5.balance = func(_ int, c Call) CallResult {
			time.Sleep(20 * time.Minute) // an adapter whose time-out fails
			return w.mt5.apply(c)
		}
		w.start()
		w.pass(119 * time.Second)
		w.wantState(id, Claimed)
		w.pass(3 * time.Second)
		w.wantState(id, Unknown)
		w.pass(17 * time.Minute)
		w.wantState(id, Unknown)
		if !w.lane.Live.Live(id) {
			t.Error("the hanging call is not live")
		}
		w.pass(time.Minute + time.Millisecond)
		row := w.row(id)
		if !row.Answered {
			t.Error("the late success is forgotten")
		}
		w.wantTasks("late_answer")
		w.pass(3 * time.Second)
		w.wantState(id, Done)
		w.wantCalls(1, 1)
		if got := w.moves(id); got != "born, claimed, orphaned, answered late, found" {
			t.Errorf("moves %q", got)
		}
	})
}

func TestH7_LateAnswerWithoutADealRestartsTheQuarantine(t *testing.T) {
	inWorld(t, func(w *world) {
		id := w.paid(testLogin, 1)
		w.mt5.balance = func(n int, c Call) CallResult {
			if n == 1 {
				time.Sleep(9 * time.Minute)
				return CallResult{Outcome: OutcomeUnknown, Detail: "reset"}
			}
			return w.mt5.apply(c)
		}
		w.start()
		w.pass(9*time.Minute + time.Second)
		w.wantTasks("late_answer")
		w.pass(10 * time.Minute)
		w.wantState(id, Unknown)
		w.pass(2 * time.Minute)
		w.wantState(id, Done)
		w.wantCalls(2, 1)
	})
}

func TestH2_LiveCallIsNeverDeclaredAbsentByAnotherLane(t *testing.T) {
	inWorld(t, func(w *world) {
		id := w.paid(testLogin, 1)
		w.mt5.balance = func(_ int, c Call) CallResult {
			time.Sleep(40 * time.Minute)
			return w.mt5.apply(c)
		}
		w.start()
		w.pass(3 * time.Minute)
		w.wantState(id, Unknown)
		ctx, cancel := context.WithCancel(context.Background())
		other, ended := *w.lane, make(chan error) // of the same login, as no configuration should have it
		go func() { ended <- other.Run(ctx) }()
		w.pass(30 * time.Minute)
		if row := w.wantState(id, Unknown); row.Looks < 10 || row.FirstAbsent != nil {
			t.Errorf("%d looks, first absent %v: want many, and none that counts", row.Looks, row.FirstAbsent)
		}
		w.wantCalls(1, 0)
		w.pass(10 * time.Minute)
		w.wantState(id, Done)
		w.wantCalls(1, 1)
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestShutdown_DuringACallStillRecordsTheOutcome(t *testing.T) {
	inWorld(t, func(w *world) {
		id := w.paid(testLogin, 1)
		w.mt5.balance = func(_ int, c Call) CallResult {
			time.Sleep(10 * time.Second)
			return w.mt5.apply(c)
		}
		w.start()
		w.pass(time.Second)
		w.wantState(id, Claimed)
		w.stop()
		w.wantState(id, Done)
	})
}

func TestShutdown_DuringTheLookClaimsNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		id := w.paid(testLogin, 1)
		w.mt5.lookTakes = 5 * time.Second
		w.start()
		w.pass(time.Second)
		w.stop()
		w.wantState(id, Pending)
		w.wantCalls(0, 0)
	})
}

func TestLane_EndsWithItsContextAndWithoutAnError(t *testing.T) {
	inWorld(t, func(w *world) {
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error)
		go func() { done <- w.lane.Run(ctx) }()
		w.pass(time.Minute)
		cancel()
		if err := <-done; err != nil {
			t.Errorf("lane ended with %v", err)
		}
	})
}
