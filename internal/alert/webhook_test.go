package alert_test

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"log" //nolint:depguard // http.Server takes no other kind of logger for a handshake that fails
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"creditonce/internal/alert"
	"creditonce/webhook/standard"
)

const hookSecret = "whsec_cGxhbnRlZCBwbGFudGVkIHBsYW50ZWQgcGxhbnRlZCE="

var noted = alert.Message{ID: "msg_store_1_2_abc", JSON: []byte(`{"type":"creditonce.notices"}`)}

// The signature is checked by the verifier of incoming webhooks, which shares no code with it.
func TestWebhook_IsSignedByTheRule(t *testing.T) {
	t.Parallel()
	verifier, err := standard.NewVerifier(standard.Signing{Secrets: [][]byte{[]byte(hookSecret)}})
	if err != nil {
		t.Fatal(err)
	}
	seen := make(chan error, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = verifier.Verify(r.Header, body, sentAt)
		}
		seen <- err
	}))
	defer srv.Close()
	w, err := alert.NewWebhook(srv.URL, hookSecret, nil, func() time.Time { return sentAt })
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Send(t.Context(), noted); err != nil {
		t.Fatal(err)
	}
	if err := <-seen; err != nil {
		t.Errorf("the receiver refuses the signature: %v", err)
	}
}

func TestWebhook_FailuresSayWhyAndHoldNoSecret(t *testing.T) {
	t.Parallel()
	var elsewhere http.HandlerFunc = func(http.ResponseWriter, *http.Request) { t.Error("a redirect was followed") }
	other := httptest.NewServer(elsewhere)
	defer other.Close()
	for name, tc := range map[string]struct {
		answer http.HandlerFunc
		says   string
	}{
		"error": {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "planted", 500) }, "answered 500"},
		"gone":  {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(410) }, "answered 410"},
		"redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		}, "answered 307"},
		"broken line": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "EOF"},
	} {
		srv := httptest.NewServer(tc.answer)
		w, err := alert.NewWebhook(srv.URL+"/planted?token=planted", hookSecret, nil, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		err = w.Send(t.Context(), noted)
		if err == nil || !strings.Contains(err.Error(), tc.says) || strings.Contains(err.Error(), "planted") {
			t.Errorf("%s: %v", name, err)
		}
		srv.Close()
	}
}

func TestWebhook_TrustsTheConfiguredRootsAlone(t *testing.T) {
	t.Parallel()
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	srv.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	srv.Config.ErrorLog = log.New(io.Discard, "", 0) // the handshake that fails on purpose
	srv.StartTLS()
	defer srv.Close()
	roots := x509.NewCertPool()
	roots.AddCert(srv.Certificate())
	for trusted, pool := range map[bool]*x509.CertPool{true: roots, false: nil} {
		w, err := alert.NewWebhook(srv.URL, hookSecret, pool, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Send(t.Context(), noted); (err == nil) != trusted {
			t.Errorf("trusted %t: %v", trusted, err)
		}
	}
}

func TestNewWebhook_RefusesWhatCannotBeSafe(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string][2]string{
		"no secret":    {"https://firm.test/alerts", ""},
		"short secret": {"https://firm.test/alerts", "whsec_cGxhbnRlZA=="},
		"no base64":    {"https://firm.test/alerts", "whsec_planted!"},
		"no url":       {"planted", hookSecret},
		"odd url":      {"https://planted\n", hookSecret},
	} {
		if _, err := alert.NewWebhook(tc[0], tc[1], nil, time.Now); err == nil || strings.Contains(err.Error(), "planted") || strings.Contains(err.Error(), "cGxh") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
