package cli

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// signConfig writes a configuration with a provider of each kind and returns its path.
func signConfig(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"stripe": "whsec_planted", "wallet": "whsec_cGxhbnRlZCBwbGFudGVkIHBsYW50ZWQgcGxhbnRlZCE=",
		"public": "whpk_cGxhbnRlZCBwbGFudGVkIHBsYW50ZWQgcGxhbnRlZCE=", "manager": "planted",
		"config.yaml": `environment: test
providers:
  stripe: {kind: stripe, account: acct_1, secrets: [{file: stripe}]}
  wallet:
    kind: standard
    account: wallet-1
    secrets: [{file: wallet}]
    payload: {type: kind, occurred_at: at, livemode: data.live, merchant: data.to, amount_is: minor,
      paid: {types: [paid], payment: data.id, part: data.part, amount: data.money.minor, currency: data.money.currency, code: data.code},
      refund: {types: [refunded], payment: data.payment, movement: data.id}}
  public:
    kind: standard
    account: wallet-2
    secrets: [{file: public}]
    payload: {type: kind, occurred_at: at, livemode: false, amount_is: decimal,
      paid: {types: [paid], payment: id, amount: amount, currency: currency, code: code}}
mt5:
  servers:
    main: {identity: Demo, addresses: ["127.0.0.1:443"], login: 7, password: {file: manager}, currencies: {USD: 2}}
limits: {per_credit: {USD: "100.00"}, per_login_day: {USD: "100.00"}}
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "config.yaml")
}

func TestSign_StandardMessageHoldsEveryValueWhereTheConfigurationSays(t *testing.T) {
	t.Parallel()
	path := signConfig(t)
	got := run("sign", "--config", path, "--provider", "wallet", "--code", "the-code", "--amount", "5.25", "--currency", "usd")
	head, body, _ := strings.Cut(got.stdout, "\n\n")
	if got.code != ExitDone || strings.Contains(got.stdout+got.stderr, "cGxhbn") {
		t.Fatalf("got %+v", got)
	}
	for _, want := range []string{"POST http://127.0.0.1:8080/webhooks/wallet\n", "webhook-id: msg_", "webhook-timestamp: 1796040000", "webhook-signature: v1,"} {
		if !strings.Contains(head, want) {
			t.Errorf("no %q in\n%s", want, head)
		}
	}
	var message struct {
		Kind string
		At   int64
		Data struct {
			ID, Part, To, Code string
			Live               *bool
			Money              struct {
				Minor    int64
				Currency string
			}
		}
	}
	if err := json.Unmarshal([]byte(body), &message); err != nil {
		t.Fatal(err)
	}
	d := message.Data
	if message.Kind != "paid" || message.At != 1796040000 || !strings.HasPrefix(d.ID, "pay_") || d.Part == "" || d.To != "wallet-1" ||
		d.Code != "the-code" || d.Live == nil || *d.Live || d.Money.Minor != 525 || d.Money.Currency != "USD" {
		t.Errorf("message %s", body)
	}
}

func TestSign_SaysWhatItCannotSign(t *testing.T) {
	t.Parallel()
	path := signConfig(t)
	for name, tc := range map[string]struct {
		arguments []string
		code      int
		says      string
	}{
		"no provider named":       {nil, ExitUsage, "the configuration has public, stripe, wallet"},
		"word of another kind":    {[]string{"--provider", "wallet", "--event", "refund.created"}, ExitUsage, "want one of paid, refund, dispute"},
		"word of the other kind":  {[]string{"--provider", "stripe", "--event", "paid"}, ExitUsage, "want one of"},
		"dispute without a type":  {[]string{"--provider", "wallet", "--event", "dispute"}, ExitUsage, "names no type of message for it"},
		"amount finer than cents": {[]string{"--provider", "wallet", "--amount", "5.255"}, ExitUsage, "decimal places"},
		"unknown currency":        {[]string{"--provider", "wallet", "--currency", "XYZ"}, ExitUsage, "not one that the provider knows"},
		"public key":              {[]string{"--provider", "public"}, ExitFailed, "the sender keeps the private one"},
	} {
		got := run(append([]string{"sign", "--config", path, "--amount", "5.00", "--currency", "USD"}, tc.arguments...)...)
		if got.code != tc.code || !strings.Contains(got.stderr, tc.says) || got.stdout != "" || strings.Contains(got.stderr, "cGxh") {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestSign_SendsWhatItWouldPrint(t *testing.T) {
	t.Parallel()
	path := signConfig(t)
	for provider, header := range map[string]string{"stripe": "Stripe-Signature", "wallet": "Webhook-Signature"} {
		headers := make(chan http.Header, 1)
		srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { headers <- r.Header }))
		t.Cleanup(srv.Close)
		got := run("sign", "--config", path, "--provider", provider, "--amount", "5.00", "--currency", "USD", "--send", "--url", srv.URL)
		if got.code != ExitDone || !strings.Contains(got.stdout, "answered 200") {
			t.Errorf("%s: %+v", provider, got)
			continue
		}
		if seen := <-headers; seen.Get(header) == "" {
			t.Errorf("%s: headers %v", provider, seen)
		}
	}
}
