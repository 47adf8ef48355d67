package sim

import (
	"fmt"

	"creditonce/credit"
)

// committed notes that the store of a process has changed.
func (s *sim) committed(*process) { s.dirty = true }

func (s *sim) dealMade(*deal) { s.dirty = true }

// orderSent judges a call at the moment at which it leaves: I-M3, I-M6, I-M7.
func (s *sim) orderSent(p *process, c credit.Call) {
	var row *credit.Credit
	for _, r := range p.file.list {
		if r.Reference == c.Reference {
			row = r
		}
	}
	switch {
	case row == nil:
		s.fail("I-M3: a call for %s, which no row has", c.Reference)
	case row.State != credit.Claimed || row.LeaseUntil.Process != p.id:
		s.fail("I-M7: credit %d is %s while its call leaves", row.ID, row.State)
	case row.Login != c.Login || !row.DealAmount().Equal(c.Amount):
		s.fail("I-M2: the call of credit %d is over %s on %d", row.ID, c.Amount, c.Login)
	}
	s.dirty = true
}

// check is what must hold after every step.
func (s *sim) check() {
	if !s.dirty || s.failure != "" {
		return
	}
	s.dirty = false
	made := map[credit.Reference]int{}
	for _, d := range s.mt5.deals {
		if d.gone || d.want == "" {
			continue
		}
		if made[d.want]++; made[d.want] > 1 {
			s.fail("I-M1: %d deals for %s", made[d.want], d.want)
		}
	}
	for _, f := range s.files {
		for _, row := range f.list {
			switch {
			case row.State == credit.Failed && made[row.Reference] > 0:
				s.fail("I-M5: credit %d failed, and MT5 has its deal", row.ID)
			case row.State == credit.Done && !s.hasDeal(row):
				s.fail("I-M4: credit %d is done with ticket %d, which is not its deal", row.ID, row.Ticket)
			}
		}
	}
}

func (s *sim) hasDeal(row *credit.Credit) bool {
	for _, d := range s.mt5.deals {
		if d.Ticket == row.Ticket && d.Login == row.Login && d.Amount.Equal(row.DealAmount()) {
			return true
		}
	}
	return false
}

// unsettled says what is still in motion, or was forgotten (I-L1, I-D1).
func (s *sim) unsettled() string {
	p := s.serving()
	if p == nil || !p.up {
		return "no process serves"
	}
	for _, d := range s.deliveries {
		if !d.acked {
			return fmt.Sprintf("%s is not acknowledged", d.key)
		}
	}
	for _, r := range s.requests {
		if !r.made && !r.never {
			return fmt.Sprintf("deposit %s is not made", r.pay.code)
		}
	}
	for _, row := range p.file.list {
		switch row.State {
		case credit.Done, credit.Cancelled:
		case credit.Held, credit.Failed, credit.Unknown:
			if !p.file.openTask(credit.RowEntity(row.ID)) && !row.HasHold(credit.HoldPreCutover) {
				return fmt.Sprintf("credit %d is %s %v without a task", row.ID, row.State, row.Holds)
			}
		default:
			if row.State != credit.Pending || !p.file.openTask(credit.RowEntity(row.ID)) {
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
	if len(rows) != len(p.file.list) {
		s.fail("I-S3: the store has %d rows, its commits made %d", len(rows), len(p.file.list))
	}
	for _, row := range rows {
		if said := p.file.rows[row.ID]; said == nil || said.Head != row.Head || said.State != row.State {
			s.fail("I-S3: credit %d is %s in the store, a commit said otherwise", row.ID, row.State)
		}
	}
	for _, a := range s.acked {
		if e, err := p.db.Event(background, a.event); err != nil || e.MessageKey != a.key {
			s.fail("I-D1: event %s was acknowledged and is not in the store: %v", a.key, err)
		}
	}
}

// compareDeeply verifies the whole file.
func (s *sim) compareDeeply(p *process) error {
	for _, row := range p.file.list {
		if err := credit.CheckChain(*row, p.file.history[row.ID]); err != nil {
			return fmt.Errorf("I-S1: %w", err)
		}
	}
	report, err := p.db.Verify(background, nil)
	if err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	if !report.Clean() {
		return fmt.Errorf("I-S3: %v", report.Findings)
	}
	return nil
}
