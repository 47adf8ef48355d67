package stripe_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/webhook/fakepsp"
	"creditonce/webhook/stripe"
)

// TestMap_TellsApartWhatTheProviderSends maps every event that the simulated provider can make, each
// built by code that shares nothing with the mapping.
func TestMap_TellsApartWhatTheProviderSends(t *testing.T) {
	t.Parallel()
	m := fakepsp.NewMaker([32]byte{9}, func() time.Time { return signedAt })
	p, err := m.NewPayment("code-0123456789abcdefghij", 12_345, "USD", fakepsp.Options{Live: true})
	if err != nil {
		t.Fatal(err)
	}
	r, err := m.NewRefund(p, 300, "pending")
	if err != nil {
		t.Fatal(err)
	}
	d, err := m.NewDispute(p, 12_345, "warning_needs_response")
	if err != nil {
		t.Fatal(err)
	}
	type want struct {
		effect          credit.Effect
		status          string
		movement, moved string
		noPayment       bool
	}
	quiet := func(status string) want { return want{effect: credit.EffectNone, status: status} }
	refund := func(status string) want { return want{credit.EffectRefund, status, r.ID, "3.00", false} }
	dispute := want{credit.EffectDispute, "warning_needs_response", d.ID, "123.45", false}
	wants := map[string]want{
		"payment_intent.succeeded":                       {effect: credit.EffectPaid, status: "succeeded"},
		"checkout.session.completed":                     {effect: credit.EffectPaid, status: "paid"},
		"checkout.session.async_payment_succeeded":       {effect: credit.EffectPaid, status: "paid"},
		"checkout.session.completed:unpaid":              quiet("unpaid"),
		"checkout.session.completed:no_payment_required": {effect: credit.EffectNone, status: "no_payment_required", noPayment: true},
		"checkout.session.async_payment_failed":          quiet("unpaid"),
		"payment_intent.payment_failed":                  quiet("requires_payment_method"),
		"payment_intent.amount_capturable_updated":       quiet("requires_capture"),
		"charge.succeeded":                               quiet("succeeded"),
		"charge.refunded":                                {effect: credit.EffectRefund, status: "succeeded"},
		"refund.created":                                 refund("pending"),
		"refund.updated":                                 refund("pending"),
		"refund.failed":                                  refund("failed"),
		"charge.dispute.created":                         dispute,
		"charge.dispute.funds_withdrawn":                 dispute,
		"charge.dispute.closed":                          dispute,
		"customer.created":                               {effect: credit.EffectUnknown, noPayment: true},
	}
	provider := provider(t, stripe.Config{})
	for _, name := range fakepsp.EventNames() {
		e, err := m.EventNamed(name, fakepsp.Subject{Payment: p, Refund: r, Dispute: d, RefundedTotal: 300})
		if err != nil {
			t.Fatal(err)
		}
		w, there := wants[name]
		got, err := provider.Map(nil, e.Body)
		f := got.Facts
		if err != nil || !there {
			t.Errorf("%s: %v (expectation there: %t)", name, err, there)
			continue
		}
		kind, _, _ := strings.Cut(name, ":")
		payment := p.ID
		if w.noPayment {
			payment = ""
		}
		if got.MessageKey != e.ID || f.Type != kind || !f.Live || f.Merchant != "" || !f.OccurredAt.Equal(signedAt) {
			t.Errorf("%s: envelope %+v", name, got)
		}
		if f.Effect != w.effect || f.Status != w.status || f.Payment != payment || f.Movement != w.movement || f.CodesClash {
			t.Errorf("%s: facts %+v, want %+v", name, f, w)
		}
		if w.moved != "" && f.Moved.Decimal() != w.moved || w.moved == "" && f.Moved.IsSet() {
			t.Errorf("%s: moved %s, want %q", name, f.Moved, w.moved)
		}
		if paid := f.Effect == credit.EffectPaid; paid != (len(f.Parts) == 1) || paid != (f.Code == p.Code) {
			t.Errorf("%s: parts %v, code %q", name, f.Parts, f.Code)
		} else if paid && (f.Parts[0].ID != "" || f.Parts[0].Amount.Decimal() != "123.45" || f.Parts[0].Amount.Currency() != "USD") {
			t.Errorf("%s: part %+v", name, f.Parts[0])
		}
	}
}

func TestMap_WhereTheCodeComesFrom(t *testing.T) {
	t.Parallel()
	text := func(s string) *string { return &s }
	for name, tc := range map[string]struct {
		options fakepsp.Options
		session bool
		code    string
		clash   bool
	}{
		"intent: metadata":                {fakepsp.Options{}, false, "the-code", false},
		"intent: none":                    {fakepsp.Options{IntentCode: text("")}, false, "", false},
		"session: both equal":             {fakepsp.Options{}, true, "the-code", false},
		"session: metadata alone":         {fakepsp.Options{ClientReference: text("")}, true, "the-code", false},
		"session: reference alone":        {fakepsp.Options{SessionCode: text("")}, true, "the-code", false},
		"session: neither":                {fakepsp.Options{SessionCode: text(""), ClientReference: text("")}, true, "", false},
		"session: two that differ":        {fakepsp.Options{ClientReference: text("other")}, true, "the-code", true},
		"session: two differ in case":     {fakepsp.Options{ClientReference: text("The-Code")}, true, "the-code", true},
		"session: the intent's is not it": {fakepsp.Options{IntentCode: text("other")}, true, "the-code", false},
	} {
		m := fakepsp.NewMaker([32]byte{1}, func() time.Time { return signedAt })
		p, err := m.NewPayment("the-code", 100, "eur", tc.options)
		if err != nil {
			t.Fatal(err)
		}
		e := m.EventIntentSucceeded(p)
		if tc.session {
			e = m.EventSessionCompleted(p, "paid")
		}
		got, err := provider(t, stripe.Config{}).Map(nil, e.Body)
		if err != nil || got.Facts.Code != tc.code || got.Facts.CodesClash != tc.clash {
			t.Errorf("%s: code %q, clash %t, %v", name, got.Facts.Code, got.Facts.CodesClash, err)
		}
	}
}

func TestMap_AmountsByStripesOwnExponents(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ currency, minor, want string }{
		{"usd", "12345", "123.45 USD"}, {"USD", "1", "0.01 USD"}, {"Eur", "0", "0.00 EUR"},
		{"jpy", "500", "500 JPY"}, {"krw", "7", "7 KRW"}, {"mga", "7", "7 MGA"}, {"xpf", "1", "1 XPF"},
		{"isk", "500", "5.00 ISK"}, {"ugx", "500", "5.00 UGX"}, {"isk", "501", ""}, {"ugx", "550", ""},
		{"bhd", "1230", "1.230 BHD"}, {"tnd", "10", "0.010 TND"}, {"huf", "100", "1.00 HUF"}, {"twd", "100", "1.00 TWD"},
		{"usd", "123456789012345678901234567890", "1234567890123456789012345678.90 USD"},
		{"usd", "1234567890123456789012345678901", ""},
		{"usd", "1e3", ""}, {"usd", "1.0", ""}, {"usd", "1.5", ""}, {"usd", "1E3", ""}, {"usd", `"100"`, ""}, {"usd", "null", ""},
		{"usd", "true", ""}, {"usd", "[1]", ""}, {"usd", "-5", "-0.05 USD"}, {"usd", "-0", "0.00 USD"},
		{"us", "1", ""}, {"usdc", "1", ""}, {"u$d", "1", ""}, {"", "1", ""}, {"ſsd", "1", ""},
	} {
		body := fmt.Sprintf(`{"id":"evt_1","object":"event","type":"payment_intent.succeeded","created":1,"livemode":false,"data":{"object":
			{"id":"pi_1","object":"payment_intent","status":"succeeded","amount_received":%s,"currency":%q}}}`, tc.minor, tc.currency)
		got, err := provider(t, stripe.Config{}).Map(nil, []byte(body))
		switch {
		case tc.want == "" && err == nil:
			t.Errorf("%s %s: read as %v", tc.minor, tc.currency, got.Facts.Parts)
		case tc.want != "" && err != nil:
			t.Errorf("%s %s: %v", tc.minor, tc.currency, err)
		case tc.want != "":
			a := got.Facts.Parts[0].Amount
			if text := a.Decimal() + " " + a.Currency(); text != tc.want {
				t.Errorf("%s %s: %s, want %s", tc.minor, tc.currency, text, tc.want)
			}
		}
	}
}

func TestExponent_IsStripesOwn(t *testing.T) {
	t.Parallel()
	for currency, want := range map[string]int{"USD": 2, "eur": 2, "JPY": 0, "xof": 0, "KWD": 3, "OMR": 3, "ISK": 2, "UGX": 2, "HUF": 2} {
		if got, ok := stripe.Exponent(currency); got != want || !ok {
			t.Errorf("%s: %d %t, want %d", currency, got, ok, want)
		}
	}
	for _, currency := range []string{"", "US", "USDT", "U D", " JPY", "JP1", "ÜSD"} {
		if got, ok := stripe.Exponent(currency); ok {
			t.Errorf("%q: known with %d", currency, got)
		}
	}
}
