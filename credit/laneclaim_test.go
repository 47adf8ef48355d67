package credit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"
)

// atLook runs something between the account check and the claim, once.
func (w *world) atLook(do func()) {
	once := false
	w.mt5.look = func(s Sighting) Sighting {
		if !once {
			once = true
			do()
		}
		return s
	}
}

func TestClaim_ChecksEverythingAgainInsideItsTransaction(t *testing.T) {
	for name, c := range map[string]struct {
		change func(w *world)
		state  State
		hold   Hold
		tasks  string
	}{
		"ownership moved": {
			func(w *world) {
				w.edit(func(b *memBook) { // as a change that found the row not yet pending would leave it
					a := b.accounts[loginKey{testServer, testLogin}]
					a.Client = "client-2"
					b.accounts[loginKey{testServer, testLogin}] = a
				})
			}, Held, HoldOwnership, "held",
		},
		"account gone": {
			func(w *world) {
				w.edit(func(b *memBook) { delete(b.accounts, loginKey{testServer, testLogin}) })
			}, Held, HoldOwnership, "held",
		},
		"refund known": {
			func(w *world) {
				w.edit(func(b *memBook) { b.events = append(b.events, reversalEvent(1, noon, EffectRefund)) })
			}, Held, HoldReversal, "held",
		},
		"refund received": {
			func(w *world) { w.receive(reversalEvent(1, w.clock.Now(), EffectRefund)) },
			Held, HoldReversal, "refund, held",
		},
		"dispute received": {
			func(w *world) { w.receive(reversalEvent(1, w.clock.Now(), EffectDispute)) },
			Held, HoldReversal, "dispute, held",
		},
		"mode hold":    {func(w *world) { w.edit(func(b *memBook) { b.settings.Mode = ModeHold }) }, Pending, "", ""},
		"mode observe": {func(w *world) { w.edit(func(b *memBook) { b.settings.Mode = ModeObserve }) }, Pending, "", ""},
		"disk low":     {func(w *world) { w.edit(func(b *memBook) { b.lowSpace = true }) }, Pending, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				id := w.paid(testLogin, 1)
				w.atLook(func() { c.change(w) })
				w.start()
				w.pass(10 * time.Second)
				row := w.wantState(id, c.state)
				w.wantCalls(0, 0)
				w.wantTasks(c.tasks)
				if c.hold != "" && !slices.Equal(row.Holds, []Hold{c.hold}) {
					t.Errorf("holds %v, want %v", row.Holds, c.hold)
				}
			})
		})
	}
}

func TestH25_DiskThatStaysLowStopsClaimsAndIsATaskAfter15Minutes(t *testing.T) {
	inWorld(t, func(w *world) {
		id := w.paid(testLogin, 1)
		w.book.lowSpace = true
		w.start()
		w.pass(14 * time.Minute)
		w.wantTasks("")
		w.pass(3 * time.Minute)
		w.wantTasks("stuck")
		w.edit(func(b *memBook) { b.lowSpace = false })
		w.pass(2 * time.Minute)
		w.wantState(id, Done)
		w.wantTasks("")
	})
}

func TestLane_ModesThatForbidClaimsStillSettleUnknownRows(t *testing.T) {
	for _, mode := range []Mode{ModeHold, ModeObserve} {
		t.Run(string(mode), func(t *testing.T) {
			inWorld(t, func(w *world) {
				first := w.paid(testLogin, 1)
				w.mt5.balance = func(_ int, c Call) CallResult {
					w.mt5.apply(c)
					return CallResult{Outcome: OutcomeUnknown, Detail: "reply lost"}
				}
				w.start()
				w.pass(time.Second)
				w.wantState(first, Unknown)
				second := w.paid(6002, 2)
				w.edit(func(b *memBook) { b.settings.Mode = mode })
				w.pass(time.Hour)
				w.wantState(first, Done)
				if s := w.row(second).State; s == Claimed || s == Done || s == Unknown {
					t.Errorf("second row is %s in mode %s", s, mode)
				}
				w.wantCalls(1, 1)
			})
		})
	}
}

func TestLane_OneOpenRowALogin(t *testing.T) {
	inWorld(t, func(w *world) {
		first := w.paid(testLogin, 1)
		lost := true
		w.mt5.balance = func(_ int, c Call) CallResult {
			if lost {
				return CallResult{Outcome: OutcomeUnknown, Detail: "time-out"}
			}
			return w.mt5.apply(c)
		}
		w.start()
		w.pass(time.Second)
		w.wantState(first, Unknown)
		same, other := w.paid(testLogin, 2), w.paid(6002, 3)
		lost = false
		w.pass(5 * time.Minute)
		w.wantState(first, Unknown)
		w.wantState(same, Pending)
		w.wantState(other, Done)
		w.wantCalls(2, 1)
		w.pass(30 * time.Minute)
		w.wantState(first, Done)
		w.wantState(same, Done)
		w.wantCalls(4, 3)
	})
}

// Each row of a login has its turn as soon as the one before it is settled, however long it has waited: the waits
// do not add up.
func TestLane_RowsBehindAnotherHaveTheirTurnWhenItIsSettled(t *testing.T) {
	inWorld(t, func(w *world) {
		const rows = 8
		lose := true
		w.mt5.balance = func(_ int, c Call) CallResult {
			r := w.mt5.apply(c)
			if lose {
				w.mt5.hidden[r.Ticket] = true
				return CallResult{Outcome: OutcomeUnknown, Detail: "reply lost"}
			}
			return r
		}
		first := w.paid(testLogin, 1)
		w.start()
		w.pass(time.Second)
		w.wantState(first, Unknown)
		var waiting []ID
		for n := range rows {
			waiting = append(waiting, w.paid(testLogin, n+2))
		}
		w.pass(8 * time.Minute)
		for _, id := range waiting {
			w.wantState(id, Pending)
		}
		lose = false
		clear(w.mt5.hidden)
		for w.row(first).State != Done {
			w.pass(time.Second)
		}
		w.pass(2 * time.Second)
		for _, id := range waiting {
			if row := w.wantState(id, Done); row.Attempt != 1 {
				t.Errorf("row %d has %d attempts", id, row.Attempt)
			}
		}
		w.wantCalls(rows+1, rows+1)
		w.wantTasks("")
	})
}

func TestClaim_LoginThatIsBusyOnlyInsideTheTransactionWaits(t *testing.T) {
	inWorld(t, func(w *world) {
		id := w.paid(testLogin, 1)
		busy := joinedRow(Unknown)
		busy.ID, busy.Reference, busy.Unit.Payment, busy.NextAt = 99, "", "pi_restored", time.Time{}
		w.atLook(func() { w.edit(func(b *memBook) { b.rows[99] = busy }) })
		w.start()
		w.pass(20 * time.Second)
		w.wantState(id, Pending)
		w.wantCalls(0, 0)
		w.edit(func(b *memBook) { delete(b.rows, 99) })
		w.pass(2 * time.Minute)
		w.wantState(id, Done)
	})
}

func TestLane_StoreThatIsBusyDelaysAndLosesNothing(t *testing.T) {
	for _, verb := range []string{"settings", "due", "dossier", "holders", "advance"} {
		t.Run(verb, func(t *testing.T) {
			inWorld(t, func(w *world) {
				id := w.paid(testLogin, 1)
				busyUntil := w.clock.Boot() + 10*time.Second
				w.edit(func(b *memBook) {
					b.fault = func(v string) error {
						if v == verb && w.clock.Boot() < busyUntil {
							return fmt.Errorf("queue full: %w", ErrBusy)
						}
						return nil
					}
				})
				w.start()
				w.pass(9 * time.Second)
				w.wantState(id, Pending)
				w.pass(5 * time.Second)
				w.wantState(id, Done)
				w.wantCalls(1, 1)
			})
		})
	}
}

func TestLane_OutcomeOfACallIsWrittenOnceTheStoreIsNoLongerBusy(t *testing.T) {
	inWorld(t, func(w *world) {
		id := w.paid(testLogin, 1)
		var until time.Duration
		w.mt5.balance = func(_ int, c Call) CallResult {
			until = w.clock.Boot() + 90*time.Second
			w.edit(func(b *memBook) {
				b.fault = func(v string) error {
					if v == "advance" && w.clock.Boot() < until {
						return ErrBusy
					}
					return nil
				}
			})
			return CallResult{Outcome: OutcomeUnknown, Answered: true, Detail: "success without a ticket"}
		}
		w.start()
		w.pass(80 * time.Second)
		w.wantState(id, Claimed)
		w.pass(11 * time.Second)
		if row := w.wantState(id, Unknown); !row.Answered {
			t.Error("the store was busy, and the success that MT5 answered is forgotten")
		}
	})
}

func TestLane_CommitErrorEndsTheLaneBeforeAnythingIsSent(t *testing.T) {
	inWorld(t, func(w *world) {
		w.paid(testLogin, 1)
		w.book.fault = func(verb string) error {
			if verb == "advance" {
				return fmt.Errorf("commit: %w", ErrStopped)
			}
			return nil
		}
		if err := w.lane.Run(context.Background()); !errors.Is(err, ErrStopped) {
			t.Errorf("lane ended with %v, want the commit error", err)
		}
		w.wantCalls(0, 0)
		w.book.fault = nil
	})
}

func TestLane_RowThatCannotBeReadIsSetAsideAndStopsNoOther(t *testing.T) {
	inWorld(t, func(w *world) {
		bad, good := w.paid(testLogin, 1), w.paid(6002, 2)
		broken := true
		w.book.fault = func(verb string) error {
			if verb == "holders" && broken {
				broken = false
				return errors.New("checksum differs")
			}
			return nil
		}
		w.start()
		w.pass(time.Second)
		w.wantState(bad, Pending)
		w.wantState(good, Done)
		w.pass(time.Minute)
		w.wantState(bad, Done)
		if n := w.see.noted("row could not be worked"); n != 1 {
			t.Errorf("noted %d times, want once", n)
		}
	})
}

func TestLane_ShardsShareTheLoginsWithoutOverlap(t *testing.T) {
	inWorld(t, func(w *world) {
		w.lane.Shards, w.lane.Shard = 2, 1
		odd, even := w.paid(5001, 1), w.paid(5002, 2)
		w.start()
		w.pass(time.Minute)
		w.wantState(odd, Done)
		w.wantState(even, Pending)
	})
}

func TestLane_AWakeIsWorkedAtOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start()
		w.pass(10*time.Minute + 300*time.Millisecond)
		id := w.paid(testLogin, 1)
		w.pass(time.Millisecond)
		w.wantState(id, Done)
	})
}

func TestLane_AnotherDealerOnlyWarns(t *testing.T) {
	inWorld(t, func(w *world) {
		w.lane.Dealer = 5
		id := w.paid(testLogin, 1)
		w.start()
		w.pass(time.Second)
		w.wantState(id, Done)
		if n := w.see.noted("deal carries another dealer than our manager"); n != 1 {
			t.Errorf("warned %d times, want once", n)
		}
	})
}

func TestH16_AnotherDealerThanMeasuredIsUnknownUntilALookSettlesIt(t *testing.T) {
	inWorld(t, func(w *world) {
		w.lane.Dealer, w.lane.DealerMeasured = 5, true
		id := w.paid(testLogin, 1)
		w.start()
		w.pass(time.Millisecond)
		w.wantState(id, Unknown)
		w.pass(time.Minute)
		w.wantState(id, Done)
		w.wantCalls(1, 1)
		if got := w.moves(id); got != "born, claimed, lost, found" {
			t.Errorf("moves %q", got)
		}
	})
}

func TestLane_MeasuredDealerZeroIsADealerToo(t *testing.T) {
	inWorld(t, func(w *world) {
		w.lane.Dealer, w.lane.DealerMeasured = 0, true
		id := w.paid(testLogin, 1)
		w.start()
		w.pass(time.Millisecond)
		w.wantState(id, Unknown)
	})
}
