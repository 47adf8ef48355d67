package stripe

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"creditonce/internal/psp/ask"
)

const (
	// BaseURL is Stripe's own API.
	BaseURL = "https://api.stripe.com"
	// Version is the API version that every request names, so that a change of the account's own changes no answer. The
	// events inside a list have the version of their birth all the same (docs.stripe.com/api/events/list).
	Version = "2025-08-27.basil"
	// Kept is how long Stripe lists an event (docs.stripe.com/api/events/list: "going back up to 30 days").
	Kept = 30 * 24 * time.Hour
	// MostTypes is how many types one list may ask for (docs.stripe.com/api/events/list).
	MostTypes = 20

	// perPage is Stripe's largest page.
	perPage = 100
	// requestTime bounds one request with its answer.
	requestTime = 30 * time.Second
	// maxEvent is the largest event that is taken: as much as the webhook listener takes.
	maxEvent = 256 << 10
	// maxPage bounds what is read of one answer.
	maxPage = perPage*maxEvent + 64<<10
)

// Config says whom a Client asks for what.
type Config struct {
	// URL is the API's address: https, or http on a loopback address (tests and the demo).
	URL string
	// Key gives the secret or restricted key. It is called for each request and never kept.
	Key func() []byte
	// Account is the merchant account that the key must belong to.
	Account string
	// Live tells which environment everything must belong to.
	Live bool
	// Types are the events that are listed: at most MostTypes. None: this client lists no events.
	Types []string
	// Now is the wall clock, for Retry-After dates and the age of a window.
	Now func() time.Time
	// Wait returns nil after d, and ctx's error when ctx ends first.
	Wait func(ctx context.Context, d time.Duration) error
	// Spread draws from [0, 1): how pauses between attempts are spread.
	Spread func() float64
}

// Client lists what one merchant account has: events, payouts, balance transactions. It is safe for concurrent use.
type Client struct {
	cfg    Config
	api    *ask.Client
	proven atomic.Bool // the key was seen to belong to the account
}

// New returns a client, or an error that says what of the configuration cannot be.
func New(cfg Config) (*Client, error) {
	base, err := ask.Address(cfg.URL, "key")
	switch {
	case err != nil:
		return nil, fmt.Errorf("make stripe client: %w", err)
	case cfg.Key == nil || cfg.Now == nil || cfg.Wait == nil || cfg.Spread == nil:
		return nil, errors.New("make stripe client: key, clock, wait and spread are required")
	case len(cfg.Types) > MostTypes:
		return nil, fmt.Errorf("make stripe client: %d types of event, and a list takes at most %d", len(cfg.Types), MostTypes)
	}
	return &Client{cfg: cfg, api: ask.New(ask.Config{
		Provider: us, Base: base, Timeout: requestTime, Most: maxPage, Now: cfg.Now, Wait: cfg.Wait, Spread: cfg.Spread, Explain: explain,
	})}, nil
}

// Close ends idle connections.
func (c *Client) Close() { c.api.Close() }
