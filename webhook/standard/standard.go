// Package standard verifies and reads the webhooks of any system that signs by Standard Webhooks
// (providers.md §2.14) and says in the configuration where its payload keeps what.
package standard

import (
	"errors"
	"net/http"

	"creditonce/webhook"
)

// Config says what a Provider accepts and how it reads it.
type Config struct {
	Signing Signing
	Payload Payload
}

// Provider is a webhook.Provider. It is safe for concurrent use.
type Provider struct {
	*Verifier
	rules rules
}

var _ webhook.Provider = (*Provider)(nil)

// New returns a provider, or an error that names what is missing or not sound.
func New(cfg Config) (*Provider, error) {
	verifier, err := NewVerifier(cfg.Signing)
	if err != nil {
		return nil, err
	}
	rules, err := cfg.Payload.compile()
	if err != nil {
		return nil, err
	}
	return &Provider{Verifier: verifier, rules: rules}, nil
}

// Kind is "standard".
func (p *Provider) Kind() string { return "standard" }

// EvidenceHeaders are what was signed beside the body, the signature, and what tells which program sent it.
func (p *Provider) EvidenceHeaders() []string {
	return []string{idHeader, timeHeader, signatureHeader, "Content-Type", "User-Agent"}
}

// Map implements webhook.Provider. The key of the message is the signed webhook-id, which stays the same through
// all retries of one message.
func (p *Provider) Map(h http.Header, body []byte) (webhook.Mapped, error) {
	id, err := messageID(h)
	if err != nil {
		return webhook.Mapped{}, errors.New("the notification has no usable webhook-id")
	}
	facts, err := p.rules.read(body)
	return webhook.Mapped{MessageKey: id, Facts: facts}, err
}
