package desk_test

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/internal/desk"
	"creditonce/store/storetest"
)

var theLogin = desk.PermitClaim{Server: storetest.Server, Identity: storetest.Identity, Login: login}

func probeOf(login string) desk.Act {
	return desk.Act{Kind: desk.Probe, Subject: "mt5/" + storetest.Server, Params: map[string]string{"login": login}}
}

// permitted is a firm in which mia and carl agreed on a probe of the login.
func permitted(t *testing.T) (*firm, desk.Proposal) {
	t.Helper()
	f := newFirm(t).staff()
	return f, *f.two("mia", "carl", probeOf("1001")).Proposal
}

func (f *firm) use(who string, id desk.ProposalID, c desk.PermitClaim) error {
	f.t.Helper()
	_, err := f.svc.UsePermit(f.t.Context(), by(who), id, c)
	return err
}

func (f *firm) settle(change func(*credit.Settings)) {
	f.t.Helper()
	_, err := f.db.Settle(f.t.Context(), func(s credit.Settings) (credit.Settings, error) { change(&s); return s, nil })
	f.Must(err)
}

func TestPermit_LetsExactlyTheAgreedLoginBeProbedOnce(t *testing.T) {
	t.Parallel()
	f, p := permitted(t)
	if !p.Permit.Unused() || p.Permit.Login != login || p.Permit.Identity != storetest.Identity || p.Permit.ExpiresAt.Sub(p.EndedAt) != time.Hour {
		t.Fatalf("the permit is %+v", p.Permit)
	}
	used, err := f.svc.UsePermit(t.Context(), by("oscar"), p.ID, theLogin)
	if err != nil || used.Permit.UsedBy != "oscar" || used.Permit.UsedAt.IsZero() || used.State != desk.ProposalConfirmed {
		t.Fatalf("%+v, %v", used, err)
	}
	if last := f.last(); last.Deed != desk.Used || last.Person != "oscar" || last.Proposal != p.ID || last.Act.Params["login"] != "1001" {
		t.Errorf("the audit log says %+v", last)
	}
	f.refused(f.use("oscar", p.ID, theLogin), "used")
	f.refused(f.use("carl", p.ID, theLogin), "used")
}

func TestPermit_IsRefusedForWhateverWasNotAgreedOn(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, code string
		then       func(f *firm, c *desk.PermitClaim) string // returns who asks
	}{
		{"another login", "other_login", func(_ *firm, c *desk.PermitClaim) string { c.Login++; return "oscar" }},
		{"a server that calls itself otherwise", "other_server", func(_ *firm, c *desk.PermitClaim) string { c.Identity = "Other"; return "oscar" }},
		{"a server under another label", "other_server", func(_ *firm, c *desk.PermitClaim) string { c.Server = "second"; return "oscar" }},
		{"an hour later", "expired", func(f *firm, _ *desk.PermitClaim) string { f.Clock.Move(time.Hour); return "oscar" }},
		{"a clock before the confirmation", "expired", func(f *firm, _ *desk.PermitClaim) string { f.Clock.Move(-time.Minute); return "oscar" }},
		{"the proposer was disabled", "void", func(f *firm, _ *desk.PermitClaim) string {
			f.change("mia", "disabled", "true")
			return "oscar"
		}},
		{"the confirmer was disabled", "void", func(f *firm, _ *desk.PermitClaim) string {
			f.change("carl", "disabled", "true")
			return "oscar"
		}},
		{"the confirmer lost the role and has it again", "void", func(f *firm, _ *desk.PermitClaim) string {
			f.change("carl", "roles", "viewer")
			f.change("carl", "roles", "checker")
			return "oscar"
		}},
		{"the store was restored since", "expired", func(f *firm, _ *desk.PermitClaim) string {
			f.settle(func(s *credit.Settings) { s.Restore = &credit.Restore{Number: 1, Kind: "restore", At: f.Clock.Now()} })
			return "oscar"
		}},
		{"the store may be an older one", "doubt", func(f *firm, _ *desk.PermitClaim) string {
			f.settle(func(s *credit.Settings) { s.Doubt = &credit.Doubt{Reason: "the witness is newer"} })
			return "oscar"
		}},
		{"a viewer asks", "role", func(*firm, *desk.PermitClaim) string { return "vera" }},
		{"a disabled person asks", "disabled", func(*firm, *desk.PermitClaim) string { return "dora" }},
		{"a stranger asks", "nobody", func(*firm, *desk.PermitClaim) string { return "nobody" }},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f, p := permitted(t)
			c := theLogin
			who := test.then(f, &c)
			before := f.records()
			f.refused(f.use(who, p.ID, c), test.code)
			if kept, err := f.db.Proposal(t.Context(), p.ID); err != nil || !kept.Permit.UsedAt.IsZero() || f.records() != before {
				t.Errorf("a refused use wrote %+v, %v", kept.Permit, err)
			}
		})
	}
}

func TestPermit_NeedsAConfirmedProposalOfAProbe(t *testing.T) {
	t.Parallel()
	f := newFirm(t).staff()
	open := f.propose("mia", probeOf("1001"))
	f.refused(f.use("oscar", open.ID, theLogin), "not_confirmed")
	_, err := f.svc.Reject(t.Context(), by("carl"), open.ID, "no")
	f.Must(err)
	f.refused(f.use("oscar", open.ID, theLogin), "not_confirmed")
	other := f.two("mia", "carl", f.subject(desk.CloseCredit))
	f.refused(f.use("oscar", other.Proposal.ID, theLogin), "no_permit")
	var gone *desk.MissingError
	if err := f.use("oscar", 99, theLogin); !errors.As(err, &gone) || !errors.Is(err, credit.ErrNotFound) {
		t.Errorf("a proposal that does not exist: %v", err)
	}
	for _, text := range []string{"0", "-1", "x", "0x1", "1 "} {
		if _, err := f.svc.Submit(t.Context(), by("mia"), probeOf(text), "because"); !errors.Is(err, credit.ErrInvalid) {
			t.Errorf("login %q: %v", text, err)
		}
	}
}

func TestPermit_OfTwoProbesAtOnceOneBegins(t *testing.T) {
	t.Parallel()
	f, p := permitted(t)
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		wg.Go(func() { _, errs[i] = f.svc.UsePermit(t.Context(), by("oscar"), p.ID, theLogin) })
	}
	wg.Wait()
	if begun := len(slices.DeleteFunc(errs, func(err error) bool { return err != nil })); begun != 1 {
		t.Errorf("%d probes began", begun)
	}
}

func TestPermit_OnTheStoreAloneNeedsNoPersonButNoDisabledOne(t *testing.T) {
	t.Parallel()
	f, p := permitted(t)
	alone := func(user string) (desk.Proposal, error) {
		return desk.UsePermitAlone(t.Context(), f.db, f.Clock.Now(), desk.Actor{User: user, UID: 990}, p.ID, theLogin)
	}
	_, err := alone("dora")
	f.refused(err, "disabled")
	used, err := alone("creditonce")
	if err != nil || used.Permit.UsedBy != "creditonce" || f.last().User != "creditonce" {
		t.Fatalf("%+v, %v", used.Permit, err)
	}
	_, err = alone("creditonce")
	f.refused(err, "used")
}

func TestDisabledPerson_WhoIsEnabledAgainRevivesNoProposal(t *testing.T) {
	t.Parallel()
	f := newFirm(t).staff()
	act := f.subject(desk.CloseCredit)
	p, other := f.propose("mia", act), f.propose("all", f.subject(desk.CloseCredit))
	out := f.change("mia", "disabled", "true")
	if !slices.Equal(out.Voided, []desk.ProposalID{p.ID}) || !slices.Equal(f.last().Voided, out.Voided) || f.last().Deed != desk.Confirmed {
		t.Errorf("voided %v; the audit log says %+v", out.Voided, f.last())
	}
	f.change("mia", "disabled", "false")
	_, err := f.confirm("carl", p)
	f.refused(err, "proposer_gone")
	kept, err := f.db.Proposal(t.Context(), p.ID)
	if err != nil || kept.State != desk.ProposalVoided || kept.EndedBy != "abe" || f.done(act) {
		t.Errorf("it is %+v, %v", kept, err)
	}
	if _, err := f.confirm("carl", other); err != nil {
		t.Errorf("another person's proposal: %v", err)
	}
	if _, err := f.confirm("carl", f.propose("mia", act)); err != nil {
		t.Errorf("proposed again: %v", err)
	}
	totals, err := f.db.Totals(t.Context())
	if err != nil || totals.OpenProposals != 0 {
		t.Errorf("open proposals: %d, %v", totals.OpenProposals, err)
	}
}

func TestAdminWhoAgreesToBeDisabled_IsAndTheProposalIsConfirmed(t *testing.T) {
	t.Parallel()
	f := newFirm(t).staff()
	p := f.propose("ada", desk.Act{Kind: desk.ChangePerson, Subject: "person/ada", Params: map[string]string{"disabled": "true"}})
	out, err := f.svc.Confirm(t.Context(), by("abe"), p.ID, p.Digest, "agreed")
	if err != nil || out.Proposal.State != desk.ProposalConfirmed || len(out.Voided) != 0 {
		t.Errorf("%+v, %v", out, err)
	}
}
