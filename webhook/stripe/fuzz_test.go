package stripe_test

import (
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

// FuzzMap never panics, and whatever it calls paid has all that a row needs.
func FuzzMap(f *testing.F) {
	f.Add([]byte(intentEvent))
	f.Add([]byte(sessionEvent))
	f.Add([]byte(`{"id":"e","object":"v2.core.event","type":"x","livemode":false,"created":"2026-01-01T00:00:00Z"}`))
	f.Add([]byte(`{"id":"e","object":"event","type":"refund.created","livemode":true,"created":1,"data":{"object":{"object":"refund","charge":{"id":"c"}}}}`))
	f.Add([]byte(`{"ID":"e","id":1e9}`))
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
