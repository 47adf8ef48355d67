package webhook

import (
	"net/http"
	"time"

	"creditonce/credit"
)

// Provider verifies and reads the notifications of one endpoint. Implementations are safe for
// concurrent use and never panic, whatever the headers and the body hold.
type Provider interface {
	// Kind is the provider's kind as it goes into every unit: "stripe".
	Kind() string
	// Verify returns nil only if the signature over exactly these bytes is good at now. Its error says
	// why for the log, without a secret, a digest or a piece of the body; the public never sees it.
	Verify(h http.Header, body []byte, now time.Time) error
	// Map reads a verified notification. An error means that it cannot be read; its text ends in a task and
	// holds no piece of the body. Facts.Type may be set even then. Of the headers it may use those that Verify
	// found signed.
	Map(h http.Header, body []byte) (Mapped, error)
	// EvidenceHeaders are the names of the request headers that are kept with the event.
	EvidenceHeaders() []string
}

// Mapped is what a provider read from a notification: the provider's own id of the notification, and the facts.
type Mapped struct {
	MessageKey string
	Facts      credit.Facts
}
