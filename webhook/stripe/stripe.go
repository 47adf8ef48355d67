// Package stripe verifies and reads Stripe's webhooks by the rules of providers.md §2.1, with its own
// small structs and no SDK: stripe-go checks no bound against the future and fails on events of
// another API version.
package stripe

import (
	"errors"
	"fmt"
	"time"
)

// The bounds on a signature's timestamp. Each attempt of a delivery has a timestamp of its own, so an
// hour is generous; a timestamp far in the future would outlive every bound on age.
const (
	DefaultMaxAge = time.Hour
	MaxFuture     = 5 * time.Minute
)

// Config says what a Provider accepts. Secrets are the active signing secrets, as text with their
// whsec_ prefix: one, or more while one is rolled. A zero MaxAge is DefaultMaxAge and a zero MaxFuture
// is the constant MaxFuture, which it cannot exceed.
type Config struct {
	Secrets   [][]byte
	MaxAge    time.Duration
	MaxFuture time.Duration
}

// Provider is a webhook.Provider. It is safe for concurrent use.
type Provider struct {
	cfg Config
}

// New returns a provider, or an error when no secret is given, one is empty, or a bound is not sound.
// An empty secret would let anybody sign.
func New(cfg Config) (*Provider, error) {
	if cfg.MaxAge == 0 {
		cfg.MaxAge = DefaultMaxAge
	}
	if cfg.MaxFuture == 0 {
		cfg.MaxFuture = MaxFuture
	}
	switch {
	case len(cfg.Secrets) == 0:
		return nil, errors.New("make stripe provider: no signing secret is given")
	case cfg.MaxAge < 0:
		return nil, fmt.Errorf("make stripe provider: maximum age %v is negative", cfg.MaxAge)
	case cfg.MaxFuture < 0 || cfg.MaxFuture > MaxFuture:
		return nil, fmt.Errorf("make stripe provider: bound against the future %v is not in 0..%v", cfg.MaxFuture, MaxFuture)
	}
	secrets := make([][]byte, 0, len(cfg.Secrets))
	for i, s := range cfg.Secrets {
		if len(s) == 0 {
			return nil, fmt.Errorf("make stripe provider: signing secret %d is empty", i+1)
		}
		secrets = append(secrets, append([]byte(nil), s...))
	}
	cfg.Secrets = secrets
	return &Provider{cfg: cfg}, nil
}

// Kind is "stripe".
func (p *Provider) Kind() string { return "stripe" }

// EvidenceHeaders are the signature and what tells which program of Stripe's sent the event.
func (p *Provider) EvidenceHeaders() []string {
	return []string{signatureHeader, "Content-Type", "User-Agent"}
}
