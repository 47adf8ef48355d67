package credit

import "time"

// EventID numbers stored events in the order of their commits.
type EventID uint64

// Effect is what an event says about money, in the domain's words. A provider's adapter decides it.
type Effect string

// The effects of design §5 and providers.md §2.
const (
	EffectPaid       Effect = "paid"       // money was received: Parts says which
	EffectRefund     Effect = "refund"     // money goes back, or is asked back
	EffectDispute    Effect = "dispute"    // the payer's bank contests the payment
	EffectNone       Effect = "none"       // a type that we know and that moves no money
	EffectUnknown    Effect = "unknown"    // a type that we do not know
	EffectUnreadable Effect = "unreadable" // verified, but its content cannot be read
)

// Part is one amount of a payment that was received: a capture, an on-chain transfer.
type Part struct {
	ID     string `json:"id"` // empty where a payment has one part
	Amount Amount `json:"amount"`
}

// Facts are what the provider's adapter read from a verified body: all that the domain ever acts on. Two
// deliveries under one message key are the same event when their facts are equal (design §5.3).
type Facts struct {
	Type       string    `json:"type"` // the provider's word
	Effect     Effect    `json:"effect"`
	Payment    string    `json:"payment,omitempty"`
	Parts      []Part    `json:"parts,omitempty"`    // of a paid event; at least one
	Movement   string    `json:"movement,omitempty"` // id of the refund or dispute
	Moved      Amount    `json:"moved"`              // of a refund or dispute, where it is named
	Status     string    `json:"status,omitempty"`   // the provider's word
	Code       string    `json:"code,omitempty"`     // deposit code
	CodesClash bool      `json:"codes_clash,omitempty"`
	Live       bool      `json:"live"`
	Merchant   string    `json:"merchant,omitempty"` // merchant account named inside the event, where it names one
	OccurredAt time.Time `json:"occurred_at,omitzero"`
	Problem    string    `json:"problem,omitempty"` // why it is unreadable; never the body itself
}

// Event is one verified notification. It is evidence and never edited.
type Event struct {
	ID         EventID           `json:"id"`
	Provider   string            `json:"provider"`      // the config's label
	Kind       string            `json:"provider_kind"` // "stripe"
	Account    string            `json:"account"`       // our merchant account, from the config
	MessageKey string            `json:"message_key"`   // the provider's event id; the body's digest where unreadable
	Variant    string            `json:"variant,omitempty"`
	Facts      Facts             `json:"facts"`
	Headers    map[string]string `json:"headers,omitempty"` // those that matter as evidence
	Digest     string            `json:"digest"`            // SHA-256 of the body, hex
	Body       []byte            `json:"-"`                 // byte for byte as received; kept in a table of its own
	ReceivedAt time.Time         `json:"received_at"`
	Rows       []ID              `json:"rows,omitempty"` // rows it made or joined
}
