package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"creditonce/credit"
)

func TestDepositIsMadeAndRead(t *testing.T) {
	t.Parallel()
	p := setup(t)
	w := p.do(post("order-1", plainDeposit))
	if w.Code != http.StatusCreated {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	var made depositBody
	if err := json.Unmarshal(w.Body.Bytes(), &made); err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`^[A-Za-z0-9_-]{22}$`).MatchString(made.Code) {
		t.Errorf("code %q, want 22 characters", made.Code)
	}
	want := `{"code":"` + made.Code + `","state":"open","server":"main","login":"1001",` +
		`"paid":{"amount":"500.00","currency":"USD","minor":"50000","exponent":2},` +
		`"credited":{"amount":"500.00","currency":"USD","minor":"50000","exponent":2},` +
		`"created_at":"2026-01-15T12:00:00Z","expires_at":"2026-01-15T13:00:00Z"}`
	if got := w.Body.String(); got != want {
		t.Errorf("answer\n%s\nwant\n%s", got, want)
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Idempotency-Replayed": "",
	} {
		if got := w.Header().Get(name); got != value {
			t.Errorf("%s: %q, want %q", name, got, value)
		}
	}
	stored := p.book.deposits[made.Code]
	if stored.Owner != "pay" || stored.Client != "c-1" || stored.Login != 1001 || stored.Provider != "stripe-eu" || stored.Identity != "Example-Live" {
		t.Errorf("stored %+v", stored)
	}
	read := p.do(call{method: http.MethodGet, path: "/v1/deposits/" + made.Code, key: pageKey})
	if read.Code != http.StatusOK || read.Body.String() != want {
		t.Errorf("read %d %s", read.Code, read.Body)
	}
	if s := p.seen.last(t); s.Route != "/v1/deposits/:code" || s.Key != "page" || s.Status != 200 || s.Code != "" || s.Err != nil {
		t.Errorf("observed %+v", s)
	}
}

func TestConvertedDepositKeepsRateSourceAndTime(t *testing.T) {
	t.Parallel()
	p := setup(t)
	body := strings.Replace(convertedDeposit, `{"client"`, `{"code":"portal-order-000000000042","expires_in":"90m","client"`, 1)
	if w := p.do(post("k", body)); w.Code != http.StatusCreated {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	d := p.book.deposits["portal-order-000000000042"]
	if d.Rate.String() != "1.0850" || d.RateFrom != "ecb" || !d.RateAt.Equal(noon.Add(-time.Minute)) {
		t.Errorf("rate %s of %s at %s", d.Rate, d.RateFrom, d.RateAt)
	}
	if !d.ExpiresAt.Equal(noon.Add(90*time.Minute)) || d.Paid.String() != "100.00 EUR" || d.Credited.String() != "108.50 USD" {
		t.Errorf("deposit %+v", d)
	}
}

func TestAmountsTakeTheExponentsOfProviderAndAccount(t *testing.T) {
	t.Parallel()
	p := setup(t)
	body := `{"code":"0123456789012345678901","client":"c-2","server":"main","login":"2002","provider":"stripe-eu",
		"paid":{"amount":"7.5","currency":"EUR"},"credited":{"amount":"7.500","currency":"EUR"},"expires_at":"2026-01-16T13:00:00+01:00"}`
	w := p.do(post("k", body))
	if w.Code != http.StatusCreated {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	for _, want := range []string{`"paid":{"amount":"7.50","currency":"EUR","minor":"750","exponent":2}`,
		`"credited":{"amount":"7.500","currency":"EUR","minor":"7500","exponent":3}`, `"expires_at":"2026-01-16T12:00:00Z"`} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("answer %s lacks %s", w.Body, want)
		}
	}
}

func TestSameKeyAndInput_IsReplayedByteForByte(t *testing.T) {
	t.Parallel()
	p := setup(t)
	first := p.do(post("k", plainDeposit))
	variants := map[string]string{
		"same":             plainDeposit,
		"other whitespace": strings.Join(strings.Fields(plainDeposit), ""),
		"other order": `{"credited":{"currency":"USD","amount":"500.00"},"paid":{"amount":"500.00","currency":"USD"},
			"provider":"stripe-eu","login":"1001","server":"main","client":"c-1"}`,
		"escapes": strings.Replace(plainDeposit, "c-1", `c\u002d1`, 1),
	}
	for name, body := range variants {
		w := p.do(post("k", body))
		if w.Code != first.Code || !bytes.Equal(w.Body.Bytes(), first.Body.Bytes()) || w.Header().Get("Content-Type") != first.Header().Get("Content-Type") {
			t.Errorf("%s: %d %s, want the first answer", name, w.Code, w.Body)
		}
		if w.Header().Get("Idempotency-Replayed") != "true" || !p.seen.last(t).Replayed {
			t.Errorf("%s: not marked as a replay", name)
		}
	}
	if _, writes := p.book.counts(); writes != 1 {
		t.Errorf("%d writes, want 1", writes)
	}
}

// What a repetition is answered must not depend on what has changed since the first request.
func TestReplayOutlivesChangesOfAccountConfigurationAndTime(t *testing.T) {
	t.Parallel()
	p := setup(t)
	body := strings.Replace(plainDeposit, `{"client"`, `{"expires_at":"2026-01-15T12:30:00Z","client"`, 1)
	first := p.do(post("k", body))
	if first.Code != http.StatusCreated {
		t.Fatalf("status %d: %s", first.Code, first.Body)
	}
	account := p.book.accounts["main/1001"]
	account.Client, account.Digits = "somebody-else", 0
	p.book.accounts["main/1001"] = account
	p.book.rules.Providers = nil
	p.book.now = noon.Add(20 * time.Hour)
	p.api = p.restart(func(c *Config) {
		c.PaidExponent = func(string, string) (int, bool) { return 0, false }
		c.Now = func() time.Time { return noon.Add(20 * time.Hour) }
	})
	w := p.do(post("k", body))
	if w.Code != http.StatusCreated || !bytes.Equal(w.Body.Bytes(), first.Body.Bytes()) || w.Header().Get("Idempotency-Replayed") != "true" {
		t.Fatalf("got %d %s, want the replay of %s", w.Code, w.Body, first.Body)
	}
	delete(p.book.accounts, "main/1001")
	if w := p.do(post("k", body)); !bytes.Equal(w.Body.Bytes(), first.Body.Bytes()) {
		t.Fatalf("without the account: %d %s", w.Code, w.Body)
	}
}

func TestSameKeyOtherInput_IsRefused(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string][2]string{
		"amount":   {`"500.00","currency":"USD"},"credited":{"amount":"500.00"`, `"500.01","currency":"USD"},"credited":{"amount":"500.01"`},
		"spelling": {`"paid":{"amount":"500.00"`, `"paid":{"amount":"500.0"`},
		"expiry":   {`{"client"`, `{"expires_in":"30m","client"`},
		"code":     {`{"client"`, `{"code":"0123456789012345678901","client"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := setup(t)
			first := p.do(post("k", plainDeposit))
			other := strings.Replace(plainDeposit, edit[0], edit[1], 1)
			if other == plainDeposit {
				t.Fatal("the edit changes nothing")
			}
			wantProblem(t, p.do(post("k", other)), http.StatusUnprocessableEntity, "idempotency_key_reused")
			if again := p.do(post("k", plainDeposit)); !bytes.Equal(again.Body.Bytes(), first.Body.Bytes()) {
				t.Errorf("the first answer is gone: %s", again.Body)
			}
			if _, writes := p.book.counts(); writes != 1 {
				t.Errorf("%d writes, want 1", writes)
			}
		})
	}
}

func TestIdempotencyKeysBelongToTheirOwner(t *testing.T) {
	t.Parallel()
	p := setup(t)
	mine := p.do(post("k", plainDeposit))
	c := post("k", plainDeposit)
	c.key = otherKey
	theirs := p.do(c)
	if theirs.Code != http.StatusCreated || bytes.Equal(mine.Body.Bytes(), theirs.Body.Bytes()) || theirs.Header().Get("Idempotency-Replayed") != "" {
		t.Fatalf("another owner got %d %s", theirs.Code, theirs.Body)
	}
	if len(p.book.deposits) != 2 {
		t.Fatalf("%d deposits, want 2", len(p.book.deposits))
	}
}

func TestRefusedRequestFreesItsKey(t *testing.T) {
	t.Parallel()
	p := setup(t)
	wantProblem(t, p.do(post("k", strings.Replace(plainDeposit, "1001", "9", 1))), http.StatusUnprocessableEntity, "unknown_account")
	if w := p.do(post("k", plainDeposit)); w.Code != http.StatusCreated {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
}

func TestTwinRequests_GetOneDepositAndEqualAnswers(t *testing.T) {
	t.Parallel()
	const twins = 200
	p := setup(t)
	answers := make([]string, twins)
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range twins {
		wg.Go(func() {
			<-start
			w := p.do(post("one", plainDeposit))
			answers[i] = fmt.Sprint(w.Code, w.Body.String())
		})
	}
	close(start)
	wg.Wait()
	for _, a := range answers {
		if a != answers[0] || !strings.HasPrefix(a, "201{") {
			t.Fatalf("answers differ: %s and %s", a, answers[0])
		}
	}
	if _, writes := p.book.counts(); writes != 1 || len(p.book.deposits) != 1 {
		t.Fatalf("%d writes, %d deposits", writes, len(p.book.deposits))
	}
}

func TestReturnPageSeesTheStateAndNothingElse(t *testing.T) {
	t.Parallel()
	for state, want := range map[credit.State]string{
		credit.Pending: "paid", credit.Claimed: "crediting", credit.Unknown: "crediting", credit.Done: "credited",
		credit.Held: "review", credit.Failed: "review", credit.Cancelled: "review",
	} {
		t.Run(string(state), func(t *testing.T) {
			t.Parallel()
			p := setup(t)
			const code = "0123456789012345678901"
			p.do(post("k", strings.Replace(plainDeposit, `{"client"`, `{"code":"`+code+`","client"`, 1)))
			p.book.rows[code] = &credit.Credit{State: state, Ticket: 987654321, Reference: "R-mark-17", Token: "claim-token", Holds: []credit.Hold{credit.HoldReversal}}
			w := p.do(call{method: http.MethodGet, path: "/v1/deposits/" + code, key: pageKey})
			var got map[string]any
			if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
				t.Fatal(err)
			}
			if got["state"] != want {
				t.Errorf("state %v, want %s", got["state"], want)
			}
			if len(got) != 8 {
				t.Errorf("%d fields, want 8: %s", len(got), w.Body)
			}
			for _, hidden := range []string{"987654321", "R-mark-17", "claim-token", "reversal", "c-1", "stripe-eu"} {
				if strings.Contains(w.Body.String(), hidden) {
					t.Errorf("the page shows %q: %s", hidden, w.Body)
				}
			}
		})
	}
}

func TestExpiredDepositReadsAsExpired(t *testing.T) {
	t.Parallel()
	p := setup(t)
	const code = "0123456789012345678901"
	p.do(post("k", strings.Replace(plainDeposit, `{"client"`, `{"code":"`+code+`","client"`, 1)))
	p.api = p.restart(func(c *Config) { c.Now = func() time.Time { return noon.Add(time.Hour) } })
	if w := p.do(call{method: http.MethodGet, path: "/v1/deposits/" + code, key: pageKey}); !strings.Contains(w.Body.String(), `"state":"expired"`) {
		t.Fatalf("answer %s", w.Body)
	}
}

func TestReadingNeverWrites(t *testing.T) {
	t.Parallel()
	p := setup(t)
	p.do(post("k", strings.Replace(plainDeposit, `{"client"`, `{"code":"0123456789012345678901","client"`, 1)))
	_, before := p.book.counts()
	for _, path := range []string{"/v1/deposits/0123456789012345678901", "/v1/deposits/0123456789012345678902", "/v1/deposits/short"} {
		for range 3 {
			p.do(call{method: http.MethodGet, path: path, key: payKey})
		}
	}
	for _, path := range []string{"/v1/servers/main/accounts/1001", "/v1/servers/main/accounts/9"} {
		p.do(call{method: http.MethodGet, path: path, key: ownKey})
	}
	if _, after := p.book.counts(); after != before {
		t.Fatalf("GET wrote %d times", after-before)
	}
}

func TestUnknownDeposit_IsNotFound(t *testing.T) {
	t.Parallel()
	p := setup(t)
	for _, code := range []string{"0123456789012345678901", "short", strings.Repeat("a", 65), "%2e%2e", "a%2Fb"} {
		wantProblem(t, p.do(call{method: http.MethodGet, path: "/v1/deposits/" + code, key: pageKey}), http.StatusNotFound, "not_found")
	}
}
