package fakepsp

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

func paid(t *testing.T, s *Server, amount int64, currency string) Payment {
	t.Helper()
	p, err := s.Pay(PaymentRequest{Code: "c", Amount: amount, Currency: currency, Delivery: Delivery{Lost: true}})
	must(t, err)
	return p
}

func settled(t *testing.T, s *Server, r SettleRequest) []Payout {
	t.Helper()
	payouts, err := NewControl(s.ControlAddr()).Settle(t.Context(), r)
	must(t, err)
	return payouts
}

// shown is what these tests read of a payout or a balance transaction.
type shown struct {
	ID        string          `json:"id"`
	Type      string          `json:"type"`
	Category  string          `json:"reporting_category"`
	Net       int64           `json:"net"`
	Source    json.RawMessage `json:"source"`
	Automatic bool            `json:"automatic"`
	List      string          `json:"reconciliation_status"`
	Arrival   int64           `json:"arrival_date"`
}

func entries(t *testing.T, s *Server, path string) []shown {
	t.Helper()
	status, body := ask(t, s, path, testAPIKey)
	if status != http.StatusOK {
		t.Fatalf("%s: %d %v", path, status, body)
	}
	text, err := json.Marshal(body["data"])
	must(t, err)
	var out []shown
	must(t, json.Unmarshal(text, &out))
	return out
}

func TestSettle_PaysOutWhatWasTakenOnce(t *testing.T) {
	t.Parallel()
	s := withAPI(t)
	p := paid(t, s, 10_000, "usd")
	paid(t, s, 2_000, "eur")
	unpaid, err := s.Pay(PaymentRequest{Code: "c", Amount: 500, Currency: "usd", Silent: true})
	must(t, err)
	refund, err := s.Refund(RefundRequest{Payment: p.ID, Amount: 1_000, Delivery: Delivery{Lost: true}})
	must(t, err)
	_, err = s.Dispute(DisputeRequest{Payment: p.ID, Amount: 3_000, Status: "warning_needs_response", Delivery: Delivery{Lost: true}})
	must(t, err)
	payouts := settled(t, s, SettleRequest{})
	// 10000 less 2.9 % and 30, less the refund; 2000 less 2.9 % and 30.
	if len(payouts) != 2 || payouts[0].Currency != "eur" || payouts[0].Amount != 1_912 || payouts[1].Amount != 8_680 || !payouts[1].Automatic {
		t.Fatalf("payouts %+v", payouts)
	}
	if again := settled(t, s, SettleRequest{}); len(again) != 0 {
		t.Errorf("paid out twice: %+v", again)
	}
	got := entries(t, s, "/v1/balance_transactions?payout="+payouts[1].ID+"&expand[]=data.source")
	var net int64
	for _, e := range got {
		net += e.Net
	}
	if len(got) != 3 || net != 0 {
		t.Errorf("%d transactions of the payout sum up to %d, want its own among 3, and 0", len(got), net)
	}
	for _, e := range got {
		if e.Category == "refund" && !strings.Contains(string(e.Source), `"payment_intent":"`+p.ID+`"`) {
			t.Errorf("the refund's source %s does not name its payment", e.Source)
		}
	}
	if _, err := s.Emit(EmitRequest{Payment: p.ID, Refund: refund.ID, Status: "failed", Events: []string{"refund.failed"}, Delivery: Delivery{Lost: true}}); err != nil {
		t.Fatal(err)
	}
	back := settled(t, s, SettleRequest{Payments: []string{unpaid.ID}})
	if len(back) != 1 || back[0].Amount != 1_000+500-45 {
		t.Errorf("payouts %+v, want the refund's money back and the payment that nobody told of", back)
	}
}

func TestSettle_WaitsForWhatIsYoungAndForABalanceAboveZero(t *testing.T) {
	t.Parallel()
	s := withAPI(t)
	p := paid(t, s, 10_000, "usd")
	if young := settled(t, s, SettleRequest{Available: time.Hour}); len(young) != 0 {
		t.Errorf("paid out %+v", young)
	}
	_, err := s.Dispute(DisputeRequest{Payment: p.ID, Amount: 10_000, Delivery: Delivery{Lost: true}})
	must(t, err)
	if below := settled(t, s, SettleRequest{}); len(below) != 0 {
		t.Errorf("paid out %+v below zero", below)
	}
	for _, c := range []struct {
		request SettleRequest
		status  int
	}{
		{SettleRequest{Payments: []string{"pi_none"}}, http.StatusNotFound},
		{SettleRequest{Currency: "usd"}, http.StatusUnprocessableEntity},
		{SettleRequest{Currency: "dollars", Amount: 1}, http.StatusUnprocessableEntity},
	} {
		var refused *ControlError
		if _, err = NewControl(s.ControlAddr()).Settle(t.Context(), c.request); !errors.As(err, &refused) || refused.Status != c.status {
			t.Errorf("%+v: %v", c.request, err)
		}
	}
}

func TestAPI_PayoutsByArrivalAndTransactionsByCreation(t *testing.T) {
	t.Parallel()
	s := withAPI(t)
	day := time.Date(2026, 3, 10, 15, 0, 0, 0, time.UTC)
	for i := range 3 {
		paid(t, s, 1_000, "usd")
		settled(t, s, SettleRequest{Arrival: day.AddDate(0, 0, i), Status: []string{"paid", "in_transit", "paid"}[i]})
	}
	settled(t, s, SettleRequest{Currency: "usd", Amount: 7, Arrival: day})
	from, until := day.Truncate(24*time.Hour).Unix(), day.Truncate(24*time.Hour).AddDate(0, 0, 2).Unix()
	got := entries(t, s, fmt.Sprintf("/v1/payouts?arrival_date[gte]=%d&arrival_date[lt]=%d", from, until))
	if len(got) != 3 || got[0].Automatic || got[0].List != "not_applicable" || got[2].Arrival != from {
		t.Errorf("payouts %v", got)
	}
	if status, _ := ask(t, s, "/v1/balance_transactions?payout="+got[0].ID, testAPIKey); status != http.StatusBadRequest {
		t.Errorf("the transactions of a payout by hand: %d", status)
	}
	if paid := entries(t, s, "/v1/payouts?status=in_transit"); len(paid) != 1 {
		t.Errorf("in transit %v", paid)
	}
	all := entries(t, s, "/v1/balance_transactions?limit=100&created[gte]=0")
	if len(all) != 7 || all[6].Type != "charge" || string(all[6].Source) != `"`+s.Payments()[0].Charge+`"` {
		t.Errorf("%d transactions, the oldest %+v", len(all), all[len(all)-1])
	}
	for _, bad := range []string{
		"/v1/payouts?arrival_date[x]=1", "/v1/payouts?arrival_date=x", "/v1/payouts?what=1", "/v1/payouts?limit=101", "/v1/balance_transactions?expand[]=data.other",
		"/v1/balance_transactions?payout=po_none", "/v1/balance_transactions?available_on=1", "/v1/balance_transactions?starting_after=txn_none",
	} {
		if status, _ := ask(t, s, bad, testAPIKey); status != http.StatusBadRequest {
			t.Errorf("%s: %d", bad, status)
		}
	}
}

func TestSettle_IsInTheJournalAndGoesOnAfterAStart(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.API = APIConfig{Listen: "127.0.0.1:0", Keys: []string{testAPIKey}, Account: "acct_1"}
	s, err := Start(t.Context(), cfg)
	must(t, err)
	paid(t, s, 1_000, "jpy")
	first := settled(t, s, SettleRequest{})
	must(t, s.Close())
	s, err = Start(t.Context(), cfg)
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	if again := settled(t, s, SettleRequest{}); len(again) != 0 || len(s.Payouts()) != 1 || s.Payouts()[0].ID != first[0].ID {
		t.Errorf("after a start: %+v and %+v", again, s.Payouts())
	}
}
