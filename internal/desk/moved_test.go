package desk_test

import (
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/internal/desk"
	"creditonce/store/storetest"
)

// isMoved sees that a proposal is shown as moved wherever it is shown, is refused, and can be rejected.
func (f *firm) isMoved(p desk.Proposal, checker string) {
	f.t.Helper()
	seen, err := f.svc.Proposal(f.t.Context(), by("vera"), p.ID)
	f.Must(err)
	list, err := f.svc.Proposals(f.t.Context(), by("vera"), desk.ProposalQuery{Open: true, After: p.ID - 1, Limit: 1})
	f.Must(err)
	st, err := f.svc.Status(f.t.Context(), by("vera"))
	f.Must(err)
	if now := f.Clock.Now(); seen.StateAt(now) != desk.ProposalMoved || list[0].StateAt(now) != desk.ProposalMoved || st.Moved != 1 || st.Proposals != 0 {
		f.t.Errorf("shown as %s, listed as %s, status %d open, %d moved", seen.StateAt(now), list[0].StateAt(now), st.Proposals, st.Moved)
	}
	if seen.Digest != p.Digest || !seen.Whole() {
		f.t.Error("showing it changed it")
	}
	var refused *credit.RefusedError
	if _, err := f.svc.Confirm(f.t.Context(), by(checker), p.ID, p.Digest, "agreed"); !errors.As(err, &refused) {
		f.t.Errorf("a moved proposal was confirmed: %v", err)
	}
	_, err = f.svc.Reject(f.t.Context(), by(checker), p.ID, "out of date")
	f.Must(err)
	if st, err = f.svc.Status(f.t.Context(), by("vera")); err != nil || st.Moved != 0 {
		f.t.Errorf("after the rejection %d moved, %v", st.Moved, err)
	}
}

func TestProposal_WhoseCreditMovedOnIsShownAsMoved(t *testing.T) {
	t.Parallel()
	f := newFirm(t).staff()
	id := f.held()
	p := f.propose("mia", on(desk.Release, id))
	if st, err := f.svc.Status(t.Context(), by("vera")); err != nil || st.Proposals != 1 || st.Moved != 0 {
		t.Fatalf("%+v, %v", st, err)
	}
	second := f.propose("mia", on(desk.Release, id))
	_, err := f.svc.Confirm(t.Context(), by("carl"), second.ID, second.Digest, "agreed")
	f.Must(err)
	v, err := f.svc.Credit(t.Context(), by("vera"), id)
	if err != nil || len(v.Proposals) != 1 || v.Proposals[0].State != desk.ProposalMoved {
		t.Errorf("beside the credit: %+v, %v", v.Proposals, err)
	}
	_, err = f.svc.Confirm(t.Context(), by("carl"), p.ID, p.Digest, "agreed")
	f.refused(err, "moved")
	if !strings.Contains(err.Error(), "creditonce proposals reject") {
		t.Errorf("no next step: %v", err)
	}
	f.isMoved(p, "carl")
}

func TestProposal_WhosePersonIsThereAlreadyIsShownAsMoved(t *testing.T) {
	t.Parallel()
	f := newFirm(t).staff()
	add := func(id, user string) desk.Act {
		return desk.Act{Kind: desk.AddPerson, Subject: "person/" + id, Params: map[string]string{"name": "N " + id, "users": user, "roles": "viewer"}}
	}
	late := f.propose("ada", add("zoe", "zoe"))
	f.two("ada", "abe", add("zack", "zoe")) // takes the account
	f.isMoved(late, "abe")
}

// Two people propose one wire, however they write its reference, or one that its provider has told of meanwhile: what is left can only be rejected.
func TestProposal_OfAWireThatIsEnteredMeanwhileIsShownAsMoved(t *testing.T) {
	t.Parallel()
	f := newFirm(t).staff()
	act := f.subject(desk.ManualPay)
	again := desk.Act{Kind: act.Kind, Subject: act.Subject, Params: maps.Clone(act.Params)}
	again.Params["bank_reference"] = strings.ToUpper(strings.ReplaceAll(act.Params["bank_reference"], " ", "-"))
	late, first := f.propose("mia", again), f.propose("mia", act)
	_, err := f.confirm("carl", first)
	f.Must(err)
	f.isMoved(late, "carl")
}

func TestProposal_OfAWireThatItsProviderPaidMeanwhileIsShownAsMoved(t *testing.T) {
	t.Parallel()
	f := newFirm(t).staff()
	f.settled(func(s credit.Settings) credit.Settings {
		s.Pins = []credit.Pin{{Name: "provider/" + storetest.Provider, Value: "psp " + storetest.Merchant}}
		return s
	})
	act := f.subject(desk.ManualPay)
	act.Params["bank_reference"] = "pi-77"
	late := f.propose("mia", act)
	f.providerTells("pi-77", 24000, f.Clock.Now())
	f.isMoved(late, "carl")
}

func TestProposal_ToProbeALoginThatBecameAClientsIsShownAsMoved(t *testing.T) {
	t.Parallel()
	f := newFirm(t).staff()
	p := f.propose("mia", probeOf("77001"))
	f.Pay(77001, 5000)
	f.isMoved(p, "carl")
}

func TestPermit_IsRefusedForTheAccountOfAClient(t *testing.T) {
	t.Parallel()
	f := newFirm(t).staff()
	f.Pay(77001, 5000)
	_, err := f.svc.Submit(t.Context(), by("mia"), probeOf("77001"), "probe")
	f.refused(err, "client_account")
	// One that was permitted before the client came is not used either.
	p := *f.two("mia", "carl", probeOf("77002")).Proposal
	f.Pay(77002, 5000)
	f.refused(f.use("oscar", p.ID, desk.PermitClaim{Server: storetest.Server, Identity: storetest.Identity, Login: 77002}), "client_account")
}

func TestProposal_HasItsNumbersInOneForm(t *testing.T) {
	t.Parallel()
	f := newFirm(t).staff()
	if p := f.propose("mia", probeOf("0077001")); p.Act.Params["login"] != "77001" {
		t.Errorf("proposed for login %q", p.Act.Params["login"])
	}
}

func TestGoLive_IsRefusedForACutOverFarAhead(t *testing.T) {
	t.Parallel()
	f := newFirmIn(t, credit.ModeObserve).staff()
	live := func(at time.Time) desk.Act {
		return desk.Act{Kind: desk.GoLive, Subject: "mode", Params: map[string]string{"cutover": at.Format(time.RFC3339)}}
	}
	for _, at := range []time.Time{f.Clock.Now().AddDate(0, 0, 31), time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)} {
		if _, err := f.svc.Submit(t.Context(), by("mia"), live(at), "live"); !errors.Is(err, credit.ErrInvalid) || !strings.Contains(err.Error(), "30 days") {
			t.Errorf("a cut-over at %s: %v", at, err)
		}
	}
	f.propose("mia", live(f.Clock.Now().AddDate(0, 0, 29)))
}

func TestAct_OnNoNumberSaysWhereTheNumbersAre(t *testing.T) {
	t.Parallel()
	f := newFirm(t).staff()
	for _, subject := range []string{"credit/0", "credit/99999999999999999999", "credit/" + strings.Repeat("9", 5000)} {
		_, err := f.svc.Submit(t.Context(), by("mia"), desk.Act{Kind: desk.Release, Subject: subject}, "because")
		if !errors.Is(err, credit.ErrInvalid) || !strings.Contains(err.Error(), "creditonce credits list") || len(err.Error()) > 300 {
			t.Errorf("%.40s: %.500v", subject, err)
		}
	}
}
