package stripe

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"creditonce/internal/psp/ask"
	"creditonce/webhook/fakepsp"
)

func TestFaults_ThatPassAreRepeated(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		faults fakepsp.APIFaults
		pauses []time.Duration
	}{
		"429 with Retry-After": {fakepsp.APIFaults{Limit: 1, RetryAfter: 7}, []time.Duration{7 * time.Second}},
		"half an answer":       {fakepsp.APIFaults{Cut: 1}, []time.Duration{500 * time.Millisecond}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.pay(5)
			w.faults(c.faults)
			got, _, err := w.list(nil)
			if err != nil || len(got) != 5 {
				t.Fatalf("%d events, %v", len(got), err)
			}
			if fmt.Sprint(w.paused) != fmt.Sprint(c.pauses) {
				t.Errorf("paused %v, want %v", w.paused, c.pauses)
			}
		})
	}
}

func TestFaults_ThatStayEndTheListAndSayWhy(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		faults   fakepsp.APIFaults
		change   func(*Config)
		reason   ask.Reason
		requests int
	}{
		"500 for ever":        {fakepsp.APIFaults{Fail: 100}, nil, ask.Unavailable, ask.Attempts},
		"key revoked":         {fakepsp.APIFaults{Revoked: true}, nil, ask.Denied, 1},
		"key of another":      {fakepsp.APIFaults{}, func(c *Config) { c.Account = "acct_another" }, ask.Foreign, 1},
		"no right, another":   {fakepsp.APIFaults{NoAccount: true, Shown: "acct_another"}, nil, ask.Foreign, 1},
		"other environment":   {fakepsp.APIFaults{}, func(c *Config) { c.Live = true }, ask.Foreign, 2},
		"wrong key from here": {fakepsp.APIFaults{}, func(c *Config) { c.Key = func() []byte { return []byte("sk_test_wrong") } }, ask.Denied, 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			change := c.change
			if change == nil {
				change = func(*Config) {}
			}
			w := newWorld(t, change)
			w.pay(5)
			w.faults(c.faults)
			got, _, err := w.list(nil)
			f := wantFault(t, err, c.reason)
			if len(got) > 0 {
				t.Errorf("%d events were handed over", len(got))
			}
			if s, err := w.control.API(t.Context()); err != nil || s.Requests != c.requests {
				t.Errorf("%d requests (%v), want %d", s.Requests, err, c.requests)
			}
			for _, secret := range []string{apiKey, apiKey[:12], "sk_test", "created", "127.0.0.1", "****"} {
				if strings.Contains(f.Error(), secret) {
					t.Errorf("the error shows %q: %s", secret, f)
				}
			}
		})
	}
}

func TestFaults_RestrictedKeyThatMayNotAskForItsAccount_IsProvenByTheRefusal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pay(3)
	w.faults(fakepsp.APIFaults{NoAccount: true})
	for range 2 {
		if got, _, err := w.list(nil); err != nil || len(got) != 3 {
			t.Fatalf("%d events, %v", len(got), err)
		}
	}
	if s, err := w.control.API(t.Context()); err != nil || s.Requests != 3 {
		t.Errorf("%d requests (%v), want the account once and two lists", s.Requests, err)
	}
}

// asking is a client of a server that answers by handler.
func asking(t *testing.T, handler http.HandlerFunc) *Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	w := &world{t: t, now: start}
	c, err := New(Config{
		URL: server.URL, Key: func() []byte { return []byte(apiKey) }, Account: account, Types: []string{"payment_intent.succeeded"},
		Now: w.clock, Wait: w.wait, Spread: func() float64 { return 0.5 },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// at is a client of a server that answers lists with text.
func at(t *testing.T, answers ...string) (*Client, *[]*http.Request) {
	t.Helper()
	var seen []*http.Request
	return asking(t, func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/account" {
			_, _ = io.WriteString(rw, `{"id": "`+account+`", "object": "account"}`)
			return
		}
		seen = append(seen, r)
		text := answers[min(len(seen), len(answers))-1]
		if place, moved := strings.CutPrefix(text, "moved:"); moved {
			http.Redirect(rw, r, place, http.StatusFound)
			return
		}
		_, _ = io.WriteString(rw, text)
	}), &seen
}

func event(id string, created time.Time) string {
	return fmt.Sprintf(`{"id":%q,"object":"event","created":%d,"livemode":false,"type":"payment_intent.succeeded"}`, id, created.Unix())
}

func list(more bool, events ...string) string {
	return fmt.Sprintf(`{"object":"list","data":[%s],"has_more":%t,"url":"/v1/events"}`, strings.Join(events, ","), more)
}

func TestAnswers_ThatAreNotAsDocumentedAreNeverComplete(t *testing.T) {
	t.Parallel()
	one, two := event("evt_1", start.Add(-time.Minute)), event("evt_2", start.Add(-2*time.Minute))
	cases := map[string]struct {
		answers []string
		reason  ask.Reason
	}{
		"no JSON":                {[]string{"<html>"}, ask.Odd},
		"data after it":          {[]string{list(false, one) + "x"}, ask.Odd},
		"no list":                {[]string{`{"object":"event"}`}, ask.Odd},
		"no has_more":            {[]string{`{"object":"list","data":[]}`}, ask.Odd},
		"has_more twice":         {[]string{`{"object":"list","data":[],"has_more":true,"has_more":false}`}, ask.Odd},
		"HAS_MORE":               {[]string{`{"object":"list","data":[],"HAS_MORE":false}`}, ask.Odd},
		"data is an object":      {[]string{`{"object":"list","data":{},"has_more":false}`}, ask.Odd},
		"data is null":           {[]string{`{"object":"list","data":null,"has_more":false}`}, ask.Odd},
		"an event without id":    {[]string{list(false, `{"created":1,"livemode":false}`)}, ask.Odd},
		"an id that is a path":   {[]string{list(false, strings.Replace(one, "evt_1", "evt_1/../x", 1))}, ask.Odd},
		"livemode missing":       {[]string{list(false, `{"id":"evt_1","created":1}`)}, ask.Odd},
		"a float for a time":     {[]string{list(false, `{"id":"evt_1","created":1.5,"livemode":false}`)}, ask.Odd},
		"an empty page and more": {[]string{list(true)}, ask.Odd},
		"the same page for ever": {[]string{list(true, one)}, ask.Odd},
		"two pages in a circle":  {[]string{list(true, one), list(true, two), list(true, one)}, ask.Odd},
		"a younger page":         {[]string{list(true, two), list(true, one)}, ask.Odd},
		"a redirect":             {[]string{"moved:/v1/events?elsewhere"}, ask.Odd},
		"a large event":          {[]string{list(false, strings.Replace(one, `"object"`, `"x":"`+strings.Repeat("y", maxEvent)+`","object"`, 1))}, ask.TooLarge},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, seen := at(t, c.answers...)
			_, err := client.Events(t.Context(), start.Add(-time.Hour), start, func(Event) error { return nil })
			_ = wantFault(t, err, c.reason)
			if len(*seen) > len(c.answers)+1 {
				t.Errorf("%d requests", len(*seen))
			}
		})
	}
}

func TestRequest_CarriesTheKeyInOneHeaderAndThePinnedVersion(t *testing.T) {
	t.Parallel()
	client, seen := at(t, list(false))
	if _, err := client.Events(t.Context(), start.Add(-time.Hour), start, func(Event) error { return nil }); err != nil {
		t.Fatal(err)
	}
	r := (*seen)[0]
	if r.Method != http.MethodGet || r.Header.Get("Authorization") != "Bearer "+apiKey || r.Header.Get("Stripe-Version") != Version {
		t.Errorf("%s with %v", r.Method, r.Header)
	}
	want := "created%5Bgte%5D=1796036400&created%5Blte%5D=1796040000&limit=100&types%5B%5D=payment_intent.succeeded"
	if r.URL.RawQuery != want || strings.Contains(r.URL.String(), apiKey) {
		t.Errorf("asked %s, want %s", r.URL.RawQuery, want)
	}
}

func TestNew_RefusesAnAddressThatWouldShowTheKey(t *testing.T) {
	t.Parallel()
	cfg := Config{
		URL: BaseURL, Key: func() []byte { return []byte(apiKey) }, Account: account, Now: time.Now,
		Wait: func(context.Context, time.Duration) error { return nil }, Spread: func() float64 { return 0 },
	}
	if _, err := New(cfg); err != nil {
		t.Errorf("Stripe's own address: %v", err)
	}
	cfg.URL = "http://api.stripe.com"
	if _, err := New(cfg); err == nil || !strings.Contains(err.Error(), "make stripe client: the address of the API is not https: the key would travel in the clear") {
		t.Errorf("its address without TLS: %v", err)
	}
}

func TestFaults_SayWhatStripeSaysOfThem(t *testing.T) {
	t.Parallel()
	const refusal = `{"error":{"message":"Expired API Key provided: rk_test_51","type":"invalid_request_error","code":"api_key_expired"}}`
	for name, c := range map[string]struct {
		status   int
		header   string // "name: value"
		body     string
		want     string
		requests int
	}{
		"key expired":         {401, "Request-Id: req_1aB", refusal, "stripe: the API key is not valid: wrong, expired or revoked (HTTP 401, api_key_expired, request req_1aB)", 1},
		"no code, a type":     {400, "", `{"error":{"type":"invalid_request_error"}}`, "stripe: the API does not accept the request (HTTP 400, invalid_request_error)", 1},
		"right lacks":         {403, "", `{"error":{"code":"more_permissions_required_for_application"}}`, "stripe: the API key lacks a right that this needs (HTTP 403, more_permissions_required_for_application)", 1},
		"code not in form":    {400, "Request-Id: req_1/../x", `{"error":{"code":"rk_test_51 is wrong","type":"Key!"}}`, "stripe: the API does not accept the request (HTTP 400)", 1},
		"no JSON":             {500, "", `<html>rk_test_51</html>`, "stripe: the API does not work now (HTTP 500)", ask.Attempts},
		"not to be repeated":  {500, "Stripe-Should-Retry: false", `{}`, "stripe: the API does not work now (HTTP 500)", 1},
		"to be repeated":      {500, "Stripe-Should-Retry: true", `{}`, "stripe: the API does not work now (HTTP 500)", ask.Attempts},
		"true for a refusal":  {400, "Stripe-Should-Retry: true", `{}`, "stripe: the API does not accept the request (HTTP 400)", 1},
		"limit, not repeated": {429, "Stripe-Should-Retry: false", `{}`, "stripe: too many requests (HTTP 429)", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requests := 0
			client := asking(t, func(w http.ResponseWriter, _ *http.Request) {
				requests++
				if header, value, some := strings.Cut(c.header, ": "); some {
					w.Header().Set(header, value)
				}
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			})
			_, err := client.get(t.Context(), "/v1/events", nil)
			if err == nil || err.Error() != c.want || requests != c.requests {
				t.Errorf("%v after %d requests, want %s after %d", err, requests, c.want, c.requests)
			}
		})
	}
}
