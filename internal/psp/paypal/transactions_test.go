package paypal

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"creditonce/internal/psp/ask"
)

var april = time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)

func (s *stub) list(c *Client, from, until time.Time) (got []Transaction, pages int, err error) {
	s.t.Helper()
	err = c.Transactions(s.t.Context(), account, from, until, func([]byte) { pages++ }, func(t Transaction) error {
		got = append(got, t)
		return nil
	})
	return got, pages, err
}

func wantFault(t *testing.T, err error, reason ask.Reason) *ask.Fault {
	t.Helper()
	f := ask.FaultOf(err)
	if f == nil || f.Reason != reason {
		t.Fatalf("got %v, want a fault %q", err, reason)
	}
	for _, hidden := range []string{secret, clientID, "token-", "127.0.0.1", "start_date", "Jane"} {
		if strings.Contains(f.Error(), hidden) {
			t.Errorf("the error shows %q: %s", hidden, f)
		}
	}
	return f
}

func TestTransactions_EachOnceAtEveryPageBoundary(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 499, 500, 501, 1000, 1001} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			s := newStub(t)
			s.add(april, n)
			c, _ := s.client()
			got, pages, err := s.list(c, april, april.AddDate(0, 0, 1))
			if err != nil || len(got) != n || pages != max(1, (n+499)/500) {
				t.Fatalf("%d transactions on %d pages, %v", len(got), pages, err)
			}
			for i, x := range got {
				if x.ID != fmt.Sprintf("T%07d", i) || x.Amount != (Money{"USD", fmt.Sprintf("%d.%02d", i, i%100)}) || x.Fee != (Money{"USD", "-0.59"}) {
					t.Fatalf("transaction %d: %+v", i, x)
				}
			}
		})
	}
}

func TestTransactions_AreReadWithTheirMomentsInUTC(t *testing.T) {
	t.Parallel()
	s := newStub(t)
	at := time.Date(2026, 4, 1, 1, 30, 0, 0, time.UTC) // the evening before by the account's zone
	s.add(at, 1)
	c, _ := s.client()
	got, _, err := s.list(c, april, april.AddDate(0, 0, 1))
	want := Transaction{
		ID: "T0000000", Event: "T0006", Status: "S", Initiated: at, Updated: at, Amount: Money{"USD", "0.00"}, Fee: Money{"USD", "-0.59"}, Invoice: "inv-1", Custom: "dep-1",
	}
	if err != nil || len(got) != 1 || got[0] != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
}

func TestTransactions_LongerThanAMonthIsAskedInPartsThatMeet(t *testing.T) {
	t.Parallel()
	s := newStub(t)
	s.rows = append(s.rows, row{april.AddDate(0, 0, -62), info("A", april, "1")}, row{april.AddDate(0, 0, -31), info("B", april, "1")}, row{april.AddDate(0, 0, 1), info("C", april, "1")})
	c, _ := s.client()
	got, pages, err := s.list(c, april.AddDate(0, 0, -62), april.AddDate(0, 0, 1))
	if err != nil || len(got) != 2 || pages != 3 {
		t.Errorf("%d transactions on %d pages, %v: want the first and the second, not what is at the end", len(got), pages, err)
	}
	if strings.Join(s.asked, "\n") != "2026-01-29T00:00:00Z 2026-02-28T23:59:59.999Z 1\n2026-03-01T00:00:00Z 2026-03-31T23:59:59.999Z 1\n2026-04-01T00:00:00Z 2026-04-01T23:59:59.999Z 1" {
		t.Errorf("asked\n%s", strings.Join(s.asked, "\n"))
	}
}

func TestTransactions_MoreThanPayPalListsIsHalved(t *testing.T) {
	t.Parallel()
	s := newStub(t)
	s.largest = 300
	s.add(april, 1000)
	c, _ := s.client()
	got, _, err := s.list(c, april, april.Add(2000*time.Second))
	if err != nil || len(got) != 1000 {
		t.Fatalf("%d transactions, %v", len(got), err)
	}
	s.rows = nil
	for i := range 301 {
		s.rows = append(s.rows, row{april, info(fmt.Sprintf("S%d", i), april, "1")})
	}
	_, _, err = s.list(c, april, april.Add(time.Hour))
	_ = wantFault(t, err, ask.TooLarge)
}

func TestTransactions_ListThatChangesIsReadAgain(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(s *stub){
		"one more in front": func(s *stub) { s.rows = append([]row{{april, info("NEW", april, "1")}}, s.rows...) },
		"one more behind":   func(s *stub) { s.rows = append(s.rows, row{april.Add(time.Hour), info("NEW", april, "1")}) },
		"one less":          func(s *stub) { s.rows = s.rows[1:] },
		"one for another":   func(s *stub) { s.rows = append([]row{{april, info("NEW", april, "1")}}, s.rows[:len(s.rows)-1]...) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStub(t)
			s.add(april, 1100)
			times := 1
			s.before = func(page int) {
				if page == 2 && times > 0 {
					times--
					change(s)
				}
			}
			c, paused := s.client()
			got, pages, err := s.list(c, april, april.AddDate(0, 0, 1))
			if err != nil || len(got) != len(s.rows) || pages != 3 || len(*paused) != 1 {
				t.Errorf("%d transactions on %d pages after %v, %v", len(got), pages, *paused, err)
			}
		})
	}
}

func TestTransactions_ListThatChangesForEverEndsWithThatReason(t *testing.T) {
	t.Parallel()
	s := newStub(t)
	s.add(april, 600)
	s.before = func(page int) {
		if page == 2 {
			s.rows = s.rows[1:]
		}
	}
	c, paused := s.client()
	got, pages, err := s.list(c, april, april.AddDate(0, 0, 1))
	if _ = wantFault(t, err, Changed); len(got) > 0 || pages > 0 || len(*paused) != readings-1 {
		t.Errorf("%d transactions on %d pages after %v", len(got), pages, *paused)
	}
}

func TestTransactions_WhatPayPalHasNotGatheredYetIsLate(t *testing.T) {
	t.Parallel()
	s := newStub(t)
	c, _ := s.client()
	for _, x := range []struct {
		refreshed string
		until     time.Time
		late      bool
	}{
		{"2026-04-30T11:59:59+0000", time.Date(2026, 4, 30, 12, 0, 0, 0, time.UTC), true},
		{"2026-04-30T12:00:00Z", time.Date(2026, 4, 30, 12, 0, 0, 0, time.UTC), false},
		{"2026-04-30T14:00:00+02:00", time.Date(2026, 4, 30, 12, 0, 0, 0, time.UTC), false},
		{"2026-04-30T13:59:59+02:00", time.Date(2026, 4, 30, 12, 0, 0, 0, time.UTC), true},
		{"", now.Add(-3*time.Hour + time.Second), true},
		{"", now.Add(-3 * time.Hour), false},
		{"2026-05-02T00:00:00Z", now, true}, // not over yet, whatever PayPal says
	} {
		s.refreshed = x.refreshed
		_, _, err := s.list(c, april, x.until)
		if x.late {
			_ = wantFault(t, err, Late)
		} else if err != nil {
			t.Errorf("refreshed %s, until %s: %v", x.refreshed, x.until, err)
		}
	}
}

func status(code int, name string, header ...string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		problem(w, code, name)
	}
}

func cut(w http.ResponseWriter) {
	w.Header().Set("Content-Length", "4096")
	_, _ = w.Write([]byte(`{"transaction_details":[`))
	_ = http.NewResponseController(w).Flush() // else net/http repeats it by itself
	panic(http.ErrAbortHandler)
}

func many(n int, f func(http.ResponseWriter)) (out []func(http.ResponseWriter)) {
	for range n {
		out = append(out, f)
	}
	return out
}

func TestFaults_ThatPassAreRepeated(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answers []func(http.ResponseWriter)
		pauses  []time.Duration
	}{
		"429, Retry-After": {many(1, status(429, "RATE_LIMIT_REACHED", "Retry-After", "7")), []time.Duration{7 * time.Second}},
		"cut, second page": {[]func(http.ResponseWriter){nil, cut}, []time.Duration{500 * time.Millisecond}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStub(t)
			s.add(april, 600)
			s.answers = c.answers
			client, paused := s.client()
			if got, pages, err := s.list(client, april, april.AddDate(0, 0, 1)); err != nil || len(got) != 600 || pages != 2 {
				t.Fatalf("%d transactions on %d pages, %v", len(got), pages, err)
			}
			if fmt.Sprint(*paused) != fmt.Sprint(c.pauses) {
				t.Errorf("paused %v, want %v", *paused, c.pauses)
			}
		})
	}
}

func TestFaults_ThatStayEndTheListAndSayWhy(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answers  []func(http.ResponseWriter)
		stub     func(*stub)
		change   func(*Config)
		reason   ask.Reason
		searches int
	}{
		"500 for ever":    {many(9, status(500, "INTERNAL_SERVER_ERROR")), nil, nil, ask.Unavailable, ask.Attempts},
		"400":             {many(1, status(400, "INVALID_REQUEST")), nil, nil, ask.Refused, 1},
		"403":             {many(1, status(403, "NOT_AUTHORIZED")), nil, nil, ask.Denied, 1},
		"401 for ever":    {many(9, status(401, "AUTHENTICATION_FAILURE")), nil, nil, ask.Denied, 2},
		"wrong secret":    {nil, nil, func(c *Config) { c.Secret = func() []byte { return []byte("wrong") } }, ask.Denied, 0},
		"no right":        {nil, func(s *stub) { s.scope = "openid" }, nil, ask.Denied, 0},
		"another account": {nil, func(s *stub) { s.account = "ANOTHER" }, nil, ask.Foreign, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStub(t)
			s.add(april, 3)
			s.answers = c.answers
			if c.stub != nil {
				c.stub(s)
			}
			change := c.change
			if change == nil {
				change = func(*Config) {}
			}
			client, _ := s.client(change)
			got, pages, err := s.list(client, april, april.AddDate(0, 0, 1))
			_ = wantFault(t, err, c.reason)
			if len(got) > 0 || pages > 0 || len(s.asked) != c.searches {
				t.Errorf("%d transactions on %d pages after %d searches, want none after %d", len(got), pages, len(s.asked), c.searches)
			}
		})
	}
}

func TestFaults_SayWhatPayPalSaysOfThem(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status       int
		header, body string
		want         string
	}{
		"name and debug id": {400, "90957fca61718", `{"name":"INVALID_REQUEST","message":"for Jane"}`, "paypal: the API does not accept the request (HTTP 400, INVALID_REQUEST, debug id 90957fca61718)"},
		"OAuth's own":       {401, "", `{"error":"invalid_client","error_description":"for Jane"}`, "paypal: the app's id, secret or token is not valid (HTTP 401, invalid_client)"},
		"right lacks":       {403, "", `{"name":"NOT_AUTHORIZED"}`, "paypal: the app lacks the right Transaction Search; PayPal needs up to nine hours after it was switched on (HTTP 403, NOT_AUTHORIZED)"},
		"name not in form":  {400, "a b", `{"name":"Jane Doe"}`, "paypal: the API does not accept the request (HTTP 400)"},
		"too many":          {400, "", `{"name":"RESULTSET_TOO_LARGE"}`, "paypal: more transactions in the time than PayPal lists (HTTP 400, RESULTSET_TOO_LARGE)"},
		"too many, and 500": {500, "", `{"name":"RESULTSET_TOO_LARGE"}`, "paypal: the API does not work now (HTTP 500, RESULTSET_TOO_LARGE)"},
		"no JSON":           {500, "", `<html>Jane</html>`, "paypal: the API does not work now (HTTP 500)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStub(t)
			s.answers = many(9, func(w http.ResponseWriter) {
				w.Header().Set("Paypal-Debug-Id", c.header)
				w.WriteHeader(c.status)
				_, _ = w.Write([]byte(c.body))
			})
			client, _ := s.client()
			if _, err := client.get(t.Context(), "/v1/reporting/transactions", nil); err == nil || err.Error() != c.want {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

func TestToken_IsKeptUntilShortlyBeforeItsEndAndGotAgainWhenRefused(t *testing.T) {
	t.Parallel()
	s := newStub(t)
	at := now
	c, _ := s.client(func(c *Config) { c.Now = func() time.Time { return at } })
	for _, step := range []struct {
		after  time.Duration
		revoke bool
		tokens int
	}{{0, false, 1}, {time.Hour, false, 1}, {9*time.Hour - time.Minute, false, 2}, {9 * time.Hour, true, 3}} {
		at = now.Add(step.after)
		if step.revoke {
			s.token += 10
		}
		if _, _, err := s.list(c, april, april.AddDate(0, 0, 1)); err != nil || s.tokens != step.tokens {
			t.Errorf("after %s: %d tokens, %v; want %d", step.after, s.tokens, err, step.tokens)
		}
	}
}

func TestAnswers_ThatAreNotAsDocumentedAreNeverWhole(t *testing.T) {
	t.Parallel()
	good := `{"transaction_details":[{"transaction_info":` + info("T1", april, "10.00") + `}],"account_number":"` + account + `","last_refreshed_datetime":"2026-04-30T12:00:00Z","page":1,"total_items":1,"total_pages":1}`
	for name, change := range map[string][2]string{
		"nothing changed":        {"", ""},
		"amount a number":        {`"value":"10.00"`, `"value":10.00`},
		"amount with exponent":   {`"value":"10.00"`, `"value":"1e1"`},
		"amount with comma":      {`"value":"10.00"`, `"value":"10,00"`},
		"amount with blank":      {`"value":"10.00"`, `"value":" 10.00"`},
		"huge amount":            {`"value":"10.00"`, `"value":"` + strings.Repeat("9", 33) + `"`},
		"no currency":            {`"currency_code":"USD","value":"10.00"`, `"value":"10.00"`},
		"currency in small":      {`"currency_code":"USD","value":"10.00"`, `"currency_code":"usd","value":"10.00"`},
		"no amount":              {`"transaction_amount"`, `"amount"`},
		"fee a text":             {`"fee_amount":{"currency_code":"USD","value":"-0.59"}`, `"fee_amount":"-0.59"`},
		"time without an offset": {`-0700"`, `"`},
		"no id":                  {`"transaction_id":"T1"`, `"transaction_id":""`},
		"id a path":              {`"transaction_id":"T1"`, `"transaction_id":"T1/x"`},
		"id twice":               {`"transaction_id":"T1"`, `"transaction_id":"T1","transaction_id":"T2"`},
		"no code":                {`"transaction_event_code":"T0006",`, ``},
		"no status":              {`"transaction_status":"S",`, ``},
		"reference a path":       {`"transaction_status":"S"`, `"transaction_status":"S","paypal_reference_id":"../x"`},
		"invoice a number":       {`"invoice_id":"inv-1"`, `"invoice_id":1`},
		"long custom text":       {`"custom_field":"dep-1"`, `"custom_field":"` + strings.Repeat("x", 600) + `"`},
		"no total":               {`"total_items":1,`, ``},
		"total a text":           {`"total_items":1`, `"total_items":"1"`},
		"total negative":         {`"total_items":1`, `"total_items":-1`},
		"total too high":         {`"total_items":1`, `"total_items":2`},
		"pages too many":         {`"total_pages":1`, `"total_pages":2`},
		"another page":           {`"page":1`, `"page":2`},
		"no list":                {`"transaction_details":[`, `"details":[`},
		"details null":           {`{"transaction_info":`, `null,{"transaction_info":`},
		"refreshed a number":     {`"2026-04-30T12:00:00Z"`, `20260430`},
		"data behind it":         {`"total_pages":1}`, `"total_pages":1}x`},
		"account a path":         {account, "../x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bad := strings.Replace(good, change[0], change[1], 1)
			if name == "time without an offset" {
				bad = strings.Replace(good, `-0800","transaction_updated`, `","transaction_updated`, 1)
			}
			if bad == good && name != "nothing changed" {
				t.Fatal("nothing was replaced")
			}
			s := newStub(t)
			s.answers = many(9, func(w http.ResponseWriter) { _, _ = w.Write([]byte(bad)) })
			c, _ := s.client()
			got, _, err := s.list(c, april, april.AddDate(0, 0, 1))
			if name == "nothing changed" {
				if err != nil || len(got) != 1 {
					t.Errorf("%+v, %v", got, err)
				}
				return
			}
			if f := ask.FaultOf(err); f == nil || f.Reason != ask.Odd && f.Reason != Changed || len(got) > 0 {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

func TestTransactions_TakeFailsOrContextEnds_IsTheirError(t *testing.T) {
	t.Parallel()
	s := newStub(t)
	s.add(april, 600)
	c, _ := s.client()
	full := errors.New("the store is full")
	if err := c.Transactions(t.Context(), account, april, april.AddDate(0, 0, 1), nil, func(Transaction) error { return full }); !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s.before = func(page int) {
		if page == 2 {
			cancel()
		}
	}
	if err := c.Transactions(ctx, account, april, april.AddDate(0, 0, 1), nil, func(Transaction) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestNew_RefusesAnAddressThatWouldShowTheSecretOrIsTheOtherEnvironments(t *testing.T) {
	t.Parallel()
	cfg := Config{
		URL: LiveURL, Live: true, ID: clientID, Secret: func() []byte { return nil }, Now: time.Now,
		Wait: func(context.Context, time.Duration) error { return nil }, Spread: func() float64 { return 0 },
	}
	for _, c := range []struct {
		change func(*Config)
		good   bool
	}{
		{func(*Config) {}, true},
		{func(c *Config) { c.URL, c.Live = SandboxURL, false }, true},
		{func(c *Config) { c.URL = "http://127.0.0.1:9" }, true},
		{func(c *Config) { c.URL = SandboxURL }, false},
		{func(c *Config) { c.Live = false }, false},
		{func(c *Config) { c.URL = "http://api-m.paypal.com" }, false},
		{func(c *Config) { c.URL = LiveURL + "/v1" }, false},
		{func(c *Config) { c.URL = "https://u:p@api-m.paypal.com" }, false},
		{func(c *Config) { c.ID = "" }, false},
		{func(c *Config) { c.ID = "a:b" }, false},
		{func(c *Config) { c.Secret = nil }, false},
	} {
		given := cfg
		c.change(&given)
		if _, err := New(given); (err == nil) != c.good {
			t.Errorf("%s, live %t, id %q: %v", given.URL, given.Live, given.ID, err)
		}
	}
}

func FuzzReadSheet(f *testing.F) {
	f.Add([]byte(`{"transaction_details":[{"transaction_info":` + info("T1", april, "10.00") + `}],"page":1,"total_items":1,"total_pages":1}`))
	f.Add([]byte(`{"transaction_details":[],"account_number":"A1","page":1,"total_items":0,"total_pages":0}`))
	f.Add([]byte(`{"page":1}`))
	f.Add([]byte(`[`))
	f.Fuzz(func(t *testing.T, body []byte) {
		s, err := readSheet(body)
		if err != nil {
			if len(s.transactions) > 0 {
				t.Fatal("transactions beside an error")
			}
			return
		}
		for _, x := range s.transactions {
			if x.ID == "" || x.Event == "" || x.Amount.Value == "" || len(x.Amount.Currency) != 3 || x.Initiated.Location() != time.UTC {
				t.Fatalf("%+v", x)
			}
		}
	})
}

func FuzzReadToken(f *testing.F) {
	f.Add([]byte(`{"scope":"` + searchScope + `","access_token":"A21","token_type":"Bearer","expires_in":10}`))
	f.Add([]byte(`{"access_token":"a b"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		if tok, err := readToken(body, now); err == nil && (tok.text == "" || tok.until.Before(now)) {
			t.Fatalf("%+v", tok)
		}
	})
}
