package app_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"creditonce/mt5/fakemt5"
)

// 200 requests at once with one Idempotency-Key make one deposit and get 200 equal answers, over HTTP and a synced store.
func TestTwinRequests_GetOneDepositAndEqualAnswers(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.start()
	r.account("client-1")
	const twins = 200
	body := fmt.Sprintf(`{"client":"client-1","server":"main","login":"%d","provider":"stripe","paid":{"amount":"5.00","currency":"USD"},"credited":{"amount":"5.00","currency":"USD"}}`, login)
	answers, replayed := make([]string, twins), make([]bool, twins)
	client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: twins}}
	defer client.CloseIdleConnections()
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range twins {
		wg.Go(func() {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.api+"/v1/deposits", strings.NewReader(body))
			if err != nil {
				t.Error(err)
				return
			}
			for name, value := range map[string]string{"Authorization": "Bearer " + depositsKey, "Content-Type": "application/json", "Idempotency-Key": "one"} {
				req.Header.Set(name, value)
			}
			<-start
			res, err := client.Do(req)
			if err != nil {
				t.Error(err)
				return
			}
			defer res.Body.Close()
			text, err := io.ReadAll(res.Body)
			if err != nil {
				t.Error(err)
			}
			answers[i], replayed[i] = fmt.Sprint(res.StatusCode, " ", string(text)), res.Header.Get("Idempotency-Replayed") == "true"
		})
	}
	close(start)
	wg.Wait()
	first := 0
	for i, a := range answers {
		if a != answers[0] || !strings.HasPrefix(a, "201 {") {
			t.Fatalf("answer %d is %s, another is %s", i, a, answers[0])
		}
		if !replayed[i] {
			first++
		}
	}
	if codes := r.codes("limit=200", nil); first != 1 || len(codes) != 1 {
		t.Errorf("%d first answers, %d deposits", first, len(codes))
	}
}

// codes reads all pages of the deposits; between is called after each.
func (r *rig) codes(query string, between func()) (codes []string) {
	r.t.Helper()
	for next := query; ; {
		status, body := r.call(http.MethodGet, "/v1/deposits?"+next, depositsKey, "", "")
		var page struct {
			Items []struct{ Code string }
			Next  *string
		}
		if err := json.Unmarshal([]byte(body), &page); err != nil || status != http.StatusOK {
			r.t.Fatalf("%s: %d %s", next, status, body)
		}
		for _, d := range page.Items {
			codes = append(codes, d.Code)
		}
		if page.Next == nil {
			return codes
		}
		if between != nil {
			between()
		}
		next = query + "&cursor=" + *page.Next
	}
}

func TestListWhileDepositsAreMade_ShowsEachOnceAndLosesNone(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.start()
	r.account("client-1")
	var before []string
	for i := range 40 {
		before = append(before, r.deposit("client-1", "1.00", fmt.Sprint("before-", i)))
	}
	for _, query := range []string{"limit=7", "limit=7&client=client-1", fmt.Sprintf("limit=1&server=main&login=%d&state=open", login)} {
		var wg sync.WaitGroup
		stop := make(chan struct{})
		for maker := range 4 {
			wg.Go(func() {
				for i := 0; ; i++ {
					select {
					case <-stop:
						return
					default:
						r.deposit("client-1", "1.00", fmt.Sprint(query, maker, "-", i))
					}
				}
			})
		}
		seen := map[string]bool{}
		for _, code := range r.codes(query, nil) {
			if seen[code] {
				t.Errorf("%s: %s comes twice", query, code)
			}
			seen[code] = true
		}
		close(stop)
		wg.Wait()
		for _, code := range before {
			if !seen[code] {
				t.Errorf("%s: %s was there and is lost", query, code)
			}
		}
	}
}

// A login that changes its client while a call may be under way: the call is not touched, a person gets a task.
func TestLoginThatChangesItsClientDuringACall_IsATask(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.start()
	r.account("client-1")
	code := r.deposit("client-1", "20.00", "k1")
	fault(t, r, fakemt5.Rule{Where: "trade/balance", Kind: fakemt5.ApplyThenDelay, Delay: fakemt5.Duration(300e6), Count: 1})
	r.send(r.maker.EventIntentSucceeded(r.payment(code, 2000)))
	r.awaitState(code, "claimed")
	r.account("client-2")
	r.await("task opened", func(l map[string]any) bool { return l["task"] == "ownership" })
	r.halt()
	if in := verify(t, r); in.Rows[0].State != "done" && in.Rows[0].State != "unknown" {
		t.Fatalf("the row is %q", in.Rows[0].State)
	}
}
