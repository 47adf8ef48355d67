package paypal

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	account  = "EZ782AXEUJUW8"
	clientID = "AexampleClientID"
	secret   = "EexampleSecretThatMustNeverBeShown"
)

// stub plays PayPal's side from its OpenAPI document (reporting_transactions_v1) and its page on authentication; it shares no code with the
// client.
type stub struct {
	t      *testing.T
	server *httptest.Server

	mu        sync.Mutex
	rows      []row
	account   string
	refreshed string // "" leaves it out
	scope     string
	expires   int
	token     int // number of the one that is taken
	tokens    int
	asked     []string                    // "start end page" of each search
	before    func(page int)              // runs before a page is made
	answers   []func(http.ResponseWriter) // the next answers, in place of the true ones
	largest   int                         // how many transactions a window may have
}

// row is one transaction: its info as the API writes it, and when it is listed.
type row struct {
	at   time.Time
	info string
}

func newStub(t *testing.T) *stub {
	s := &stub{t: t, account: account, scope: "openid " + searchScope, expires: 32400, largest: 10_000, refreshed: "2026-04-30T12:00:00+0000"}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/oauth2/token", s.giveToken)
	mux.HandleFunc("GET /v1/reporting/transactions", s.search)
	s.server = httptest.NewServer(mux)
	t.Cleanup(s.server.Close)
	return s
}

func problem(w http.ResponseWriter, status int, name string) {
	w.Header().Set("Paypal-Debug-Id", "90957fca61718")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `{"name":%q,"message":"%s for %s","debug_id":"90957fca61718","links":[]}`, name, secret, clientID)
}

func (s *stub) giveToken(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, key, _ := r.BasicAuth()
	if id != clientID || key != secret || r.PostFormValue("grant_type") != "client_credentials" {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = fmt.Fprint(w, `{"error":"invalid_client","error_description":"Client Authentication failed"}`)
		return
	}
	s.token++
	s.tokens++
	_ = json.NewEncoder(w).Encode(map[string]any{
		"scope": s.scope, "access_token": fmt.Sprintf("A21AA-token-%d", s.token), "token_type": "Bearer", "app_id": "APP-80W284485P519543T",
		"expires_in": s.expires, "nonce": "2026-01-01T00:00:00Zabc",
	})
}

func (s *stub) search(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	page, _ := strconv.Atoi(q.Get("page"))
	size, _ := strconv.Atoi(q.Get("page_size"))
	from, err1 := time.Parse(time.RFC3339, q.Get("start_date"))
	to, err2 := time.Parse(time.RFC3339, q.Get("end_date"))
	if s.before != nil {
		s.before(page)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, q.Get("start_date")+" "+q.Get("end_date")+" "+q.Get("page"))
	if len(s.answers) > 0 {
		answer := s.answers[0]
		s.answers = s.answers[1:]
		if answer != nil {
			answer(w)
			return
		}
	}
	switch {
	case r.Header.Get("Authorization") != fmt.Sprintf("Bearer A21AA-token-%d", s.token):
		problem(w, http.StatusUnauthorized, "AUTHENTICATION_FAILURE")
		return
	case err1 != nil || err2 != nil || to.Sub(from) > 31*24*time.Hour || page < 1 || size < 1 || size > 500 || q.Get("fields") != "transaction_info":
		problem(w, http.StatusBadRequest, "INVALID_REQUEST")
		return
	}
	var found []string
	for _, x := range s.rows {
		if !x.at.Before(from) && !x.at.After(to) {
			found = append(found, `{"transaction_info":`+x.info+`}`)
		}
	}
	if len(found) > s.largest {
		problem(w, http.StatusBadRequest, "RESULTSET_TOO_LARGE")
		return
	}
	shown := found[min(len(found), (page-1)*size):min(len(found), page*size)]
	refreshed := ""
	if s.refreshed != "" {
		refreshed = `"last_refreshed_datetime":"` + s.refreshed + `",`
	}
	_, _ = fmt.Fprintf(w, `{"transaction_details":[%s],"account_number":%q,"start_date":%q,"end_date":%q,%s"page":%d,"total_items":%d,"total_pages":%d,"links":[]}`,
		strings.Join(shown, ","), s.account, q.Get("start_date"), q.Get("end_date"), refreshed, page, len(found), max(1, (len(found)+size-1)/size))
}

// info is one transaction as the API writes it, with things that must not be read.
func info(id string, at time.Time, value string) string {
	stamp := at.In(time.FixedZone("", -8*3600)).Format("2006-01-02T15:04:05-0700")
	return fmt.Sprintf(`{"paypal_account_id":"PAYERID","transaction_id":%q,"transaction_event_code":"T0006","transaction_initiation_date":%q,`+
		`"transaction_updated_date":%q,"transaction_amount":{"currency_code":"USD","value":%q},"fee_amount":{"currency_code":"USD","value":"-0.59"},`+
		`"transaction_status":"S","transaction_subject":"for Jane","ending_balance":{"currency_code":"USD","value":"1"},"invoice_id":"inv-1",`+
		`"custom_field":"dep-1","protection_eligibility":"01"}`, id, stamp, stamp, value)
}

// add makes n transactions, a second apart.
func (s *stub) add(first time.Time, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range n {
		at := first.Add(time.Duration(i) * time.Second)
		s.rows = append(s.rows, row{at, info(fmt.Sprintf("T%07d", len(s.rows)), at, fmt.Sprintf("%d.%02d", i, i%100))})
	}
}

// now is when the tests run.
var now = time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)

// client is one that asks the stub; pauses pass at once and are kept.
func (s *stub) client(change ...func(*Config)) (*Client, *[]time.Duration) {
	s.t.Helper()
	var paused []time.Duration
	cfg := Config{
		URL: s.server.URL, ID: clientID, Secret: func() []byte { return []byte(secret) }, Now: func() time.Time { return now },
		Wait: func(ctx context.Context, d time.Duration) error {
			paused = append(paused, d)
			return ctx.Err()
		},
		Spread: func() float64 { return 0 },
	}
	for _, f := range change {
		f(&cfg)
	}
	c, err := New(cfg)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(c.Close)
	return c, &paused
}
