package storetest

import (
	"fmt"
	"time"

	"creditonce/credit"
)

// restore marks the store as restored now, with every row moved and every gap complete, as if the pull had brought all.
func (w *World) restore() {
	w.T.Helper()
	w.settle(func(s credit.Settings) (credit.Settings, error) {
		s.CutoverAt = s.CreatedAt
		s = credit.BeginRestore(s, credit.Restore{Kind: credit.FromBackup, At: w.Clock.Now(), Since: w.Clock.Now(), By: "root", Reason: "drill"}, "instance-2", nil).Settings
		return credit.RowsMoved(s, 1, w.Clock.Now())
	})
}

// release ends the hold, long after the quarantine.
func (w *World) release() {
	w.T.Helper()
	w.settle(func(s credit.Settings) (credit.Settings, error) {
		p := credit.People{Actor: "anna, confirmed by ben", Proposal: 4, Reason: "all is here", At: w.Clock.Now()}
		return credit.ReleaseMode(s, p, credit.Guard{Process: credit.Process{ID: "p"}, Now: credit.Mark{Process: "p", Boot: 100 * time.Hour}, Timing: credit.DefaultTiming()})
	})
}

func (w *World) settle(change func(credit.Settings) (credit.Settings, error)) {
	w.T.Helper()
	_, err := w.B.Settle(w.T.Context(), change)
	w.Must(err)
}

// freeingRepeatsTheChecks: a row that waited for the release sees owner, refunds, limits and other payments as they are then.
func freeingRepeatsTheChecks(w *World) {
	w.Rules.DayLimits = map[string]credit.Amount{Currency: Money(1000)}
	w.restore()
	w.Clock.Move(time.Minute)
	pay := func(n int, login uint64) credit.ID {
		w.Register(login, "client-1")
		w.Deposit(Code(n), login, 600)
		return w.Accept(w.Event(Paid(fmt.Sprint("pay-", n), "", Code(n), 600))).Rows[0].After.ID
	}
	plain, refunded, foreign := pay(900, 1001), pay(901, 1002), pay(902, 1003)
	first, over := pay(903, 1004), pay(904, 1004) // 12.00 on a login that may have 10.00 a day
	double := pay(905, 1005)
	w.Accept(w.Event(Paid("pay-905-again", "", Code(905), 600)))
	for _, id := range []credit.ID{plain, refunded, foreign, first, over, double} {
		if row := w.InState(id, credit.Held); !row.HasHold(credit.HoldRestored) || row.Restored {
			w.T.Errorf("credit %d is held for %v", id, row.Holds)
		}
		if _, err := w.B.Free(w.T.Context(), id, w.rules().IntakeRules); err == nil {
			w.T.Errorf("credit %d was freed before the release", id)
		}
	}
	w.Accept(w.Event(credit.Facts{Type: "refund", Effect: credit.EffectRefund, Payment: "pay-901", Movement: "re"}))
	w.Register(1003, "client-2")
	w.release()
	for _, id := range []credit.ID{plain, refunded, foreign, first, over, double} {
		_, err := w.B.Free(w.T.Context(), id, w.rules().IntakeRules)
		w.Must(err)
	}
	for id, hold := range map[credit.ID]credit.Hold{
		plain: "", refunded: credit.HoldReversal, foreign: credit.HoldOwnership, first: "", over: credit.HoldLimit, double: credit.HoldSecondPart,
	} {
		row := w.Row(id)
		if row.HasHold(credit.HoldRestored) || (hold == "") != (row.State == credit.Pending) || (hold != "" && !row.HasHold(hold)) {
			w.T.Errorf("credit %d is %s %v, want %q", id, row.State, row.Holds, hold)
		}
	}
	before := w.Row(plain)
	if _, err := w.B.Free(w.T.Context(), plain, w.rules().IntakeRules); err != nil || w.Row(plain).Head != before.Head {
		w.T.Errorf("freed a second time: %v", err)
	}
}

// freeingHoldsUnderRace: of rows that the limit of the day does not let through together, not all go on.
func freeingHoldsUnderRace(w *World) {
	w.Rules.DayLimits = map[string]credit.Amount{Currency: Money(1000)}
	w.restore()
	w.Clock.Move(time.Minute)
	w.Register(1001, "client-1")
	const rows = 12
	for n := range rows {
		w.Deposit(Code(800+n), 1001, 400)
		w.Accept(w.Event(Paid(fmt.Sprint("pay-", n), "", Code(800+n), 400)))
	}
	w.release()
	rules := w.rules().IntakeRules
	together(rows, func(i int) {
		if _, err := w.B.Free(w.T.Context(), credit.ID(i+1), rules); err != nil {
			w.T.Errorf("free credit %d: %v", i+1, err)
		}
	})
	n, err := w.B.Counts(w.T.Context())
	w.Must(err)
	if n.Rows[credit.Pending] != 2 || n.Rows[credit.Held] != rows-2 {
		w.T.Errorf("%v", n.Rows)
	}
}
