package fakepsp

import (
	"slices"
	"sync"
)

// book is what the provider knows, rebuilt from its journal at start. Its lists are safe for
// concurrent use; the maps are read by the one who holds Server.acting, the only one to change them.
type book struct {
	mu         sync.Mutex
	payments   map[string]Payment
	order      []string
	refunds    map[string]Refund
	refunded   map[string]int64 // running total of refunds that did not fail, by payment
	disputes   map[string]Dispute
	events     map[string]Event
	eventOrder []string
	dispatches map[string]int // deliveries planned, by event
	attempts   []Attempt
	taken      map[string]int // acknowledged deliveries, by event

	takenPayments map[string]bool // payments whose money was taken
	payouts       []Payout
}

func newBook() *book {
	return &book{
		payments: map[string]Payment{}, refunds: map[string]Refund{}, refunded: map[string]int64{},
		disputes: map[string]Dispute{}, events: map[string]Event{}, dispatches: map[string]int{}, taken: map[string]int{},
		takenPayments: map[string]bool{},
	}
}

// enterAll takes journalled records in.
func (b *book) enterAll(records []Record) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range records {
		b.enter(r)
	}
}

func (b *book) enter(r Record) {
	switch {
	case r.Payment != nil:
		b.payments[r.Payment.ID] = *r.Payment
		b.order = append(b.order, r.Payment.ID)
	case r.Refund != nil:
		b.enterRefund(*r.Refund)
	case r.Dispute != nil:
		b.disputes[r.Dispute.ID] = *r.Dispute
	case r.Settled != nil:
		b.takenPayments[r.Settled.Payment] = true
	case r.Payout != nil:
		b.payouts = append(b.payouts, *r.Payout)
	case r.Event != nil:
		b.events[r.Event.ID] = *r.Event
		b.eventOrder = append(b.eventOrder, r.Event.ID)
		if paysFor(r.Event.Name) {
			b.takenPayments[r.Event.Payment] = true
		}
	case r.Dispatch != nil:
		b.dispatches[r.Dispatch.Event] = max(b.dispatches[r.Dispatch.Event], r.Dispatch.Delivery)
	case r.Attempt != nil && !r.Attempt.Started:
		b.enterAttempt(*r.Attempt)
	}
}

// enterRefund keeps the running total when a refund is made and when its status changes.
func (b *book) enterRefund(r Refund) {
	b.refunded[r.Payment] += counted(r) - counted(b.refunds[r.ID])
	b.refunds[r.ID] = r
}

// unfinished returns the dispatches of a journal that have no acknowledged attempt, in their order.
func unfinished(records []Record) []Dispatch {
	type key struct {
		event    string
		delivery int
	}
	done := map[key]bool{}
	for _, r := range records {
		if a := r.Attempt; a != nil && a.Acknowledged {
			done[key{a.Event, a.Delivery}] = true
		}
	}
	var open []Dispatch
	for _, r := range records {
		if d := r.Dispatch; d != nil && !done[key{d.Event, d.Delivery}] {
			open = append(open, *d)
		}
	}
	return open
}

func (b *book) tried(a Attempt) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.enterAttempt(a)
}

func (b *book) enterAttempt(a Attempt) {
	b.attempts = append(b.attempts, a)
	if a.Acknowledged {
		b.taken[a.Event]++
	}
}

// open is how many deliveries of an event have no 2xx; 1 of one that was never delivered at all.
func (b *book) open(event string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return max(1, b.dispatches[event]) - b.taken[event]
}

func (b *book) listPayments() []Payment {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := make([]Payment, 0, len(b.order))
	for _, id := range b.order {
		out = append(out, b.payments[id])
	}
	return out
}

func (b *book) listEvents() []Event {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := make([]Event, 0, len(b.eventOrder))
	for _, id := range b.eventOrder {
		out = append(out, b.events[id])
	}
	return out
}

func (b *book) listAttempts() []Attempt {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.attempts)
}
