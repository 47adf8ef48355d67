package webhook

import (
	"net/http"
	"time"

	"creditonce/credit"
)

// SourceHeader marks in an event's evidence how it came, where no webhook brought it. No provider keeps a header of this name,
// so nobody can send it.
const SourceHeader = "Creditonce-Source"

// Pulled is the [SourceHeader] of an event that was found in the provider's own list. Instead of a signature the list's
// TLS connection and API key stand for it.
const Pulled = "pulled"

// PulledEvent puts together what a provider's own list of events tells, as its webhook would have: the same reader, the same
// message key. body are the bytes of the event as the list gave them. id is the provider's id of it, which is the message key
// also where the event cannot be read: the bytes of one event change from list to list.
func PulledEvent(endpoint Endpoint, id string, body []byte, now time.Time) credit.Event {
	e := event(endpoint, http.Header{}, body, now)
	if e.MessageKey != id {
		if e.Facts.Effect != credit.EffectUnreadable {
			e.Facts = credit.Facts{Type: e.Facts.Type, Effect: credit.EffectUnreadable, Problem: "the list and the event name different ids"}
		}
		e.MessageKey = id
	}
	e.Headers = map[string]string{SourceHeader: Pulled}
	return e
}
