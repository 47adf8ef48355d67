package api

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"creditonce/credit"
)

var noon = time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)

// memoryBook keeps the promises of Deposits and Accounts with the domain's own decisions. It counts what it is
// asked and what it writes.
type memoryBook struct {
	mu       sync.Mutex
	now      time.Time
	rules    credit.DepositRules
	accounts map[string]credit.Account
	deposits map[string]credit.Deposit
	answers  map[credit.IdempotencyKey]storedAnswer
	rows     map[string]*credit.Credit // by deposit code
	history  map[string][]credit.Entry
	further  map[string][]credit.Credit
	asked    []any // queries of lists
	calls    int
	writes   int
	dayTotal credit.Amount
	fail     error // answers every call
}

type storedAnswer struct {
	hash   []byte
	answer credit.Answer
}

func accountKey(server string, login uint64) string { return fmt.Sprintf("%s/%d", server, login) }

func (b *memoryBook) Open(_ context.Context, n credit.NewDeposit) (credit.Answer, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls++
	if b.fail != nil {
		return credit.Answer{}, b.fail
	}
	found := credit.DepositFound{Settings: credit.Settings{Mode: credit.ModeLive, Environment: "test"}}
	if s, ok := b.answers[n.Key]; ok {
		found.Answer, found.Hash = &s.answer, s.hash
	}
	if d, ok := b.deposits[n.Deposit.Code]; ok {
		found.Existing = &d
	}
	if a, ok := b.accounts[accountKey(n.Deposit.Server, n.Deposit.Login)]; ok {
		found.Account = &a
	}
	rules := b.rules
	rules.Now = b.now
	found.DayTotal = b.dayTotal
	out, err := credit.OpenDeposit(n, found, rules)
	if err != nil {
		return credit.Answer{}, fmt.Errorf("open: %w", err)
	}
	if out.Store {
		b.writes++
		b.deposits[n.Deposit.Code] = *out.Changes.Deposit
		b.answers[n.Key] = storedAnswer{n.InputHash, out.Answer}
	}
	return out.Answer, nil
}

func (b *memoryBook) View(_ context.Context, code string) (credit.DepositView, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls++
	if b.fail != nil {
		return credit.DepositView{}, b.fail
	}
	d, ok := b.deposits[code]
	if !ok {
		return credit.DepositView{}, fmt.Errorf("deposit: %w", credit.ErrNotFound)
	}
	return credit.DepositView{Deposit: d, Row: b.rows[code]}, nil
}

func (b *memoryBook) Story(ctx context.Context, code string) (credit.DepositStory, error) {
	v, err := b.View(ctx, code)
	return credit.DepositStory{DepositView: v, History: b.history[code], Further: b.further[code]}, err
}

func (b *memoryBook) Close(ctx context.Context, code, by string) (credit.DepositView, error) {
	v, err := b.View(ctx, code)
	if err != nil {
		return v, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	changes, err := credit.CloseDeposit(v.Deposit, by, b.now)
	if err != nil {
		return credit.DepositView{}, fmt.Errorf("close: %w", err)
	}
	if changes.Deposit != nil {
		b.writes++
		v.Deposit = *changes.Deposit
		b.deposits[code] = v.Deposit
	}
	return v, nil
}

// The lists are in the order of code, login or number; a place is how many have been passed.

func (b *memoryBook) ListDeposits(_ context.Context, q credit.DepositQuery) (credit.Page[credit.DepositView], error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked = append(b.asked, q)
	var all []credit.DepositView
	for _, code := range slices.Sorted(maps.Keys(b.deposits)) {
		if v := (credit.DepositView{Deposit: b.deposits[code], Row: b.rows[code]}); q.Wants(v) {
			all = append(all, v)
		}
	}
	return pageOf(b, all, q.After, q.Limit)
}

func (b *memoryBook) ListCredits(_ context.Context, q credit.CreditQuery) (credit.Page[credit.Credit], error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked = append(b.asked, q)
	var all []credit.Credit
	for _, code := range slices.Sorted(maps.Keys(b.rows)) {
		if q.Wants(*b.rows[code]) {
			all = append(all, *b.rows[code])
		}
	}
	return pageOf(b, all, q.After, q.Limit)
}

func (b *memoryBook) ListAccounts(_ context.Context, q credit.AccountQuery) (credit.Page[credit.Account], error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked = append(b.asked, q)
	var all []credit.Account
	for _, at := range slices.Sorted(maps.Keys(b.accounts)) {
		if q.Wants(b.accounts[at]) {
			all = append(all, b.accounts[at])
		}
	}
	return pageOf(b, all, q.After, q.Limit)
}

func pageOf[T any](b *memoryBook, all []T, after []byte, limit int) (p credit.Page[T], err error) {
	b.calls++
	if b.fail != nil {
		return p, b.fail
	}
	passed := 0
	if after != nil {
		if len(after) != 1 {
			return p, credit.ErrInvalid
		}
		passed = min(int(after[0]), len(all))
	}
	end := min(passed+limit, len(all))
	p.Items = all[passed:end]
	if end < len(all) {
		p.Next = []byte{byte(end)}
	}
	return p, nil
}

func (b *memoryBook) Put(_ context.Context, a credit.Account, actor string) (credit.Account, bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls++
	if b.fail != nil {
		return credit.Account{}, false, b.fail
	}
	identity, ok := b.rules.Identities[a.Server]
	if !ok {
		return credit.Account{}, false, credit.Refuse("unknown_server", "there is no MT5 server with this name")
	}
	a.Identity = identity
	var found credit.AccountFound
	prior, known := b.accounts[accountKey(a.Server, a.Login)]
	if known {
		found.Prior = &prior
	}
	changes, err := credit.ChangeAccount(a, found, actor, b.now)
	if err != nil || changes.Account == nil {
		return prior, false, err
	}
	b.writes++
	b.accounts[accountKey(a.Server, a.Login)] = *changes.Account
	return *changes.Account, !known, nil
}

func (b *memoryBook) Get(_ context.Context, server string, login uint64) (credit.Account, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls++
	if b.fail != nil {
		return credit.Account{}, b.fail
	}
	a, ok := b.accounts[accountKey(server, login)]
	if !ok {
		return credit.Account{}, fmt.Errorf("account: %w", credit.ErrNotFound)
	}
	return a, nil
}

func (b *memoryBook) counts() (calls, writes int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.calls, b.writes
}

// witness keeps what the Observer is told.
type witness struct {
	mu     sync.Mutex
	served []Served
}

func (w *witness) Served(_ context.Context, s Served) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.served = append(w.served, s)
}

func (w *witness) last(t testing.TB) Served {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.served) == 0 {
		t.Fatal("the observer was told nothing")
	}
	return w.served[len(w.served)-1]
}

// lockedRand is a fixed stream of bits that goroutines may share.
type lockedRand struct {
	mu  sync.Mutex
	src *rand.ChaCha8
}

func (r *lockedRand) Read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.src.Read(p)
}

// The keys of the tests.
const (
	payKey   = "co_pay"   // deposits:write and deposits:read
	ownKey   = "co_own"   // accounts:write
	pageKey  = "co_page"  // deposits:read
	lookKey  = "co_look"  // accounts:read
	otherKey = "co_other" // deposits:write, another owner
)

func testKeys() []Key {
	key := func(name, text string, scopes ...string) Key {
		return Key{Name: name, SHA256: sha256.Sum256([]byte(text)), Scopes: scopes}
	}
	return []Key{
		key("pay", payKey, ScopeDepositsWrite, ScopeDepositsRead),
		key("own", ownKey, ScopeAccountsWrite),
		key("page", pageKey, ScopeDepositsRead),
		key("look", lookKey, ScopeAccountsRead),
		key("other", otherKey, ScopeDepositsWrite),
	}
}

type portal struct {
	t    testing.TB
	book *memoryBook
	seen *witness
	api  *API
}

func parsedRate(t testing.TB, text string) credit.Rate {
	t.Helper()
	r, err := credit.ParseRate(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func amount(t testing.TB, text, currency string, exponent int) credit.Amount {
	t.Helper()
	a, err := credit.ParseAmount(text, currency, exponent)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// setup makes an API over a book with login 1001 of client c-1 (USD) and login 2002 of client c-2 (EUR).
func setup(t testing.TB) *portal {
	t.Helper()
	b := &memoryBook{
		now: noon, accounts: map[string]credit.Account{}, deposits: map[string]credit.Deposit{},
		answers: map[credit.IdempotencyKey]storedAnswer{}, rows: map[string]*credit.Credit{},
		history: map[string][]credit.Entry{}, further: map[string][]credit.Credit{},
		rules: credit.DepositRules{
			PerCredit:   map[string]credit.Amount{"USD": amount(t, "10000.00", "USD", 2)},
			Bands:       map[string]credit.RateBand{"EUR/USD": {Low: parsedRate(t, "0.9"), High: parsedRate(t, "1.3")}},
			Identities:  map[string]string{"main": "Example-Live"},
			Providers:   []string{"stripe-eu"},
			LongestLife: 72 * time.Hour,
			IntakeRules: credit.IntakeRules{DayLimits: map[string]credit.Amount{"USD": amount(t, "50000.00", "USD", 2)}},
		},
	}
	for _, a := range []credit.Account{
		{Server: "main", Identity: "Example-Live", Login: 1001, Client: "c-1", Currency: "USD", Digits: 2, CreatedAt: noon, UpdatedAt: noon},
		{Server: "main", Identity: "Example-Live", Login: 2002, Client: "c-2", Currency: "EUR", Digits: 3, CreatedAt: noon, UpdatedAt: noon},
	} {
		b.accounts[accountKey(a.Server, a.Login)] = a
	}
	p := &portal{t: t, book: b, seen: &witness{}}
	p.api = p.restart(nil)
	return p
}

func (p *portal) config() Config {
	return Config{
		Deposits: p.book, Accounts: p.book, Keys: testKeys(), DepositLife: time.Hour, Rate: Rate{1000, 100_000},
		DayLimit: func(currency string) (credit.Amount, bool) {
			a, ok := p.book.rules.DayLimits[currency]
			return a, ok
		},
		PaidExponent: func(provider, currency string) (int, bool) {
			e, ok := map[string]int{"USD": 2, "EUR": 2, "JPY": 0, "CHF": 2}[currency]
			return e, ok && provider == "stripe-eu"
		},
		Now:      func() time.Time { return noon },
		Rand:     &lockedRand{src: rand.NewChaCha8([32]byte{1})},
		Observer: p.seen,
	}
}

// restart makes an API over the same book, with a changed configuration.
func (p *portal) restart(change func(*Config)) *API {
	p.t.Helper()
	cfg := p.config()
	if change != nil {
		change(&cfg)
	}
	a, err := New(cfg)
	if err != nil {
		p.t.Fatal(err)
	}
	return a
}

// call is one request; the zero parts have sensible values.
type call struct {
	method, path, key, body string
	header                  map[string]string // "" removes
}

func (c call) request() *http.Request {
	var body io.Reader
	if c.body != "" {
		body = strings.NewReader(c.body)
	}
	r := httptest.NewRequest(c.method, c.path, body)
	if c.key != "" {
		r.Header.Set("Authorization", "Bearer "+c.key)
	}
	if c.body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for name, value := range c.header {
		if value == "" {
			r.Header.Del(name)
			continue
		}
		r.Header.Set(name, value)
	}
	return r
}

// do makes the request and sees that the route's table names what it is answered with.
func (p *portal) do(c call) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	p.api.ServeHTTP(w, c.request())
	if p.book.fail == nil { // what a broken store leads to is in no contract
		readContract(p.t).holds(p.t, c.request(), w)
	}
	return w
}

// post makes a deposit request with an idempotency key.
func post(idem, body string) call {
	return call{method: http.MethodPost, path: "/v1/deposits", key: payKey, body: body, header: map[string]string{"Idempotency-Key": idem}}
}

const plainDeposit = `{"client":"c-1","server":"main","login":"1001","provider":"stripe-eu",
	"paid":{"amount":"500.00","currency":"USD"},"credited":{"amount":"500.00","currency":"USD"}}`

const convertedDeposit = `{"client":"c-1","server":"main","login":"1001","provider":"stripe-eu",
	"paid":{"amount":"100.00","currency":"EUR"},"credited":{"amount":"108.50","currency":"USD"},
	"rate":{"value":"1.0850","source":"ecb","at":"2026-01-15T11:59:00Z"}}`

func readProblem(t testing.TB, w *httptest.ResponseRecorder) document {
	t.Helper()
	if got := w.Header().Get("Content-Type"); got != "application/problem+json" {
		t.Fatalf("content type %q of status %d, want a problem; body %s", got, w.Code, w.Body)
	}
	var d document
	if err := json.Unmarshal(w.Body.Bytes(), &d); err != nil {
		t.Fatalf("the problem is not JSON: %v", err)
	}
	if d.Status != w.Code || d.Type != "/docs/problems/"+d.Code || d.Title == "" || d.Detail == "" {
		t.Fatalf("status %d with an incomplete problem %+v", w.Code, d)
	}
	if d.Instance == "" || d.Instance != w.Header().Get("X-Request-ID") {
		t.Fatalf("instance %q is not the request id %q", d.Instance, w.Header().Get("X-Request-ID"))
	}
	return d
}

func wantProblem(t testing.TB, w *httptest.ResponseRecorder, status int, code string) document {
	t.Helper()
	d := readProblem(t, w)
	if d.Status != status || d.Code != code {
		t.Fatalf("got %d %s (%s), want %d %s", d.Status, d.Code, d.Detail, status, code)
	}
	return d
}
