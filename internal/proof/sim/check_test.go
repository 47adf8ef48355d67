package sim

import (
	"fmt"

	"creditonce/credit"
	"creditonce/internal/invariant"
)

// committed notes that the store of a process has changed.
func (s *sim) committed(*process) { s.dirty = true }

// dealMade puts a deal into the journal of MT5.
func (s *sim) dealMade(d *deal) {
	w := s.world()
	d.place = len(w.Deals)
	w.Deals = append(w.Deals, invariant.Deal{
		Server: identity, Ticket: d.Ticket, Login: d.Login, Action: d.Action, Amount: d.Amount, Comment: d.Comment,
		Reference: string(d.want), Dealer: d.Dealer,
	})
	s.dirty = true
}

// orderSent puts a call into the journal of MT5 at the moment at which it leaves. It returns its place.
func (s *sim) orderSent(x *session, c credit.Call) int {
	w := s.world()
	w.Calls = append(w.Calls, invariant.Call{
		Server: identity, Login: c.Login, Amount: c.Amount, Reference: string(c.Reference), Process: x.p.id, Conn: x.p.id + "/" + x.name,
		Sent: x.p.mark(), Deadline: c.Deadline,
	})
	s.dirty = true
	return len(w.Calls) - 1
}

// claimAllowed sees that nothing is claimed while the disk is low (I-O1); the store measures it before each commit.
func (s *sim) claimAllowed(entries []credit.Entry) {
	for _, e := range entries {
		if e.To == credit.Claimed && s.free < claimFloor {
			s.fail("I-O1: credit %d was claimed with %d bytes free", e.Credit, s.free)
		}
	}
}

// check judges the world after a step that changed it.
func (s *sim) check() {
	if !s.dirty || s.failure != "" {
		return
	}
	s.dirty = false
	w := s.world()
	w.Now = s.begun.Add(s.now).UTC()
	s.judge(s.checker.Check(w))
}

func (s *sim) judge(found []invariant.Violation) {
	for _, v := range found {
		s.fail("%s", v)
	}
}

// unsettled says what is still in motion; empty: all is quiet, and the liveness rules must hold.
func (s *sim) unsettled() string {
	p := s.serving()
	if p == nil || !p.up {
		return "no process serves"
	}
	if set := &p.file.world.Settings; set.Mode != credit.ModeLive {
		return "the mode is " + string(set.Mode) + ": " + set.ModeReason
	} else if set.Restore != nil && set.Restore.FreedAt.IsZero() {
		return "rows are held for a restore that is released"
	}
	// A list that cannot be read is somebody's to see to: a clock that is fast by months stays so here.
	told := p.file.openTask("provider/"+p.label, credit.TaskPull)
	for _, d := range s.deliveries {
		if !d.acked && (!d.lost || !told) {
			return fmt.Sprintf("%s is not acknowledged", d.key)
		}
	}
	for _, r := range s.requests {
		if !r.made && !r.never {
			return fmt.Sprintf("deposit %s is not made", r.pay.code)
		}
	}
	for i := range p.file.world.Rows {
		row := &p.file.world.Rows[i].Credit
		switch row.State {
		case credit.Done, credit.Cancelled:
		case credit.Held, credit.Failed, credit.Unknown:
			if !p.file.openTask(credit.RowEntity(row.ID)) && !row.HasHold(credit.HoldPreCutover) {
				return fmt.Sprintf("credit %d is %s %v without a task", row.ID, row.State, row.Holds)
			}
		default:
			if row.State != credit.Pending || !p.file.openTask(credit.RowEntity(row.ID), credit.TaskStuck) { // another task may be older than the row's turn
				return fmt.Sprintf("credit %d is still %s", row.ID, row.State)
			}
		}
	}
	return ""
}

// compareWithStore sees that the file holds what every commit said, and every acknowledged event.
func (s *sim) compareWithStore(p *process) {
	rows, err := p.db.Rows(background, credit.RowQuery{Limit: 1000})
	if err != nil {
		s.fail("read the rows: %v", err)
		return
	}
	w := p.file.world
	if len(rows) != len(w.Rows) {
		s.fail("I-S3: the store has %d rows, its commits made %d", len(rows), len(w.Rows))
		return
	}
	for i, row := range rows {
		if said := &w.Rows[i].Credit; said.ID != row.ID || said.Head != row.Head || said.State != row.State {
			s.fail("I-S3: credit %d is %s in the store, a commit said %s", row.ID, row.State, said.State)
		}
	}
	for _, a := range s.acked {
		if e, err := p.db.Event(background, a.event); err != nil || e.MessageKey != a.key {
			s.fail("I-D1: event %s was acknowledged and is not in the store: %v", a.key, err)
		}
	}
	if w.Settings, err = p.db.Settings(background); err != nil {
		s.fail("read the settings: %v", err)
	}
}

// verify judges the whole world at its end, liveness too, and lets the store verify its file.
func (s *sim) verify(p *process) {
	w := s.world()
	w.Quiescent = true
	if s.seed%4 == 0 {
		report, err := p.db.Verify(background, nil)
		if err != nil {
			s.fail("verify: %v", err)
		}
		w.Findings = report.Findings
	}
	s.judge(s.checker.Check(w))
}
