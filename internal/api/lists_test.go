package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"creditonce/credit"
)

func get(key, path string) call { return call{method: http.MethodGet, path: path, key: key} }

// many makes deposits for login 1001 under the codes that it returns, in the order of the book's list.
func (p *portal) many(n int) (codes []string) {
	p.t.Helper()
	for i := range n {
		code := fmt.Sprintf("code-%018d", i)
		if w := p.do(post(code, strings.Replace(plainDeposit, `{"client"`, `{"code":"`+code+`","client"`, 1))); w.Code != http.StatusCreated {
			p.t.Fatalf("deposit %d: %d %s", i, w.Code, w.Body)
		}
		codes = append(codes, code)
	}
	return codes
}

// walk reads all pages of a list and returns the values of the field.
func (p *portal) walk(key, path, field string) (values []string, pages int) {
	p.t.Helper()
	for next := path; ; {
		w := p.do(get(key, next))
		if w.Code != http.StatusOK {
			p.t.Fatalf("%s: %d %s", next, w.Code, w.Body)
		}
		var page struct {
			Items []map[string]any
			Next  *string
		}
		if err := json.Unmarshal(w.Body.Bytes(), &page); err != nil || page.Items == nil {
			p.t.Fatalf("%s: %v: %s", next, err, w.Body)
		}
		pages++
		for _, item := range page.Items {
			values = append(values, item[field].(string))
		}
		if page.Next == nil {
			return values, pages
		}
		next = path + "&cursor=" + *page.Next
	}
}

func TestListIsReadPageByPage(t *testing.T) {
	t.Parallel()
	p := setup(t)
	codes := p.many(7)
	for limit, want := range map[int]int{1: 7, 3: 3, 7: 1, 200: 1} {
		got, pages := p.walk(pageKey, fmt.Sprintf("/v1/deposits?limit=%d", limit), "code")
		if !slices.Equal(got, codes) || pages != want {
			t.Errorf("limit %d: %d pages of %v", limit, pages, got)
		}
	}
	if got, _ := p.walk(lookKey, "/v1/accounts?limit=1", "login"); !slices.Equal(got, []string{"1001", "2002"}) {
		t.Errorf("accounts %v", got)
	}
}

// Every parameter reaches the query that the store is asked, and nothing else does.
func TestFiltersReachTheBook(t *testing.T) {
	t.Parallel()
	p := setup(t)
	span := credit.TimeRange{From: noon, To: noon.Add(time.Hour)}
	money := credit.AmountRange{Currency: "USD", Min: amount(t, "1.5", "USD", 1), Max: amount(t, "20", "USD", 0)}
	const spans = "created_from=2026-01-15T12:00:00Z&created_to=2026-01-15T14:00:00%2B01:00"
	for _, tc := range []struct {
		key, path string
		want      any
	}{
		{pageKey, "/v1/deposits?state=review&client=c-1&server=main&login=18446744073709551615&provider=stripe-eu&" + spans + "&currency=USD&amount_from=1.5&amount_to=20&limit=7",
			credit.DepositQuery{State: credit.DepositReview, Now: noon, Client: "c-1", Server: "main", Login: 18446744073709551615, Provider: "stripe-eu", Created: span, Credited: money, Limit: 7}},
		{pageKey, "/v1/deposits", credit.DepositQuery{Now: noon, Limit: 50}},
		{pageKey, "/v1/deposits?", credit.DepositQuery{Now: noon, Limit: 50}},
		{pageKey, "/v1/credits?state=unknown&client=%E5%AE%A2&" + strings.ReplaceAll(spans, "created", "updated"),
			credit.CreditQuery{State: credit.Unknown, Client: "客", Updated: span, Limit: 50}},
		{lookKey, "/v1/accounts?server=main&login=5&currency=EUR&client=c-2&limit=200&" + spans,
			credit.AccountQuery{Client: "c-2", Server: "main", Login: 5, Currency: "EUR", Created: span, Limit: 200}},
	} {
		if w := p.do(get(tc.key, tc.path)); w.Code != http.StatusOK || !strings.HasSuffix(w.Body.String(), `"next":null}`) {
			t.Fatalf("%s: %d %s", tc.path, w.Code, w.Body)
		}
		got := p.book.asked[len(p.book.asked)-1]
		if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", tc.want) {
			t.Errorf("%s asks\n%+v, want\n%+v", tc.path, got, tc.want)
		}
	}
}

func TestParameterThatIsNotUnderstood_IsRefusedByName(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]struct{ code, field, detail string }{
		"State=open":                        {"unknown_parameter", "State", "unknown_parameter"},
		"status=open":                       {"unknown_parameter", "status", "unknown_parameter"},
		canary + "%20secret=1":              {"unknown_parameter", "?", "unknown_parameter"},
		"state=open&state=open":             {"repeated_parameter", "state", "repeated_parameter"},
		"limit=5&limit=6":                   {"repeated_parameter", "limit", "repeated_parameter"},
		"state=" + canary:                   {"invalid_request", "state", "bad_choice"},
		"state=":                            {"invalid_request", "state", "bad_choice"},
		"limit=0":                           {"invalid_request", "limit", "bad_number"},
		"limit=201":                         {"invalid_request", "limit", "bad_number"},
		"limit=%2B5":                        {"invalid_request", "limit", "bad_number"},
		"login=5":                           {"invalid_request", "login", "missing_parameter"},
		"server=main&login=05":              {"invalid_request", "login", "bad_login"},
		"server=Main":                       {"invalid_request", "server", "bad_name"},
		"client=%00":                        {"invalid_request", "client", "bad_text"},
		"created_from=yesterday":            {"invalid_request", "created_from", "bad_time"},
		"created_to=2026-01-15T12:00:00":    {"invalid_request", "created_to", "bad_time"},
		"amount_from=5":                     {"invalid_request", "amount_from", "missing_parameter"},
		"currency=USD&amount_to=1e3":        {"invalid_request", "amount_to", "bad_amount"},
		"currency=usd":                      {"invalid_request", "currency", "bad_currency"},
		"cursor=%2F":                        {"invalid_request", "cursor", "bad_cursor"},
		"cursor=AAAA":                       {"bad_cursor", "cursor", "bad_cursor"},
		"cursor=" + strings.Repeat("A", 80): {"bad_cursor", "cursor", "bad_cursor"},
	} {
		t.Run(query, func(t *testing.T) {
			t.Parallel()
			p := setup(t)
			w := p.do(get(pageKey, "/v1/deposits?"+query))
			d := wantProblem(t, w, http.StatusBadRequest, want.code)
			if len(d.Errors) != 1 || d.Errors[0].Field != want.field || d.Errors[0].Code != want.detail {
				t.Errorf("errors %+v, want %s of %s", d.Errors, want.detail, want.field)
			}
			if strings.Contains(w.Body.String(), canary) {
				t.Errorf("the answer repeats the query: %s", w.Body)
			}
			if calls, _ := p.book.counts(); calls != 0 {
				t.Errorf("the book was asked %d times", calls)
			}
		})
	}
}

// A cursor fits the list and the filter that it was made for; the limit may change on the way.
func TestCursorIsBoundToListAndFilter(t *testing.T) {
	t.Parallel()
	p := setup(t)
	p.many(5)
	next := func(path string) string {
		var page struct{ Next string }
		if err := json.Unmarshal(p.do(get(payKey, path)).Body.Bytes(), &page); err != nil || page.Next == "" {
			t.Fatalf("%s: no next: %v", path, err)
		}
		return page.Next
	}
	cursor := next("/v1/deposits?client=c-1&limit=2")
	for path, ok := range map[string]bool{
		"/v1/deposits?client=c-1&limit=2":     true,
		"/v1/deposits?limit=3&client=c-1":     true,
		"/v1/deposits?client=c-1":             true,
		"/v1/deposits?":                       false,
		"/v1/deposits?client=c-2":             false,
		"/v1/deposits?client=c-1&server=main": false,
		"/v1/deposits?server=c-1":             false,
		"/v1/credits?client=c-1&limit=2":      false,
	} {
		w := p.do(get(payKey, path+"&cursor="+url.QueryEscape(cursor)))
		if ok != (w.Code == http.StatusOK) {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
		if !ok {
			wantProblem(t, w, http.StatusBadRequest, "bad_cursor")
		}
	}
	for i := range len(cursor) {
		other := []byte(cursor)
		other[i] = map[bool]byte{true: 'B', false: 'A'}[other[i] == 'A']
		wantProblem(t, p.do(get(payKey, "/v1/deposits?client=c-1&cursor="+string(other))), http.StatusBadRequest, "bad_cursor")
	}
}

func TestListedDeposit_SaysWhoseItIs(t *testing.T) {
	t.Parallel()
	p := setup(t)
	p.many(1)
	w := p.do(get(pageKey, "/v1/deposits"))
	for _, want := range []string{`"client":"c-1"`, `"provider":"stripe-eu"`, `"state":"open"`, `"login":"1001"`, `"code":"code-000000000000000000"`} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s lacks %s", w.Body, want)
		}
	}
	if w.Header().Get("ETag") != "" {
		t.Error("a list has an ETag")
	}
}
