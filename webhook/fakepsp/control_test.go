package fakepsp

import (
	"bytes"
	"context"
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// tlsReceiver is a receiver on the real wire; its CA file is what the provider is configured with.
func tlsReceiver(t *testing.T, handle http.HandlerFunc) (url, caFile string) {
	t.Helper()
	srv := httptest.NewTLSServer(handle)
	t.Cleanup(srv.Close)
	caFile = filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})
	if err := os.WriteFile(caFile, block, 0o600); err != nil {
		t.Fatal(err)
	}
	return srv.URL + "/webhooks/psp", caFile
}

func started(t *testing.T, handle http.HandlerFunc) (*Server, *Control, Config) {
	t.Helper()
	cfg := testConfig(t)
	cfg.URL, cfg.CAFile = tlsReceiver(t, handle)
	s, err := Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, NewControl(s.ControlAddr()), cfg
}

func TestControl_DrivesPaymentsToTheReceiver(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var bodies []string
	_, control, cfg := started(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		bodies = append(bodies, string(body))
		if len(bodies) == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	ctx := t.Context()
	p, err := control.Pay(ctx, PaymentRequest{Code: "code-0123456789abcdefghij", Amount: 700, Currency: "USD"})
	must(t, err)
	refund, err := control.Refund(ctx, RefundRequest{Payment: p.ID, Amount: 300})
	must(t, err)
	_, err = control.Dispute(ctx, DisputeRequest{Payment: p.ID, Amount: 700})
	must(t, err)
	emitted, err := control.Emit(ctx, EmitRequest{
		Payment: p.ID, Refund: refund.ID, Status: "failed", Events: []string{"refund.failed", "charge.refunded"},
	})
	must(t, err)
	if !bytes.Contains(emitted[1].Body, []byte(`"amount_refunded": 0`)) {
		t.Errorf("the running total still counts a refund that failed:\n%s", emitted[1].Body)
	}
	again, err := control.Resend(ctx, ResendRequest{Event: emitted[0].ID, NewID: true})
	must(t, err)
	_, err = control.Resend(ctx, ResendRequest{Event: again.ID})
	must(t, err)
	status, err := control.Drain(ctx, time.Minute)
	must(t, err)
	if want := (Status{Payments: 1, Events: 10, Attempts: 12}); status != want {
		t.Errorf("status %+v, want %+v", status, want)
	}
	payments, err := control.Payments(ctx)
	must(t, err)
	events, err := control.Events(ctx)
	must(t, err)
	attempts, err := control.Attempts(ctx)
	must(t, err)
	if len(payments) != 1 || payments[0] != p || len(events) != 10 || len(attempts) != 12 {
		t.Errorf("lists: %d payments, %d events, %d attempts", len(payments), len(events), len(attempts))
	}
	checkJournalAgainst(t, cfg.Journal, 10, 11)
}

func checkJournalAgainst(t *testing.T, path string, events, acknowledged int) {
	t.Helper()
	records, err := ReadJournal(path)
	must(t, err)
	var gotEvents, gotAcknowledged, begun, ended int
	for _, r := range records {
		switch {
		case r.Event != nil:
			gotEvents++
		case r.Attempt != nil && r.Attempt.Started:
			begun++
		case r.Attempt != nil:
			ended++
			if r.Attempt.Acknowledged {
				gotAcknowledged++
			}
		}
	}
	if gotEvents != events || gotAcknowledged != acknowledged || begun != ended {
		t.Errorf("journal: %d events, %d acknowledged, %d begun, %d ended", gotEvents, gotAcknowledged, begun, ended)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestControl_RefusesWithItsReasonAndRecordsNothing(t *testing.T) {
	t.Parallel()
	s, control, _ := started(t, func(http.ResponseWriter, *http.Request) {})
	ctx := t.Context()
	p, err := control.Pay(ctx, PaymentRequest{Code: "c", Amount: 100, Currency: "usd", Silent: true})
	must(t, err)
	before := s.Status()
	for name, tc := range map[string]struct {
		try    func() error
		status int
	}{
		"amount zero": {func() error { _, err := control.Pay(ctx, PaymentRequest{Currency: "usd"}); return err }, 422},
		"silent yet sent": {func() error {
			_, err := control.Pay(ctx, PaymentRequest{Amount: 1, Currency: "usd", Silent: true, Events: []string{"charge.succeeded"}})
			return err
		}, 422},
		"event unknown": {func() error {
			_, err := control.Pay(ctx, PaymentRequest{Amount: 1, Currency: "usd", Events: []string{"nonsense"}})
			return err
		}, 422},
		"copies too many": {func() error {
			_, err := control.Pay(ctx, PaymentRequest{Amount: 1, Currency: "usd", Delivery: Delivery{Copies: 101}})
			return err
		}, 422},
		"refund too much": {func() error { _, err := control.Refund(ctx, RefundRequest{Payment: p.ID, Amount: 101}); return err }, 422},
		"refund of none":  {func() error { _, err := control.Refund(ctx, RefundRequest{Payment: "pi_none", Amount: 1}); return err }, 404},
		"dispute of none": {func() error {
			_, err := control.Dispute(ctx, DisputeRequest{Payment: "pi_none", Amount: 1})
			return err
		}, 404},
		"dispute of zero": {func() error { _, err := control.Dispute(ctx, DisputeRequest{Payment: p.ID}); return err }, 422},
		"emit nothing":    {func() error { _, err := control.Emit(ctx, EmitRequest{Payment: p.ID}); return err }, 422},
		"emit for none": {func() error {
			_, err := control.Emit(ctx, EmitRequest{Payment: "x", Events: []string{"charge.succeeded"}})
			return err
		}, 404},
		"no such refund": {func() error {
			_, err := control.Emit(ctx, EmitRequest{Payment: p.ID, Refund: "re_x", Events: []string{"refund.failed"}})
			return err
		}, 404},
		"no such dispute": {func() error {
			_, err := control.Emit(ctx, EmitRequest{Payment: p.ID, Dispute: "du_x", Events: []string{"charge.dispute.closed"}})
			return err
		}, 404},
		"resend of none": {func() error { _, err := control.Resend(ctx, ResendRequest{Event: "evt_none"}); return err }, 404},
	} {
		var refused *ControlError
		if err := tc.try(); !errors.As(err, &refused) || refused.Status != tc.status || refused.Message == "" {
			t.Errorf("%s: %v, want status %d with a reason", name, err, tc.status)
		}
	}
	if after := s.Status(); after != before {
		t.Errorf("refused requests changed %+v to %+v", before, after)
	}
}

func TestControl_RefusesWhatIsNotItsJSON(t *testing.T) {
	t.Parallel()
	s, _, _ := started(t, func(http.ResponseWriter, *http.Request) {})
	for name, tc := range map[string]struct {
		method, path, body string
		status             int
	}{
		"unknown field": {"POST", "/payments", `{"amount_minor":1,"currency":"usd","silnet":true}`, 400},
		"float amount":  {"POST", "/payments", `{"amount_minor":1.5,"currency":"usd"}`, 400},
		"trailing data": {"POST", "/drain", `{} {}`, 400},
		"not json":      {"POST", "/drain", `x`, 400},
		"too large":     {"POST", "/drain", `{"x":"` + strings.Repeat("x", 1<<20) + `"}`, 400},
		"unknown path":  {"POST", "/money", `{}`, 404},
		"wrong method":  {"DELETE", "/payments", ``, 405},
	} {
		req, err := http.NewRequestWithContext(t.Context(), tc.method, "http://"+s.ControlAddr()+tc.path, strings.NewReader(tc.body))
		must(t, err)
		resp, err := http.DefaultClient.Do(req)
		must(t, err)
		_ = resp.Body.Close()
		if resp.StatusCode != tc.status {
			t.Errorf("%s: status %d, want %d", name, resp.StatusCode, tc.status)
		}
	}
	if s.Status().Payments != 0 {
		t.Error("a refused request made a payment")
	}
}

func TestControl_DrainThatTakesTooLongSaysWhatIsLeft(t *testing.T) {
	t.Parallel()
	_, control, _ := started(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	_, err := control.Pay(t.Context(), PaymentRequest{Amount: 1, Currency: "usd", Events: []string{"customer.created"}})
	must(t, err)
	var late *ControlError
	if _, err := control.Drain(t.Context(), time.Millisecond); !errors.As(err, &late) || late.Status != 504 ||
		!strings.Contains(late.Message, "1 deliveries") {
		t.Errorf("drain answered %v", err)
	}
}

func TestStart_RefusesWhatCannotWork(t *testing.T) {
	t.Parallel()
	good := testConfig(t)
	for name, bend := range map[string]func(*Config){
		"plain http":          func(c *Config) { c.URL = "http://127.0.0.1/webhooks/psp" },
		"no host":             func(c *Config) { c.URL = "https:///x" },
		"no secret":           func(c *Config) { c.Secrets = nil },
		"empty secret":        func(c *Config) { c.Secrets = []string{"whsec_a", ""} },
		"no journal":          func(c *Config) { c.Journal = "" },
		"no clock":            func(c *Config) { c.Now = nil },
		"public control":      func(c *Config) { c.Control = "0.0.0.0:0" },
		"control is a name":   func(c *Config) { c.Control = "localhost:0" },
		"control has no port": func(c *Config) { c.Control = "127.0.0.1" },
		"CA file missing":     func(c *Config) { c.CAFile = filepath.Join(t.TempDir(), "none.pem") },
		"CA file is no PEM":   func(c *Config) { c.CAFile = notPEM(t) },
		"journal in no dir":   func(c *Config) { c.Journal = filepath.Join(t.TempDir(), "none", "j") },
	} {
		cfg := good
		bend(&cfg)
		s, err := Start(context.Background(), cfg)
		if err == nil {
			_ = s.Close()
			t.Errorf("%s: started", name)
		} else if strings.Contains(err.Error(), "whsec_a") {
			t.Errorf("%s: the error repeats a secret: %v", name, err)
		}
	}
}

func notPEM(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ca.pem")
	must(t, os.WriteFile(path, []byte("no certificate"), 0o600))
	return path
}

func TestDelivery_RefusesAReceiverOfAnotherCA(t *testing.T) {
	t.Parallel()
	url, _ := tlsReceiver(t, func(http.ResponseWriter, *http.Request) { t.Error("the request reached the receiver") })
	client, err := Client("", time.Second)
	must(t, err)
	status, err := Post(t.Context(), client, url+"?secret=1", []byte("{}"), "t=1")
	if err == nil || status != 0 || strings.Contains(err.Error(), "secret=1") {
		t.Errorf("status %d, error %v", status, err)
	}
}
