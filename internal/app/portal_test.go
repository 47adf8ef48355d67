package app

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"pgregory.net/rapid"

	"creditonce/credit"
	"creditonce/internal/api"
	"creditonce/store"
)

// The keys of these tests.
const (
	portalKey = "co_portal" // deposits
	ownerKey  = "co_owner"  // accounts
)

// counter is the portal's API over a real store, without lanes: nothing moves but what a test asks for.
type counter struct {
	t     testing.TB
	path  string
	store *store.DB
	api   http.Handler
	now   *atomic.Int64 // seconds since noon
	sent  int

	buffer []byte
}

var crcTable = crc32.MakeTable(crc32.Castagnoli)

var noon = time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)

// stopped is a clock that stands where its test puts it.
type stopped struct{ after *atomic.Int64 }

func (c stopped) Now() time.Time      { return noon.Add(time.Duration(c.after.Load()) * time.Second) }
func (c stopped) Boot() time.Duration { return time.Duration(c.after.Load()) * time.Second }
func (c stopped) Wait(ctx context.Context, _ time.Duration, _ <-chan struct{}) error {
	<-ctx.Done()
	return ctx.Err()
}

func money(t testing.TB, text string) credit.Amount {
	t.Helper()
	a, err := credit.ParseAmount(text, "USD", 2)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func newDesk(t testing.TB, dir string) *counter {
	t.Helper()
	d := &counter{t: t, path: filepath.Join(dir, "store.db"), now: new(atomic.Int64), buffer: make([]byte, 1<<20)}
	var err error
	d.store, err = store.Open(d.path, store.Options{UnsafeNoSync: true, New: credit.Settings{StoreID: "s", Environment: "test", Mode: credit.ModeLive, CreatedAt: noon}})
	if err != nil {
		t.Fatal(err)
	}
	rules := credit.DepositRules{
		PerCredit: map[string]credit.Amount{"USD": money(t, "1000.00")}, Identities: map[string]string{"main": "Broker-Test"},
		Providers: []string{"stripe"}, LongestLife: 72 * time.Hour,
		IntakeRules: credit.IntakeRules{HeldGrace: time.Minute, DayLimits: map[string]credit.Amount{"USD": money(t, "1500.00")}},
	}
	clock, seen := stopped{d.now}, &observer{log: zerolog.Nop()}
	book := &deposits{store: d.store, rules: rules, clock: clock, process: credit.Process{ID: "p", At: noon}, observer: seen}
	d.api, err = api.New(api.Config{
		Deposits: book, DayLimit: book.dayLimit, Rate: api.Rate{PerSecond: 1000, Burst: 100000},
		Accounts: &accounts{store: d.store, identities: rules.Identities, currencies: map[string]map[string]int{"main": {"USD": 2}}, clock: clock, observer: seen},
		Keys: []api.Key{
			{Name: "portal", SHA256: sha256.Sum256([]byte(portalKey)), Scopes: []string{api.ScopeDepositsRead, api.ScopeDepositsWrite}},
			{Name: "owner", SHA256: sha256.Sum256([]byte(ownerKey)), Scopes: []string{api.ScopeAccountsRead, api.ScopeAccountsWrite}},
		},
		PaidExponent: func(_, currency string) (int, bool) { return 2, currency == "USD" },
		DepositLife:  time.Hour, Now: clock.Now, Rand: rand.Reader, Observer: seen,
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// close wants a store that verify finds nothing in.
func (d *counter) close() {
	d.t.Helper()
	if report, err := d.store.Verify(context.Background(), nil); err != nil || !report.Clean() {
		d.t.Errorf("verify: %v %v", report, err)
	}
	if err := d.store.Close(context.Background()); err != nil {
		d.t.Error(err)
	}
}

func (d *counter) do(method, path, key, idem, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+key)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if idem != "" {
		r.Header.Set("Idempotency-Key", idem)
	}
	w := httptest.NewRecorder()
	d.api.ServeHTTP(w, r)
	return w
}

// must makes a request that succeeds.
func (d *counter) must(method, path, key, idem, body string) string {
	d.t.Helper()
	w := d.do(method, path, key, idem, body)
	if w.Code/100 != 2 {
		d.t.Fatalf("%s %s: %d %s", method, path, w.Code, w.Body)
	}
	return w.Body.String()
}

func (d *counter) account(client string) {
	d.t.Helper()
	d.must(http.MethodPut, "/v1/servers/main/accounts/1001", ownerKey, "", `{"client":"`+client+`","currency":"USD","digits":2}`)
}

func wanted(code, amount string) string {
	return fmt.Sprintf(`{"client":"c-1","server":"main","login":"1001","provider":"stripe","code":%q,
		"paid":{"amount":%q,"currency":"USD"},"credited":{"amount":%[2]q,"currency":"USD"}}`, code, amount)
}

// pay lets a payment arrive that carries the code.
func (d *counter) pay(code, amount string) credit.Credit {
	d.t.Helper()
	d.sent++
	body := fmt.Appendf(nil, "body %d", d.sent)
	sum := sha256.Sum256(body)
	now := stopped{d.now}.Now()
	receipt, err := d.store.Accept(context.Background(), credit.Event{
		Provider: "stripe", Kind: "stripe", Account: "acct_1", MessageKey: fmt.Sprint("evt_", d.sent), Body: body, Digest: hex.EncodeToString(sum[:]), ReceivedAt: now,
		Facts: credit.Facts{Type: "paid", Effect: credit.EffectPaid, Payment: fmt.Sprint("pi_", d.sent), Code: code, OccurredAt: now, Parts: []credit.Part{{Amount: money(d.t, amount)}}},
	}, credit.IntakeRules{Now: now, HeldGrace: time.Minute, DayLimits: map[string]credit.Amount{"USD": money(d.t, "1500.00")}})
	if err != nil || len(receipt.Rows) != 1 {
		d.t.Fatalf("payment: %+v, %v", receipt, err)
	}
	return receipt.Rows[0].After
}

// fingerprint is everything that the store holds: every byte of its file, and its counters.
func (d *counter) fingerprint() string {
	d.t.Helper()
	file, err := os.Open(d.path)
	if err != nil {
		d.t.Fatal(err)
	}
	defer file.Close()
	sum := crc32.New(crcTable)
	if _, err := io.CopyBuffer(struct{ io.Writer }{sum}, struct{ io.Reader }{file}, d.buffer); err != nil {
		d.t.Fatal(err)
	}
	counts, err := d.store.Counts(context.Background())
	if err != nil {
		d.t.Fatal(err)
	}
	return fmt.Sprintf("%x %+v", sum.Sum32(), counts)
}

type request struct{ method, path, key, idem, body string }

const codeA, codeB = "0123456789012345678901", "abcdefghijklmnopqrstuv"

// drawRequest makes a request to any route, good or spoiled in one place or several.
func drawRequest(t *rapid.T) request {
	pick := func(what string, of ...string) string { return rapid.SampledFrom(of).Draw(t, what) }
	code := pick("code", codeA, codeB, "short", "9999999999999999999999")
	var r request
	switch pick("call", "make", "make", "make", "close", "account", "read", "other") {
	case "make":
		r = request{http.MethodPost, "/v1/deposits" + pick("query", "", "", "", "?dry_run=true", "?dry_run=yes", "?dry_run=true&dry_run=true", "?x=1"), portalKey, pick("idem", "k1", "k2", "k3", "", "\x7f"), wanted(code, pick("amount", "500.00", "1000", "1000.01", "0", "1.001", "-5", "x"))}
		r.body = strings.Replace(r.body, pick("from", `"c-1"`, `"1001"`, `"main"`, `"stripe"`, `"USD"`, `{"client"`), pick("to", `"c-1"`, `"1001"`, `"main"`, `{"client"`, `"USD"`, `{"client"`, `{"x":1,"client"`, `{"expires_in":"999h","client"`), 1)
	case "close":
		r = request{http.MethodDelete, "/v1/deposits/" + code + pick("query", "", "", "?force=true"), portalKey, "", ""}
	case "account":
		r = request{http.MethodPut, "/v1/servers/" + pick("server", "main", "main", "backup", "Main") + "/accounts/" + pick("login", "1001", "1001", "1002", "0", "x"), ownerKey, "",
			fmt.Sprintf(`{"client":%q,"currency":%q,"digits":%s}`, pick("client", "c-1", "c-1", "c-2", ""), pick("currency", "USD", "USD", "EUR", "usd"), pick("digits", "2", "2", "3", `"2"`))}
	case "read":
		r = request{http.MethodGet, pick("path", "/v1/deposits/"+code, "/v1/deposits/"+code+"/credit", "/v1/deposits?client=c-1", "/v1/credits?state=held", "/v1/deposits?state=x", "/v1/credits?cursor=AAAA", "/docs/problems"), portalKey, "", ""}
	default:
		r = request{pick("method", "PATCH", "POST", "DELETE", "PUT"), pick("path", "/v1/credits", "/v1/accounts", "/v1/deposits/"+code+"/credit", "/", "/v2/deposits"), portalKey, "k9", "{}"}
	}
	if pick("key", "right", "right", "right", "right", "wrong") == "wrong" {
		r.key = pick("other key", portalKey, ownerKey, "co_none", "")
	}
	return r
}

// Whatever is refused, tried out or only read has changed no byte of the store; what is made, is made once.
func TestRefusedRequests_LeaveTheStoreUnchanged(t *testing.T) {
	t.Parallel()
	var changed, kept atomic.Int64
	rapid.Check(t, func(rt *rapid.T) {
		d := newDesk(t, t.TempDir())
		d.account("c-1")
		d.must(http.MethodPost, "/v1/deposits", portalKey, "k0", wanted(codeB, "500.00"))
		if rapid.Bool().Draw(rt, "paid") {
			d.pay(codeB, "500.00")
		}
		before := d.fingerprint()
		for range rapid.IntRange(1, 12).Draw(rt, "requests") {
			r := drawRequest(rt)
			w := d.do(r.method, r.path, r.key, r.idem, r.body)
			if w.Code >= 500 {
				rt.Fatalf("%+v: %d %s", r, w.Code, w.Body)
			}
			after := d.fingerprint()
			same := after == before
			before = after
			mayChange := w.Code < 300 && r.method != http.MethodGet && !strings.Contains(r.path, "dry_run=true") && w.Header().Get("Idempotency-Replayed") == ""
			if !same && !mayChange {
				rt.Fatalf("%+v is answered %d %s and has changed the store", r, w.Code, w.Body)
			}
			if same {
				kept.Add(1)
			} else {
				changed.Add(1)
			}
		}
		d.close()
	})
	if !t.Failed() && (changed.Load() == 0 || kept.Load() == 0) {
		t.Errorf("%d requests changed the store, %d did not: the generator misses one side", changed.Load(), kept.Load())
	}
}

func (d *counter) story(code string) (s struct {
	Deposit struct{ State string }
	Credit  struct {
		State string
		Holds []struct{ Code string }
		Limit *struct {
			Name string
			Most struct{ Amount string }
		}
	}
	History []struct{ Move, From, To, Reason string }
}) {
	d.t.Helper()
	if err := json.Unmarshal([]byte(d.must(http.MethodGet, "/v1/deposits/"+code+"/credit", portalKey, "", "")), &s); err != nil {
		d.t.Fatal(err)
	}
	return s
}

// The rules of design §5 for a login that changes its client, through HTTP.
func TestLoginThatChangesItsClient_StopsWhatWaits(t *testing.T) {
	t.Parallel()
	d := newDesk(t, t.TempDir())
	d.account("c-1")
	d.must(http.MethodPost, "/v1/deposits", portalKey, "k1", wanted(codeA, "500.00"))
	d.must(http.MethodPost, "/v1/deposits", portalKey, "k2", wanted(codeB, "500.00"))
	d.pay(codeA, "500.00")
	if s := d.story(codeA); s.Credit.State != "pending" || s.Deposit.State != "paid" {
		t.Fatalf("before: %+v", s)
	}
	d.account("c-2")
	s := d.story(codeA)
	if s.Credit.State != "held" || len(s.Credit.Holds) != 1 || s.Credit.Holds[0].Code != "ownership" || s.Deposit.State != "review" {
		t.Errorf("a pending credit: %+v", s)
	}
	if last := s.History[len(s.History)-1]; last.From != "pending" || last.To != "held" || strings.Contains(last.Reason, "c-2") {
		t.Errorf("its history: %+v", s.History)
	}
	d.pay(codeB, "500.00")
	if s := d.story(codeB); s.Credit.State != "held" || s.Credit.Holds[0].Code != "ownership" {
		t.Errorf("an open deposit, paid later: %+v", s)
	}
	if w := d.do(http.MethodPost, "/v1/deposits", portalKey, "k3", wanted("9999999999999999999999", "5.00")); !strings.Contains(w.Body.String(), "foreign_login") {
		t.Errorf("a new deposit: %d %s", w.Code, w.Body)
	}
	d.account("c-1") // back again: what is held stays held, a person decides
	if s := d.story(codeA); s.Credit.State != "held" {
		t.Errorf("after the way back: %+v", s)
	}
	d.close()
}

// What is over the day is said when the deposit is made, and shown on the credit that it holds.
func TestDayLimit_IsToldBeforeAndShownAfter(t *testing.T) {
	t.Parallel()
	d := newDesk(t, t.TempDir())
	d.account("c-1")
	d.must(http.MethodPost, "/v1/deposits", portalKey, "k1", wanted(codeA, "1000.00"))
	if w := d.do(http.MethodPost, "/v1/deposits", portalKey, "k9", wanted(codeB, "1000.01")); !strings.Contains(w.Body.String(), `"code":"limit_per_credit","detail":"one deposit may credit at most 1000.00 USD"`) {
		t.Errorf("over the limit of one credit: %d %s", w.Code, w.Body)
	}
	d.pay(codeA, "1000.00")
	if answer := d.must(http.MethodPost, "/v1/deposits", portalKey, "k2", wanted(codeB, "600.00")); !strings.Contains(answer, `"warnings":[{"code":"per_login_day"`) {
		t.Errorf("no warning: %s", answer)
	}
	d.pay(codeB, "600.00")
	s := d.story(codeB)
	if s.Credit.State != "held" || s.Credit.Limit == nil || s.Credit.Limit.Name != "per_login_day" || s.Credit.Limit.Most.Amount != "1500.00" {
		t.Errorf("the held credit: %+v", s)
	}
	if s := d.story(codeA); s.Credit.Limit != nil {
		t.Errorf("a limit on a credit that none holds: %+v", s)
	}
	d.close()
}

// A closed deposit keeps what the provider dates later, and only that.
func TestPaymentAfterClosing_IsHeld(t *testing.T) {
	t.Parallel()
	d := newDesk(t, t.TempDir())
	d.account("c-1")
	d.must(http.MethodPost, "/v1/deposits", portalKey, "k1", wanted(codeA, "500.00"))
	d.must(http.MethodDelete, "/v1/deposits/"+codeA, portalKey, "", "")
	d.now.Add(60)
	if again := d.must(http.MethodDelete, "/v1/deposits/"+codeA, portalKey, "", ""); !strings.Contains(again, `"closed_at":"2026-01-15T12:00:00Z"`) {
		t.Errorf("closed again: %s", again)
	}
	d.pay(codeA, "500.00")
	if s := d.story(codeA); s.Credit.State != "held" || s.Credit.Holds[0].Code != "closed" {
		t.Errorf("%+v", s)
	}
	if w := d.do(http.MethodDelete, "/v1/deposits/"+codeA, portalKey, "", ""); w.Code != http.StatusConflict || !strings.Contains(w.Body.String(), "deposit_paid") {
		t.Errorf("closed after payment: %d %s", w.Code, w.Body)
	}
	d.close()
}
