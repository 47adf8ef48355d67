package desk_test

import (
	"strings"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/internal/desk"
	"creditonce/store/storetest"
)

func TestHold_BeforeGoLiveWhatIsPaidInItStaysWithTheFlowBefore(t *testing.T) {
	t.Parallel()
	f := newFirmIn(t, credit.ModeObserve).staff()
	f.one("oscar", desk.Act{Kind: desk.HoldMode, Subject: "mode"})
	f.Register(login, "client-1")
	code := storetest.Code(7000)
	f.Deposit(code, login, 50000)
	row := f.Accept(f.Event(storetest.Paid("pay-early", "", code, 50000))).Rows[0].After
	if !row.HasHold(credit.HoldPreCutover) {
		t.Errorf("in a hold before go-live: %s %v", row.State, row.Holds)
	}
	_, err := f.svc.Submit(t.Context(), by("mia"), f.subject(desk.ManualPay), "r")
	f.refused(err, "mode")
	f.two("mia", "carl", desk.Act{Kind: desk.ReleaseMode, Subject: "mode"})
	f.two("mia", "carl", desk.Act{Kind: desk.GoLive, Subject: "mode"})
	f.Work(3)
	f.InState(row.ID, credit.Held)
	if deals := f.MT5.Deals(login); len(deals) != 0 {
		t.Errorf("paid again after go-live: %+v", deals)
	}
}

func TestHold_AfterGoLiveWhatIsPaidInItWaitsForTheRelease(t *testing.T) {
	t.Parallel()
	f := newFirm(t).staff()
	f.one("oscar", desk.Act{Kind: desk.HoldMode, Subject: "mode"})
	row := f.Pay(login, 50000)
	f.Work(3)
	f.InState(row.ID, credit.Pending)
	f.two("mia", "carl", desk.Act{Kind: desk.ReleaseMode, Subject: "mode"})
	f.Work(3)
	f.InState(row.ID, credit.Done)
}

func TestReleaseMode_AProposalIsAboutTheHoldThatItWasMadeIn(t *testing.T) {
	t.Parallel()
	f := newFirm(t).staff()
	hold, release := desk.Act{Kind: desk.HoldMode, Subject: "mode"}, desk.Act{Kind: desk.ReleaseMode, Subject: "mode"}
	f.one("oscar", hold)
	first, second := f.propose("mia", release), f.propose("mia", release)
	_, err := f.confirm("carl", first)
	f.Must(err)
	f.Clock.Move(time.Minute)
	f.one("oscar", hold) // for a reason that nobody of the two had seen
	_, err = f.confirm("carl", second)
	f.refused(err, "moved")
}

func TestManual_ABankReferenceIsTheSameInAnySpelling(t *testing.T) {
	t.Parallel()
	f := newFirm(t).staff()
	act := f.subject(desk.ManualPay)
	f.two("mia", "carl", act)
	ref := act.Params["bank_reference"]
	for _, spelling := range []string{ref + " ", " " + ref, strings.ToUpper(ref), strings.ReplaceAll(ref, " ", ""), strings.ReplaceAll(ref, " ", "\u00a0"),
		strings.ReplaceAll(ref, " ", "-"), strings.ReplaceAll(ref, " ", "\u2011"), strings.ReplaceAll(ref, " ", " / "), ref + ".", wide(ref)} {
		act.Params["bank_reference"] = spelling
		_, err := f.svc.Submit(t.Context(), by("mia"), act, "r")
		f.refused(err, "bank_reference_known")
		hits, err := f.svc.Find(t.Context(), by("vera"), spelling)
		if err != nil || len(hits) == 0 {
			t.Errorf("find %q: %v, %v", spelling, hits, err)
		}
	}
	for _, nothing := range []string{" \t", "-", "\u2013 / ."} {
		act.Params["bank_reference"] = nothing
		_, err := f.svc.Submit(t.Context(), by("mia"), act, "r")
		f.refused(err, "bank_reference")
	}
	act.Params["bank_reference"] = ref + "-2"
	_, err := f.svc.Submit(t.Context(), by("mia"), act, "r")
	f.Must(err)
}

// wide writes a text as East Asian programs copy it.
func wide(text string) string {
	return strings.Map(func(r rune) rune {
		if r > ' ' && r <= '~' {
			return r + 0xfee0
		}
		return r
	}, text)
}
