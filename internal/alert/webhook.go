package alert

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Webhook posts messages, signed by Standard Webhooks (providers.md §2.14): v1 alone, a new timestamp at each attempt,
// the message's id as webhook-id. It is safe for concurrent use.
type Webhook struct {
	url    string
	key    []byte
	secret string // only to keep it out of errors
	client *http.Client
	now    func() time.Time
}

// NewWebhook returns the transport. The secret is whsec_ and the base64 of 24 to 64 bytes. roots nil: the system's. No
// error shows the secret or the URL.
func NewWebhook(url, secret string, roots *x509.CertPool, now func() time.Time) (*Webhook, error) {
	key, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(strings.TrimPrefix(secret, "whsec_"), "="))
	if err != nil || len(key) < 24 || len(key) > 64 {
		return nil, errors.New("make webhook for alerts: the secret is not whsec_ and the base64 of 24 to 64 bytes")
	}
	if req, err := http.NewRequest(http.MethodPost, url, nil); err != nil || req.URL.Host == "" {
		return nil, errors.New("make webhook for alerts: the url is not one")
	}
	return &Webhook{url: url, key: key, secret: secret, now: now, client: &http.Client{
		Transport: &http.Transport{
			TLSClientConfig:       &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots},
			ResponseHeaderTimeout: sendWithin, TLSHandshakeTimeout: sendWithin, MaxIdleConns: 1, IdleConnTimeout: time.Minute,
		},
		// A redirect would carry the message to where nobody configured it.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// Send posts the message. Any answer but 2xx is a failure.
func (w *Webhook) Send(ctx context.Context, m Message) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url, bytes.NewReader(m.JSON))
	if err != nil {
		return errors.New("post to the alert webhook: the url is not one")
	}
	stamp := strconv.FormatInt(w.now().Unix(), 10)
	mac := hmac.New(sha256.New, w.key)
	_, _ = fmt.Fprintf(mac, "%s.%s.%s", m.ID, stamp, m.JSON) // a hash takes everything
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "creditonce")
	req.Header.Set("Webhook-Id", m.ID)
	req.Header.Set("Webhook-Timestamp", stamp)
	req.Header.Set("Webhook-Signature", "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	resp, err := w.client.Do(req)
	if err != nil {
		return failure("post to the alert webhook", err, w.secret)
	}
	defer func() { _ = resp.Body.Close() }()
	// Read so that the connection can be used again; what it says is not kept.
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10))
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("post to the alert webhook: it answered %d", resp.StatusCode)
	}
	return nil
}
