package desk_test

import (
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/internal/desk"
	"creditonce/store/storetest"
)

// providerTells is a payment that the provider tells of a deposit of the login, made at the time.
func (f *firm) providerTells(payment string, minor int64, at time.Time) credit.Credit {
	f.t.Helper()
	code := "the-code-of-the-payment-" + payment
	f.Deposit(code, login, minor)
	facts := storetest.Paid(payment, "", code, minor)
	facts.OccurredAt = at
	return f.Row(f.Accept(f.Event(facts)).Rows[0].After.ID)
}

// People enter what a lost webhook never told, and the webhook comes after all: the client is paid once.
func TestManual_PaymentThatTheProviderTellsLaterIsHeld(t *testing.T) {
	t.Parallel()
	f := newFirm(t).staff()
	paidAt := f.Clock.Now()
	f.Clock.Move(48 * time.Hour)
	out := f.two("mia", "carl", f.subject(desk.ManualPay))
	f.Work(2)
	f.InState(out.Rows[0].ID, credit.Done)
	f.Clock.Move(24 * time.Hour)
	row := f.providerTells("late", 25000, paidAt)
	if row.State != credit.Held || !row.HasHold(credit.HoldEnteredTwice) {
		t.Fatalf("row %+v", row)
	}
	if other := f.providerTells("other", 25001, paidAt); other.State != credit.Pending {
		t.Errorf("another amount: %+v", other)
	}
	if later := f.providerTells("later", 25000, f.Clock.Now()); later.State != credit.Pending {
		t.Errorf("paid a day after the wire was entered: %+v", later)
	}
	f.two("mia", "carl", on(desk.Release, row.ID)) // people know better
	f.InState(row.ID, credit.Pending)
}

// The payment may come before its deposit is known.
func TestManual_PaymentWhoseDepositComesLaterIsHeld(t *testing.T) {
	t.Parallel()
	f := newFirm(t).staff()
	facts := storetest.Paid("early", "", "code-for-payment-early-1", 25000)
	id := f.Accept(f.Event(facts)).Rows[0].After.ID
	f.two("mia", "carl", f.subject(desk.ManualPay))
	f.Deposit("code-for-payment-early-1", login, 25000)
	if row := f.Row(id); row.State != credit.Held || !row.HasHold(credit.HoldEnteredTwice) {
		t.Errorf("row %+v", row)
	}
}

// The id of the payment as the bank's reference says it outright, whatever the amount, and however it is written.
func TestManual_PaymentGivenAsTheBankReferenceIsHeld(t *testing.T) {
	t.Parallel()
	f := newFirm(t).staff()
	act := f.subject(desk.ManualPay)
	act.Params["bank_reference"] = "PI 77"
	f.two("mia", "carl", act)
	f.Clock.Move(40 * 24 * time.Hour)
	if row := f.providerTells("pi-77", 24000, f.Clock.Now()); row.State != credit.Held || !row.HasHold(credit.HoldEnteredTwice) {
		t.Errorf("row %+v", row)
	}
}

func TestManual_PaymentThatTheProviderToldIsNotEnteredAgain(t *testing.T) {
	t.Parallel()
	f := newFirm(t).staff()
	f.settled(func(s credit.Settings) credit.Settings {
		s.Pins = []credit.Pin{{Name: "provider/" + storetest.Provider, Value: "psp " + storetest.Merchant}}
		return s
	})
	act := f.subject(desk.ManualPay)
	f.providerTells("pi-78", 25000, f.Clock.Now().Add(-time.Hour))
	act.Params["bank_reference"] = "pi-78"
	_, err := f.svc.Submit(t.Context(), by("mia"), act, "r")
	f.refused(err, "payment_known")
	act.Params["bank_reference"] = "something else"
	out := f.two("mia", "carl", act)
	if row := f.Row(out.Rows[0].ID); row.State != credit.Held || !row.HasHold(credit.HoldEnteredTwice) {
		t.Errorf("a wire of the same amount within three days: %+v", row)
	}
	act = f.subject(desk.ManualPay)
	f.Clock.Move(4 * 24 * time.Hour)
	act.Params["received_at"] = f.Clock.Now().Format(time.RFC3339)
	if out := f.two("mia", "carl", act); out.Rows[0].State != credit.Pending {
		t.Errorf("a wire of four days later: %+v", out.Rows[0])
	}
}

// A wire that is entered again, since a backup took its row away, has the reference that its deal carries: it is found, not paid again.
func TestManual_AWireHasOneReferenceInEveryStore(t *testing.T) {
	t.Parallel()
	enter := func(f *firm, bank string) credit.Credit {
		act := f.subject(desk.ManualPay)
		act.Params["bank_reference"] = bank
		return f.Row(f.two("mia", "carl", act).Rows[0].ID)
	}
	one, other := newFirm(t).staff(), newFirm(t).staff()
	first := enter(one, "F 2026-9")
	if again := enter(other, "f2026/9"); again.Reference != first.Reference {
		t.Errorf("%s, and %s in another store", first.Reference, again.Reference)
	}
	if next := enter(one, "F 2026-10"); next.Reference == first.Reference {
		t.Error("two wires have one reference")
	}
	one.one("oscar", on(desk.HoldCredit, first.ID))
	one.two("mia", "carl", on(desk.CloseCredit, first.ID))
	if next := enter(one, "F 2026-9"); next.Reference == first.Reference || next.ID == first.ID {
		t.Errorf("the wire that was closed and is entered again is row %d with %s", next.ID, next.Reference)
	}
}

// What was held for another reason, or refused by MT5, is compared when people let it go on.
func TestManual_RowThatGoesOnIsComparedThen(t *testing.T) {
	t.Parallel()
	f := newFirm(t).staff()
	f.Register(login, "client-1")
	held := f.providerTells("pi-80", 25000, f.Clock.Now())
	f.one("oscar", on(desk.HoldCredit, held.ID))
	wire := f.two("mia", "carl", f.subject(desk.ManualPay)).Rows[0].ID
	f.Work(2)
	f.two("mia", "carl", on(desk.Release, held.ID))
	if row := f.InState(held.ID, credit.Held); !row.HasHold(credit.HoldEnteredTwice) || row.HasHold(credit.HoldByHand) {
		t.Errorf("released beside credit %d: %+v", wire, row)
	}
	f.two("mia", "carl", on(desk.Release, held.ID)) // now they have been told
	f.InState(held.ID, credit.Pending)
}

func TestManual_RefusedRowIsNotTriedAgainBesideItsTwin(t *testing.T) {
	t.Parallel()
	for name, wireFirst := range map[string]bool{"the wire was refused": true, "the payment was refused": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFirm(t).staff()
			f.Register(login, "client-1")
			paidAt := f.Clock.Now()
			wire := func() credit.ID { return f.two("mia", "carl", f.subject(desk.ManualPay)).Rows[0].ID }
			payment := func() credit.ID { return f.providerTells("pi-81", 25000, paidAt).ID }
			first, second := payment, wire
			if wireFirst {
				first, second = wire, payment
			}
			f.MT5.Answer = func(credit.Call) (bool, credit.CallResult) {
				return false, credit.CallResult{Outcome: credit.OutcomeRefused, Code: "10019 no money", Status: 200}
			}
			id := first()
			f.Work(2)
			f.MT5.Answer = nil
			f.InState(id, credit.Failed)
			other := second()
			f.Work(2)
			f.InState(other, credit.Done)
			_, err := f.svc.Submit(t.Context(), by("oscar"), on(desk.RetryFailed, id), "again")
			f.refused(err, "entered_twice")
		})
	}
}
