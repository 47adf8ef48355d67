package webhook_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"creditonce/webhook"
	"creditonce/webhook/fakepsp"
	"creditonce/webhook/stripe"
)

// FuzzListener never panics, and answers 2xx exactly when the intake accepted one event.
func FuzzListener(f *testing.F) {
	const secret = "whsec_fuzz"
	at := time.Unix(1_760_000_000, 0)
	body := []byte(`{"id":"evt_1","object":"event","type":"customer.created","created":1,"livemode":true}`)
	good := fakepsp.Sign(secret, body, at)
	f.Add("POST", "/webhooks/psp", good, "", body)
	f.Add("POST", "/webhooks/psp", fakepsp.Sign(secret, []byte("not json"), at), "", []byte("not json"))
	f.Add("POST", "/webhooks/psp", "t=1760000000,v1=", "gzip", body)
	f.Add("GET", "/webhooks/psp", good, "", body)
	f.Add("POST", "/webhooks/%2e%2e/psp", good, "", body)
	f.Add("POST", "/webhooks/psp?x=1", good, "identity", []byte(strings.Repeat("x", 2_000)))
	p, err := stripe.New(stripe.Config{Secrets: [][]byte{[]byte(secret)}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, method, target, signature, encoding string, body []byte) {
		r := newRig(t, func(c *webhook.Config) {
			c.Endpoints = []webhook.Endpoint{{Name: "psp", Account: "acct_1", Provider: p}}
			c.Now = func() time.Time { return at }
			c.MaxBody = 1_000
		})
		req, err := http.NewRequestWithContext(t.Context(), method, "http://x"+target, strings.NewReader(string(body)))
		if err != nil {
			t.Skip() // not a request that net/http would hand on
		}
		req.RemoteAddr = "192.0.2.1:1"
		req.Header.Set("Stripe-Signature", signature)
		if encoding != "" {
			req.Header.Set("Content-Encoding", encoding)
		}
		w := httptest.NewRecorder()
		r.listener.Handler().ServeHTTP(w, req)
		acknowledged := w.Code >= 200 && w.Code <= 299
		if acknowledged != (r.intake.calls() == 1) || r.intake.calls() > 1 {
			t.Fatalf("status %d after %d intake calls", w.Code, r.intake.calls())
		}
		if acknowledged && string(r.intake.events[0].Body) != string(body) {
			t.Fatal("the stored body is not the body that came")
		}
		if w.Code == http.StatusInternalServerError {
			t.Fatalf("internal error: %v", r.observer.last(t).Err)
		}
	})
}
