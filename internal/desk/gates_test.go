package desk_test

import (
	"errors"
	"slices"
	"strconv"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/internal/desk"
	"creditonce/store/storetest"
)

func (f *firm) confirm(who string, p desk.Proposal) (desk.Outcome, error) {
	return f.svc.Confirm(f.t.Context(), by(who), p.ID, p.Digest, "agreed")
}

func TestAdopt_WaitsForTheQuarantineAndTheEndOfTheCall(t *testing.T) {
	t.Parallel()
	f := newFirm(t).staff()
	id := f.held()
	ticket := f.deal(id, string(f.Row(id).Reference))
	f.svc = f.service("process-2") // a start: its quarantine begins
	p := f.propose("mia", on(desk.Adopt, id, "ticket", ticket))
	f.Clock.Move(10*time.Minute - time.Second)
	_, err := f.confirm("carl", p)
	f.refused(err, "quarantine")
	f.Clock.Move(time.Second)
	end := f.live.Begin(id)
	_, err = f.confirm("carl", p)
	f.refused(err, "live_call")
	end()
	out, err := f.confirm("carl", p)
	f.Must(err)
	row := f.InState(id, credit.Done)
	if strconv.FormatUint(row.Ticket, 10) != ticket || len(out.Rows) != 1 || !out.Done {
		t.Errorf("row %+v, outcome %+v", row, out)
	}
	entries, err := f.db.History(t.Context(), id)
	f.Must(err)
	last := entries[len(entries)-1]
	if last.By != credit.ByTwoPeople || last.Actor != "mia, confirmed by carl" || last.Evidence.Proposal != uint64(p.ID) || last.Evidence.Deal == nil {
		t.Errorf("history ends with %+v", last)
	}
	if rec := f.last(); rec.Person != "carl" || rec.User != "carl" || rec.Proposal != p.ID || rec.Digest != p.Digest || !slices.Equal(rec.Rows, []credit.ID{id}) {
		t.Errorf("audit record %+v", rec)
	}
}

func TestAdopt_TakesOnlyTheRowsDeal(t *testing.T) {
	t.Parallel()
	f := newFirm(t).staff()
	id := f.held()
	row := f.Row(id)
	other := f.fresh()
	f.Work(2)
	done := f.InState(other.ID, credit.Done)
	wrong := map[string]credit.Deal{
		"no such deal": {Ticket: 1 << 40}, "another login": f.MT5.ByHand(row.Login+500, row.Amount, "x"),
		"another amount": f.MT5.ByHand(row.Login, storetest.Money(1), "x"), "the other sign": f.MT5.ByHand(row.Login, row.Amount.Neg(), "x"),
	}
	for name, d := range wrong {
		_, err := f.svc.Submit(t.Context(), by("mia"), on(desk.Adopt, id, "ticket", strconv.FormatUint(d.Ticket, 10), "comment", "x"), "r")
		if err == nil {
			t.Errorf("%s was taken", name)
			continue
		}
		f.refused(err, "wrong_deal")
	}
	_, err := f.svc.Submit(t.Context(), by("mia"), on(desk.Adopt, id, "ticket", strconv.FormatUint(done.Ticket, 10)), "r")
	f.refused(err, "wrong_deal")
	stranger := f.deal(id, string(done.Reference))
	_, err = f.svc.Submit(t.Context(), by("mia"), on(desk.Adopt, id, "ticket", stranger, "comment", string(done.Reference)), "r")
	f.refused(err, "other_reference")
	f.noAnswer = "time-out"
	_, err = f.svc.Submit(t.Context(), by("mia"), on(desk.Adopt, id, "ticket", stranger), "r")
	var silent *desk.NoAnswerError
	if !errors.As(err, &silent) {
		t.Errorf("without an answer: %v", err)
	}
}

func TestAdopt_ADifferenceOfTheCommentMustBeSaid(t *testing.T) {
	t.Parallel()
	f := newFirm(t).staff()
	id := f.held()
	ticket := f.deal(id, "wire of 4 May")
	_, err := f.svc.Submit(t.Context(), by("mia"), on(desk.Adopt, id, "ticket", ticket), "r")
	f.refused(err, "comment_differs")
	_, err = f.svc.Submit(t.Context(), by("mia"), on(desk.Adopt, id, "ticket", ticket, "comment", "wire of 5 May"), "r")
	f.refused(err, "comment_differs")
	f.two("mia", "carl", on(desk.Adopt, id, "ticket", ticket, "comment", "wire of 4 May"))
	f.InState(id, credit.Done)
}

func TestAdopt_TheSameDealForTwoRowsIsTakenOnce(t *testing.T) {
	t.Parallel()
	f := newFirm(t).staff()
	first, second := f.Pay(login, 50000), f.Pay(login, 50000)
	for _, r := range []credit.Credit{first, second} {
		f.one("oscar", on(desk.HoldCredit, r.ID))
	}
	ticket := f.deal(first.ID, "by hand")
	a := f.propose("mia", on(desk.Adopt, first.ID, "ticket", ticket, "comment", "by hand"))
	b := f.propose("mia", on(desk.Adopt, second.ID, "ticket", ticket, "comment", "by hand"))
	_, err := f.confirm("carl", a)
	f.Must(err)
	_, err = f.confirm("carl", b)
	f.refused(err, "deal_taken")
	f.InState(second.ID, credit.Held)
}

func TestAdopt_ADealThatChangedSinceItWasProposedIsRefused(t *testing.T) {
	t.Parallel()
	f := newFirm(t).staff()
	id := f.held()
	ticket, err := strconv.ParseUint(f.deal(id, "by hand"), 10, 64)
	f.Must(err)
	p := f.propose("mia", on(desk.Adopt, id, "ticket", strconv.FormatUint(ticket, 10), "comment", "by hand"))
	f.MT5.Edit(ticket, func(d *credit.Deal) { d.Comment = "by another hand" })
	_, err = f.confirm("carl", p)
	f.refused(err, "moved")
	f.InState(id, credit.Held)
}

func TestClose_NeedsTwoLooksOfThisProcessAMinuteApart(t *testing.T) {
	t.Parallel()
	f := newFirm(t).staff()
	id := f.held()
	p := f.propose("mia", on(desk.CloseCredit, id)) // the first look
	f.Clock.Move(59 * time.Second)
	_, err := f.confirm("carl", p)
	f.refused(err, "not_absent")
	f.svc = f.service("process-2") // what another process saw does not count
	f.Clock.Move(9 * time.Minute)
	_, err = f.confirm("carl", p)
	f.refused(err, "quarantine")
	f.Clock.Move(2 * time.Minute)
	_, err = f.confirm("carl", p)
	f.refused(err, "not_absent")
	f.Clock.Move(time.Minute)
	_, err = f.confirm("carl", p)
	f.Must(err)
	f.InState(id, credit.Cancelled)
}

func TestClose_IsRefusedOverADealThatMayBeThePayment(t *testing.T) {
	t.Parallel()
	for name, comment := range map[string]string{"our reference": "", "a look-alike": "bank transfer"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFirm(t).staff()
			id := f.held()
			p := f.propose("mia", on(desk.CloseCredit, id))
			f.Clock.Move(2 * time.Minute)
			if comment == "" {
				comment = string(f.Row(id).Reference)
			}
			f.deal(id, comment)
			_, err := f.confirm("carl", p)
			f.refused(err, "deal_found")
			f.Clock.Move(2 * time.Minute)
			_, err = f.svc.Submit(t.Context(), by("mia"), on(desk.CloseCredit, id), "r")
			f.refused(err, "deal_found")
			f.InState(id, credit.Held)
		})
	}
}

func TestClose_WithoutAnAnswerOfMT5NothingIsProven(t *testing.T) {
	t.Parallel()
	f := newFirm(t).staff()
	id := f.held()
	f.noAnswer = "time-out"
	p := f.propose("mia", on(desk.CloseCredit, id))
	for range 5 {
		f.Clock.Move(2 * time.Minute)
		_, err := f.confirm("carl", p)
		f.refused(err, "not_absent")
	}
	f.noAnswer = ""
	_, err := f.confirm("carl", p)
	f.refused(err, "not_absent")
	f.Clock.Move(time.Minute)
	_, err = f.confirm("carl", p)
	f.Must(err)
	f.InState(id, credit.Cancelled)
}

func TestClose_TwiceDeniedLoginAndNoLoginAreEnough(t *testing.T) {
	t.Parallel()
	f := newFirm(t).staff()
	id := f.held()
	f.missing = true
	p := f.propose("mia", on(desk.CloseCredit, id))
	_, err := f.confirm("carl", p)
	f.refused(err, "not_absent")
	f.Clock.Move(time.Minute)
	_, err = f.confirm("carl", p)
	f.Must(err)
	f.InState(id, credit.Cancelled)

	orphan := f.Accept(f.Event(storetest.Paid("orphan", "", "", 700))).Rows[0].After.ID
	p = f.propose("mia", on(desk.CloseCredit, orphan))
	_, err = f.confirm("carl", p)
	f.Must(err)
	f.InState(orphan, credit.Cancelled)
}

func TestClose_OfAnUnknownRowRestsOnTheLoopsLooksToo(t *testing.T) {
	t.Parallel()
	f := newFirm(t).staff()
	id := f.unknown(true)
	if row := f.Row(id); row.AbsentAt == nil || row.FirstAbsent == nil {
		t.Fatalf("a handed-over row does not say that it is absent: %+v", row)
	}
	p := f.propose("mia", on(desk.CloseCredit, id))
	for range 3 { // looking goes on and writes history, which does not undo the proposal
		f.Clock.Move(11 * time.Minute)
		f.Work(2)
	}
	_, err := f.confirm("carl", p)
	f.Must(err)
	f.InState(id, credit.Cancelled)
}

func TestNotThisDeal_LooksPassItOver(t *testing.T) {
	t.Parallel()
	f := newFirm(t).staff()
	row := f.fresh()
	ticket := f.deal(row.ID, "loyalty bonus")
	f.Work(2)
	if held := f.InState(row.ID, credit.Held); !held.HasHold(credit.HoldLookAlike) {
		t.Fatalf("holds %v", held.Holds)
	}
	f.two("mia", "carl", on(desk.Release, row.ID))
	f.Work(2)
	f.InState(row.ID, credit.Held) // the look before the call sees it again
	f.two("mia", "carl", on(desk.NotThisDeal, row.ID, "ticket", ticket))
	f.two("mia", "carl", on(desk.Release, row.ID))
	f.Work(2)
	done := f.InState(row.ID, credit.Done)
	if len(f.MT5.Deals(row.Login)) != 2 || strconv.FormatUint(done.Ticket, 10) == ticket {
		t.Errorf("deals %v, ticket %d", f.MT5.Deals(row.Login), done.Ticket)
	}
	other := f.held()
	own := f.deal(other, string(f.Row(other).Reference))
	_, err := f.svc.Submit(t.Context(), by("mia"), on(desk.NotThisDeal, other, "ticket", own), "r")
	f.refused(err, "own_reference")
	_, err = f.svc.Submit(t.Context(), by("mia"), on(desk.Adopt, other, "ticket", ticket), "r")
	f.refused(err, "wrong_deal")
}

func TestRetry_OfAFailedRowIsOneCallAfterTheGate(t *testing.T) {
	t.Parallel()
	f := newFirm(t).staff()
	id := f.failed()
	calls := f.MT5.Calls()
	f.one("oscar", on(desk.RetryFailed, id))
	f.InState(id, credit.Unknown)
	f.Work(3)
	if f.MT5.Calls() != calls {
		t.Fatal("a retry made a call before the gate")
	}
	for range 20 {
		f.Clock.Move(time.Minute)
		f.Work(3)
	}
	f.InState(id, credit.Done)
	if f.MT5.Calls() != calls+1 {
		t.Errorf("%d calls after the retry", f.MT5.Calls()-calls)
	}
}

func TestRetry_OfAnUnknownRowGrantsOneFurtherCall(t *testing.T) {
	t.Parallel()
	f := newFirm(t).staff()
	id := f.unknown(true)
	_, err := f.svc.Submit(t.Context(), by("oscar"), on(desk.RetryFailed, id), "r")
	f.refused(err, "role")
	calls := f.MT5.Calls()
	f.MT5.Answer = func(credit.Call) (bool, credit.CallResult) {
		return false, credit.CallResult{Outcome: credit.OutcomeUnknown, Detail: "time-out"}
	}
	f.two("mia", "carl", on(desk.RetryFailed, id)) // Submit knows that it takes two now
	_, err = f.svc.Submit(t.Context(), by("mia"), on(desk.RetryUnknown, id), "r")
	f.refused(err, "granted")
	for range 60 {
		f.Clock.Move(time.Minute)
		f.Work(3)
	}
	row := f.InState(id, credit.Unknown)
	if !row.HandedOver || row.Grants != 0 {
		t.Errorf("row %+v", row)
	}
	if got := f.MT5.Calls() - calls; got != 1 {
		t.Errorf("%d calls after one grant", got)
	}
	id = f.unknown(false)
	_, err = f.svc.Submit(t.Context(), by("mia"), on(desk.RetryFailed, id), "r")
	f.refused(err, "not_handed_over")
}

func TestResolve_LooksAtWhatNoLoopLooksAt(t *testing.T) {
	t.Parallel()
	f := newFirm(t).staff()
	id := f.held()
	out := f.one("oscar", on(desk.Resolve, id))
	if out.Look == nil || out.Look.Verdict != credit.VerdictAbsent || f.Row(id).FirstAbsent == nil {
		t.Errorf("outcome %+v, row %+v", out, f.Row(id))
	}
	f.deal(id, string(f.Row(id).Reference))
	if out = f.one("oscar", on(desk.Resolve, id)); out.Look.Verdict != credit.VerdictFound || f.Row(id).FirstAbsent != nil {
		t.Errorf("outcome %+v", out.Look)
	}
	f.InState(id, credit.Held) // found or not, people decide about a held row
	deals, _, err := f.svc.Candidates(t.Context(), by("vera"), id)
	if err != nil || len(deals) != 1 {
		t.Errorf("candidates %v, %v", deals, err)
	}
}
