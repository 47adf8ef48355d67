package fakepsp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Event is one notification. Body is sent byte for byte, at every attempt the same.
type Event struct {
	ID      string    `json:"id"`   // evt_…
	Name    string    `json:"name"` // one of EventNames
	Type    string    `json:"type"` // Stripe's type, without the variant of Name
	Payment string    `json:"payment,omitempty"`
	Created time.Time `json:"created"`
	Body    []byte    `json:"body"` // base64 in JSON: the journal keeps the exact bytes
}

// Subject is what an event is about. RefundedTotal is the running total that charge.refunded
// carries, not the step (providers.md §2.1).
type Subject struct {
	Payment       Payment
	Refund        Refund
	Dispute       Dispute
	RefundedTotal int64
}

type builder func(m *Maker, s Subject) Event

// The names are Stripe's types; where one type says different things, a variant follows a colon.
var builders = map[string]builder{
	"checkout.session.completed": func(m *Maker, s Subject) Event { return m.EventSessionCompleted(s.Payment, "paid") },
	"checkout.session.completed:unpaid": func(m *Maker, s Subject) Event {
		return m.EventSessionCompleted(s.Payment, "unpaid")
	},
	"checkout.session.completed:no_payment_required": func(m *Maker, s Subject) Event {
		return m.EventSessionCompleted(s.Payment, "no_payment_required")
	},
	"checkout.session.async_payment_succeeded": func(m *Maker, s Subject) Event { return m.EventSessionAsync(s.Payment, true) },
	"checkout.session.async_payment_failed":    func(m *Maker, s Subject) Event { return m.EventSessionAsync(s.Payment, false) },
	"payment_intent.succeeded":                 func(m *Maker, s Subject) Event { return m.EventIntentSucceeded(s.Payment) },
	"payment_intent.payment_failed":            func(m *Maker, s Subject) Event { return m.EventIntentFailed(s.Payment) },
	"payment_intent.amount_capturable_updated": func(m *Maker, s Subject) Event { return m.EventIntentCapturable(s.Payment) },
	"charge.succeeded":                         func(m *Maker, s Subject) Event { return m.EventChargeSucceeded(s.Payment) },
	"charge.refunded":                          func(m *Maker, s Subject) Event { return m.EventChargeRefunded(s.Payment, s.RefundedTotal) },
	"refund.created":                           func(m *Maker, s Subject) Event { return m.EventRefund("created", s.Payment, s.Refund) },
	"refund.updated":                           func(m *Maker, s Subject) Event { return m.EventRefund("updated", s.Payment, s.Refund) },
	"refund.failed":                            func(m *Maker, s Subject) Event { return m.EventRefund("failed", s.Payment, s.Refund) },
	"charge.dispute.created":                   func(m *Maker, s Subject) Event { return m.EventDispute("created", s.Payment, s.Dispute) },
	"charge.dispute.funds_withdrawn": func(m *Maker, s Subject) Event {
		return m.EventDispute("funds_withdrawn", s.Payment, s.Dispute)
	},
	"charge.dispute.closed": func(m *Maker, s Subject) Event { return m.EventDispute("closed", s.Payment, s.Dispute) },
	"customer.created":      func(m *Maker, s Subject) Event { return m.EventCustomerCreated(s.Payment) },
}

// EventNames lists the names that EventNamed knows, sorted.
func EventNames() []string {
	names := make([]string, 0, len(builders))
	for name := range builders {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// EventNamed builds the event of that name about s. A refund or dispute event needs the refund or
// dispute in s; an unknown name is refused with the list of known ones.
func (m *Maker) EventNamed(name string, s Subject) (Event, error) {
	build, known := builders[name]
	switch {
	case !known:
		return Event{}, fmt.Errorf("build event: unknown name %q; known are %s", name, strings.Join(EventNames(), ", "))
	case strings.HasPrefix(name, "refund.") && s.Refund.ID == "":
		return Event{}, fmt.Errorf("build event %s: it needs a refund", name)
	case strings.HasPrefix(name, "charge.dispute.") && s.Dispute.ID == "":
		return Event{}, fmt.Errorf("build event %s: it needs a dispute", name)
	}
	e := build(m, s)
	e.Name = name
	return e, nil
}

// EventSessionCompleted says that the Checkout Session is complete; paymentStatus is paid, unpaid
// or no_payment_required.
func (m *Maker) EventSessionCompleted(p Payment, paymentStatus string) Event {
	return m.event("checkout.session.completed", p, sessionObject(p, paymentStatus))
}

// EventSessionAsync says how a delayed payment of a completed session ended.
func (m *Maker) EventSessionAsync(p Payment, succeeded bool) Event {
	if succeeded {
		return m.event("checkout.session.async_payment_succeeded", p, sessionObject(p, "paid"))
	}
	return m.event("checkout.session.async_payment_failed", p, sessionObject(p, "unpaid"))
}

// EventIntentSucceeded says that the whole amount was received.
func (m *Maker) EventIntentSucceeded(p Payment) Event {
	return m.event("payment_intent.succeeded", p, intentObject(p, "succeeded", p.Amount, 0))
}

// EventIntentFailed says that an attempt to pay failed; nothing was received.
func (m *Maker) EventIntentFailed(p Payment) Event {
	return m.event("payment_intent.payment_failed", p, intentObject(p, "requires_payment_method", 0, 0))
}

// EventIntentCapturable says that the amount is authorised only; nothing was received.
func (m *Maker) EventIntentCapturable(p Payment) Event {
	return m.event("payment_intent.amount_capturable_updated", p, intentObject(p, "requires_capture", 0, p.Amount))
}

// EventChargeSucceeded is the third event about one paid payment; nobody may credit on it.
func (m *Maker) EventChargeSucceeded(p Payment) Event {
	return m.event("charge.succeeded", p, chargeObject(p, 0))
}

// EventChargeRefunded carries the running total of all refunds of the charge.
func (m *Maker) EventChargeRefunded(p Payment, runningTotal int64) Event {
	return m.event("charge.refunded", p, chargeObject(p, runningTotal))
}

// EventRefund carries one refund; action is created, updated or failed. A failed refund carries the
// status failed whatever r says.
func (m *Maker) EventRefund(action string, p Payment, r Refund) Event {
	if action == "failed" {
		r.Status = "failed"
	}
	return m.event("refund."+action, p, refundObject(p, r))
}

// EventDispute carries one dispute; action is created, funds_withdrawn or closed.
func (m *Maker) EventDispute(action string, p Payment, d Dispute) Event {
	return m.event("charge.dispute."+action, p, disputeObject(p, d, action))
}

// EventCustomerCreated is an event about nothing that a receiver of payments knows.
func (m *Maker) EventCustomerCreated(p Payment) Event {
	return m.event("customer.created", p, customer{
		ID: m.id("cus_"), Object: "customer", Created: m.now().Unix(), Livemode: p.Live, Metadata: map[string]string{},
	})
}

// Reissued is e again under a new event id, as when the provider makes two Event objects for one
// change (providers.md §2.1). Everything else in the body stays as it was.
func (m *Maker) Reissued(e Event) Event {
	fresh := m.id("evt_1")
	e.Body = bytes.Replace(e.Body, []byte(`"`+e.ID+`"`), []byte(`"`+fresh+`"`), 1)
	e.ID = fresh
	return e
}

type envelope struct {
	ID              string  `json:"id"`
	Object          string  `json:"object"`
	APIVersion      string  `json:"api_version"`
	Created         int64   `json:"created"`
	Data            data    `json:"data"`
	Livemode        bool    `json:"livemode"`
	PendingWebhooks int     `json:"pending_webhooks"`
	Request         request `json:"request"`
	Type            string  `json:"type"`
}

type data struct {
	Object any `json:"object"`
}

type request struct {
	ID             *string `json:"id"`
	IdempotencyKey *string `json:"idempotency_key"`
}

func (m *Maker) event(kind string, p Payment, object any) Event {
	e := Event{ID: m.id("evt_1"), Name: kind, Type: kind, Payment: p.ID, Created: m.now().UTC()}
	e.Body = encode(envelope{
		ID: e.ID, Object: "event", APIVersion: "2025-08-27.basil", Created: e.Created.Unix(),
		Data: data{Object: object}, Livemode: p.Live, PendingWebhooks: 1, Type: kind,
	})
	return e
}

// encode writes two-space indented JSON with <, > and & as they are, as Stripe does. The values are
// this package's own structs of texts, integers and booleans, which always encode.
func encode(v any) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		panic("fakepsp: encode event: " + err.Error())
	}
	return bytes.TrimRight(out.Bytes(), "\n")
}
