package paypal

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"creditonce/internal/psp/ask"
)

// PayPal's own addresses (developer.paypal.com/api/rest/requests).
const (
	LiveURL    = "https://api-m.paypal.com"
	SandboxURL = "https://api-m.sandbox.paypal.com"
)

const (
	// perPage is PayPal's largest page, and mostListed the most that it lists of one window (openapi reporting_transactions_v1, page_size;
	// RESULTSET_TOO_LARGE).
	perPage    = 500
	mostListed = 10_000
	// requestTime bounds one request with its answer.
	requestTime = 60 * time.Second
	// maxAnswer bounds what is read of one answer: a transaction without its payer is about 1 KiB.
	maxAnswer = 8 << 20
)

// Config says whom a Client asks.
type Config struct {
	// URL is the API's address: https, or http on a loopback address (tests).
	URL string
	// ID is the client id of the REST app; it must belong to the account and have the right "Transaction Search".
	ID string
	// Secret gives the app's secret. It is called for each token and never kept.
	Secret func() []byte
	// Live tells which environment the app belongs to.
	Live bool
	// Now is the wall clock.
	Now func() time.Time
	// Wait returns nil after d, and ctx's error when ctx ends first.
	Wait func(ctx context.Context, d time.Duration) error
	// Spread draws from [0, 1): how pauses between attempts are spread.
	Spread func() float64
}

// Client reads one account's transactions. It is safe for concurrent use.
type Client struct {
	cfg Config
	api *ask.Client

	mu    sync.Mutex
	token token
}

// New returns a client, or an error that says what of the configuration cannot be.
func New(cfg Config) (*Client, error) {
	base, err := ask.Address(cfg.URL, "secret")
	switch {
	case err != nil:
		return nil, fmt.Errorf("make paypal client: %w", err)
	case cfg.ID == "" || strings.ContainsFunc(cfg.ID, func(r rune) bool { return r <= ' ' || r == ':' || r > '~' }):
		return nil, errors.New("make paypal client: the client id is not one")
	case cfg.Secret == nil || cfg.Now == nil || cfg.Wait == nil || cfg.Spread == nil:
		return nil, errors.New("make paypal client: secret, clock, wait and spread are required")
	case !ask.Loopback(base) && cfg.Live == strings.Contains(base.Hostname(), ".sandbox."):
		return nil, errors.New("make paypal client: the address of the API belongs to the other environment")
	}
	return &Client{cfg: cfg, api: ask.New(ask.Config{
		Provider: us, Base: base, Timeout: requestTime, Most: maxAnswer, Now: cfg.Now, Wait: cfg.Wait, Spread: cfg.Spread, Explain: explain,
	})}, nil
}

// Close ends idle connections.
func (c *Client) Close() { c.api.Close() }
