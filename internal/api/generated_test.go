package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"creditonce/credit"
)

// canary stands in generated values that a caller may consider secret; no answer may repeat it.
const canary = "CANARY"

// member is one field of a request: good values, and others that are refused somewhere.
type member struct {
	name string
	good []string
	bad  []string
}

// wrongValues are refused for every field.
var wrongValues = []string{`"` + canary + ` "`, `""`, `null`, `1`, `1.5`, `-0`, `true`, `[]`, `{}`, `"` + canary + `\n"`}

// scenes are the two kinds of good requests; drawDeposit spoils them.
func scenes() [][]member {
	money := func(amount, currency string) []string {
		return []string{fmt.Sprintf(`{"amount":%q,"currency":%q}`, amount, currency), fmt.Sprintf(`{"currency":%q,"amount":%q}`, currency, amount)}
	}
	badMoney := []string{`{"amount":"500.001","currency":"USD"}`, `{"amount":"-1","currency":"USD"}`, `{"amount":"0.00","currency":"USD"}`,
		`{"amount":500.00,"currency":"USD"}`, `{"amount":"500.00","currency":"JPY"}`, `{"amount":"500.00","currency":"XAU"}`,
		`{"amount":"99999999999999","currency":"USD"}`, `{"amount":"1","Amount":"1","currency":"USD"}`, `{"amount":"` + canary + `","currency":"USD"}`}
	rest := []member{
		{"client", []string{`"c-1"`}, []string{`"c-2"`, `"nobody"`}},
		{"server", []string{`"main"`}, []string{`"backup"`, `"Main"`}},
		{"login", []string{`"1001"`}, []string{`"2002"`, `"3"`, `"01001"`, `1001`}},
		{"provider", []string{`"stripe-eu"`}, []string{`"adyen"`}},
	}
	rate := member{"rate", []string{`{"value":"1.0850","source":"ecb","at":"2026-01-15T11:59:00Z"}`},
		[]string{`{"value":"1.0850","source":"ecb","at":"2026-01-15T12:59:00Z"}`, `{"value":"9","source":"ecb","at":"2026-01-15T11:59:00Z"}`, `{"value":"1.0850"}`}}
	return [][]member{
		append([]member{{"paid", money("500.00", "USD"), badMoney}, {"credited", money("500", "USD"), badMoney}}, rest...),
		append([]member{{"paid", money("100.0", "EUR"), badMoney}, {"credited", money("108.50", "USD"), badMoney}, rate}, rest...),
	}
}

// drawDeposit generates a request of which none, one or several fields are spoiled.
func drawDeposit(t *rapid.T) string {
	spoil := func(name string, oneIn int) bool { return rapid.IntRange(1, oneIn).Draw(t, name) == 1 }
	oneIn := rapid.SampledFrom([]int{4, 20, 100}).Draw(t, "spoil one in")
	var members []string
	for _, m := range rapid.SampledFrom(scenes()).Draw(t, "scene") {
		value := rapid.SampledFrom(m.good).Draw(t, m.name)
		if spoil(m.name+" is spoiled", oneIn) {
			value = rapid.SampledFrom(append(m.bad, wrongValues...)).Draw(t, m.name+" spoiled")
		}
		if !spoil(m.name+" is missing", 2*oneIn) {
			members = append(members, fmt.Sprintf("%q:%s", m.name, value))
		}
	}
	for _, extra := range []string{`"code":"0123456789012345678901"`, `"expires_in":"30m"`} {
		if spoil("with "+extra, 3) {
			members = append(members, extra)
		}
	}
	for _, extra := range []string{`"code":"short"`, `"expires_in":"100h"`, `"expires_at":"2026-01-15T13:00:00Z"`,
		`"` + canary + ` name":"` + canary + `"`, `"Client":"c-1"`, `"dry_run":true`, `"client":"c-1"`} {
		if spoil("with "+extra, 4*oneIn) {
			members = append(members, extra)
		}
	}
	body := "{" + strings.Join(rapid.Permutation(members).Draw(t, "order"), ",") + "}"
	if spoil("cut", 2*oneIn) {
		body = body[:rapid.IntRange(0, len(body)-1).Draw(t, "at")]
	}
	return body
}

// checkAnswer holds for every answer to every deposit request.
func checkAnswer(t testing.TB, p *portal, body string) {
	t.Helper()
	w := p.do(post("k", body))
	_, writes := p.book.counts()
	if strings.Contains(w.Body.String(), canary) {
		t.Fatalf("the answer repeats the request: %s", w.Body)
	}
	if w.Code != http.StatusCreated {
		d := readProblem(t, w)
		if d.Status < 400 || d.Status >= 500 {
			t.Fatalf("%s is answered %d", body, d.Status)
		}
		if writes != 0 || len(p.book.deposits) != 0 {
			t.Fatalf("refused with %s, and %d writes", d.Code, writes)
		}
		return
	}
	if writes != 1 || len(p.book.deposits) != 1 {
		t.Fatalf("made with %d writes and %d deposits", writes, len(p.book.deposits))
	}
	for _, d := range p.book.deposits {
		account := p.book.accounts[accountKey(d.Server, d.Login)]
		if account.Client != d.Client || account.Currency != d.Credited.Currency() || account.Digits != d.Credited.Exponent() ||
			d.Paid.Sign() <= 0 || d.Credited.Sign() <= 0 || !credit.ValidCode(d.Code) || !d.ExpiresAt.After(noon) {
			t.Fatalf("a deposit that must not be: %+v", d)
		}
	}
	again := p.do(post("k", body))
	if again.Code != w.Code || !bytes.Equal(again.Body.Bytes(), w.Body.Bytes()) {
		t.Fatalf("the repetition is answered %d %s", again.Code, again.Body)
	}
	if _, writes := p.book.counts(); writes != 1 {
		t.Fatalf("the repetition wrote")
	}
}

func TestGeneratedRequests_WriteOnceOrNothing(t *testing.T) {
	t.Parallel()
	made, refused := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		p := setup(t)
		body := drawDeposit(rt)
		checkAnswer(asTB{t, rt}, p, body)
		if len(p.book.deposits) == 1 {
			made++
		} else {
			refused++
		}
	})
	if !t.Failed() && (made == 0 || refused == 0) {
		t.Errorf("%d made, %d refused: the generator misses one side", made, refused)
	}
}

// asTB lets rapid shrink a failure that a helper for testing.TB reports.
type asTB struct {
	testing.TB
	rt *rapid.T
}

func (a asTB) Helper()                        {}
func (a asTB) Fatal(args ...any)              { a.rt.Fatal(args...) }
func (a asTB) Fatalf(form string, arg ...any) { a.rt.Fatalf(form, arg...) }

func FuzzDepositRequest(f *testing.F) {
	for _, seed := range []string{
		plainDeposit, convertedDeposit, "", "{}", "[]", "null", `{"a":{"a":{}}}`, `{"\u017ferver":1,"server":2}`, add(`"Client":1`),
		plainDeposit + "{}", strings.Repeat(`{"a":`, 20), `{"login":1e400}`, `{"client":"\ud800"}`, "\xff", add(`"expires_in":"999999h"`),
		add(`"rate":{"value":"1","source":"s","at":"2000-01-01T00:00:00+14:00"}`),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		if strings.Contains(body, canary) {
			t.Skip("the canary is this test's own")
		}
		checkAnswer(t, setup(t), body)
	})
}

// Whatever the strict reader takes, encoding/json reads in the same way: no second reader sees another deposit.
func FuzzStrictJSON(f *testing.F) {
	for _, seed := range []string{plainDeposit, convertedDeposit, `{"a":[1,{"b":null}],"c":"\u0041"}`, `{"a":1,"A":2}`, `{} `, `{"a":"\ud83d\ude00"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		root, err := parseObject(body)
		if err != nil {
			return
		}
		dec := json.NewDecoder(bytes.NewReader(body))
		dec.UseNumber()
		var loose map[string]any
		if err := dec.Decode(&loose); err != nil {
			t.Fatalf("taken, and encoding/json refuses it: %v", err)
		}
		got, _ := json.Marshal(plain(root))
		want, _ := json.Marshal(loose)
		if !bytes.Equal(got, want) {
			t.Fatalf("read as %s, encoding/json reads %s", got, want)
		}
	})
}

func plain(v any) any {
	switch v := v.(type) {
	case *object:
		out := map[string]any{}
		for name, value := range v.values {
			out[name] = plain(value)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = plain(v[i])
		}
		return out
	default:
		return v
	}
}
