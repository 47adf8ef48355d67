package fakepsp

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

const testAPIKey = "sk_test_api"

func withAPI(t *testing.T) *Server {
	t.Helper()
	cfg := testConfig(t)
	cfg.API = APIConfig{Listen: "127.0.0.1:0", Keys: []string{testAPIKey}, Account: "acct_1"}
	s, err := Start(t.Context(), cfg)
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func ask(t *testing.T, s *Server, path, key string) (int, map[string]any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.APIAddr()+path, nil)
	must(t, err)
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := http.DefaultClient.Do(req)
	must(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	must(t, err)
	var body map[string]any
	if err := json.Unmarshal(text, &body); err != nil {
		t.Fatalf("%d %s: %v", resp.StatusCode, text, err)
	}
	return resp.StatusCode, body
}

// listed are the ids of a page, in its order.
func listed(t *testing.T, body map[string]any) (ids []string) {
	t.Helper()
	data, _ := body["data"].([]any)
	for _, e := range data {
		ids = append(ids, e.(map[string]any)["id"].(string))
	}
	return ids
}

func TestAPI_ListsWhatWasLostNewestFirstInPages(t *testing.T) {
	t.Parallel()
	s := withAPI(t)
	for range 4 {
		_, err := s.Pay(PaymentRequest{Code: "c", Amount: 1, Currency: "usd", Delivery: Delivery{Lost: true}})
		must(t, err)
	}
	if st := s.Status(); st.Outstanding != 0 || st.Attempts != 0 {
		t.Errorf("status %+v: something was sent", st)
	}
	var got []string
	for after, more := "", true; more; {
		status, body := ask(t, s, "/v1/events?limit=5"+after, testAPIKey)
		if status != http.StatusOK || body["object"] != "list" || body["url"] != "/v1/events" {
			t.Fatalf("%d %v", status, body)
		}
		got = append(got, listed(t, body)...)
		after, more = "&starting_after="+got[len(got)-1], body["has_more"].(bool)
	}
	events := s.Events()
	if len(got) != 12 || got[0] != events[11].ID || got[11] != events[0].ID {
		t.Errorf("listed %v", got)
	}
	_, body := ask(t, s, "/v1/events?ending_before="+got[6]+"&limit=3", testAPIKey)
	if before := listed(t, body); strings.Join(before, " ") != strings.Join(got[3:6], " ") || body["has_more"] != true {
		t.Errorf("before %s: %v", got[6], before)
	}
	if _, body = ask(t, s, "/v1/events", testAPIKey); len(listed(t, body)) != 10 {
		t.Error("the default page is not 10")
	}
	if _, body = ask(t, s, "/v1/events?type=checkout.*", testAPIKey); len(listed(t, body)) != 4 {
		t.Errorf("a group of types gave %v", listed(t, body))
	}
	both := url.Values{"types[]": {"charge.succeeded", "payment_intent.succeeded"}, "limit": {"100"}, "delivery_success": {"false"}}
	if _, body = ask(t, s, "/v1/events?"+both.Encode(), testAPIKey); len(listed(t, body)) != 8 {
		t.Errorf("two types gave %v", listed(t, body))
	}
	if _, body = ask(t, s, "/v1/events?created[gt]="+"4000000000", testAPIKey); len(listed(t, body)) != 0 {
		t.Errorf("the far future gave %v", listed(t, body))
	}
}

func TestAPI_RefusesWhatTheDocumentationDoes(t *testing.T) {
	t.Parallel()
	s := withAPI(t)
	many := url.Values{"types[]": make([]string, 21)}.Encode()
	for path, want := range map[string]int{
		"/v1/events?limit=0": 400, "/v1/events?limit=101": 400, "/v1/events?limit=x": 400, "/v1/events?created=x": 400, "/v1/events?created[x]=1": 400,
		"/v1/events?unknown=1": 400, "/v1/events?starting_after=evt_none": 400, "/v1/events?ending_before=evt_none": 400, "/v1/events?" + many: 400,
		"/v1/events?type=a&types[]=b": 400, "/v1/charges": 404, "/v1/events": 200, "/v1/account": 200,
	} {
		if status, body := ask(t, s, path, testAPIKey); status != want {
			t.Errorf("%s: %d %v, want %d", path, status, body, want)
		}
	}
	for _, key := range []string{"", "sk_test_wrong"} {
		if status, body := ask(t, s, "/v1/events", key); status != http.StatusUnauthorized || body["error"] == nil {
			t.Errorf("key %q: %d %v", key, status, body)
		}
	}
}

func TestAPI_LagHidesTheYoungest(t *testing.T) {
	t.Parallel()
	s := withAPI(t)
	control := NewControl(s.ControlAddr())
	_, err := s.Pay(PaymentRequest{Code: "c", Amount: 1, Currency: "usd", Delivery: Delivery{Lost: true}})
	must(t, err)
	_, err = control.SetAPI(t.Context(), APIFaults{Lag: time.Hour})
	must(t, err)
	if _, body := ask(t, s, "/v1/events", testAPIKey); len(listed(t, body)) != 0 {
		t.Error("an event is listed before its time")
	}
	st, err := control.SetAPI(t.Context(), APIFaults{})
	must(t, err)
	if _, body := ask(t, s, "/v1/events", testAPIKey); len(listed(t, body)) != 3 || st.Requests != 1 {
		t.Errorf("listed %v, status %+v", body, st)
	}
}

func TestDelivery_LostHasNoCopiesAndNoDelay(t *testing.T) {
	t.Parallel()
	s := withAPI(t)
	if _, err := s.Pay(PaymentRequest{Code: "c", Amount: 1, Currency: "usd", Delivery: Delivery{Lost: true, Copies: 2}}); err == nil {
		t.Error("taken")
	}
	if len(s.Events()) != 0 {
		t.Error("an event was made")
	}
}
