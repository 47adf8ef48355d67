package credit

import (
	"context"
	"testing"
	"time"
)

// Only a process that died, or people, can let a second attempt begin while the first one's answer is missing: the gate
// waits for a live call (H2). Its answer still moves nothing of the other attempt.
func TestH7_LateSuccessOfAnEarlierAttemptMovesNothingOfTheNext(t *testing.T) {
	inWorld(t, func(w *world) {
		id := w.paid(testLogin, 1)
		earlier := w.row(id)
		earlier.State, earlier.Attempt, earlier.Token = Claimed, 1, "token-of-1"
		deal := w.mt5.add(earlier.Login, ActionBalance, earlier.Amount, string(earlier.Reference))
		var before Credit
		w.edit(func(b *memBook) {
			before = b.rows[id]
			before.State, before.Attempt, before.Token, before.LeaseUntil = Claimed, 2, "token-of-2", w.lane.mark()
			before.LeaseUntil.Boot += time.Hour
			b.rows[id] = before
		})
		err := w.lane.record(context.Background(), earlier, earlier.Token, CallResult{Outcome: OutcomeApplied, Answered: true, Ticket: deal.Ticket})
		if err != nil {
			t.Fatal(err)
		}
		after := w.row(id)
		if after.State != Claimed || after.Token != "token-of-2" || after.Ticket != 0 || after.Entries != before.Entries {
			t.Errorf("the row is %s, token %q, ticket %d, %d entries", after.State, after.Token, after.Ticket, after.Entries)
		}
		w.wantTasks("late_answer")
		w.edit(func(b *memBook) { delete(b.rows, id) })
	})
}

func TestH17_ADealByHandBetweenTheVerdictAndTheRepeatedCallHoldsTheRow(t *testing.T) {
	inWorld(t, func(w *world) {
		id := w.paid(testLogin, 1)
		w.onlyFirstLost()
		helped := false
		w.mt5.before = func(verb string) { // the account is read before the call, not while the row is looked for
			if row := w.row(id); verb == "account" && row.Reissues == 1 && !helped {
				helped = true
				w.mt5.add(testLogin, ActionBalance, row.Amount, "client called, sorry")
			}
		}
		w.start()
		w.pass(time.Hour)
		if row := w.wantState(id, Held); holdsOf(row) != "look_alike" || row.Reissues != 1 {
			t.Errorf("held for %q after %d re-issues", holdsOf(row), row.Reissues)
		}
		w.wantCalls(1, 1)
	})
}

func TestH42_LoginOpenedAfterItsDepositIsHeldBeforeEachCall(t *testing.T) {
	for name, c := range map[string]struct {
		opened time.Duration // after the deposit
		calls  int           // before the login is another one
		want   State
	}{
		"long before":                   {-1000 * time.Hour, 0, Done},
		"within what zones may differ":  {2 * time.Hour, 0, Done},
		"afterwards":                    {4 * time.Hour, 0, Held},
		"between a call and its repeat": {4 * time.Hour, 1, Held},
		"MT5 does not say when it was":  {0, 0, Done},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				id := w.paid(testLogin, 1)
				made := w.row(id).DepositAt
				w.mt5.account = func(a AccountState) (AccountState, error) {
					if c.opened != 0 && w.mt5.callCount() >= c.calls {
						a.Registered = made.Add(c.opened)
					}
					return a, nil
				}
				if c.calls > 0 {
					w.onlyFirstLost()
				}
				w.start()
				w.pass(time.Hour)
				row := w.wantState(id, c.want)
				if c.want == Held {
					if holdsOf(row) != "account" {
						t.Errorf("held for %q", holdsOf(row))
					}
					w.wantCalls(c.calls, 0)
				}
			})
		})
	}
}
