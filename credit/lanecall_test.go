package credit

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestLane_LooksThenClaimsOnDiskThenCallsThenVerifies(t *testing.T) {
	inWorld(t, func(w *world) {
		id := w.paid(testLogin, 1)
		w.start()
		w.pass(time.Millisecond)
		row := w.wantState(id, Done)
		want := []string{"account", "look", "balance on claimed", "deal"}
		if got := w.mt5.took(); !slices.Equal(got, want) {
			t.Errorf("order %v, want %v", got, want)
		}
		if row.Ticket != w.mt5.deals[0].Ticket || row.Attempt != 1 || row.Token != "" {
			t.Errorf("done row has ticket %d, attempt %d, token %q", row.Ticket, row.Attempt, row.Token)
		}
		if got := w.moves(id); got != "born, claimed, done" {
			t.Errorf("moves %q", got)
		}
		steps := []string{StepVerified, StepEventCommitted, StepSlotHeld, StepLooked, StepClaimed, StepAnswered, StepChecked, StepDone}
		if !slices.Equal(w.see.steps, steps) {
			t.Errorf("steps %v, want %v", w.see.steps, steps)
		}
		w.wantCalls(1, 1)
		w.wantTasks("")
		if a := w.book.anchors[loginKey{testIdentity, testLogin}]; a.Ticket != row.Ticket {
			t.Errorf("anchor %v, want the done deal %d", a, row.Ticket)
		}
	})
}

func TestLane_CallCarriesSignedAmountReferenceAndSendDeadline(t *testing.T) {
	inWorld(t, func(w *world) {
		id := w.paid(testLogin, 1)
		w.mt5.lookTakes = 3 * time.Second
		var claimedAt time.Duration
		w.mt5.before = func(verb string) {
			if strings.HasPrefix(verb, "balance") {
				claimedAt = w.clock.Boot()
			}
		}
		w.start()
		w.pass(time.Minute)
		row, c := w.wantState(id, Done), w.mt5.calls[0]
		if c.Login != row.Login || !c.Amount.Equal(usd(50000)) || c.Reference != row.Reference {
			t.Errorf("call %+v is not the row's", c)
		}
		if c.Deadline != claimedAt+2*time.Second {
			t.Errorf("send deadline %v, want 2 s after the claim at %v", c.Deadline, claimedAt)
		}
	})
}

func TestLane_SendDeadlineNeverOutlivesTheAccountCheck(t *testing.T) {
	inWorld(t, func(w *world) {
		w.paid(testLogin, 1)
		w.mt5.lookTakes = 9 * time.Second
		w.start()
		begun := w.clock.Boot()
		w.pass(time.Minute)
		if c := w.mt5.calls[0]; c.Deadline != begun+10*time.Second {
			t.Errorf("send deadline %v, want 10 s after the account check at %v", c.Deadline, begun)
		}
	})
}

func TestLane_SlowLookReadsTheAccountAgainAndOnlyNewRows(t *testing.T) {
	inWorld(t, func(w *world) {
		id := w.paid(testLogin, 1)
		w.mt5.lookTakes, w.mt5.relookTakes = 40*time.Second, time.Second
		w.start()
		w.pass(2 * time.Minute)
		w.wantState(id, Done)
		want := []string{"account", "look", "account", "relook", "balance on claimed", "deal"}
		if got := w.mt5.took(); !slices.Equal(got, want) {
			t.Errorf("order %v, want %v", got, want)
		}
	})
}

func TestLane_LooksThatNeverGetFreshEndInATaskAfter15Minutes(t *testing.T) {
	inWorld(t, func(w *world) {
		id := w.paid(testLogin, 1)
		w.mt5.lookTakes, w.mt5.relookTakes = 40*time.Second, 11*time.Second
		w.start()
		w.pass(14 * time.Minute)
		w.wantTasks("")
		w.pass(2 * time.Minute)
		w.wantState(id, Pending)
		w.wantTasks("stuck")
		w.wantCalls(0, 0)
		w.mt5.lookTakes, w.mt5.relookTakes = 0, 0
		w.pass(5 * time.Minute)
		w.wantState(id, Done)
		w.wantTasks("")
	})
}

func TestLane_DealThatAppearsDuringTheSlowLookIsSeenByTheRelook(t *testing.T) {
	inWorld(t, func(w *world) {
		id := w.paid(testLogin, 1)
		w.mt5.lookTakes = 40 * time.Second
		first := true
		w.mt5.look = func(s Sighting) Sighting {
			if first {
				first = false
				row := w.row(id)
				w.mt5.add(row.Login, ActionBalance, row.Amount, string(row.Reference))
			}
			return s
		}
		w.start()
		w.pass(2 * time.Minute)
		w.wantState(id, Done)
		w.wantCalls(0, 1)
	})
}

func TestLane_EachOutcomeLeadsToItsState(t *testing.T) {
	unsent := CallResult{Outcome: OutcomeNotSent, Detail: "dial refused"}
	for name, c := range map[string]struct {
		balance func(m *fakeMT5, c Call) CallResult
		deal    func(Deal, bool) (Deal, error)
		state   State
		answer  bool // Answered on the row
		tasks   string
		drop    bool
		moves   string
	}{
		"refused": {
			balance: func(*fakeMT5, Call) CallResult {
				return CallResult{Outcome: OutcomeRefused, Code: "10019 no money", Status: 200}
			},
			state: Failed, tasks: "failed", moves: "born, claimed, refused",
		},
		"not sent": {
			balance: func(*fakeMT5, Call) CallResult { return unsent },
			state:   Pending, moves: "born, claimed, lost, not sent",
		},
		"unknown": {
			balance: func(*fakeMT5, Call) CallResult { return CallResult{Outcome: OutcomeUnknown, Detail: "time-out"} },
			state:   Unknown, drop: true, moves: "born, claimed, lost",
		},
		"success without a ticket": {
			balance: func(*fakeMT5, Call) CallResult { return CallResult{Outcome: OutcomeUnknown, Answered: true} },
			state:   Unknown, answer: true, drop: true, moves: "born, claimed, lost",
		},
		"applied with ticket 0": {
			balance: func(*fakeMT5, Call) CallResult { return CallResult{Outcome: OutcomeApplied, Answered: true} },
			state:   Unknown, answer: true, drop: true, moves: "born, claimed, lost",
		},
		"deal not readable": {
			balance: (*fakeMT5).apply,
			deal:    func(Deal, bool) (Deal, error) { return Deal{}, ErrNotFound },
			state:   Unknown, answer: true, drop: true, moves: "born, claimed, lost",
		},
		"deal with another comment": {
			balance: (*fakeMT5).apply,
			deal:    func(d Deal, _ bool) (Deal, error) { d.Comment = d.Comment[:20]; return d, nil },
			state:   Unknown, answer: true, drop: true, moves: "born, claimed, lost",
		},
		"deal on another login": {
			balance: (*fakeMT5).apply,
			deal:    func(d Deal, _ bool) (Deal, error) { d.Login++; return d, nil },
			state:   Unknown, answer: true, drop: true, moves: "born, claimed, lost",
		},
		"deal of another amount": {
			balance: (*fakeMT5).apply,
			deal:    func(d Deal, _ bool) (Deal, error) { d.Amount = d.Amount.Neg(); return d, nil },
			state:   Unknown, answer: true, drop: true, moves: "born, claimed, lost",
		},
		"deal with another action": {
			balance: (*fakeMT5).apply,
			deal:    func(d Deal, _ bool) (Deal, error) { d.Action = 3; return d, nil },
			state:   Unknown, answer: true, drop: true, moves: "born, claimed, lost",
		},
		"deal under another ticket": {
			balance: (*fakeMT5).apply,
			deal:    func(d Deal, _ bool) (Deal, error) { d.Ticket++; return d, nil },
			state:   Unknown, answer: true, drop: true, moves: "born, claimed, lost",
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				id := w.paid(testLogin, 1)
				w.mt5.balance = func(_ int, call Call) CallResult { return c.balance(w.mt5, call) }
				w.mt5.deal = c.deal
				w.start()
				w.pass(time.Second)
				row := w.wantState(id, c.state)
				if row.Answered != c.answer {
					t.Errorf("answered %v, want %v", row.Answered, c.answer)
				}
				if got := slices.Contains(w.mt5.took(), "drop"); got != c.drop {
					t.Errorf("connection dropped %v, want %v", got, c.drop)
				}
				if got := w.moves(id); got != c.moves {
					t.Errorf("moves %q, want %q", got, c.moves)
				}
				w.wantTasks(c.tasks)
				if n := w.mt5.callCount(); n != 1 {
					t.Errorf("%d calls, want 1", n)
				}
			})
		})
	}
}

func TestLane_CallThatNeverLeftBacksOffAndTellsAPersonTheThirdTime(t *testing.T) {
	inWorld(t, func(w *world) {
		id := w.paid(testLogin, 1)
		var at []time.Duration
		left := false
		w.mt5.balance = func(_ int, c Call) CallResult {
			at = append(at, w.clock.Boot())
			if left {
				return w.mt5.apply(c)
			}
			return CallResult{Outcome: OutcomeNotSent, Detail: "dial refused"}
		}
		w.start()
		w.pass(3 * time.Second)
		w.wantTasks("")
		if row := w.wantState(id, Pending); row.Unsent != 2 || row.Reissues != 0 {
			t.Errorf("unsent %d, reissues %d; want 2 and 0", row.Unsent, row.Reissues)
		}
		w.pass(4 * time.Second)
		w.wantTasks("unsent")
		w.pass(5 * time.Minute)
		var gaps []time.Duration
		for i := 1; i < len(at); i++ {
			gaps = append(gaps, (at[i] - at[i-1]).Round(time.Second))
		}
		want := []time.Duration{
			2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 32 * time.Second,
			time.Minute, time.Minute, time.Minute, time.Minute,
		}
		if !slices.Equal(gaps, want[:len(gaps)]) || len(gaps) < 7 {
			t.Errorf("gaps %v, want %v", gaps, want)
		}
		left = true
		w.pass(2 * time.Minute)
		row := w.wantState(id, Done)
		if row.Unsent != 0 || !row.WatchUntil.IsZero() {
			t.Errorf("unsent %d, watch until %v: a call that never left is no re-issue", row.Unsent, row.WatchUntil)
		}
		w.wantTasks("")
		if n := w.mt5.count(); n != 1 {
			t.Errorf("%d deals, want 1", n)
		}
	})
}

func TestLane_FoundOnTheFirstLookIsDoneWithoutACall(t *testing.T) {
	inWorld(t, func(w *world) {
		id := w.paid(testLogin, 1)
		row := w.row(id)
		w.mt5.add(row.Login, ActionBalance, row.Amount, string(row.Reference))
		w.start()
		w.pass(time.Second)
		w.wantState(id, Done)
		w.wantCalls(0, 1)
		if got := w.moves(id); got != "born, found before the call" {
			t.Errorf("moves %q", got)
		}
	})
}

func TestH17_WhatTheFirstLookSeesHoldsTheRow(t *testing.T) {
	for name, c := range map[string]struct {
		deal func(row Credit) (int, Amount, string)
		hold Hold
	}{
		"look-alike":       {func(r Credit) (int, Amount, string) { return 2, r.Amount, "by hand, client paid" }, HoldLookAlike},
		"wrong amount":     {func(r Credit) (int, Amount, string) { return 2, usd(1), string(r.Reference) }, HoldConflict},
		"wrong action":     {func(r Credit) (int, Amount, string) { return 3, r.Amount, string(r.Reference) }, HoldConflict},
		"damaged copy":     {func(r Credit) (int, Amount, string) { return 2, usd(7), string(r.Reference)[:14] }, HoldConflict},
		"negative of ours": {func(r Credit) (int, Amount, string) { return 2, r.Amount.Neg(), string(r.Reference) }, HoldConflict},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				id := w.paid(testLogin, 1)
				row := w.row(id)
				action, a, comment := c.deal(row)
				w.mt5.add(row.Login, action, a, comment)
				w.start()
				w.pass(time.Hour)
				if row := w.wantState(id, Held); !slices.Equal(row.Holds, []Hold{c.hold}) {
					t.Errorf("holds %v, want %v", row.Holds, c.hold)
				}
				w.wantTasks("held")
				w.wantCalls(0, 1)
			})
		})
	}
}

func TestH19_ADealThatIsOnAnotherRowIsAConflictAndNotFound(t *testing.T) {
	inWorld(t, func(w *world) {
		first, second := w.paid(testLogin, 1), w.paid(testLogin, 2)
		row := w.row(second)
		d := w.mt5.add(row.Login, ActionBalance, row.Amount, string(row.Reference))
		w.edit(func(b *memBook) { // people adopted the deal onto the wrong row
			r := joinedRow(Done)
			held := b.rows[first]
			r.ID, r.Unit, r.Reference, r.Ticket, r.Entries, r.Head, r.Code, r.Deposit = first, held.Unit, held.Reference, d.Ticket, held.Entries, held.Head, held.Code, held.Deposit
			b.rows[first] = r
		})
		w.start()
		w.pass(time.Minute)
		if row := w.wantState(second, Held); !row.HasHold(HoldConflict) {
			t.Errorf("holds %v, want conflict", row.Holds)
		}
		w.wantCalls(0, 1)
		w.edit(func(b *memBook) { // the edit above has no history; undo it for the book's check
			r := b.rows[first]
			r.State = b.history[first][len(b.history[first])-1].To
			b.rows[first] = r
		})
	})
}

func TestH38_AccountThatMT5DescribesOtherwiseHoldsTheRow(t *testing.T) {
	for name, c := range map[string]struct {
		account func(AccountState) (AccountState, error)
		state   State
		hold    Hold
	}{
		"unknown login":  {func(a AccountState) (AccountState, error) { return AccountState{}, ErrNotFound }, Held, HoldUnknownLogin},
		"other currency": {func(a AccountState) (AccountState, error) { a.Currency = "USC"; return a, nil }, Held, HoldAccount},
		"other digits":   {func(a AccountState) (AccountState, error) { a.Digits = 4; return a, nil }, Held, HoldAccount},
		"group refused":  {func(a AccountState) (AccountState, error) { a.Refusal = "group demo\\x is not allowed"; return a, nil }, Held, HoldAccount},
		"other login":    {func(a AccountState) (AccountState, error) { a.Login++; return a, nil }, Pending, ""},
		"no answer":      {func(a AccountState) (AccountState, error) { return a, errors.New("time-out") }, Pending, ""},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				id := w.paid(testLogin, 1)
				w.mt5.account = c.account
				w.start()
				w.pass(14 * time.Minute)
				row := w.wantState(id, c.state)
				w.wantCalls(0, 0)
				if c.state == Held {
					if !slices.Equal(row.Holds, []Hold{c.hold}) {
						t.Errorf("holds %v, want %v", row.Holds, c.hold)
					}
					w.wantTasks("held")
					return
				}
				w.wantTasks("")
				w.pass(3 * time.Minute)
				w.wantTasks("stuck")
				w.mt5.account = nil
				w.pass(2 * time.Minute)
				w.wantState(id, Done)
				w.wantTasks("")
			})
		})
	}
}

func TestLane_IncompleteFirstLookLeavesTheRowPendingWithATaskAfter15Minutes(t *testing.T) {
	inWorld(t, func(w *world) {
		id := w.paid(testLogin, 1)
		w.mt5.look = func(s Sighting) Sighting { s.Complete, s.Reason = false, "page cut"; return s }
		w.start()
		w.pass(14 * time.Minute)
		w.wantState(id, Pending)
		w.wantTasks("")
		w.pass(3 * time.Minute)
		w.wantTasks("stuck")
		w.wantCalls(0, 0)
	})
}

func TestLane_SessionThatIsDownPostponesAndIsReportedOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		id := w.paid(testLogin, 1)
		w.mt5.ready = func() error { return errors.New("dial refused") }
		w.start()
		w.pass(5 * time.Minute)
		w.wantState(id, Pending)
		if n := w.see.noted("MT5 session not ready"); n != 1 {
			t.Errorf("reported %d times, want once", n)
		}
		w.mt5.ready = nil
		w.pass(2 * time.Minute)
		w.wantState(id, Done)
		if n := w.see.noted("MT5 session ready again"); n != 1 {
			t.Errorf("end reported %d times, want once", n)
		}
	})
}

// As long as the store takes no claim, whatever the row, no pending row is taken up: MT5 is not asked for nothing, no payment gets a task of
// its own, and rows in doubt are looked up all the same. Then everything goes on at once.
func TestLane_StoreThatTakesNoClaimsLeavesPendingRowsAlone(t *testing.T) {
	inWorld(t, func(w *world) {
		stopped := "the witness cannot be written"
		w.lane.Stopped = func() string { return stopped }
		id := w.paid(testLogin, 1)
		w.start()
		w.pass(time.Hour)
		w.wantState(id, Pending)
		w.wantTasks("")
		if got := w.mt5.took(); len(got) != 0 {
			t.Errorf("MT5 was asked for %v", got)
		}
		if got := w.moves(id); got != "born" {
			t.Errorf("moves %q", got)
		}
		stopped = ""
		w.pass(2 * time.Second)
		w.wantState(id, Done)
	})
}
