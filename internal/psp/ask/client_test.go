package ask

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

const secret = "sk_SecretThatMustNeverBeShown"

// now is when the tests run.
var now = time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)

// api answers requests one after the other by its script; the last entry answers all that follow.
type api struct {
	t      *testing.T
	server *httptest.Server

	mu     sync.Mutex
	script []http.HandlerFunc
	seen   []*http.Request
	paused []time.Duration
}

func newAPI(t *testing.T, script ...http.HandlerFunc) *api {
	a := &api{t: t, script: script}
	a.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.mu.Lock()
		a.seen = append(a.seen, r)
		answer := a.script[min(len(a.seen), len(a.script))-1]
		a.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(a.server.Close)
	return a
}

// client is one that asks the api; pauses pass at once and are kept.
func (a *api) client(change ...func(*Config)) *Client {
	a.t.Helper()
	base, err := Address(a.server.URL, "key")
	if err != nil {
		a.t.Fatal(err)
	}
	cfg := Config{
		Provider: "acme", Base: base, Timeout: 10 * time.Second, Most: 1000, Now: func() time.Time { return now },
		Wait: func(ctx context.Context, d time.Duration) error {
			a.paused = append(a.paused, d)
			return ctx.Err()
		},
		Spread: func() float64 { return 0 }, Explain: func(Answer, *Fault) {},
	}
	for _, f := range change {
		f(&cfg)
	}
	c := New(cfg)
	a.t.Cleanup(c.Close)
	return c
}

// get asks for /list?from=1 with the secret in a header.
func get(ctx context.Context, c *Client) (Answer, error) {
	return c.Ask(ctx, func() (*http.Request, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.URL("/list", url.Values{"from": {"1"}}), nil)
		if err == nil {
			req.Header.Set("Authorization", "Bearer "+secret)
		}
		return req, err
	})
}

func says(status int, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, `{"error": "no: %s"}`, secret)
	}
}

func cut(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "400")
	_, _ = io.WriteString(w, `{"data":[`)
	_ = http.NewResponseController(w).Flush() // else net/http repeats it by itself
	panic(http.ErrAbortHandler)
}

func well(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"data":[]}`) }

func TestAsk_WhatPassesIsRepeated(t *testing.T) {
	t.Parallel()
	const half = 500 * time.Millisecond
	for name, c := range map[string]struct {
		script []http.HandlerFunc
		pauses []time.Duration
	}{
		"nothing wrong":                    {[]http.HandlerFunc{well}, nil},
		"429":                              {[]http.HandlerFunc{says(429), says(429), well}, []time.Duration{half, 2 * half}},
		"429 with seconds":                 {[]http.HandlerFunc{says(429, "Retry-After", "7"), well}, []time.Duration{7 * time.Second}},
		"429 with a date":                  {[]http.HandlerFunc{says(429, "Retry-After", "Fri, 01 May 2026 00:00:09 GMT"), well}, []time.Duration{9 * time.Second}},
		"429 with a date that is over":     {[]http.HandlerFunc{says(429, "Retry-After", "Thu, 30 Apr 2026 00:00:09 GMT"), well}, []time.Duration{half}},
		"429 with something else":          {[]http.HandlerFunc{says(429, "Retry-After", "soon"), well}, []time.Duration{half}},
		"what it says is the least":        {[]http.HandlerFunc{says(500), says(500), says(500, "Retry-After", "1"), well}, []time.Duration{half, 2 * half, 4 * half}},
		"a server's errors, the last time": {[]http.HandlerFunc{says(500), says(502), says(503), says(504), well}, []time.Duration{half, 2 * half, 4 * half, 8 * half}},
		"409 and 408":                      {[]http.HandlerFunc{says(409), says(408), well}, []time.Duration{half, 2 * half}},
		"half an answer":                   {[]http.HandlerFunc{cut, well}, []time.Duration{half}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAPI(t, c.script...)
			got, err := get(t.Context(), a.client())
			if err != nil || got.Status != http.StatusOK || string(got.Body) != `{"data":[]}` || got.Header.Get("Content-Length") == "" {
				t.Fatalf("%+v, %v", got, err)
			}
			if fmt.Sprint(a.paused) != fmt.Sprint(c.pauses) || len(a.seen) != len(c.script) {
				t.Errorf("%d requests, paused %v, want %d, %v", len(a.seen), a.paused, len(c.script), c.pauses)
			}
			for _, r := range a.seen {
				if r.URL.String() != "/list?from=1" || r.Header.Get("Authorization") != "Bearer "+secret || r.Header.Get("User-Agent") != "creditonce" {
					t.Errorf("asked %s with %v", r.URL, r.Header)
				}
			}
		})
	}
}

func TestAsk_WhatStaysEndsWithItsReasonAndShowsNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer   http.HandlerFunc
		text     string
		reason   Reason
		requests int
	}{
		"429 for ever":       {says(429), "acme: too many requests (HTTP 429)", Limited, Attempts},
		"429 for a minute":   {says(429, "Retry-After", "60"), "acme: too many requests (HTTP 429)", Limited, Attempts},
		"429 for longer":     {says(429, "Retry-After", "61"), "acme: too many requests (HTTP 429)", Limited, 1},
		"500 for ever":       {says(500), "acme: the API does not work now (HTTP 500)", Unavailable, Attempts},
		"cut for ever":       {cut, "acme: the answer broke off: unexpected EOF (HTTP 200)", Unavailable, Attempts},
		"a page too long":    {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 1001)) }, "acme: an answer is longer than 1000 bytes (HTTP 200)", TooLarge, 1},
		"key not known":      {says(401), "acme: the API does not know who asks (HTTP 401)", Denied, 1},
		"right that lacks":   {says(403), "acme: who asks lacks a right that this needs (HTTP 403)", Denied, 1},
		"another address":    {says(302, "Location", "/elsewhere"), "acme: the API points elsewhere; redirects are not followed (HTTP 302)", Odd, 1},
		"the same, lasting":  {says(308, "Location", "/elsewhere"), "acme: the API points elsewhere; redirects are not followed (HTTP 308)", Odd, 1},
		"a request not good": {says(400), "acme: the API does not accept the request (HTTP 400)", Refused, 1},
		"200 but not quite":  {says(202), "acme: the API does not accept the request (HTTP 202)", Refused, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAPI(t, c.answer)
			_, err := get(t.Context(), a.client())
			f := FaultOf(err)
			if f == nil || f.Reason != c.reason || f.Error() != c.text || len(a.seen) != c.requests {
				t.Errorf("%v after %d requests, want %q, %s after %d", err, len(a.seen), c.text, c.reason, c.requests)
			}
		})
	}
}

func TestAsk_NoAnswerShowsNeitherAddressNorQuery(t *testing.T) {
	t.Parallel()
	a := newAPI(t, well)
	a.server.Close()
	_, err := get(t.Context(), a.client())
	if f := FaultOf(err); f == nil || f.Reason != Unavailable || f.Status != 0 || len(a.paused) != Attempts-1 {
		t.Errorf("got %v after pauses %v", err, a.paused)
	}
	for _, hidden := range []string{secret, "http://", "/list", "from="} {
		if strings.Contains(err.Error(), hidden) {
			t.Errorf("the error shows %q: %s", hidden, err)
		}
	}
}

func TestAsk_ProviderExplainsItsAnswer(t *testing.T) {
	t.Parallel()
	a := newAPI(t, says(503, "X-Number", "17"))
	got, err := get(t.Context(), a.client(func(cfg *Config) {
		cfg.Explain = func(a Answer, f *Fault) {
			f.Code, f.Request, f.Final = "closed", "number "+a.Header.Get("X-Number"), true
		}
	}))
	if err == nil || err.Error() != "acme: the API does not work now (HTTP 503, closed, number 17)" || len(a.seen) != 1 {
		t.Errorf("%v after %d requests; want its words, and no other request than the first", err, len(a.seen))
	}
	if got.Status != 503 || !strings.Contains(string(got.Body), "error") {
		t.Errorf("the answer is lost beside its fault: %+v", got)
	}
}

func TestAsk_PausesAreSpreadDownToHalf(t *testing.T) {
	t.Parallel()
	a := newAPI(t, says(500), says(500), well)
	if _, err := get(t.Context(), a.client(func(cfg *Config) { cfg.Spread = func() float64 { return 0.5 } })); err != nil {
		t.Fatal(err)
	}
	if want := []time.Duration{375 * time.Millisecond, 750 * time.Millisecond}; fmt.Sprint(a.paused) != fmt.Sprint(want) {
		t.Errorf("paused %v, want %v", a.paused, want)
	}
}

func TestAsk_ContextThatEndsIsItsOwnError(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	a := newAPI(t, func(w http.ResponseWriter, r *http.Request) {
		cancel()
		says(500)(w, r)
	})
	if _, err := get(ctx, a.client()); !errors.Is(err, context.Canceled) || FaultOf(err) != nil || len(a.seen) != 1 {
		t.Errorf("during a request: %v after %d", err, len(a.seen))
	}
	ended := errors.New("ended while it waited")
	a = newAPI(t, says(500))
	c := a.client(func(cfg *Config) { cfg.Wait = func(context.Context, time.Duration) error { return ended } })
	if _, err := get(t.Context(), c); !errors.Is(err, ended) || len(a.seen) != 1 {
		t.Errorf("during a pause: %v after %d", err, len(a.seen))
	}
}

func TestAsk_RequestThatCannotBeMadeIsAskedForOnce(t *testing.T) {
	t.Parallel()
	a, times := newAPI(t, well), 0
	_, err := a.client().Ask(t.Context(), func() (*http.Request, error) {
		times++
		return nil, errors.New("parse https://host/?key=" + secret)
	})
	if err == nil || err.Error() != "acme: the request cannot be made" || times != 1 || len(a.seen) != 0 {
		t.Errorf("%v after %d attempts", err, times)
	}
}

func TestAddress_OneThatWouldShowTheSecretIsRefused(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"https://api.acme.com", "https://api.acme.com/", "http://127.0.0.1:9", "http://[::1]:9"} {
		u, err := Address(good, "key")
		if err != nil || u.Path != "" {
			t.Errorf("%s: %v, %v", good, u, err)
		}
	}
	for _, bad := range []string{
		"", "api.acme.com", "http://api.acme.com", "http://localhost:9", "http://10.0.0.1", "ftp://127.0.0.1", "https://",
		"https://u:p@api.acme.com", "https://api.acme.com/v1", "https://api.acme.com?x=1", "https://api.acme.com#x",
	} {
		if _, err := Address(bad, "key"); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
	if _, err := Address("http://api.acme.com", "key"); err == nil || !strings.HasSuffix(err.Error(), "the key would travel in the clear") {
		t.Errorf("got %v", err)
	}
}
