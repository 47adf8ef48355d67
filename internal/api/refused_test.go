package api

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func serve(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// swap edits the plain deposit.
func swap(old, with string) string {
	if !strings.Contains(plainDeposit, old) {
		panic("not in the plain deposit: " + old)
	}
	return strings.Replace(plainDeposit, old, with, 1)
}

func add(member string) string { return swap(`{"client"`, `{`+member+`,"client"`) }

const paidUSD = `"paid":{"amount":"500.00","currency":"USD"}`

// Fields that cannot be understood: 400, named, and the book is not even asked.
func TestUnreadableField_IsNamedAndWritesNothing(t *testing.T) {
	t.Parallel()
	paid := func(amount string) string { return swap(paidUSD, `"paid":{"amount":`+amount+`,"currency":"USD"}`) }
	withRate := func(rate string) string { return strings.Replace(convertedDeposit, `"1.0850"`, rate, 1) }
	rateAt := func(at string) string { return strings.Replace(convertedDeposit, `"2026-01-15T11:59:00Z"`, at, 1) }
	for name, tc := range map[string]struct{ body, field, code string }{
		"unknown field":          {add(`"dry_run":true`), "dry_run", "unknown_field"},
		"unknown nested field":   {swap(paidUSD, `"paid":{"amount":"500.00","currency":"USD","minor":"1"}`), "paid.minor", "unknown_field"},
		"other case":             {swap(`"client"`, `"Client"`), "client", "missing_field"},
		"unknown odd name":       {add(`"<script>":1`), "?", "unknown_field"},
		"unknown empty name":     {add(`"":1`), "?", "unknown_field"},
		"unknown long name":      {add(`"` + strings.Repeat("n", 41) + `":1`), "?", "unknown_field"},
		"float amount":           {paid(`500.00`), "paid.amount", "wrong_type"},
		"integer amount":         {paid(`500`), "paid.amount", "wrong_type"},
		"null amount":            {paid(`null`), "paid.amount", "wrong_type"},
		"list amount":            {paid(`["500.00"]`), "paid.amount", "wrong_type"},
		"negative amount":        {paid(`"-500.00"`), "paid.amount", "not_positive"},
		"zero amount":            {paid(`"0.00"`), "paid.amount", "not_positive"},
		"negative zero":          {paid(`"-0"`), "paid.amount", "not_positive"},
		"empty amount":           {paid(`""`), "paid.amount", "bad_amount"},
		"amount with blank":      {paid(`" 500.00"`), "paid.amount", "bad_amount"},
		"amount with comma":      {paid(`"500,00"`), "paid.amount", "bad_amount"},
		"amount with exponent":   {paid(`"5e2"`), "paid.amount", "bad_amount"},
		"amount with plus":       {paid(`"+500.00"`), "paid.amount", "bad_amount"},
		"amount hexadecimal":     {paid(`"0x1f4"`), "paid.amount", "bad_amount"},
		"amount NaN":             {paid(`"NaN"`), "paid.amount", "bad_amount"},
		"amount ends in a point": {paid(`"500."`), "paid.amount", "bad_amount"},
		"amount of a point":      {paid(`".5"`), "paid.amount", "bad_amount"},
		"huge amount":            {paid(`"` + strings.Repeat("9", 23) + `"`), "paid.amount", "bad_amount"},
		"huger amount":           {paid(`"` + strings.Repeat("9", 5000) + `"`), "paid.amount", "bad_amount"},
		"19 places":              {paid(`"0.0000000000000000001"`), "paid.amount", "bad_amount"},
		"arabic digits":          {paid(`"٥٠٠"`), "paid.amount", "bad_amount"},
		"paid missing":           {swap(paidUSD+`,`, ``), "paid", "missing_field"},
		"paid text":              {swap(paidUSD, `"paid":"500.00 USD"`), "paid", "wrong_type"},
		"paid currency missing":  {swap(paidUSD, `"paid":{"amount":"500.00"}`), "paid.currency", "missing_field"},
		"currency lower case":    {swap(`"USD"}`, `"usd"}`), "paid.currency", "bad_currency"},
		"login number":           {swap(`"1001"`, `1001`), "login", "wrong_type"},
		"login zero":             {swap(`"1001"`, `"0"`), "login", "bad_login"},
		"login leading zero":     {swap(`"1001"`, `"01001"`), "login", "bad_login"},
		"login too large":        {swap(`"1001"`, `"18446744073709551616"`), "login", "bad_login"},
		"login negative":         {swap(`"1001"`, `"-1001"`), "login", "bad_login"},
		"login empty":            {swap(`"1001"`, `""`), "login", "bad_login"},
		"login with blank":       {swap(`"1001"`, `"1001 "`), "login", "bad_login"},
		"server form":            {swap(`"main"`, `"Main Server"`), "server", "bad_name"},
		"provider form":          {swap(`"stripe-eu"`, `"../stripe"`), "provider", "bad_name"},
		"client control":         {swap(`"c-1"`, `"c\u0000-1"`), "client", "bad_text"},
		"code short":             {add(`"code":"abc"`), "code", "bad_code"},
		"code null":              {add(`"code":null`), "code", "wrong_type"},
		"code empty":             {add(`"code":""`), "code", "bad_code"},
		"code with slash":        {add(`"code":"012345678901234567890/"`), "code", "bad_code"},
		"expiry not a time":      {add(`"expires_at":"tomorrow"`), "expires_at", "bad_time"},
		"expiry without zone":    {add(`"expires_at":"2026-01-15T13:00:00"`), "expires_at", "bad_time"},
		"expiry as number":       {add(`"expires_at":1768482000`), "expires_at", "wrong_type"},
		"expiry year 9999":       {add(`"expires_at":"9999-12-31T23:59:59-14:00"`), "expires_at", "bad_time"},
		"expiry twice":           {add(`"expires_at":"2026-01-15T13:00:00Z","expires_in":"1h"`), "expires_in", "bad_expiry"},
		"life number":            {add(`"expires_in":3600`), "expires_in", "wrong_type"},
		"life without unit":      {add(`"expires_in":"3600"`), "expires_in", "bad_duration"},
		"life negative":          {add(`"expires_in":"-1h"`), "expires_in", "bad_duration"},
		"life zero":              {add(`"expires_in":"0s"`), "expires_in", "bad_duration"},
		"rate null":              {add(`"rate":null`), "rate", "wrong_type"},
		"rate text":              {add(`"rate":"1.0850"`), "rate", "wrong_type"},
		"rate value float":       {withRate(`1.0850`), "rate.value", "wrong_type"},
		"rate value zero":        {withRate(`"0"`), "rate.value", "bad_rate"},
		"rate value negative":    {withRate(`"-1.0850"`), "rate.value", "bad_rate"},
		"rate value form":        {withRate(`"1/1"`), "rate.value", "bad_rate"},
		"rate time form":         {rateAt(`"2026-01-15 11:59"`), "rate.at", "bad_time"},
		"rate time year 0":       {rateAt(`"0000-01-01T00:00:00+14:00"`), "rate.at", "bad_time"},
		"rate source missing":    {strings.Replace(convertedDeposit, `"source":"ecb",`, ``, 1), "rate.source", "missing_field"},
		"rate source empty":      {strings.Replace(convertedDeposit, `"ecb"`, `""`, 1), "rate.source", "bad_text"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := setup(t)
			d := wantProblem(t, p.do(post("k", tc.body)), http.StatusBadRequest, "invalid_request")
			if len(d.Errors) == 0 || d.Errors[0].Field != tc.field || d.Errors[0].Code != tc.code || d.Errors[0].Detail == "" {
				t.Errorf("errors %+v, want %s %s first", d.Errors, tc.field, tc.code)
			}
			if calls, _ := p.book.counts(); calls != 0 {
				t.Errorf("the book was asked %d times", calls)
			}
		})
	}
}

// A body or header that cannot be read at all: the book is not asked either.
func TestUnreadableRequest_WritesNothing(t *testing.T) {
	t.Parallel()
	const noHeader = ""
	long := strings.Repeat("k", 256)
	for name, tc := range map[string]struct {
		body   string
		header map[string]string
		status int
		code   string
	}{
		"no idempotency key":        {plainDeposit, map[string]string{"Idempotency-Key": noHeader}, 400, "idempotency_key_missing"},
		"idempotency key too long":  {plainDeposit, map[string]string{"Idempotency-Key": long}, 400, "idempotency_key_bad"},
		"idempotency key control":   {plainDeposit, map[string]string{"Idempotency-Key": "a\tb"}, 400, "idempotency_key_bad"},
		"idempotency key not ASCII": {plainDeposit, map[string]string{"Idempotency-Key": "clé"}, 400, "idempotency_key_bad"},
		"no content type":           {plainDeposit, map[string]string{"Content-Type": noHeader}, 415, "content_type"},
		"form":                      {plainDeposit, map[string]string{"Content-Type": "application/x-www-form-urlencoded"}, 415, "content_type"},
		"text":                      {plainDeposit, map[string]string{"Content-Type": "text/plain"}, 415, "content_type"},
		"json-like type":            {plainDeposit, map[string]string{"Content-Type": "application/jsonp"}, 415, "content_type"},
		"other charset":             {plainDeposit, map[string]string{"Content-Type": "application/json; charset=utf-7"}, 415, "content_type"},
		"broken content type":       {plainDeposit, map[string]string{"Content-Type": "application/json; ="}, 415, "content_type"},
		"compressed":                {plainDeposit, map[string]string{"Content-Encoding": "gzip"}, 415, "content_encoding"},
		"oversize":                  {add(`"pad":"` + strings.Repeat("x", maxBody) + `"`), nil, 413, "body_too_large"},
		"oversize blanks":           {plainDeposit + strings.Repeat(" ", maxBody), nil, 413, "body_too_large"},
		"empty":                     {" ", nil, 400, "malformed_json"},
		"not JSON":                  {"client=c-1", nil, 400, "malformed_json"},
		"cut":                       {plainDeposit[:len(plainDeposit)-2], nil, 400, "malformed_json"},
		"a list":                    {"[" + plainDeposit + "]", nil, 400, "malformed_json"},
		"a text":                    {`"deposit"`, nil, 400, "malformed_json"},
		"null":                      {`null`, nil, 400, "malformed_json"},
		"trailing object":           {plainDeposit + plainDeposit, nil, 400, "trailing_data"},
		"trailing bracket":          {plainDeposit + "}", nil, 400, "trailing_data"},
		"trailing text":             {plainDeposit + " x", nil, 400, "trailing_data"},
		"comment":                   {"/* */" + plainDeposit, nil, 400, "malformed_json"},
		"trailing comma":            {add(`"code":"0123456789012345678901",`), nil, 400, "malformed_json"},
		"not UTF-8":                 {swap("c-1", "c-\xff"), nil, 400, "malformed_json"},
		"half a surrogate":          {swap("c-1", `c-\ud800`), nil, 400, "malformed_json"},
		"byte order mark":           {"\ufeff" + plainDeposit, nil, 400, "malformed_json"},
		"duplicate key":             {add(`"client":"c-1"`), nil, 400, "duplicate_field"},
		"duplicate key by escape":   {add(`"cl\u0069ent":"c-1"`), nil, 400, "duplicate_field"},
		"case-folded key":           {add(`"Client":"c-2"`), nil, 400, "duplicate_field"},
		"case-folded by Unicode":    {add(`"\u017ferver":"main"`), nil, 400, "duplicate_field"},
		"nested duplicate":          {swap(paidUSD, `"paid":{"amount":"500.00","currency":"USD","Amount":"1.00"}`), nil, 400, "duplicate_field"},
		"duplicate in unknown":      {add(`"meta":[{"a":1,"a":2}]`), nil, 400, "duplicate_field"},
		"too deep":                  {add(`"x":` + strings.Repeat("[", 8) + strings.Repeat("]", 8)), nil, 400, "too_deep"},
		"far too deep":              {strings.Repeat(`{"a":`, 12000), nil, 400, "too_deep"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := setup(t)
			c := post("k", tc.body)
			for k, v := range tc.header {
				c.header[k] = v
			}
			wantProblem(t, p.do(c), tc.status, tc.code)
			if calls, _ := p.book.counts(); calls != 0 {
				t.Errorf("the book was asked %d times", calls)
			}
		})
	}
}

func TestHeadersThatStandTwice_AreRefused(t *testing.T) {
	t.Parallel()
	p := setup(t)
	r := post("a", plainDeposit).request()
	r.Header.Add("Idempotency-Key", "b")
	wantProblem(t, serve(p.api, r), http.StatusBadRequest, "idempotency_key_bad")
	r = post("a", plainDeposit).request()
	r.Header.Add("Content-Type", "text/plain")
	wantProblem(t, serve(p.api, r), http.StatusUnsupportedMediaType, "content_type")
	if calls, _ := p.book.counts(); calls != 0 {
		t.Errorf("the book was asked %d times", calls)
	}
}

func TestContentTypeWithUTF8IsTaken(t *testing.T) {
	t.Parallel()
	p := setup(t)
	c := post("k", plainDeposit)
	c.header["Content-Type"] = `Application/JSON; Charset="UTF-8"`
	if w := p.do(c); w.Code != http.StatusCreated {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
}

// Understood and not allowed: 422 with a stable code, and nothing is written.
func TestRefusedDeposit_SaysWhyAndWritesNothing(t *testing.T) {
	t.Parallel()
	converted := func(old, with string) string { return strings.Replace(convertedDeposit, old, with, 1) }
	both := func(amount, currency string) string {
		m := fmt.Sprintf(`{"amount":%q,"currency":%q}`, amount, currency)
		return strings.ReplaceAll(plainDeposit, `{"amount":"500.00","currency":"USD"}`, m)
	}
	foreign := strings.NewReplacer("1001", "2002", `"500.00","currency":"USD"`, `"5.0001","currency":"EUR"`).Replace(plainDeposit)
	for name, tc := range map[string]struct{ body, code, field string }{
		"unknown account":           {swap("1001", "7"), "unknown_account", ""},
		"unknown server":            {swap("main", "backup"), "unknown_server", ""},
		"unknown provider":          {swap("stripe-eu", "adyen"), "unknown_provider", ""},
		"foreign login":             {swap("1001", "2002"), "foreign_login", ""},
		"foreign login, places":     {foreign, "foreign_login", ""},
		"foreign client":            {swap("c-1", "c-2"), "foreign_login", ""},
		"client in other case":      {swap("c-1", "C-1"), "foreign_login", ""},
		"wrong currency":            {both("500.00", "EUR"), "wrong_currency", ""},
		"over the limit":            {both("10000.01", "USD"), "limit_per_credit", ""},
		"huge":                      {both("9999999999999999999999", "USD"), "limit_per_credit", ""},
		"amounts differ":            {swap(paidUSD, `"paid":{"amount":"499.99","currency":"USD"}`), "conversion_differs", ""},
		"expired":                   {add(`"expires_at":"2026-01-15T12:00:00Z"`), "bad_expiry", ""},
		"expires too late":          {add(`"expires_in":"73h"`), "bad_expiry", ""},
		"expires far too late":      {add(`"expires_in":"999999h"`), "bad_expiry", ""},
		"rate without need":         {add(`"rate":{"value":"1","source":"ecb","at":"2026-01-15T11:59:00Z"}`), "rate_not_needed", ""},
		"rate missing":              {swap(paidUSD, `"paid":{"amount":"500.00","currency":"EUR"}`), "rate_missing", ""},
		"rate outside its band":     {converted("1.0850", "1.31"), "rate_outside_band", ""},
		"rate of the future":        {converted("11:59:00Z", "12:02:00Z"), "bad_rate_time", ""},
		"rate does not agree":       {converted("108.50", "108.52"), "conversion_differs", ""},
		"pair without band":         {converted("EUR", "CHF"), "rate_without_band", ""},
		"places of the account":     {swap(`"credited":{"amount":"500.00"`, `"credited":{"amount":"500.000"`), "too_many_places", "credited.amount"},
		"places of the provider":    {swap(paidUSD, `"paid":{"amount":"500.000","currency":"USD"}`), "too_many_places", "paid.amount"},
		"places that differ":        {swap(paidUSD, `"paid":{"amount":"500.001","currency":"USD"}`), "too_many_places", "paid.amount"},
		"places of both":            {both("500.001", "USD"), "too_many_places", "credited.amount"},
		"places of a small one":     {strings.NewReplacer("1001", "2002", "c-1", "c-2", "USD", "EUR", "500.00", "5.001").Replace(plainDeposit), "too_many_places", "paid.amount"},
		"currency of the provider":  {converted(`"EUR"`, `"GBP"`), "rate_without_band", ""},
		"currency without exponent": {converted(`"EUR"`, `"SEK"`), "unknown_currency", "paid.currency"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := setup(t)
			p.book.rules.Bands["SEK/USD"] = p.book.rules.Bands["EUR/USD"]
			d := wantProblem(t, p.do(post("k", tc.body)), http.StatusUnprocessableEntity, tc.code)
			if tc.field != "" && (len(d.Errors) != 1 || d.Errors[0].Field != tc.field) {
				t.Errorf("errors %+v, want %s", d.Errors, tc.field)
			}
			if _, writes := p.book.counts(); writes != 0 {
				t.Errorf("%d writes", writes)
			}
			if s := p.seen.last(t); s.Code != tc.code || s.Err == nil {
				t.Errorf("observed %+v", s)
			}
		})
	}
}

func TestCodeThatExists_IsRefused(t *testing.T) {
	t.Parallel()
	p := setup(t)
	body := add(`"code":"0123456789012345678901"`)
	p.do(post("a", body))
	wantProblem(t, p.do(post("b", body)), http.StatusUnprocessableEntity, "code_taken")
	if _, writes := p.book.counts(); writes != 1 {
		t.Errorf("%d writes, want 1", writes)
	}
}

// An ignored parameter could be one that the caller relies on.
func TestQueryParameter_IsRefused(t *testing.T) {
	t.Parallel()
	p := setup(t)
	for _, query := range []string{"?dry-run=true", "?x", "?Dry_run=true", "?a%zz"} {
		c := post("k", plainDeposit)
		c.path += query
		wantProblem(t, p.do(c), http.StatusBadRequest, "unknown_parameter")
	}
	if calls, _ := p.book.counts(); calls != 0 {
		t.Errorf("the book was asked %d times", calls)
	}
}

func TestEveryFaultIsReportedAtOnce_WithinReason(t *testing.T) {
	t.Parallel()
	p := setup(t)
	d := wantProblem(t, p.do(post("k", `{"client":1,"login":2}`)), http.StatusBadRequest, "invalid_request")
	if len(d.Errors) != 6 {
		t.Errorf("%d errors, want 6: %+v", len(d.Errors), d.Errors)
	}
	var many strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&many, `"f%d":0,`, i)
	}
	d = wantProblem(t, p.do(post("k", swap(`{"client"`, `{`+many.String()+`"client"`))), http.StatusBadRequest, "invalid_request")
	if len(d.Errors) != maxFaults {
		t.Errorf("%d errors, want %d", len(d.Errors), maxFaults)
	}
}
