package ask

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

const (
	// Attempts is how often one request is made at most.
	Attempts = 5
	// FirstPause doubles after each attempt.
	FirstPause = 500 * time.Millisecond
	// longestPause is the longest that one answer makes a list wait: beyond it the next pull tries again.
	longestPause = time.Minute
)

// Config says whom a Client asks, and how. Every field is required.
type Config struct {
	Provider Provider
	Base     *url.URL      // as [Address] gave it
	Timeout  time.Duration // bounds one request with its answer
	Most     int           // bytes that are read of one answer
	// Now is the wall clock, for Retry-After dates.
	Now func() time.Time
	// Wait returns nil after d, and ctx's error when ctx ends first.
	Wait func(ctx context.Context, d time.Duration) error
	// Spread draws from [0, 1): how pauses between attempts are spread.
	Spread func() float64
	// Explain adds to the fault of an answer other than 200 what the answer says: the code, the number of the request, whether it is final,
	// and the provider's own words. Reason and Problem say what the status means.
	Explain func(Answer, *Fault)
}

// Client asks one API. It is safe for concurrent use.
type Client struct {
	cfg  Config
	http *http.Client
}

// Answer is one whole answer.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// New returns a client of what cfg says.
func New(cfg Config) *Client {
	return &Client{cfg: cfg, http: &http.Client{
		Timeout: cfg.Timeout,
		Transport: &http.Transport{
			Proxy:               http.ProxyFromEnvironment, // a proxy sees a TLS tunnel, never the secret
			TLSClientConfig:     &tls.Config{MinVersion: tls.VersionTLS12},
			TLSHandshakeTimeout: 10 * time.Second, ResponseHeaderTimeout: cfg.Timeout,
			MaxIdleConns: 2, IdleConnTimeout: 30 * time.Second, MaxResponseHeaderBytes: 64 << 10,
		},
		// A redirect would carry the secret to wherever it points.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Close ends idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// URL is the address of path with query.
func (c *Client) URL(path string, query url.Values) string {
	u := *c.cfg.Base
	u.Path, u.RawQuery = path, query.Encode()
	return u.String()
}

// Ask makes requests until one has an answer that a repetition cannot better. prepare is called for each attempt; it makes the request for
// [Client.URL] with the secret in a header. An answer other than 200 is returned beside its fault; any other error is a *Fault without an
// answer, or ctx's.
func (c *Client) Ask(ctx context.Context, prepare func() (*http.Request, error)) (Answer, error) {
	for n := 1; ; n++ {
		a, fault := c.once(prepare)
		if fault == nil {
			return a, nil
		}
		if ctx.Err() != nil {
			return Answer{}, ctx.Err()
		}
		pause, again := c.pause(a, fault, n)
		if !again {
			return a, fault
		}
		if err := c.cfg.Wait(ctx, pause); err != nil {
			return Answer{}, err
		}
	}
}

// once makes one request. An answer other than 200 comes with its fault.
func (c *Client) once(prepare func() (*http.Request, error)) (Answer, *Fault) {
	req, err := prepare()
	if err != nil {
		return Answer{}, c.cfg.Provider.Odd("the request cannot be made")
	}
	req.Header.Set("User-Agent", "creditonce")
	resp, err := c.http.Do(req)
	if err != nil {
		return Answer{}, c.cfg.Provider.Fault(Unavailable, fmt.Sprintf("no answer: %v", withoutURL(err)))
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, int64(c.cfg.Most)+1))
	fault := &Fault{Provider: c.cfg.Provider, Status: resp.StatusCode}
	switch {
	case err != nil:
		fault.Reason, fault.Problem = Unavailable, fmt.Sprintf("the answer broke off: %v", withoutURL(err))
		return Answer{}, fault
	case len(body) > c.cfg.Most:
		fault.Reason, fault.Problem = TooLarge, fmt.Sprintf("an answer is longer than %d bytes", c.cfg.Most)
		return Answer{}, fault
	}
	a := Answer{resp.StatusCode, resp.Header, body}
	if a.Status == http.StatusOK {
		return a, nil
	}
	fault.Reason, fault.Problem = byStatus(a.Status)
	c.cfg.Explain(a, fault)
	return a, fault
}

// pause tells whether to ask again, and after how long: what the provider says, else doubling from the first pause.
func (c *Client) pause(a Answer, f *Fault, n int) (time.Duration, bool) {
	if n >= Attempts || f.Final || f.Reason != Unavailable && f.Reason != Limited {
		return 0, false
	}
	pause := FirstPause << (n - 1)
	pause -= time.Duration(c.cfg.Spread() * float64(pause) / 2)
	if said, ok := c.retryAfter(a.Header.Get("Retry-After")); ok {
		pause = max(pause, said)
	}
	return pause, pause <= longestPause
}

// retryAfter reads the header of RFC 9110 §10.2.3: seconds, or a date.
func (c *Client) retryAfter(text string) (time.Duration, bool) {
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second, true
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0, false
	}
	return max(0, at.Sub(c.cfg.Now())), true
}
