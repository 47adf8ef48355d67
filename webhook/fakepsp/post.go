package fakepsp

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"time"
)

// Client returns an HTTP client for a receiver whose certificate is signed by the CA in caFile (PEM),
// or by a system root when caFile is empty. It follows no redirect, as Stripe does not: a 3xx is an
// answer that is not 2xx. timeout bounds one request.
func Client(caFile string, timeout time.Duration) (*http.Client, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if caFile != "" {
		pem, err := os.ReadFile(caFile)
		if err != nil {
			return nil, fmt.Errorf("read the receiver's CA: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("read the receiver's CA: %s holds no PEM certificate", caFile)
		}
	}
	return &http.Client{
		Timeout:       timeout,
		Transport:     &http.Transport{TLSClientConfig: config, MaxIdleConnsPerHost: 64, IdleConnTimeout: 30 * time.Second},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}

// Post sends one event body with its signature header to url and returns the status of the answer.
// An error means that no whole answer came; its text does not repeat the URL.
func Post(ctx context.Context, client *http.Client, url string, body []byte, signature string) (int, error) {
	return PostWith(ctx, client, url, body, map[string]string{
		"User-Agent": "Stripe/1.0 (+https://stripe.com/docs/webhooks)", SignatureHeader: signature,
	})
}

// PostWith is Post with the headers of any other way of signing.
func PostWith(ctx context.Context, client *http.Client, url string, body []byte, headers map[string]string) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return 0, errors.New("post event: the URL is not valid")
	}
	req.Header.Set("Content-Type", "application/json; charset=utf-8")
	for name, value := range headers {
		req.Header.Set(name, value)
	}
	resp, err := client.Do(req)
	if err != nil {
		return 0, fmt.Errorf("post event: %w", withoutURL(err))
	}
	defer func() { _ = resp.Body.Close() }()
	// The rest of the answer is read so that the connection can be used again.
	if _, err := io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10)); err != nil {
		return 0, fmt.Errorf("post event: read the answer: %w", err)
	}
	return resp.StatusCode, nil
}

func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
