package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"creditonce/webhook/fakepsp"
)

const walletSecret = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="

// withWallet adds a provider of the kind standard to the rig's configuration.
func withWallet(text string) string {
	return strings.Replace(text, "mt5:\n", `  wallet:
    kind: standard
    account: wallet-1
    secrets: [{file: wallet}]
    payload:
      type: type
      occurred_at: timestamp
      livemode: false
      amount_is: decimal
      paid: {types: [payment.paid], payment: data.id, amount: data.amount, currency: data.currency, code: data.reference}
      refund: {types: [payment.refunded], payment: data.payment, movement: data.id}
mt5:
`, 1)
}

func newWalletRig(t *testing.T) *rig {
	r := newRig(t, withWallet)
	r.file("wallet", walletSecret+"\n")
	r.start()
	r.account("client-1")
	return r
}

// walletDeposit makes a deposit that the wallet may pay and returns its code.
func (r *rig) walletDeposit(amount string) string {
	r.t.Helper()
	status, body := r.call(http.MethodPost, "/v1/deposits", depositsKey, "wallet deposit", fmt.Sprintf(
		`{"client":"client-1","server":"main","login":"%d","provider":"wallet","paid":{"amount":"%s","currency":"USD"},"credited":{"amount":"%s","currency":"USD"}}`,
		login, amount, amount))
	var answer struct{ Code string }
	if err := json.Unmarshal([]byte(body), &answer); err != nil || status != http.StatusCreated {
		r.t.Fatalf("make a deposit: %d %s", status, body)
	}
	return answer.Code
}

// wallet sends a message under an id and returns the status of the answer.
func (r *rig) wallet(id, body string) int {
	r.t.Helper()
	headers, err := fakepsp.SignStandard([]string{walletSecret}, id, []byte(body), time.Now())
	if err != nil {
		r.t.Fatal(err)
	}
	status, err := fakepsp.PostWith(r.t.Context(), http.DefaultClient, r.public+"/webhooks/wallet", []byte(body), headers)
	if err != nil {
		r.t.Fatal(err)
	}
	return status
}

func TestStandardWebhookBecomesOneVerifiedDeal(t *testing.T) {
	t.Parallel()
	r := newWalletRig(t)
	code := r.walletDeposit("250.00")
	paid := fmt.Sprintf(`{"type":"payment.paid","timestamp":%d,"data":{"id":"w-1","amount":"250.00","currency":"USD","reference":%q}}`, time.Now().Unix(), code)
	for _, id := range []string{"msg_1", "msg_1", "msg_2"} { // a retry, and a second message about the same payment
		if status := r.wallet(id, paid); status != http.StatusOK {
			t.Fatalf("%s answered %d", id, status)
		}
	}
	line := r.awaitState(code, "done")
	if deals := r.ours()[line["reference"].(string)]; len(deals) != 1 || len(r.ours()) != 1 || deals[0].Amount != "250.00" || deals[0].Login != login {
		t.Fatalf("deals %+v, want one of 250.00 on %d", r.ours(), login)
	}
	refund := fmt.Sprintf(`{"type":"payment.refunded","timestamp":%d,"data":{"id":"r-1","payment":"w-1"}}`, time.Now().Unix())
	if status := r.wallet("msg_3", refund); status != http.StatusOK {
		t.Fatalf("the refund was answered %d", status)
	}
	r.await("task opened", func(l map[string]any) bool {
		return l["task"] == "refund" && l["entity"] == "payment/standard/wallet-1/w-1"
	})
	r.halt()
	in := verify(t, r)
	if len(in.Rows) != 1 || in.Rows[0].State != "done" || in.Events != 3 || len(in.Findings) != 0 || len(in.OpenTasks) != 1 {
		t.Fatalf("store holds %+v", in)
	}
}

func TestOddStandardWebhookIsKeptForAPersonAndCreditsNothing(t *testing.T) {
	t.Parallel()
	r := newWalletRig(t)
	code := r.walletDeposit("250.00")
	odd := fmt.Sprintf(`{"type":"payment.paid","timestamp":%d,"data":{"id":"w-1","amount":250,"currency":"USD","reference":%q}}`, time.Now().Unix(), code)
	if status := r.wallet("msg_1", odd); status != http.StatusOK {
		t.Fatalf("answered %d", status)
	}
	line := r.await("task opened", func(l map[string]any) bool { return l["task"] == "unreadable" })
	if summary := line["summary"].(string); !strings.Contains(summary, "data.amount is not a text") {
		t.Errorf("the task says %q", summary)
	}
	r.halt()
	if in := verify(t, r); in.Events != 1 || len(in.Rows) != 0 || len(in.OpenTasks) != 1 || len(r.ours()) != 0 {
		t.Fatalf("store holds %+v, deals %v", in, r.ours())
	}
}
