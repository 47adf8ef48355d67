package fakepsp

import (
	"context"
	"fmt"
)

// record builds the named events about subject, puts everything on disk in one commit, begins the
// deliveries and returns the events. Nothing happens if one name is wrong. The caller holds acting.
func (s *Server) record(head []Record, names []string, subject Subject, how Delivery) ([]Event, error) {
	events := make([]Event, 0, len(names))
	for _, name := range names {
		e, err := s.maker.EventNamed(name, subject)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errRefused, err)
		}
		head = append(head, Record{Event: &e})
		events = append(events, e)
	}
	return events, s.send(head, events, how)
}

// Resend delivers an event that exists once more and returns it, with its new id if it got one.
func (s *Server) Resend(r ResendRequest) (Event, error) {
	s.acting.Lock()
	defer s.acting.Unlock()
	e, known := s.book.events[r.Event]
	if !known {
		return Event{}, fmt.Errorf("event %q is %w", r.Event, errUnknown)
	}
	var head []Record
	if r.NewID {
		e = s.maker.Reissued(e)
		head = append(head, Record{Event: &e})
	}
	if r.Delivery.Copies == 0 {
		r.Delivery.Copies = 1
	}
	return e, s.send(head, []Event{e}, r.Delivery)
}

// send commits the records and then begins the deliveries of events. The caller holds acting.
func (s *Server) send(head []Record, events []Event, how Delivery) error {
	if how.Copies < 0 || how.Copies > 100 || how.Delay < 0 {
		return fmt.Errorf("%w: copies must be in 0..100 and the delay not negative", errRefused)
	}
	if how.Lost && (how.Copies > 0 || how.Delay > 0) {
		return fmt.Errorf("%w: what is lost has neither copies nor a delay", errRefused)
	}
	s.closing.RLock()
	defer s.closing.RUnlock()
	if s.closed {
		return errClosed
	}
	plan := make([][]Dispatch, len(events))
	for i, e := range events {
		if how.Lost {
			break
		}
		next := s.book.dispatches[e.ID]
		for _, wait := range s.cfg.Disorder.waits(s.cfg.Seed, fmt.Sprintf("%s/%d", e.ID, next), how.Copies) {
			next++
			d := Dispatch{Event: e.ID, Delivery: next, Wait: wait + how.Delay}
			plan[i] = append(plan[i], d)
			head = append(head, Record{Dispatch: &d})
		}
	}
	if err := s.journal.commit(head...); err != nil {
		return err
	}
	s.book.enterAll(head)
	for i, e := range events {
		s.courier.carry(e, plan[i])
	}
	return nil
}

// Status counts what the provider holds. Outstanding are deliveries whose 2xx is not on disk.
type Status struct {
	Payments    int `json:"payments"`
	Events      int `json:"events"`
	Attempts    int `json:"attempts"`
	Outstanding int `json:"outstanding"`
}

// Status returns the counts of this moment.
func (s *Server) Status() Status {
	outstanding := s.courier.outstanding()
	s.book.mu.Lock()
	defer s.book.mu.Unlock()
	return Status{
		Payments: len(s.book.order), Events: len(s.book.eventOrder), Attempts: len(s.book.attempts), Outstanding: outstanding,
	}
}

// Payments lists all payments in the order in which they were made.
func (s *Server) Payments() []Payment { return s.book.listPayments() }

// Events lists all events in the order in which they were made.
func (s *Server) Events() []Event { return s.book.listEvents() }

// Attempts lists all finished attempts in the order in which their answers were recorded.
func (s *Server) Attempts() []Attempt { return s.book.listAttempts() }

// Drain waits until every delivery has its 2xx on disk. It returns ctx's error when that comes
// first, and the journal's error when the journal broke.
func (s *Server) Drain(ctx context.Context) error { return s.courier.drain(ctx) }
