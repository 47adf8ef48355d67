package fakepsp

import (
	"errors"
	"fmt"
	"time"
)

var (
	errUnknown = errors.New("not known here")
	errRefused = errors.New("refused")
	errClosed  = errors.New("the provider is closing")
)

// Delivery says how the events of one request are delivered. Copies above 0 fixes how often each is
// delivered, whatever the Disorder says; Delay is added to what the Disorder draws.
type Delivery struct {
	Copies int           `json:"copies,omitempty"`
	Delay  time.Duration `json:"delay_ns,omitempty"`
	// Lost makes the events and never delivers them: only the API's list tells of them.
	Lost bool `json:"lost,omitempty"`
}

// PaymentRequest asks for a payment and its events.
type PaymentRequest struct {
	Code     string `json:"code"`
	Amount   int64  `json:"amount_minor"`
	Currency string `json:"currency"`
	Options
	// Events are names of EventNames in the order in which they are sent; none means the three that
	// Stripe sends for one paid session. Silent sends nothing: lost webhooks, or events sent later.
	Events   []string `json:"events,omitempty"`
	Silent   bool     `json:"silent,omitempty"`
	Delivery Delivery `json:"delivery"`
}

// RefundRequest asks for a refund. Without Events refund.created and charge.refunded are sent.
type RefundRequest struct {
	Payment  string   `json:"payment"`
	Amount   int64    `json:"amount_minor"`
	Status   string   `json:"status,omitempty"` // default succeeded
	Events   []string `json:"events,omitempty"`
	Delivery Delivery `json:"delivery"`
}

// DisputeRequest asks for a dispute. Without Events charge.dispute.created and
// charge.dispute.funds_withdrawn are sent.
type DisputeRequest struct {
	Payment  string   `json:"payment"`
	Amount   int64    `json:"amount_minor"`
	Status   string   `json:"status,omitempty"` // default needs_response
	Events   []string `json:"events,omitempty"`
	Delivery Delivery `json:"delivery"`
}

// EmitRequest asks for further events about a payment, or about a refund or dispute of it. Status
// replaces the refund's or dispute's status first, when it is not empty.
type EmitRequest struct {
	Payment  string   `json:"payment"`
	Refund   string   `json:"refund,omitempty"`
	Dispute  string   `json:"dispute,omitempty"`
	Status   string   `json:"status,omitempty"`
	Events   []string `json:"events"`
	Delivery Delivery `json:"delivery"`
}

// ResendRequest asks to deliver an event once more, under a new event id if NewID is set.
type ResendRequest struct {
	Event    string   `json:"event"`
	NewID    bool     `json:"new_id,omitempty"`
	Delivery Delivery `json:"delivery"`
}

// Pay makes a payment and starts the delivery of its events. When it returns nil, payment, events
// and planned deliveries are on disk in the journal.
func (s *Server) Pay(r PaymentRequest) (Payment, error) {
	p, err := s.maker.NewPayment(r.Code, r.Amount, r.Currency, r.Options)
	if err != nil {
		return Payment{}, fmt.Errorf("%w: %w", errRefused, err)
	}
	names := r.Events
	switch {
	case r.Silent && len(names) > 0:
		return Payment{}, fmt.Errorf("%w: silent and events exclude each other", errRefused)
	case !r.Silent && len(names) == 0:
		names = []string{"payment_intent.succeeded", "checkout.session.completed", "charge.succeeded"}
	}
	s.acting.Lock()
	defer s.acting.Unlock()
	_, err = s.record([]Record{{Payment: &p}}, names, Subject{Payment: p}, r.Delivery)
	return p, err
}

// Refund refunds a payment and sends its events. More than what is left is refused.
func (s *Server) Refund(r RefundRequest) (Refund, error) {
	s.acting.Lock()
	defer s.acting.Unlock()
	p, known := s.book.payments[r.Payment]
	if !known {
		return Refund{}, fmt.Errorf("payment %q is %w", r.Payment, errUnknown)
	}
	refund, err := s.maker.NewRefund(p, r.Amount, r.Status)
	if err != nil {
		return Refund{}, fmt.Errorf("%w: %w", errRefused, err)
	}
	total := s.book.refunded[p.ID] + counted(refund)
	if total > p.Amount {
		return Refund{}, fmt.Errorf("%w: refunds would reach %d of %d", errRefused, total, p.Amount)
	}
	names := r.Events
	if len(names) == 0 {
		names = []string{"refund.created", "charge.refunded"}
	}
	subject := Subject{Payment: p, Refund: refund, RefundedTotal: total}
	_, err = s.record([]Record{{Refund: &refund}}, names, subject, r.Delivery)
	return refund, err
}

// Dispute opens a dispute about a payment and sends its events.
func (s *Server) Dispute(r DisputeRequest) (Dispute, error) {
	s.acting.Lock()
	defer s.acting.Unlock()
	p, known := s.book.payments[r.Payment]
	if !known {
		return Dispute{}, fmt.Errorf("payment %q is %w", r.Payment, errUnknown)
	}
	dispute, err := s.maker.NewDispute(p, r.Amount, r.Status)
	if err != nil {
		return Dispute{}, fmt.Errorf("%w: %w", errRefused, err)
	}
	names := r.Events
	if len(names) == 0 {
		names = []string{"charge.dispute.created", "charge.dispute.funds_withdrawn"}
	}
	_, err = s.record([]Record{{Dispute: &dispute}}, names, Subject{Payment: p, Dispute: dispute}, r.Delivery)
	return dispute, err
}

// Emit sends further events about something that exists and returns them.
func (s *Server) Emit(r EmitRequest) ([]Event, error) {
	s.acting.Lock()
	defer s.acting.Unlock()
	if len(r.Events) == 0 {
		return nil, fmt.Errorf("%w: no event name is given", errRefused)
	}
	subject, changed, err := s.subjectOf(r)
	if err != nil {
		return nil, err
	}
	return s.record(changed, r.Events, subject, r.Delivery)
}

// subjectOf finds what the events are about and the records that a new status needs.
func (s *Server) subjectOf(r EmitRequest) (Subject, []Record, error) {
	p, known := s.book.payments[r.Payment]
	if !known {
		return Subject{}, nil, fmt.Errorf("payment %q is %w", r.Payment, errUnknown)
	}
	subject := Subject{Payment: p, RefundedTotal: s.book.refunded[p.ID]}
	var changed []Record
	if r.Refund != "" {
		refund, known := s.book.refunds[r.Refund]
		if !known || refund.Payment != p.ID {
			return Subject{}, nil, fmt.Errorf("refund %q of payment %s is %w", r.Refund, p.ID, errUnknown)
		}
		subject.RefundedTotal -= counted(refund)
		if r.Status != "" {
			refund.Status, refund.Changed = r.Status, s.cfg.Now().UTC()
			changed = append(changed, Record{Refund: &refund})
		}
		subject.Refund = refund
		subject.RefundedTotal += counted(refund)
	}
	if r.Dispute != "" {
		dispute, known := s.book.disputes[r.Dispute]
		if !known || dispute.Payment != p.ID {
			return Subject{}, nil, fmt.Errorf("dispute %q of payment %s is %w", r.Dispute, p.ID, errUnknown)
		}
		if r.Status != "" {
			dispute.Status, dispute.Changed = r.Status, s.cfg.Now().UTC()
			changed = append(changed, Record{Dispute: &dispute})
		}
		subject.Dispute = dispute
	}
	return subject, changed, nil
}

// counted is what a refund adds to the running total: a failed or canceled one gave its money back.
func counted(r Refund) int64 {
	if r.Status == "failed" || r.Status == "canceled" {
		return 0
	}
	return r.Amount
}
