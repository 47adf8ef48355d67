package stripe

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"creditonce/webhook/fakepsp"
)

func TestFaults_ThatPassAreRepeated(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		faults fakepsp.APIFaults
		pauses []time.Duration
	}{
		"429":                  {fakepsp.APIFaults{Limit: 2}, []time.Duration{500 * time.Millisecond, time.Second}},
		"429 with Retry-After": {fakepsp.APIFaults{Limit: 1, RetryAfter: 7}, []time.Duration{7 * time.Second}},
		"500":                  {fakepsp.APIFaults{Fail: 3}, []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second}},
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
		reason   Reason
		requests int
	}{
		"429 for ever":        {fakepsp.APIFaults{Limit: 100}, nil, Limited, attempts},
		"429 for an hour":     {fakepsp.APIFaults{Limit: 1, RetryAfter: 3600}, nil, Limited, 1},
		"500 for ever":        {fakepsp.APIFaults{Fail: 100}, nil, Unavailable, attempts},
		"key revoked":         {fakepsp.APIFaults{Revoked: true}, nil, Denied, 1},
		"key of another":      {fakepsp.APIFaults{}, func(c *Config) { c.Account = "acct_another" }, Foreign, 1},
		"no right, another":   {fakepsp.APIFaults{NoAccount: true, Shown: "acct_another"}, nil, Foreign, 1},
		"other environment":   {fakepsp.APIFaults{}, func(c *Config) { c.Live = true }, Foreign, 2},
		"wrong key from here": {fakepsp.APIFaults{}, func(c *Config) { c.Key = func() []byte { return []byte("sk_test_wrong") } }, Denied, 1},
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

// at is a client of a server that answers lists with text.
func at(t *testing.T, answers ...string) (*Client, *[]*http.Request) {
	t.Helper()
	var seen []*http.Request
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
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
	}))
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
	return c, &seen
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
		reason  Reason
	}{
		"no JSON":                {[]string{"<html>"}, Odd},
		"data after it":          {[]string{list(false, one) + "x"}, Odd},
		"no list":                {[]string{`{"object":"event"}`}, Odd},
		"no has_more":            {[]string{`{"object":"list","data":[]}`}, Odd},
		"has_more twice":         {[]string{`{"object":"list","data":[],"has_more":true,"has_more":false}`}, Odd},
		"HAS_MORE":               {[]string{`{"object":"list","data":[],"HAS_MORE":false}`}, Odd},
		"data is an object":      {[]string{`{"object":"list","data":{},"has_more":false}`}, Odd},
		"data is null":           {[]string{`{"object":"list","data":null,"has_more":false}`}, Odd},
		"an event without id":    {[]string{list(false, `{"created":1,"livemode":false}`)}, Odd},
		"an id that is a path":   {[]string{list(false, strings.Replace(one, "evt_1", "evt_1/../x", 1))}, Odd},
		"livemode missing":       {[]string{list(false, `{"id":"evt_1","created":1}`)}, Odd},
		"a float for a time":     {[]string{list(false, `{"id":"evt_1","created":1.5,"livemode":false}`)}, Odd},
		"an empty page and more": {[]string{list(true)}, Odd},
		"the same page for ever": {[]string{list(true, one)}, Odd},
		"two pages in a circle":  {[]string{list(true, one), list(true, two), list(true, one)}, Odd},
		"a younger page":         {[]string{list(true, two), list(true, one)}, Odd},
		"a redirect":             {[]string{"moved:/v1/events?elsewhere"}, Odd},
		"a large event":          {[]string{list(false, strings.Replace(one, `"object"`, `"x":"`+strings.Repeat("y", maxEvent)+`","object"`, 1))}, TooLarge},
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
	for _, good := range []string{BaseURL, BaseURL + "/", "http://127.0.0.1:9", "http://[::1]:9"} {
		if _, err := CheckURL(good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, bad := range []string{
		"", "api.stripe.com", "http://api.stripe.com", "http://localhost:9", "http://10.0.0.1", "ftp://127.0.0.1", "https://",
		"https://u:p@api.stripe.com", "https://api.stripe.com/v1", "https://api.stripe.com?x=1", "https://api.stripe.com#x",
	} {
		if _, err := CheckURL(bad); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}
