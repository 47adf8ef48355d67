package desk_test

import (
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/internal/desk"
	"creditonce/store/storetest"
)

// received makes a deposit and lets a payment of another amount come in.
func (f *firm) received(deposit, paid int64) credit.ID {
	f.t.Helper()
	code := storetest.Code(1000 + len(f.name()) + f.names)
	f.Register(login, "client-1")
	f.Deposit(code, login, deposit)
	return f.Accept(f.Event(storetest.Paid("pay-"+code, "", code, paid))).Rows[0].After.ID
}

func TestRelease_ForAmountCreditsWhatCameInAndNeverMore(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ deposit, paid, want int64 }{
		"less came in": {50000, 40000, 40000}, "more came in": {50000, 60000, 50000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFirm(t).staff()
			id := f.received(c.deposit, c.paid)
			p := f.propose("mia", on(desk.Release, id))
			if want := storetest.Money(c.want).String(); p.Act.Params["amount"] != want || p.Act.Params["holds"] != "amount" {
				t.Errorf("the proposal says %v, want %s", p.Act.Params, want)
			}
			_, err := f.confirm("carl", p)
			f.Must(err)
			f.Work(2)
			row := f.InState(id, credit.Done)
			deals := f.MT5.Deals(login)
			if !row.Amount.Equal(storetest.Money(c.want)) || len(deals) != 1 || !deals[0].Amount.Equal(storetest.Money(c.want)) {
				t.Errorf("credited %s with %v", row.Amount, deals)
			}
		})
	}
}

func TestRelease_PeopleMayNotNameTheAmount(t *testing.T) {
	t.Parallel()
	f := newFirm(t).staff()
	id := f.received(50000, 40000)
	if _, err := f.svc.Submit(t.Context(), by("mia"), on(desk.Release, id, "amount", "500.00 USD"), "r"); err == nil {
		t.Error("a maker named the amount")
	}
}

func TestRelease_WhatPeopleCannotOverruleStaysHeld(t *testing.T) {
	t.Parallel()
	eur, err := credit.Minor(50000, "EUR", 2)
	if err != nil {
		t.Fatal(err)
	}
	for name, make := range map[string]func(f *firm) credit.ID{
		"no deposit": func(f *firm) credit.ID {
			return f.Accept(f.Event(storetest.Paid("pay", "", "", 500))).Rows[0].After.ID
		},
		"another currency": func(f *firm) credit.ID {
			f.Register(login, "client-1")
			f.Deposit(storetest.Code(1), login, 50000)
			facts := storetest.Paid("pay", "", storetest.Code(1), 0)
			facts.Parts = []credit.Part{{Amount: eur}}
			return f.Accept(f.Event(facts)).Rows[0].After.ID
		},
		"from before the cut-over": func(f *firm) credit.ID {
			f.Register(login, "client-1")
			f.Deposit(storetest.Code(1), login, 50000)
			facts := storetest.Paid("pay", "", storetest.Code(1), 50000)
			facts.OccurredAt = f.Clock.Now().Add(-48 * time.Hour)
			return f.Accept(f.Event(facts)).Rows[0].After.ID
		},
		"refunded": func(f *firm) credit.ID {
			row := f.fresh()
			f.Accept(f.Event(credit.Facts{Type: "refund", Effect: credit.EffectRefund, Payment: row.Unit.Payment, Movement: "re"}))
			return row.ID
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFirm(t).staff()
			id := make(f)
			f.InState(id, credit.Held)
			_, err := f.svc.Submit(t.Context(), by("mia"), on(desk.Release, id), "r")
			f.refused(err, "not_releasable")
		})
	}
}

func TestRelease_ChecksRunAgainInTheTransaction(t *testing.T) {
	t.Parallel()
	f := newFirm(t).staff()
	id := f.held()
	row := f.Row(id)
	p := f.propose("mia", on(desk.Release, id))
	f.Register(row.Login, "client-2") // a held row is not touched by that
	_, err := f.confirm("carl", p)
	f.Must(err)
	after := f.InState(id, credit.Held)
	if after.HasHold(credit.HoldByHand) || !after.HasHold(credit.HoldOwnership) {
		t.Errorf("holds %v", after.Holds)
	}
	_, err = f.svc.Submit(t.Context(), by("mia"), on(desk.Release, id), "r")
	f.refused(err, "still_held")
	f.Register(row.Login, "client-1")
	f.two("mia", "carl", on(desk.Release, id))
	f.InState(id, credit.Pending)
}

func TestRelease_TheLimitOfTheDayIsTodays(t *testing.T) {
	t.Parallel()
	f := newFirm(t).staff()
	f.Rules.DayLimits = map[string]credit.Amount{storetest.Currency: storetest.Money(60000)}
	f.svc = f.service("process-2")
	f.Clock.Move(11 * time.Minute)
	first := f.Pay(login, 50000)
	f.Work(2)
	f.InState(first.ID, credit.Done)
	id := f.received(20000, 20000)
	if row := f.InState(id, credit.Held); !row.HasHold(credit.HoldLimit) {
		t.Fatalf("holds %v", row.Holds)
	}
	_, err := f.svc.Submit(t.Context(), by("mia"), on(desk.Release, id), "r")
	f.refused(err, "still_held")
	f.Clock.Move(24 * time.Hour)
	f.two("mia", "carl", on(desk.Release, id))
	if row := f.InState(id, credit.Pending); row.PendingAt.Day() != f.Clock.Now().Day() {
		t.Errorf("the row counts in the day of %s", row.PendingAt)
	}
}
