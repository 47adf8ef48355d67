package stripe_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"creditonce/credit"
	"creditonce/webhook/fakepsp"
	"creditonce/webhook/stripe"
)

// FuzzSignatureHeader never panics and never accepts a header without a digest under a secret.
func FuzzSignatureHeader(f *testing.F) {
	body := []byte(`{"id":"evt_1"}`)
	goodOld, goodNew := digest(secretOld, string(body)), digest(secretNew, string(body))
	for _, seed := range []string{
		fakepsp.Sign(secretNew, body, signedAt), fakepsp.SignAll([]string{"x", secretOld}, body, signedAt),
		"t=1760000000,v1=", "t=1760000000,v0=" + goodNew, ",", "t==,v1", "v1=" + goodNew + ",t=1760000000",
	} {
		f.Add(seed)
	}
	p := provider(f, stripe.Config{})
	f.Fuzz(func(t *testing.T, header string) {
		err := p.Verify(http.Header{"Stripe-Signature": {header}}, body, signedAt)
		lower := strings.ToLower(header)
		if err == nil && !strings.Contains(lower, "v1="+goodOld) && !strings.Contains(lower, "v1="+goodNew) {
			t.Fatalf("accepted %q", header)
		}
		times := 0
		for part := range strings.SplitSeq(header, ",") {
			if strings.HasPrefix(part, "t=") {
				times++
			}
		}
		if err == nil && times != 1 {
			t.Fatalf("accepted with %d times: %q", times, header)
		}
	})
}

// compareReaders reads a paid event once more, with encoding/json and nothing of the mapping: both see the same money, to
// the last digit as it stands, of the same payment.
func compareReaders(t *testing.T, body []byte, facts credit.Facts) {
	t.Helper()
	var event struct {
		Data struct{ Object map[string]any }
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if err := d.Decode(&event); err != nil {
		t.Fatalf("paid, and encoding/json cannot read it: %v", err)
	}
	amount, payment := "amount_received", "id"
	if event.Data.Object["object"] == "checkout.session" {
		amount, payment = "amount_total", "payment_intent"
	}
	// An amount that is not above 0 is refused by the domain, which sees it as it came.
	literal := fmt.Sprint(event.Data.Object[amount])
	if minor, ok := new(big.Int).SetString(literal, 10); !ok || minor.Cmp(facts.Parts[0].Amount.Units()) != 0 {
		t.Fatalf("%s is %s, read as %s", amount, literal, facts.Parts[0].Amount)
	}
	if currency := fmt.Sprint(event.Data.Object["currency"]); !strings.EqualFold(currency, facts.Parts[0].Amount.Currency()) {
		t.Fatalf("currency %q, read as %s", currency, facts.Parts[0].Amount)
	}
	if id, ok := event.Data.Object[payment].(string); ok && facts.Payment != id {
		t.Fatalf("%s is %q, read as %q", payment, id, facts.Payment)
	}
}

// FuzzMap never panics, and whatever it calls paid has all that a row needs, as another reader sees it too.
func FuzzMap(f *testing.F) {
	f.Add([]byte(intentEvent))
	f.Add([]byte(sessionEvent))
	f.Add([]byte(`{"id":"e","object":"v2.core.event","type":"x","livemode":false,"created":"2026-01-01T00:00:00Z"}`))
	f.Add([]byte(`{"id":"e","object":"event","type":"refund.created","livemode":true,"created":1,"data":{"object":{"object":"refund","charge":{"id":"c"}}}}`))
	f.Add([]byte(`{"ID":"e","id":1e9}`))
	for _, amount := range []string{
		"1e309", "1e3", "-0", "-500", "0", "500.0", "5E2", "9007199254740993", "18446744073709551616", `"500"`, "NaN", "Infinity", "null", "[500]", "0500", "+500", ".5",
		`500,"amount_received":5`, `500,"Amount_Received":5`, `500,"amount\u005freceived":5`,
	} {
		f.Add([]byte(strings.Replace(intentEvent, `:500`, ":"+amount, 1)))
		f.Add([]byte(strings.Replace(sessionEvent, `:500`, ":"+amount, 1)))
	}
	for _, currency := range []string{"jpy", "kwd", "isk", "ugx", "huf", "USD", "uſd", "", "xxx"} {
		f.Add([]byte(strings.Replace(intentEvent, "usd", currency, 1)))
	}
	f.Add([]byte(strings.Replace(intentEvent, `{"id":"evt_1"`, strings.Repeat(`{"a":`, 5_000)+`1`+strings.Repeat("}", 5_000), 1)))
	p := provider(f, stripe.Config{})
	f.Fuzz(func(t *testing.T, body []byte) {
		m, err := p.Map(nil, body)
		if err != nil {
			return
		}
		if m.MessageKey == "" || m.Facts.Type == "" || !utf8.ValidString(m.MessageKey+m.Facts.Payment+m.Facts.Code+m.Facts.Movement) {
			t.Fatalf("read as %+v", m)
		}
		switch m.Facts.Effect {
		case credit.EffectPaid:
			if len(m.Facts.Parts) != 1 || !m.Facts.Parts[0].Amount.IsSet() {
				t.Fatalf("paid without an amount: %+v", m)
			}
			compareReaders(t, body, m.Facts)
		case credit.EffectRefund, credit.EffectDispute:
			if m.Facts.Payment == "" || len(m.Facts.Parts) != 0 {
				t.Fatalf("reversal of no payment: %+v", m)
			}
		case credit.EffectNone, credit.EffectUnknown:
			if len(m.Facts.Parts) != 0 {
				t.Fatalf("parts without money: %+v", m)
			}
		case credit.EffectUnreadable:
			t.Fatal("unreadable without an error")
		default:
			t.Fatalf("effect %q", m.Facts.Effect)
		}
	})
}
