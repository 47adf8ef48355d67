package api

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"creditonce/credit"
)

const oneCode = "0123456789012345678901"

func (p *portal) made(t testing.TB) {
	t.Helper()
	if w := p.do(post("k", add(`"code":"`+oneCode+`"`))); w.Code != http.StatusCreated {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
}

// paid makes the deposit taken by a row.
func (p *portal) paid(row credit.Credit) {
	d := p.book.deposits[oneCode]
	d.Credit = row.ID
	p.book.deposits[oneCode] = d
	p.book.rows[oneCode] = &row
}

func TestStoryShowsTheCreditAndItsHistory(t *testing.T) {
	t.Parallel()
	p := setup(t)
	p.made(t)
	path := "/v1/deposits/" + oneCode + "/credit"
	if w := p.do(get(pageKey, path)); !strings.Contains(w.Body.String(), `"credit":null,"history":[],"further":[]`) {
		t.Fatalf("before payment: %d %s", w.Code, w.Body)
	}
	row := credit.Credit{
		ID: 9007199254740993, Kind: credit.KindDeposit, State: credit.Held, Holds: []credit.Hold{credit.HoldLimit, credit.HoldOwnership},
		Unit: credit.Unit{ProviderKind: "stripe", Account: "acct_hidden", Payment: "pi_1"}, Provider: "stripe-eu", Paid: amount(t, "500.00", "USD", 2), PaidAt: noon,
		Deposit: oneCode, Client: "c-1", Server: "main", Login: 18446744073709551615, Amount: amount(t, "500.00", "USD", 2), Reference: "dep:ABC",
		Token: "claim-token", Ticket: 9007199254740995, Attempt: 2, Head: "head-digest", CreatedAt: noon, UpdatedAt: noon,
	}
	p.paid(row)
	p.book.history[oneCode] = []credit.Entry{
		{Seq: 1, At: noon, Actor: "stripe-eu", Move: "born", To: credit.Pending, Reason: "all checks passed", Evidence: &credit.Evidence{Event: 77, Process: "proc-hidden"}, Previous: "digest-hidden"},
		{Seq: 2, At: noon.Add(time.Second), Actor: "api/own", Move: "held", From: credit.Pending, To: credit.Held, Reason: `the login changed from client "c-1", USD to client "c-2", USD`},
	}
	second := row
	second.ID, second.Holds = 2, []credit.Hold{credit.HoldSecondPart}
	p.book.further[oneCode] = []credit.Credit{second}
	w := p.do(get(pageKey, path))
	for _, want := range []string{
		`"id":"9007199254740993"`, `"login":"18446744073709551615"`, `"ticket":"9007199254740995"`, `"payment":"pi_1"`,
		`{"code":"limit","text":"it takes the login over its limit of the UTC day"}`,
		`"limit":{"name":"per_login_day","most":{"amount":"50000.00","currency":"USD","minor":"5000000","exponent":2}}`,
		`{"at":"2026-01-15T12:00:00Z","move":"born","from":"","to":"pending","reason":"all checks passed"}`,
		`{"at":"2026-01-15T12:00:01Z","move":"held","from":"pending","to":"held","reason":"the login's registration changed"}`,
		`"further":[{"id":"2"`,
	} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("lacks %s:\n%s", want, w.Body)
		}
	}
	for _, hidden := range []string{"hidden", "claim-token", "head-digest", "c-2", "evidence", "77"} {
		if strings.Contains(w.Body.String(), hidden) {
			t.Errorf("shows %q:\n%s", hidden, w.Body)
		}
	}
	var story storyBody
	if err := json.Unmarshal(w.Body.Bytes(), &story); err != nil || story.Further[0].Limit != nil {
		t.Errorf("%v: a limit on a credit that none holds: %+v", err, story.Further)
	}
	wantProblem(t, p.do(get(pageKey, "/v1/deposits/9999999999999999999999/credit")), http.StatusNotFound, "not_found")
	wantProblem(t, p.do(get(pageKey, "/v1/deposits/short/credit")), http.StatusNotFound, "not_found")
}

// A hold that the domain gains needs its words here.
func TestEveryHoldHasItsOwnWords(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "../../credit/row.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Names) != 1 || !strings.HasPrefix(spec.Names[0].Name, "Hold") || len(spec.Values) != 1 {
			return true
		}
		value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		text := holdText(credit.Hold(value))
		if prior, ok := said[text]; ok || text == holdText("") {
			t.Errorf("hold %q: no words of its own (%q, %q)", value, text, prior)
		}
		said[text] = value
		return true
	})
	if len(said) < 19 {
		t.Errorf("%d holds found", len(said))
	}
}

func TestETag_SavesTheWay(t *testing.T) {
	t.Parallel()
	p := setup(t)
	p.made(t)
	for _, tc := range []struct{ key, path string }{
		{pageKey, "/v1/deposits/" + oneCode}, {pageKey, "/v1/deposits/" + oneCode + "/credit"}, {lookKey, "/v1/servers/main/accounts/1001"},
	} {
		first := p.do(get(tc.key, tc.path))
		tag := first.Header().Get("ETag")
		if len(tag) != 24 || tag[0] != '"' || first.Header().Get("Cache-Control") != "no-store" {
			t.Fatalf("%s: ETag %q", tc.path, tag)
		}
		for header, want := range map[string]int{
			tag: 304, "W/" + tag: 304, "*": 304, `"other", ` + tag: 304, `"other"`: 200, strings.Trim(tag, `"`): 200, "": 200,
		} {
			w := p.do(call{method: http.MethodGet, path: tc.path, key: tc.key, header: map[string]string{"If-None-Match": header}})
			if w.Code != want || w.Header().Get("ETag") != tag || (want == 304) != (w.Body.Len() == 0) {
				t.Errorf("%s with %s: %d %q, ETag %q", tc.path, header, w.Code, w.Body, w.Header().Get("ETag"))
			}
		}
	}
	before := p.do(get(pageKey, "/v1/deposits/"+oneCode)).Header().Get("ETag")
	p.paid(credit.Credit{ID: 1, State: credit.Pending})
	if after := p.do(get(pageKey, "/v1/deposits/"+oneCode)).Header().Get("ETag"); after == before {
		t.Error("the state changed and the ETag did not")
	}
}

func closing(code, key string) call {
	return call{method: http.MethodDelete, path: "/v1/deposits/" + code, key: key}
}

func TestDepositIsClosedOnce(t *testing.T) {
	t.Parallel()
	p := setup(t)
	p.made(t)
	for range 2 {
		w := p.do(closing(oneCode, payKey))
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"state":"closed"`) || !strings.Contains(w.Body.String(), `"closed_at":"2026-01-15T12:00:00Z"`) {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		p.book.now = noon.Add(time.Minute)
	}
	if _, writes := p.book.counts(); writes != 2 {
		t.Errorf("%d writes, want the making and one closing", writes)
	}
	if d := p.book.deposits[oneCode]; d.ClosedBy != "pay" {
		t.Errorf("closed by %q", d.ClosedBy)
	}
	wantProblem(t, p.do(closing("9999999999999999999999", payKey)), http.StatusNotFound, "not_found")
	wantProblem(t, p.do(closing("short", payKey)), http.StatusNotFound, "not_found")
}

func TestPaidDeposit_IsNotClosed(t *testing.T) {
	t.Parallel()
	p := setup(t)
	p.made(t)
	p.paid(credit.Credit{ID: 1, State: credit.Pending})
	wantProblem(t, p.do(closing(oneCode, payKey)), http.StatusConflict, "deposit_paid")
	if d := p.book.deposits[oneCode]; !d.ClosedAt.IsZero() {
		t.Error("closed all the same")
	}
}

func TestExpiredDeposit_IsClosedToo(t *testing.T) {
	t.Parallel()
	p := setup(t)
	p.made(t)
	p.book.now = noon.Add(2 * time.Hour)
	p.api = p.restart(func(c *Config) { c.Now = func() time.Time { return noon.Add(2 * time.Hour) } })
	if w := p.do(get(pageKey, "/v1/deposits/"+oneCode)); !strings.Contains(w.Body.String(), `"state":"expired"`) {
		t.Fatalf("%s", w.Body)
	}
	if w := p.do(closing(oneCode, payKey)); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"state":"closed"`) {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
}

func dry(idem, body string) call {
	c := post(idem, body)
	c.path += "?dry_run=true"
	return c
}

func TestDryRun_ChecksEverythingAndWritesNothing(t *testing.T) {
	t.Parallel()
	p := setup(t)
	for _, idem := range []string{"", "k"} {
		w := p.do(dry(idem, plainDeposit))
		if w.Code != http.StatusOK || !strings.HasSuffix(w.Body.String(), `,"dry_run":true}`) || !strings.Contains(w.Body.String(), `"state":"open"`) {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	if _, writes := p.book.counts(); writes != 0 || len(p.book.answers) != 0 {
		t.Fatalf("%d writes, %d answers kept", writes, len(p.book.answers))
	}
	wantProblem(t, p.do(dry("", swap(`"login":"1001"`, `"login":"7"`))), http.StatusUnprocessableEntity, "unknown_account")
	wantProblem(t, p.do(dry("", swap(`"amount":"500.00","currency":"USD"},"credited":{"amount":"500.00"`, `"amount":"10000.01","currency":"USD"},"credited":{"amount":"10000.01"`))),
		http.StatusUnprocessableEntity, "limit_per_credit")
	wantProblem(t, p.do(dry("\x01", plainDeposit)), http.StatusBadRequest, "idempotency_key_bad")
	c := post("", plainDeposit)
	c.path += "?dry_run=false"
	wantProblem(t, p.do(c), http.StatusBadRequest, "idempotency_key_missing")
	c.path = "/v1/deposits?dry_run=1"
	wantProblem(t, p.do(c), http.StatusBadRequest, "invalid_request")
	if w := p.do(post("k", plainDeposit)); w.Code != http.StatusCreated || strings.Contains(w.Body.String(), "dry_run") {
		t.Fatalf("the key is taken: %d %s", w.Code, w.Body)
	}
	if w := p.do(dry("k", strings.ReplaceAll(plainDeposit, "500.00", "400.00"))); w.Code != http.StatusOK {
		t.Fatalf("a dry run beside a used key: %d %s", w.Code, w.Body)
	}
}

func TestDepositOverTheDay_SaysSoWhenItIsMade(t *testing.T) {
	t.Parallel()
	p := setup(t)
	p.book.dayTotal = amount(t, "49500.00", "USD", 2)
	if w := p.do(dry("", plainDeposit)); strings.Contains(w.Body.String(), "warnings") {
		t.Errorf("exactly at the limit: %s", w.Body)
	}
	p.book.dayTotal = amount(t, "49500.01", "USD", 2)
	for _, c := range []call{dry("", plainDeposit), post("k", plainDeposit)} {
		if w := p.do(c); !strings.Contains(w.Body.String(), `"warnings":[{"code":"per_login_day"`) {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
}
