package stripe

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"creditonce/credit"
	"creditonce/webhook"
)

// metadataKey is the metadata key under which the firm's server puts the deposit code, on the session
// and on the payment intent: Stripe does not copy one to the other (providers.md §2.1).
const metadataKey = "creditonce_deposit"

// lastSecond ends the year 9999: later times cannot be written as RFC 3339, so an event with one could not be stored,
// and the provider would deliver it for ever.
const lastSecond = 253402300799

// Map implements webhook.Provider. What is told apart, and why, is in readers.
func (p *Provider) Map(_ http.Header, body []byte) (webhook.Mapped, error) {
	if !utf8.Valid(body) {
		return webhook.Mapped{}, errNotUTF8
	}
	if !json.Valid(body) {
		return webhook.Mapped{}, errNotJSON
	}
	envelope, err := parseObject("the event", body)
	if err != nil {
		return webhook.Mapped{}, fmt.Errorf("%w: %w", errNotJSON, err)
	}
	m, err := readEnvelope(envelope)
	if err != nil {
		return m, err
	}
	if m.Facts.Effect == credit.EffectUnknown { // a v2 event: it carries no object
		return m, nil
	}
	read, known := readers[m.Facts.Type]
	if !known {
		m.Facts.Effect = credit.EffectUnknown
		return m, nil
	}
	data, err := inner("data", envelope)
	if err != nil {
		return m, err
	}
	subject, err := inner("object", data)
	if err != nil {
		return m, err
	}
	if err := read(subject, &m.Facts); err != nil {
		return m, fmt.Errorf("%s: %w", m.Facts.Type, err)
	}
	return m, nil
}

func inner(name string, o object) (object, error) {
	if o.absent(name) {
		return nil, fmt.Errorf("%s is missing", name)
	}
	return parseObject(name, o[name])
}

// readEnvelope reads what is around the object. livemode must be there: an event whose environment is
// a guess could credit test money.
func readEnvelope(o object) (webhook.Mapped, error) {
	var m webhook.Mapped
	var err error
	if m.Facts.Type, err = o.need("type"); err != nil {
		return m, err
	}
	if m.MessageKey, err = o.need("id"); err != nil {
		return m, err
	}
	if m.Facts.Merchant, err = o.text("account"); err != nil {
		return m, err
	}
	kind, err := o.need("object")
	if err != nil {
		return m, err
	}
	if kind == "v2.core.event" {
		return readThin(o, m)
	}
	if kind != "event" {
		return m, errors.New("object is not event")
	}
	if m.Facts.Live, err = o.flag("livemode"); err != nil {
		return m, err
	}
	created, err := o.number("created")
	if err != nil {
		return m, err
	}
	seconds, err := strconv.ParseUint(created, 10, 40)
	if err != nil || seconds > lastSecond {
		return m, errors.New("created is not a time in Unix seconds")
	}
	m.Facts.OccurredAt = time.Unix(int64(seconds), 0).UTC()
	return m, nil
}

// readThin takes an event of API v2: a notification without its object, with created as a text.
func readThin(o object, m webhook.Mapped) (webhook.Mapped, error) {
	created, err := o.text("created")
	if err != nil {
		return m, err
	}
	if at, err := time.Parse(time.RFC3339Nano, created); err == nil && at.Unix() >= 0 && at.Unix() <= lastSecond {
		m.Facts.OccurredAt = at.UTC()
	}
	if m.Facts.Live, err = o.flag("livemode"); err != nil {
		return m, err
	}
	m.Facts.Effect = credit.EffectUnknown
	return m, nil
}

// reader fills the facts from an event's object.
type reader func(o object, f *credit.Facts) error

// readers are the types that are told apart (providers.md §2.1). Two of them make a row: the intent
// that succeeded, and the session that is complete and paid, at once or later. charge.succeeded also
// comes for a mere authorisation, so it is stored only. Types that are not here are unknown: stored,
// acknowledged, and shown to a person once.
var readers = map[string]reader{
	"payment_intent.succeeded": paidIntent,

	"checkout.session.completed":               completedSession,
	"checkout.session.async_payment_succeeded": paidSession,
	"checkout.session.async_payment_failed":    quietSession,
	"checkout.session.expired":                 quietSession,

	"payment_intent.created":                   quietIntent,
	"payment_intent.processing":                quietIntent,
	"payment_intent.requires_action":           quietIntent,
	"payment_intent.payment_failed":            quietIntent,
	"payment_intent.canceled":                  quietIntent,
	"payment_intent.amount_capturable_updated": quietIntent,
	"payment_intent.partially_funded":          quietIntent,

	"charge.succeeded": quietCharge,
	"charge.pending":   quietCharge,
	"charge.captured":  quietCharge,
	"charge.failed":    quietCharge,
	"charge.expired":   quietCharge,
	"charge.updated":   quietCharge,

	"refund.created":        refund,
	"refund.updated":        refund,
	"refund.failed":         refund,
	"charge.refund.updated": refund, // the name of refund.updated before API 2024-10-28
	"charge.refunded":       refundedCharge,

	"charge.dispute.created":          dispute,
	"charge.dispute.updated":          dispute,
	"charge.dispute.closed":           dispute,
	"charge.dispute.funds_withdrawn":  dispute,
	"charge.dispute.funds_reinstated": dispute,
}

// is checks what the object says it is.
func (o object) is(kind string) error {
	got, err := o.need("object")
	if err == nil && got != kind {
		err = fmt.Errorf("the object is not a %s", strings.ReplaceAll(kind, "_", " "))
	}
	return err
}

func (o object) amount(name string) (credit.Amount, error) {
	number, err := o.number(name)
	if err != nil {
		return credit.Amount{}, err
	}
	currency, err := o.need("currency")
	if err != nil {
		return credit.Amount{}, err
	}
	a, err := amount(number, currency)
	if err != nil {
		return credit.Amount{}, fmt.Errorf("%s: %w", name, err)
	}
	return a, nil
}
