package desk_test

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/internal/desk"
	"creditonce/store/storetest"
)

// known makes a deal on the row's login that looks rely on from then on.
func (f *firm) known(id credit.ID) credit.Deal {
	f.t.Helper()
	row := f.Row(id)
	one, err := credit.Minor(1, storetest.Currency, row.Amount.Exponent())
	f.Must(err)
	deal := f.MT5.ByHand(row.Login, one, "bonus")
	_, err = f.db.Advance(f.t.Context(), id, func(credit.Dossier) (credit.Decision, error) {
		return credit.Decision{Anchor: &credit.Anchor{Ticket: deal.Ticket, ServerTime: deal.ServerTime}}, nil
	})
	f.Must(err)
	return deal
}

func goneAct(login, ticket uint64) desk.Act {
	return desk.Act{Kind: desk.DealGone, Subject: desk.LoginSubject(storetest.Server, login), Params: map[string]string{"ticket": strconv.FormatUint(ticket, 10)}}
}

// goneDeal makes a deal on the row's login that looks rely on, deletes it, and returns the act that says so.
func (f *firm) goneDeal(id credit.ID) desk.Act {
	f.t.Helper()
	deal := f.known(id)
	f.MT5.Delete(deal.Ticket)
	return goneAct(deal.Login, deal.Ticket)
}

func (f *firm) anchor(id credit.ID) *credit.Anchor {
	f.t.Helper()
	d, err := f.db.Dossier(f.t.Context(), id)
	f.Must(err)
	return d.Anchor
}

func TestDealGone_LetsTheLoginsCreditsGoOn(t *testing.T) {
	t.Parallel()
	f := newFirm(t).staff()
	row := f.fresh()
	act := f.goneDeal(row.ID)
	f.Clock.Move(time.Hour)
	f.Work(4)
	f.InState(row.ID, credit.Pending)
	f.two("mia", "carl", act)
	if a := f.anchor(row.ID); a != nil {
		t.Errorf("looks rely on %+v", a)
	}
	f.Clock.Move(time.Hour)
	f.Work(4)
	f.InState(row.ID, credit.Done)
	if last := f.lastAct(); last.Kind != desk.DealGone || last.Params["ticket"] != act.Params["ticket"] {
		t.Errorf("the audit log says %+v", last)
	}
}

func TestDealGone_LeavesTheNewestDealThatIsThere(t *testing.T) {
	t.Parallel()
	f := newFirm(t).staff()
	row := f.fresh()
	before := f.known(row.ID)
	f.two("mia", "carl", f.goneDeal(row.ID))
	if a := f.anchor(row.ID); a == nil || a.Ticket != before.Ticket {
		t.Errorf("looks rely on %+v, not on deal %d", a, before.Ticket)
	}
}

func TestDealGone_IsRefused(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, code string
		act        func(f *firm, id credit.ID) desk.Act
	}{
		{"where MT5 has the deal", "deal_there", func(f *firm, id credit.ID) desk.Act {
			deal := f.known(id)
			return goneAct(deal.Login, deal.Ticket)
		}},
		{"of a deal that looks do not rely on", "not_awaited", func(f *firm, id credit.ID) desk.Act {
			older := f.known(id)
			f.known(id)
			f.MT5.Delete(older.Ticket)
			return goneAct(older.Login, older.Ticket)
		}},
		{"on a login without a known deal", "not_awaited", func(f *firm, id credit.ID) desk.Act { return goneAct(f.Row(id).Login, 77777) }},
		{"on a server that there is not", "unknown_server", func(f *firm, id credit.ID) desk.Act {
			act := f.goneDeal(id)
			act.Subject = desk.LoginSubject("second", f.Row(id).Login)
			return act
		}},
		{"of the deal of a credit", "deal_paid", func(f *firm, id credit.ID) desk.Act {
			f.Work(2)
			f.InState(id, credit.Done)
			row := f.Row(id)
			f.MT5.Delete(row.Ticket)
			return goneAct(row.Login, row.Ticket)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f := newFirm(t).staff()
			row := f.fresh()
			act := test.act(f, row.ID)
			before := f.anchor(row.ID)
			_, err := f.svc.Submit(t.Context(), by("mia"), act, "it was deleted, I am sure")
			f.refused(err, test.code)
			if after := f.anchor(row.ID); before != nil && (after == nil || *after != *before) {
				t.Errorf("looks rely on %+v, before on %+v", after, before)
			}
		})
	}
}

func TestDealGone_WithoutACompleteAnswerNothingIsDecided(t *testing.T) {
	t.Parallel()
	f := newFirm(t).staff()
	act := f.goneDeal(f.fresh().ID)
	p := f.propose("mia", act)
	f.noAnswer = "no connection"
	var silent *desk.NoAnswerError
	for _, err := range []error{errOf(f.svc.Submit(t.Context(), by("mia"), act, "gone")), errOf(f.confirm("carl", p))} {
		if !errors.As(err, &silent) {
			t.Errorf("%v", err)
		}
	}
	for _, subject := range []string{"account/" + storetest.Server, "account/" + storetest.Server + "/", "account/" + storetest.Server + "/01", "account//1", "account/a/b"} {
		act.Subject = subject
		if _, err := f.svc.Submit(t.Context(), by("mia"), act, "gone"); !errors.Is(err, credit.ErrInvalid) {
			t.Errorf("%q: %v", subject, err)
		}
	}
}

func TestDealGone_IsRefusedWhenLooksRelyOnANewerDealMeanwhile(t *testing.T) {
	t.Parallel()
	f := newFirm(t).staff()
	row := f.fresh()
	p := f.propose("mia", f.goneDeal(row.ID))
	newer := f.known(row.ID)
	_, err := f.confirm("carl", p)
	f.refused(err, "not_awaited")
	if a := f.anchor(row.ID); a.Ticket != newer.Ticket {
		t.Errorf("looks rely on %+v", a)
	}
}

func errOf[T any](_ T, err error) error { return err }
