package fakepsp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// APIConfig says where the provider's own API answers, as docs.stripe.com/api describes it: GET /v1/events, /v1/payouts,
// /v1/balance_transactions and /v1/account, plain HTTP on loopback. The zero value has none.
type APIConfig struct {
	// Listen is a loopback host:port; empty: no API.
	Listen string
	// Keys are the secret keys that may ask.
	Keys []string
	// Account is the id of the merchant account that the keys belong to.
	Account string
}

// APIFaults are what goes wrong at the API from now on.
type APIFaults struct {
	Limit      int           `json:"limit_next,omitempty"` // the next requests are answered 429
	RetryAfter int           `json:"retry_after_seconds,omitempty"`
	Fail       int           `json:"fail_next,omitempty"`        // the next ones, 500
	Cut        int           `json:"cut_next,omitempty"`         // the next ones, half an answer
	Revoked    bool          `json:"revoked,omitempty"`          // every key is refused with 401
	NoAccount  bool          `json:"no_account_right,omitempty"` // the key may not ask whose it is: 403
	Lag        time.Duration `json:"lag_ns,omitempty"`           // an event is listed only when it is so old
	Twice      bool          `json:"twice,omitempty"`            // a page begins with what the last one ended with
	Unlisted   bool          `json:"unlisted,omitempty"`         // the transactions of payouts are not all there yet
	Withheld   int           `json:"withheld,omitempty"`         // so many of the oldest transactions of each list do not come
	Kept       time.Duration `json:"kept_ns,omitempty"`          // how long events are listed; 0: 30 days
	Shown      string        `json:"shown_account,omitempty"`    // the account that is named instead of the true one
}

// APIStatus is what the API was asked since the start, and its faults.
type APIStatus struct {
	Requests int       `json:"requests"`
	Answered int       `json:"answered"` // with 200
	Faults   APIFaults `json:"faults"`
}

// api is the provider's own API.
type api struct {
	cfg    APIConfig
	now    func() time.Time
	events func() []Event
	open   func(event string) int // deliveries of an event without their 2xx

	payouts   func() []Payout
	movements func() []transaction

	server *http.Server
	addr   string
	served chan struct{}

	mu     sync.Mutex
	status APIStatus
}

// openAPI begins to answer; nil where the configuration has no API.
func openAPI(ctx context.Context, s *Server) (*api, error) {
	cfg := s.cfg.API
	if cfg.Listen == "" {
		return nil, nil
	}
	if err := loopback(cfg.Listen); err != nil {
		return nil, err
	}
	if len(cfg.Keys) == 0 || slices.Contains(cfg.Keys, "") || cfg.Account == "" {
		return nil, errors.New("the API needs keys and the account that they belong to")
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", cfg.Listen)
	if err != nil {
		return nil, fmt.Errorf("open the API's port: %w", err)
	}
	a := &api{cfg: cfg, now: s.cfg.Now, events: s.Events, open: s.book.open, addr: listener.Addr().String(), served: make(chan struct{})}
	a.payouts, a.movements = s.Payouts, s.book.movements
	a.server = &http.Server{Handler: a.routes(), ReadHeaderTimeout: 5 * time.Second}
	go func() {
		defer close(a.served)
		_ = a.server.Serve(listener) // ends with ErrServerClosed after close; any other end shows at the next request
	}()
	return a, nil
}

func (a *api) close() error {
	if a == nil {
		return nil
	}
	err := a.server.Close()
	<-a.served
	return err
}

func (a *api) setFaults(f APIFaults) APIStatus {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.status.Faults = f
	return a.status
}

func (a *api) counts() APIStatus {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.status
}

func (a *api) routes() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /v1/events", a.guarded(a.listEvents))
	mux.Handle("GET /v1/payouts", a.guarded(a.listPayouts))
	mux.Handle("GET /v1/balance_transactions", a.guarded(a.listTransactions))
	mux.Handle("GET /v1/account", a.guarded(a.showAccount))
	mux.Handle("/", a.guarded(func(http.ResponseWriter, *http.Request, APIFaults) *apiProblem {
		return &apiProblem{status: http.StatusNotFound, Message: "Unrecognized request URL.", Type: "invalid_request_error"}
	}))
	return mux
}

// apiProblem is Stripe's error object (docs.stripe.com/api/errors).
type apiProblem struct {
	status  int
	Code    string `json:"code,omitempty"`
	Message string `json:"message"`
	Param   string `json:"param,omitempty"`
	Type    string `json:"type"`
}

func invalid(param, message string) *apiProblem {
	return &apiProblem{status: http.StatusBadRequest, Message: message, Param: param, Type: "invalid_request_error"}
}

// guarded checks the key and lets the set faults happen.
func (a *api) guarded(do func(http.ResponseWriter, *http.Request, APIFaults) *apiProblem) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Date", a.now().UTC().Format(http.TimeFormat))
		number, faults := a.begin()
		w.Header().Set("Request-Id", fmt.Sprintf("req_Fake%d", number))
		problem := a.fault(w, r, faults)
		if problem == nil {
			problem = do(w, r, faults)
		}
		if problem == nil {
			a.answered()
			return
		}
		w.WriteHeader(problem.status)
		_ = json.NewEncoder(w).Encode(map[string]*apiProblem{"error": problem})
	})
}

// begin counts a request and takes one from each counted fault.
func (a *api) begin() (int, APIFaults) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.status.Requests++
	now := a.status.Faults
	for _, left := range []*int{&a.status.Faults.Limit, &a.status.Faults.Fail, &a.status.Faults.Cut} {
		*left = max(0, *left-1)
	}
	return a.status.Requests, now
}

func (a *api) answered() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.status.Answered++
}

func (a *api) fault(w http.ResponseWriter, r *http.Request, f APIFaults) *apiProblem {
	key, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if user, _, basic := r.BasicAuth(); basic && !bearer {
		key = user
	}
	switch {
	case key == "":
		return &apiProblem{status: http.StatusUnauthorized, Message: "You did not provide an API key.", Type: "invalid_request_error"}
	case f.Revoked, !slices.Contains(a.cfg.Keys, key):
		return &apiProblem{
			status: http.StatusUnauthorized, Code: "api_key_expired", Type: "invalid_request_error",
			Message: "Invalid API Key provided: " + key[:min(8, len(key))] + "****" + key[max(0, len(key)-4):],
		}
	case f.Limit > 0:
		if f.RetryAfter > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(f.RetryAfter))
		}
		return &apiProblem{status: http.StatusTooManyRequests, Code: "rate_limit", Message: "Request rate limit exceeded.", Type: "invalid_request_error"}
	case f.Fail > 0:
		return &apiProblem{status: http.StatusInternalServerError, Message: "An unknown error occurred.", Type: "api_error"}
	case f.Cut > 0:
		w.Header().Set("Content-Length", "4096")
		_, _ = w.Write([]byte(`{"object": "list", "data": [`))
		panic(http.ErrAbortHandler)
	}
	return nil
}

func (a *api) showAccount(w http.ResponseWriter, _ *http.Request, f APIFaults) *apiProblem {
	account := a.cfg.Account
	if f.Shown != "" {
		account = f.Shown
	}
	if f.NoAccount {
		return &apiProblem{status: http.StatusForbidden, Type: "invalid_request_error", Message: "The provided key 'rk_test_****0000' does not have the " +
			"required permissions for this endpoint on account '" + account + "'."}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"id": account, "object": "account", "charges_enabled": true, "type": "standard"})
	return nil
}

// listed writes an event as a list shows it: another layout than the webhook's, and the deliveries that are open now.
func (a *api) listed(e Event) json.RawMessage {
	body := bytes.Replace(e.Body, []byte(`"pending_webhooks": 1,`), fmt.Appendf(nil, `"pending_webhooks": %d,`, a.open(e.ID)), 1)
	var out bytes.Buffer
	if err := json.Indent(&out, body, "    ", "  "); err != nil {
		return body
	}
	return out.Bytes()
}
