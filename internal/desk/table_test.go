package desk_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/internal/desk"
)

// The table of design §4, written out by hand: who may do what alone, and what takes two.
var (
	alone = map[desk.Kind][]string{
		desk.Resolve: {"oscar"}, desk.RetryFailed: {"oscar"}, desk.HoldCredit: {"oscar"}, desk.Replay: {"oscar"}, desk.CloseTask: {"oscar"},
		desk.NoteTask: {"oscar", "mia", "carl"}, desk.AssignTask: {"oscar", "mia", "carl"}, desk.HoldMode: {"oscar", "mia", "carl"},
		desk.TestAlerts: {"oscar", "ada", "abe"}, desk.GapChecked: {"oscar"},
	}
	money = []desk.Kind{
		desk.RetryUnknown, desk.Adopt, desk.CloseCredit, desk.Release, desk.NotThisDeal, desk.DealGone, desk.ManualPay, desk.GoLive, desk.ReleaseMode, desk.TakeOver, desk.Probe,
	}
	people = []desk.Kind{desk.AddPerson, desk.ChangePerson, desk.NewKey, desk.RevokeKey}
)

// expected tells who may do or propose the act, and who may confirm it; everyone with all roles may do both.
func expected(kind desk.Kind) (may, confirm []string, two bool) {
	switch {
	case slices.Contains(money, kind):
		return []string{"mia", "all", "both"}, []string{"carl", "all", "both"}, true
	case slices.Contains(people, kind):
		return []string{"ada", "abe", "all", "both"}, []string{"ada", "abe", "all", "both"}, true
	}
	return append([]string{"all", "both"}, alone[kind]...), nil, false
}

func TestTable_IsTheDesigns(t *testing.T) {
	t.Parallel()
	if got, want := len(desk.Table()), len(alone)+len(money)+len(people); got != want {
		t.Fatalf("the table has %d acts, the design %d", got, want)
	}
	for _, line := range desk.Table() {
		_, _, two := expected(line.Kind)
		if line.Two != two || (len(line.Confirm) > 0) != two || line.Help == "" || len(line.May) == 0 {
			t.Errorf("%s: %+v", line.Kind, line)
		}
		if decides := line.Kind != desk.Resolve && line.Kind != desk.NoteTask && line.Kind != desk.AssignTask && line.Kind != desk.TestAlerts; line.Reason != decides {
			t.Errorf("%s: a reason is required: %v", line.Kind, line.Reason)
		}
	}
	desk.Table()[0].May[0] = desk.Viewer
	if desk.Table()[0].May[0] == desk.Viewer {
		t.Error("a caller can change the table")
	}
}

// each runs a test of every act that takes two people, or not, each in a firm of its own.
func each(t *testing.T, two bool, test func(t *testing.T, f *firm, kind desk.Kind)) {
	t.Parallel()
	for _, line := range desk.Table() {
		if line.Two != two {
			continue
		}
		t.Run(string(line.Kind), func(t *testing.T) {
			t.Parallel()
			test(t, newFirm(t).staff(), line.Kind)
		})
	}
}

// crowd is everybody who could come to the socket, strangers too.
func crowd() []string { return append(slices.Sorted(maps.Keys(everybody)), "nobody", "root") }

func TestAct_OnlyWhoTheTableNamesMayDoItAlone(t *testing.T) {
	each(t, false, func(t *testing.T, f *firm, kind desk.Kind) {
		may, _, _ := expected(kind)
		for _, who := range crowd() {
			act := f.subject(kind)
			before := f.records()
			out, err := f.svc.Submit(t.Context(), actor(who), act, "because")
			if slices.Contains(may, who) {
				if err != nil || !out.Done || !f.done(act) {
					t.Errorf("%s may do it: %+v, %v", who, out, err)
				}
				continue
			}
			if !errors.Is(err, credit.ErrRefused) || f.done(act) || f.records() != before {
				t.Errorf("%s may not do it: done %v, %v", who, f.done(act), err)
			}
		}
	})
}

func TestAct_OnlyWhoTheTableNamesMayProposeIt(t *testing.T) {
	each(t, true, func(t *testing.T, f *firm, kind desk.Kind) {
		may, _, _ := expected(kind)
		for _, who := range crowd() {
			act := f.subject(kind)
			before := f.records()
			out, err := f.svc.Submit(t.Context(), actor(who), act, "because")
			if f.done(act) {
				t.Fatalf("%s did alone what takes two", who)
			}
			if slices.Contains(may, who) {
				if err != nil || out.Done || out.Proposal == nil || f.lastDeed() != desk.Proposed {
					t.Errorf("%s may propose it: %+v, %v", who, out, err)
				}
				continue
			}
			if !errors.Is(err, credit.ErrRefused) || f.records() != before {
				t.Errorf("%s may not propose it: %v", who, err)
			}
		}
	})
}

func TestAct_OnlyAnotherPersonWhomTheTableNamesMayConfirmIt(t *testing.T) {
	each(t, true, func(t *testing.T, f *firm, kind desk.Kind) {
		may, confirm, _ := expected(kind)
		for _, maker := range may {
			for _, who := range crowd() {
				if who != "all" && maker != "all" && maker != who && who != "vera" && who != "dora" {
					continue // every role meets one maker, every maker some of each sort
				}
				act := f.subject(kind)
				p := f.propose(maker, act)
				f.Clock.Move(61 * time.Second)
				_, err := f.svc.Confirm(t.Context(), actor(who), p.ID, p.Digest, "agreed")
				if slices.Contains(confirm, who) && who != maker {
					if err != nil || !f.done(act) || f.lastDeed() != desk.Confirmed {
						t.Errorf("%s may confirm what %s proposed: %v", who, maker, err)
					}
					continue
				}
				if !errors.Is(err, credit.ErrRefused) || f.done(act) {
					t.Errorf("%s may not confirm what %s proposed: %v", who, maker, err)
				}
			}
		}
	})
}

func actor(who string) desk.Actor {
	if who == "root" {
		return desk.Actor{User: "root"}
	}
	return by(who)
}

// way is one way in which a confirmation must fail: what happens between proposal and confirmation, and with which code.
type way struct {
	name string
	code string
	user string // who confirms; empty: both
	then func(f *firm, p *desk.Proposal, act desk.Act)
}

var ways = []way{
	{name: "the same person", code: "own_proposal", user: "all"},
	{name: "the same person under another account", code: "own_proposal", user: "all2"},
	{name: "expired", code: "expired", then: func(f *firm, _ *desk.Proposal, _ desk.Act) { f.Clock.Move(24 * time.Hour) }},
	{name: "another digest", code: "changed", then: func(_ *firm, p *desk.Proposal, _ desk.Act) { p.Digest = p.Digest[1:] + "0" }},
	{name: "no digest", code: "changed", then: func(_ *firm, p *desk.Proposal, _ desk.Act) { p.Digest = "" }},
	{name: "the state has moved", code: "moved", then: func(f *firm, _ *desk.Proposal, _ desk.Act) {
		_, err := f.db.Settle(f.t.Context(), func(s credit.Settings) (credit.Settings, error) {
			s.CutoverAt = s.CutoverAt.Add(-time.Hour)
			return s, nil
		})
		f.Must(err)
	}},
	{name: "the proposer is disabled", code: "proposer_gone", then: func(f *firm, _ *desk.Proposal, _ desk.Act) { f.change("all", "disabled", "true") }},
	{name: "the proposer lost the role", code: "proposer_gone", then: func(f *firm, _ *desk.Proposal, _ desk.Act) { f.change("all", "roles", "viewer,checker") }},
	{name: "the confirmer is disabled", code: "disabled", then: func(f *firm, _ *desk.Proposal, _ desk.Act) { f.change("both", "disabled", "true") }},
	{name: "the confirmer lost the role", code: "role", then: func(f *firm, _ *desk.Proposal, _ desk.Act) { f.change("both", "roles", "viewer,maker") }},
	{name: "the confirmer lost the account", code: "nobody", then: func(f *firm, _ *desk.Proposal, _ desk.Act) { f.change("both", "users", "") }},
	{name: "rejected", code: "used", then: func(f *firm, p *desk.Proposal, _ desk.Act) {
		_, err := f.svc.Reject(f.t.Context(), by("both"), p.ID, "no")
		f.Must(err)
	}},
	{name: "confirmed already", code: "used", then: func(f *firm, p *desk.Proposal, _ desk.Act) {
		_, err := f.svc.Confirm(f.t.Context(), by("both"), p.ID, p.Digest, "")
		f.Must(err)
	}},
}

func (f *firm) change(who, what, to string) desk.Outcome {
	f.t.Helper()
	return f.two("ada", "abe", desk.Act{Kind: desk.ChangePerson, Subject: "person/" + who, Params: map[string]string{what: to}})
}

func TestConfirm_EveryWayThatMustFailDoes(t *testing.T) {
	t.Parallel()
	for _, line := range desk.Table() {
		if !line.Two {
			continue
		}
		for _, w := range ways {
			t.Run(fmt.Sprintf("%s/%s", line.Kind, w.name), func(t *testing.T) {
				t.Parallel()
				f := newFirm(t).staff()
				act := f.subject(line.Kind)
				p := f.propose("all", act)
				f.Clock.Move(61 * time.Second)
				if w.then != nil {
					w.then(f, &p, act)
				}
				before := f.records()
				user := w.user
				if user == "" {
					user = "both"
				}
				_, err := f.svc.Confirm(t.Context(), by(user), p.ID, p.Digest, "agreed")
				f.refused(err, w.code)
				if f.records() != before {
					t.Error("a refused confirmation left a record of a deed")
				}
				if w.name != "confirmed already" && f.done(act) {
					t.Error("it was done all the same")
				}
			})
		}
	}
}

func TestConfirm_OfTwoAtOnceOneWins(t *testing.T) {
	each(t, true, func(t *testing.T, f *firm, kind desk.Kind) {
		act := f.subject(kind)
		p := f.propose("all", act)
		f.Clock.Move(61 * time.Second)
		_, confirm, _ := expected(kind)
		var wg sync.WaitGroup
		errs := make(chan error, 16)
		for range 4 {
			for _, who := range confirm {
				if who == "all" {
					continue
				}
				wg.Go(func() {
					_, err := f.svc.Confirm(t.Context(), by(who), p.ID, p.Digest, "agreed")
					errs <- err
				})
			}
		}
		wg.Wait()
		close(errs)
		won := 0
		for err := range errs {
			switch {
			case err == nil:
				won++
			case !errors.Is(err, credit.ErrRefused) && !errors.Is(err, credit.ErrConflict):
				t.Errorf("a confirmation that lost: %v", err)
			}
		}
		if won != 1 || !f.done(act) {
			t.Errorf("%d confirmations won, done %v", won, f.done(act))
		}
		confirmed := 0
		list, err := f.db.Records(t.Context(), 0, 1000)
		f.Must(err)
		for _, r := range list {
			if r.Deed == desk.Confirmed && r.Proposal == p.ID {
				confirmed++
			}
		}
		if confirmed != 1 {
			t.Errorf("%d records of the confirmation", confirmed)
		}
	})
}

func TestReject_ByTheProposerOrAChecker(t *testing.T) {
	t.Parallel()
	f := newFirm(t).staff()
	for who, ok := range map[string]bool{"mia": true, "carl": true, "both": true, "vera": false, "oscar": false, "ada": false, "dora": false, "nobody": false} {
		p := f.propose("mia", f.subject(desk.Release))
		got, err := f.svc.Reject(t.Context(), by(who), p.ID, "not this one")
		switch {
		case ok && (err != nil || got.State != desk.ProposalRejected || got.EndedBy != desk.PersonID(who) || got.Answer != "not this one"):
			t.Errorf("%s: %+v, %v", who, got, err)
		case !ok && !errors.Is(err, credit.ErrRefused):
			t.Errorf("%s may not reject it: %v", who, err)
		}
	}
	p := f.propose("mia", f.subject(desk.Release))
	if _, err := f.svc.Reject(t.Context(), by("carl"), p.ID, ""); !errors.Is(err, credit.ErrInvalid) {
		t.Errorf("rejecting without a reason: %v", err)
	}
}
