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
	if act, ok := s.chooseOther(p); ok {
		return act, "because", true
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
		s.countAct(act.Kind)
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

// chooseOther draws acts that are not about a row.
func (s *sim) chooseOther(p *process) (desk.Act, bool) {
	w := p.file.world
	switch s.rng.IntN(14) {
	case 0:
		login := pick(&s.sched, logins)
		for _, d := range s.mt5.deals {
			if d.gone && d.Login == login && s.holder(d.Ticket) == nil {
				return desk.Act{Kind: desk.DealGone, Subject: desk.LoginSubject(serverLabel, login), Params: map[string]string{"ticket": strconv.FormatUint(d.Ticket, 10)}}, true
			}
		}
	case 1:
		login := pick(&s.sched, logins)
		return desk.Act{Kind: desk.ManualPay, Subject: "deposit/manual", Params: map[string]string{
			"client": clientOf(login), "server": serverLabel, "login": strconv.FormatUint(login, 10), "amount": "15.00", "currency": "USD",
			"bank_reference": "WIRE " + strconv.Itoa(s.rng.IntN(5)), "received_at": s.begun.Add(s.now).UTC().Format(time.RFC3339),
		}}, true
	case 2:
		if len(w.Events) > 0 {
			e := &w.Events[s.rng.IntN(len(w.Events))]
			return desk.Act{Kind: desk.Replay, Subject: "event/" + strconv.FormatUint(uint64(e.ID), 10)}, true
		}
	case 3:
		if len(w.Tasks) > 0 {
			t := &w.Tasks[s.rng.IntN(len(w.Tasks))]
			return desk.Act{Kind: pick(&s.sched, []desk.Kind{desk.CloseTask, desk.AssignTask}), Subject: "task/" + strconv.FormatUint(uint64(t.ID), 10)}, true
		}
	case 4:
		if act, ok := s.nextForMode(p); ok {
			return act, true
		}
	}
	return desk.Act{}, false
}

// holder is the row that has the ticket.
func (s *sim) holder(ticket uint64) *credit.Credit {
	for i := range s.world().Rows {
		if c := &s.world().Rows[i].Credit; c.Ticket == ticket {
			return c
		}
	}
	return nil
}

// nextForMode is what people do next to have the service live; false when it is.
func (s *sim) nextForMode(p *process) (desk.Act, bool) {
	set := &p.file.world.Settings
	switch {
	case set.Doubt != nil:
		return desk.Act{Kind: desk.TakeOver, Subject: "mode", Params: map[string]string{"fenced": pick(&s.sched, []string{"password", "address"})}}, true
	case len(set.OpenGaps()) > 0:
		return desk.Act{Kind: desk.GapChecked, Subject: "provider/" + set.OpenGaps()[0].Provider}, true
	case set.Mode == credit.ModeHold:
		return desk.Act{Kind: desk.ReleaseMode, Subject: "mode"}, true
	case set.Mode == credit.ModeObserve:
		return desk.Act{Kind: desk.GoLive, Subject: "mode"}, true
	}
	return desk.Act{}, false
}

// goLive brings the service to live, whatever it takes; again and again until it is so.
func (s *sim) goLive() {
	p := s.serving()
	if p == nil || !p.up || p.stopped {
		s.after(20*time.Second, s.goLive)
		return
	}
	act, ok := s.nextForMode(p)
	if !ok {
		return
	}
	s.after(30*time.Second, s.goLive)
	s.spawn(p, "goes-live", func() {
		out, err := p.desk.Submit(p.ctx, maker, act, "go")
		if err != nil {
			s.expected(string(act.Kind), err)
			return
		}
		if out.Proposal == nil || out.Done {
			return
		}
		if _, err = p.desk.Confirm(p.ctx, checker, out.Proposal.ID, out.Proposal.Digest, "go"); err != nil {
			s.expected(string(act.Kind), err)
			return
		}
		s.count(wentLive)
	})
}
