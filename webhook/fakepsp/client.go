package fakepsp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// Control is the typed client of a provider's control port. It is safe for concurrent use.
type Control struct {
	addr   string
	client *http.Client
}

// ControlError is an answer of the control port that is not 200. Message is the port's own text.
type ControlError struct {
	Status  int
	Message string
}

// Error gives the status and the port's text.
func (e *ControlError) Error() string {
	return fmt.Sprintf("provider control answered %d: %s", e.Status, e.Message)
}

// NewControl returns a client for the control port at addr (host:port). Calls end with their context
// only: a drain may take long.
func NewControl(addr string) *Control {
	return &Control{addr: addr, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16, IdleConnTimeout: 30 * time.Second}}}
}

// Pay is Server.Pay over the control port.
func (c *Control) Pay(ctx context.Context, r PaymentRequest) (Payment, error) {
	return call[Payment](ctx, c, http.MethodPost, "/payments", r)
}

// Refund is Server.Refund over the control port.
func (c *Control) Refund(ctx context.Context, r RefundRequest) (Refund, error) {
	return call[Refund](ctx, c, http.MethodPost, "/refunds", r)
}

// Dispute is Server.Dispute over the control port.
func (c *Control) Dispute(ctx context.Context, r DisputeRequest) (Dispute, error) {
	return call[Dispute](ctx, c, http.MethodPost, "/disputes", r)
}

// Emit is Server.Emit over the control port.
func (c *Control) Emit(ctx context.Context, r EmitRequest) ([]Event, error) {
	return call[[]Event](ctx, c, http.MethodPost, "/events", r)
}

// Resend is Server.Resend over the control port.
func (c *Control) Resend(ctx context.Context, r ResendRequest) (Event, error) {
	return call[Event](ctx, c, http.MethodPost, "/resend", r)
}

// Settle is Server.Settle over the control port.
func (c *Control) Settle(ctx context.Context, r SettleRequest) ([]Payout, error) {
	return call[[]Payout](ctx, c, http.MethodPost, "/payouts", r)
}

// Payouts lists all payouts in the order in which they were made.
func (c *Control) Payouts(ctx context.Context) ([]Payout, error) {
	return call[[]Payout](ctx, c, http.MethodGet, "/payouts", nil)
}

// SetAPI sets what goes wrong at the provider's own API from now on, in place of what was set before.
func (c *Control) SetAPI(ctx context.Context, f APIFaults) (APIStatus, error) {
	return call[APIStatus](ctx, c, http.MethodPost, "/api", f)
}

// API tells what the provider's own API was asked, and which faults are left.
func (c *Control) API(ctx context.Context) (APIStatus, error) {
	return call[APIStatus](ctx, c, http.MethodGet, "/api", nil)
}

// Drain waits up to timeout (0: 30 s) until every delivery has its 2xx; a *ControlError with status
// 504 says that some still have none.
func (c *Control) Drain(ctx context.Context, timeout time.Duration) (Status, error) {
	return call[Status](ctx, c, http.MethodPost, "/drain", DrainRequest{Timeout: timeout})
}

// Payments lists all payments in the order in which they were made.
func (c *Control) Payments(ctx context.Context) ([]Payment, error) {
	return call[[]Payment](ctx, c, http.MethodGet, "/payments", nil)
}

// Events lists all events in the order in which they were made.
func (c *Control) Events(ctx context.Context) ([]Event, error) {
	return call[[]Event](ctx, c, http.MethodGet, "/events", nil)
}

// Attempts lists all finished attempts.
func (c *Control) Attempts(ctx context.Context) ([]Attempt, error) {
	return call[[]Attempt](ctx, c, http.MethodGet, "/attempts", nil)
}

// Status returns the provider's counts.
func (c *Control) Status(ctx context.Context) (Status, error) {
	return call[Status](ctx, c, http.MethodGet, "/status", nil)
}

func call[Out any](ctx context.Context, c *Control, method, path string, in any) (Out, error) {
	var out Out
	body, err := json.Marshal(in)
	if err != nil {
		return out, fmt.Errorf("call provider control %s: %w", path, err)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://"+c.addr+path, bytes.NewReader(body))
	if err != nil {
		return out, fmt.Errorf("call provider control %s: %w", path, err)
	}
	resp, err := c.client.Do(req)
	if err != nil {
		return out, fmt.Errorf("call provider control %s: %w", path, withoutURL(err))
	}
	defer func() { _ = resp.Body.Close() }()
	dec := json.NewDecoder(resp.Body)
	if resp.StatusCode != http.StatusOK {
		var problem controlProblem
		if err := dec.Decode(&problem); err != nil {
			problem.Error = "the answer is not the control port's"
		}
		return out, &ControlError{Status: resp.StatusCode, Message: problem.Error}
	}
	if err := dec.Decode(&out); err != nil {
		return out, fmt.Errorf("read provider control %s: %w", path, err)
	}
	return out, nil
}
