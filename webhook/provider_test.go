package webhook_test

import (
	"context"
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/webhook"
	"creditonce/webhook/fakepsp"
	"creditonce/webhook/stripe"
)

// TestSimulatedProvider_EveryEventIsTakenInOverTheRealWire runs the simulated provider against the
// listener over TLS, with a secret being rolled, repeats, disorder and a store that is busy at times.
func TestSimulatedProvider_EveryEventIsTakenInOverTheRealWire(t *testing.T) {
	t.Parallel()
	p, err := stripe.New(stripe.Config{Secrets: [][]byte{[]byte("whsec_new"), []byte("whsec_old")}})
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, func(c *webhook.Config) {
		c.Endpoints = []webhook.Endpoint{{Name: "psp", Account: "acct_1", Provider: p}}
		c.Now = time.Now
	})
	var calls atomic.Int64
	r.intake.answer = func(context.Context) (credit.Receipt, error) {
		if calls.Add(1)%3 == 1 {
			return credit.Receipt{}, credit.ErrBusy
		}
		return credit.Receipt{}, nil
	}
	psp := simulated(t, r, "whsec_gone", "whsec_old")
	for range 5 {
		if _, err := psp.Pay(fakepsp.PaymentRequest{Code: "code-0123456789abcdefghij", Amount: 500, Currency: "usd"}); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := psp.Drain(ctx); err != nil {
		t.Fatal(err)
	}
	acknowledged := map[string]int{}
	for _, a := range psp.Attempts() {
		if a.Acknowledged {
			acknowledged[a.Event]++
		} else if a.Status != 503 {
			t.Errorf("an attempt ended with %d %s", a.Status, a.Error)
		}
	}
	stored := map[string]credit.Event{}
	r.intake.mu.Lock()
	defer r.intake.mu.Unlock()
	for _, e := range r.intake.events {
		stored[e.MessageKey] = e
	}
	for _, e := range psp.Events() {
		if acknowledged[e.ID] < 2 || string(stored[e.ID].Body) != string(e.Body) {
			t.Errorf("%s %s: acknowledged %d times, stored as sent: %t", e.Name, e.ID, acknowledged[e.ID], string(stored[e.ID].Body) == string(e.Body))
		}
	}
	if len(stored) != 15 {
		t.Errorf("%d events, want 15", len(stored))
	}
}

// simulated starts a provider that sends everything at least twice and out of order to the rig's listener.
func simulated(t *testing.T, r *rig, secrets ...string) *fakepsp.Server {
	t.Helper()
	srv := httptest.NewUnstartedServer(nil)
	srv.Config = webhook.Server(r.listener.Handler())
	srv.StartTLS()
	t.Cleanup(srv.Close)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})
	if err := os.WriteFile(ca, block, 0o600); err != nil {
		t.Fatal(err)
	}
	psp, err := fakepsp.Start(t.Context(), fakepsp.Config{
		URL: srv.URL + "/webhooks/psp", CAFile: ca, Secrets: secrets, Journal: filepath.Join(t.TempDir(), "psp.jsonl"),
		Control: "127.0.0.1:0", Seed: 3, Now: time.Now,
		Disorder: fakepsp.Disorder{Repeat: 100, Reorder: 50, MaxDelay: 20 * time.Millisecond},
		Backoff:  fakepsp.Backoff{First: time.Millisecond, Max: 10 * time.Millisecond},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = psp.Close() })
	return psp
}
