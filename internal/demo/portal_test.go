package demo

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"creditonce/internal/api/client"
)

// A request that is repeated under its key must be the same to the byte, or the API rightly refuses it.
func TestPortal_RepeatsTheVeryRequest(t *testing.T) {
	t.Parallel()
	var bodies []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Header.Get("Idempotency-Key") != "k1" || r.Header.Get("Authorization") != "Bearer co_deposits" {
			t.Errorf("%v, headers %v", err, r.Header)
		}
		bodies = append(bodies, string(body))
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, `{"code":"busy","detail":"later"}`)
	}))
	defer server.Close()
	now := steppedClock()
	p, err := newPortal(strings.TrimPrefix(server.URL, "http://"), keys{"co_accounts", "co_deposits"}, now)
	if err != nil {
		t.Fatal(err)
	}
	d := &deposit{client: "c", login: 50001, paid: money{100, "EUR", 2}, credited: money{109, "USD", 2}, rate: "1.0850"}
	for range 2 {
		_, err := p.open(t.Context(), d, "k1")
		var refused *client.RefusedError
		if !errors.As(err, &refused) || refused.Problem.Code != client.ProblemCodeBusy || refused.Status != http.StatusServiceUnavailable {
			t.Fatalf("got %v", err)
		}
		for range 20 {
			now() // two seconds
		}
	}
	if len(bodies) != 2 || bodies[0] != bodies[1] || !strings.Contains(bodies[0], `"value":"1.0850"`) {
		t.Errorf("sent %q", bodies)
	}
}
