package demo

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"creditonce/mt5/fakemt5"
	"creditonce/webhook/fakepsp"
)

// pause waits, or returns the end of ctx.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// errLate is a condition that did not come about in time.
var errLate = errors.New("did not happen in time")

// until polls a condition of a running process. An error of the condition counts as "not yet" and is repeated when
// time is up.
func until(ctx context.Context, what string, limit time.Duration, holds func(context.Context) (bool, error)) error {
	inner, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var last error
	for {
		ok, err := holds(inner)
		if ok && err == nil {
			return nil
		}
		if err != nil && inner.Err() == nil {
			last = err
		}
		if pause(inner, 10*time.Millisecond) != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return errors.Join(fmt.Errorf("%s: %w", what, errLate), last)
		}
	}
}

// open makes the deposit record over the API and puts it on the board.
func (s *show) open(ctx context.Context, d *deposit) error {
	answer, err := s.portal.open(ctx, d, fmt.Sprintf("demo-%s-%d", s.nonce, d.index))
	if err != nil {
		return err
	}
	d.code = answer.Code
	s.deposits = append(s.deposits, d)
	s.board.opened(d)
	return nil
}

// openAll makes n deposits, on as many logins as there are.
func (s *show) openAll(ctx context.Context) error {
	for i := range s.n {
		if err := s.open(ctx, s.cast.next(accountAt(i%accountCount))); err != nil {
			return err
		}
	}
	return nil
}

// pay lets the client pay what the deposit says.
func (s *show) pay(ctx context.Context, d *deposit, r fakepsp.PaymentRequest) (fakepsp.Payment, error) {
	r.Code, r.Currency = d.code, strings.ToLower(d.paid.currency)
	if r.Amount == 0 {
		r.Amount = d.paid.minor
	}
	p, err := s.psp.Pay(ctx, r)
	if err != nil {
		return p, fmt.Errorf("pay deposit %s: %w", d.code, err)
	}
	s.payments++
	s.board.paidAt(d.code)
	return p, nil
}

// payAll pays every deposit once.
func (s *show) payAll(ctx context.Context) error {
	for _, d := range s.deposits {
		if _, err := s.pay(ctx, d, fakepsp.PaymentRequest{}); err != nil {
			return err
		}
	}
	return nil
}

// openAndPayAll is the whole happy path of the portal and the provider.
func (s *show) openAndPayAll(ctx context.Context) error {
	if err := s.openAll(ctx); err != nil {
		return err
	}
	return s.payAll(ctx)
}

// drained waits until every delivery of the provider has its 2xx.
func (s *show) drained(ctx context.Context) error {
	return until(ctx, "deliver all events", 30*time.Second, func(ctx context.Context) (bool, error) {
		st, err := s.psp.Status(ctx)
		return st.Outstanding == 0, err
	})
}

// fault sets a fault that must strike at least once, else the scenario has shown nothing.
func (s *show) fault(ctx context.Context, r fakemt5.Rule) (fakemt5.Rule, error) {
	set, err := s.mt5.Fault(ctx, r)
	if err == nil {
		s.rules = append(s.rules, set)
	}
	return set, err
}

// hits returns how often a fault has struck.
func (s *show) hits(ctx context.Context, id int64) (int, error) {
	rules, err := s.mt5.Faults(ctx)
	for _, r := range rules {
		if r.ID == id {
			return r.Hits, nil
		}
	}
	return 0, err
}

// struck waits until a fault has struck at least n times.
func (s *show) struck(ctx context.Context, r fakemt5.Rule, n int, limit time.Duration) error {
	return until(ctx, fmt.Sprintf("fault %s on %s", r.Kind, r.Where), limit, func(ctx context.Context) (bool, error) {
		hits, err := s.hits(ctx, r.ID)
		return hits >= n, err
	})
}

// clearFaults removes all faults and keeps, for the check at the end, that they struck.
func (s *show) clearFaults(ctx context.Context) error {
	s.checkFaults(ctx)
	s.rules = nil
	return s.mt5.ClearFaults(ctx)
}

func (s *show) checkFaults(ctx context.Context) {
	for _, r := range s.rules {
		hits, err := s.hits(ctx, r.ID)
		switch {
		case err != nil:
			s.problem("the faults of MT5 cannot be read: %v", err)
			return
		case hits == 0:
			s.problem("the fault %s on %s never struck: this run shows nothing", r.Kind, r.Where)
		}
	}
}

// dealsNow are the balance deals that MT5 has executed for us since the show began.
func (s *show) dealsNow() ([]fakemt5.JournalEntry, error) {
	entries, err := fakemt5.ReadJournal(s.stage.mt5Journal())
	if err != nil {
		return nil, err
	}
	return apiDeals(entries[min(s.dealsAt, len(entries)):]), nil
}

// noDealYet is a problem as soon as MT5 has a deal of this show.
func (s *show) noDealYet(because string) error {
	deals, err := s.dealsNow()
	if err == nil && len(deals) > 0 {
		s.problem("MT5 has %d deals although %s", len(deals), because)
	}
	return err
}

// settle waits until every deposit shows what the scenario promises and every event is delivered. When time is up it
// says what is still open; the verdict will say so too.
func (s *show) settle(ctx context.Context) {
	if ctx.Err() == nil {
		s.board.tell("demo", "all is sent; waiting until everything has come to rest")
	}
	limit := settleTime + time.Duration(s.n)*perDeposit
	var open []string
	err := until(ctx, "come to rest", limit, func(ctx context.Context) (bool, error) {
		if !s.serve.Running() {
			return false, nil
		}
		var err error
		open, err = s.openEnds(ctx)
		return len(open) == 0, err
	})
	switch {
	case !s.serve.Running():
		s.problem("serve ended by itself with exit code %d:\n%s", s.serve.Code(), s.serve.Last())
	case ctx.Err() != nil:
		s.problem("stopped before everything had come to rest; still open: %s", strings.Join(open, ", "))
	case err != nil:
		s.problem("not settled after %s; still open: %s", limit, strings.Join(open, ", "))
	}
}

// openEnds names what has not come to rest yet. A deposit that has is not read again: over a hundred of them, read over
// and over, would never get past the API's limit of requests.
func (s *show) openEnds(ctx context.Context) ([]string, error) {
	var open []string
	for _, d := range s.deposits {
		if d.rests {
			continue
		}
		a, err := s.portal.read(ctx, d.code)
		if err != nil {
			return append(open, "deposit "+d.code+" cannot be read"), err
		}
		s.board.settled(d.code, a.State)
		if d.rests = a.State == d.wantView; !d.rests {
			open = append(open, fmt.Sprintf("deposit %s is %s, not %s", d.code, a.State, d.wantView))
		}
	}
	st, err := s.psp.Status(ctx)
	if err != nil {
		return append(open, "the provider gives no answer"), err
	}
	if st.Outstanding > 0 {
		open = append(open, fmt.Sprintf("%d deliveries without 2xx", st.Outstanding))
	}
	return open, nil
}

// credited waits until the given deposits show as credited.
func (s *show) credited(ctx context.Context, ds ...*deposit) error {
	return until(ctx, "credit the deposits", settleTime, func(ctx context.Context) (bool, error) {
		for _, d := range ds {
			a, err := s.portal.read(ctx, d.code)
			if err != nil || a.State != "credited" {
				return false, err
			}
			s.board.settled(d.code, a.State)
		}
		return true, nil
	})
}
