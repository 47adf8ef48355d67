package sim

import (
	"context"
	"errors"
	"strconv"
	"time"

	"creditonce/credit"
	"creditonce/internal/desk"
)

var (
	maker   = desk.Actor{Person: "anna"}
	checker = desk.Actor{Person: "ben"}
)

// people act now and then: on a task, a row, or the mode.
func (s *sim) people() {
	if s.calm {
		return
	}
	s.after(s.spread(10*time.Second, 10*time.Minute), s.people)
	p := s.serving()
	if p == nil || !p.up || p.stopped || len(p.file.world.Rows) == 0 {
		return
	}
	act, reason, ok := s.choose(p)
	if !ok {
		return
	}
	s.spawn(p, "person", func() { s.decide(p, act, reason) })
}

// choose draws what somebody wants: mostly what the row's state asks for, at times what it forbids.
func (s *sim) choose(p *process) (desk.Act, string, bool) {
	if s.strikes(peopleHoldMode) {
		kind := desk.HoldMode
		if p.file.mode() == credit.ModeHold {
			kind = desk.ReleaseMode
		}
		return desk.Act{Kind: kind, Subject: "mode"}, "drill", true
	}
	row := s.anyRow(p)
	for range 4 { // rather one that waits for somebody
		if row.State != credit.Done && row.State != credit.Cancelled {
			break
		}
		row = s.anyRow(p)
	}
	act := desk.Act{Subject: credit.RowEntity(row.ID)}
	switch row.State {
	case credit.Held:
		act.Kind = pick(&s.sched, []desk.Kind{desk.Release, desk.Release, desk.CloseCredit, desk.Adopt, desk.NotThisDeal, desk.Resolve, desk.HoldCredit})
	case credit.Pending:
		act.Kind = pick(&s.sched, []desk.Kind{desk.HoldCredit, desk.Resolve})
	case credit.Unknown:
		act.Kind = pick(&s.sched, []desk.Kind{desk.RetryUnknown, desk.RetryUnknown, desk.Adopt, desk.CloseCredit, desk.Resolve, desk.NotThisDeal})
	case credit.Failed:
		act.Kind = pick(&s.sched, []desk.Kind{desk.RetryFailed, desk.RetryFailed, desk.CloseCredit, desk.Resolve})
	default:
		act.Kind = pick(&s.sched, []desk.Kind{desk.RetryFailed, desk.CloseCredit, desk.Adopt, desk.Release})
	}
	if s.mt5.archived[row.Login] && act.Kind == desk.CloseCredit {
		return act, "", false // two people may close on the record that the login is gone; these know that it comes back
	}
	if act.Kind == desk.Adopt || act.Kind == desk.NotThisDeal {
		d := s.dealFor(row, act.Kind == desk.Adopt)
		if d == nil {
			return act, "", false
		}
		act.Params = map[string]string{"ticket": strconv.FormatUint(d.Ticket, 10)}
		if act.Kind == desk.Adopt && d.Comment != string(row.Reference) {
			act.Params["comment"] = d.Comment
		}
	}
	return act, "because", true
}

func (s *sim) anyRow(p *process) *credit.Credit {
	rows := p.file.world.Rows
	return &rows[s.rng.IntN(len(rows))].Credit
}

// dealFor is the deal that a person points at. People adopt what they know to be this payment - a mistake of two people is
// theirs -, and pass over what they know to be another one.
func (s *sim) dealFor(row *credit.Credit, adopt bool) *deal {
	for _, d := range s.mt5.shown(row.Login, s.now) {
		mine := d.want == row.Reference && row.Reference != ""
		byHand := d.want == "" && s.meant[d.Ticket] == row.Unit.Payment
		if adopt == (mine || byHand) {
			return d
		}
	}
	return nil
}

// decide submits the act, and confirms it as another person where it takes two.
func (s *sim) decide(p *process, act desk.Act, reason string) {
	out, err := p.desk.Submit(p.ctx, maker, act, reason)
	if err != nil {
		s.expected(string(act.Kind), err)
		return
	}
	s.count(personActed)
	if out.Done || out.Proposal == nil {
		return
	}
	s.sleep(s.spread(time.Second, 15*time.Minute), "the second person looks")
	done, err := p.desk.Confirm(p.ctx, checker, out.Proposal.ID, out.Proposal.Digest, "agreed")
	if err != nil {
		s.expected(string(act.Kind), err)
		return
	}
	s.note("%s %s is confirmed", act.Kind, act.Subject)
	if done.Done {
		s.countAct(act.Kind)
	}
}

// expected notes an error that the outside may get, and fails the run on any other. It tells whether it was a refusal.
func (s *sim) expected(what string, err error) bool {
	var noAnswer *desk.NoAnswerError
	var refused *credit.RefusedError
	switch {
	case errors.As(err, &refused):
		s.note("%s is refused: %s", what, refused.Code)
		return true
	case errors.As(err, &noAnswer), errors.Is(err, credit.ErrBusy), errors.Is(err, credit.ErrStopped), errors.Is(err, credit.ErrConflict),
		errors.Is(err, credit.ErrNotFound), errors.Is(err, context.Canceled):
		s.note("%s: %v", what, err)
	default:
		s.fail("%s met an unexpected error: %v", what, err)
	}
	return false
}

// goLive ends observe, or a hold, by two people; again and again until it is so.
func (s *sim) goLive() {
	p := s.serving()
	if p == nil || !p.up || p.stopped {
		s.after(20*time.Second, s.goLive)
		return
	}
	if p.file.world.Settings.Doubt != nil {
		return // nobody can release it; it stays in hold
	}
	kind := desk.ReleaseMode
	switch p.file.mode() {
	case credit.ModeLive:
		return
	case credit.ModeObserve:
		kind = desk.GoLive
	case credit.ModeHold:
	}
	s.after(30*time.Second, s.goLive)
	s.spawn(p, "goes-live", func() {
		out, err := p.desk.Submit(p.ctx, maker, desk.Act{Kind: kind, Subject: "mode"}, "go")
		if err != nil {
			s.expected(string(kind), err)
			return
		}
		if _, err = p.desk.Confirm(p.ctx, checker, out.Proposal.ID, out.Proposal.Digest, "go"); err != nil {
			s.expected(string(kind), err)
			return
		}
		s.count(wentLive)
	})
}
