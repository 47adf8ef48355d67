package api

import (
	"crypto/sha256"
	"net/http"
	"slices"
	"strings"
	"testing"
)

func TestNewRefusesUnusableConfigurations(t *testing.T) {
	t.Parallel()
	hash := sha256.Sum256([]byte("co_x"))
	cases := map[string]struct {
		change func(*Config)
		want   string
	}{
		"both writes": {func(c *Config) { c.Keys = []Key{{"k", hash, []string{ScopeAccountsWrite, ScopeDepositsWrite}}} }, "no key may have both"},
		"no name":     {func(c *Config) { c.Keys = []Key{{"", hash, nil}} }, "no name"},
		"no hash":     {func(c *Config) { c.Keys = []Key{{"k", [32]byte{}, nil}} }, "no SHA-256"},
		"name twice": {func(c *Config) {
			c.Keys = []Key{{"k", hash, nil}, {"k", sha256.Sum256([]byte("co_y")), nil}}
		}, "used twice"},
		"hash twice":    {func(c *Config) { c.Keys = []Key{{"k", hash, nil}, {"l", hash, nil}} }, "same SHA-256"},
		"unknown scope": {func(c *Config) { c.Keys = []Key{{"k", hash, []string{"deposits:all"}}} }, "unknown scope"},
		"no book":       {func(c *Config) { c.Deposits = nil }, "missing"},
		"no accounts":   {func(c *Config) { c.Accounts = nil }, "missing"},
		"no exponents":  {func(c *Config) { c.PaidExponent = nil }, "missing"},
		"no clock":      {func(c *Config) { c.Now = nil }, "missing"},
		"no random":     {func(c *Config) { c.Rand = nil }, "missing"},
		"no observer":   {func(c *Config) { c.Observer = nil }, "missing"},
		"no day limits": {func(c *Config) { c.DayLimit = nil }, "missing"},
		"no rate":       {func(c *Config) { c.Rate = Rate{} }, "rate of 0"},
		"no burst":      {func(c *Config) { c.Rate.Burst = 0 }, "at once"},
		"no life":       {func(c *Config) { c.DepositLife = 0 }, "deposit life"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := setup(t).config()
			tc.change(&cfg)
			if _, err := New(cfg); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("error %v, want one with %q", err, tc.want)
			}
		})
	}
}

func TestRequestWithoutValidKey_IsUnauthorizedAndWritesNothing(t *testing.T) {
	t.Parallel()
	for name, headers := range map[string][]string{
		"none":            nil,
		"empty":           {""},
		"other key":       {"Bearer co_nobody"},
		"no prefix":       {"Bearer pay"},
		"no scheme":       {payKey},
		"basic":           {"Basic " + payKey},
		"blank before":    {"Bearer  " + payKey},
		"two headers":     {"Bearer " + payKey, "Bearer " + payKey},
		"the hash itself": {"Bearer co_" + string(make([]byte, 32))},
		"key as prefix":   {"Bearer " + payKey + "x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := setup(t)
			for _, r := range p.api.routes() {
				if r.open() {
					continue
				}
				path := strings.NewReplacer(":server", "main", ":login", "1001", ":code", strings.Repeat("a", 22)).Replace(r.path)
				req := call{method: r.method, path: path, body: plainDeposit, header: map[string]string{"Idempotency-Key": "k"}}.request()
				req.Header["Authorization"] = headers
				w := serve(p.api, req)
				wantProblem(t, w, http.StatusUnauthorized, "unauthorized")
				if got := w.Header().Get("WWW-Authenticate"); got != "Bearer" {
					t.Errorf("WWW-Authenticate %q", got)
				}
				if s := p.seen.last(t); s.Key != "" || s.Route != r.path {
					t.Errorf("observed %+v, want the route and no key", s)
				}
			}
			if calls, _ := p.book.counts(); calls != 0 {
				t.Errorf("the book was asked %d times", calls)
			}
		})
	}
}

// A configured hash of something that is no API key, such as a password used elsewhere, opens nothing.
func TestKeyWithoutPrefix_IsRefusedEvenWhenItsHashIsConfigured(t *testing.T) {
	t.Parallel()
	p := setup(t)
	p.api = p.restart(func(c *Config) { c.Keys = []Key{{"k", sha256.Sum256([]byte("password")), []string{ScopeAccountsRead}}} })
	w := p.do(call{method: http.MethodGet, path: "/v1/servers/main/accounts/1001", key: "password"})
	wantProblem(t, w, http.StatusUnauthorized, "unauthorized")
}

func TestSchemeIsReadInAnyCase(t *testing.T) {
	t.Parallel()
	p := setup(t)
	w := p.do(call{method: http.MethodGet, path: "/v1/servers/main/accounts/1001", header: map[string]string{"Authorization": "bEARER " + lookKey}})
	if w.Code != http.StatusOK {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
}

// Every route is tried with every key: it must pass exactly for the scopes of this table.
func TestEveryRouteTakesExactlyItsScopes(t *testing.T) {
	t.Parallel()
	allowed := map[string][]string{
		"PUT /v1/servers/:server/accounts/:login": {ownKey},
		"GET /v1/servers/:server/accounts/:login": {ownKey, lookKey},
		"POST /v1/deposits":                       {payKey, otherKey},
		"GET /v1/accounts":                        {ownKey, lookKey},
		"GET /v1/deposits/:code":                  {payKey, pageKey},
		"GET /v1/deposits":                        {payKey, pageKey},
		"DELETE /v1/deposits/:code":               {payKey, otherKey},
		"GET /v1/deposits/:code/credit":           {payKey, pageKey},
		"GET /v1/credits":                         {payKey, pageKey},
		"GET /openapi.json":                       {payKey, ownKey, pageKey, lookKey, otherKey, ""},
		"GET /docs/problems":                      {payKey, ownKey, pageKey, lookKey, otherKey, ""},
		"GET /docs/problems/:code":                {payKey, ownKey, pageKey, lookKey, otherKey, ""},
	}
	p := setup(t)
	if got := len(p.api.routes()); got != len(allowed) {
		t.Fatalf("%d routes, the table has %d", got, len(allowed))
	}
	for _, r := range p.api.routes() {
		keys, ok := allowed[r.method+" "+r.path]
		if !ok {
			t.Errorf("%s %s is not in the table", r.method, r.path)
		}
		for _, key := range []string{payKey, ownKey, pageKey, lookKey, otherKey, ""} {
			path := strings.NewReplacer(":server", "main", ":login", "1001", ":code", strings.Repeat("a", 22)).Replace(r.path)
			before, _ := p.book.counts()
			w := p.do(call{method: r.method, path: path, key: key})
			if got := w.Code != http.StatusForbidden && w.Code != http.StatusUnauthorized; got != slices.Contains(keys, key) {
				t.Errorf("%s %s with %s: status %d", r.method, r.path, key, w.Code)
			}
			if after, _ := p.book.counts(); w.Code == http.StatusForbidden && after != before {
				t.Errorf("%s %s with %s asked the book", r.method, r.path, key)
			}
			if w.Code == http.StatusForbidden {
				wantProblem(t, w, http.StatusForbidden, "missing_scope")
			}
		}
	}
}
