package standard_test

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
)

// FuzzHeaders never panics and never accepts a list without a good signature of exactly this id, time and body.
func FuzzHeaders(f *testing.F) {
	both := sign(f, "msg_1", good, signedAt, oldKey, privateKey)
	list := both.Get("webhook-signature")
	f.Add("msg_1", "1760000000", list)
	f.Add("msg_1", "1760000000", list[:len(list)-3])
	f.Add("msg_1.1760000000", "1760000000", list)
	f.Add("msg_1", "01760000000", "v1, v1a,"+list)
	v := verifier(f, oldKey, publicKey)
	digest, point, _ := strings.Cut(list, " ")
	f.Fuzz(func(t *testing.T, id, stamp, signature string) {
		h := http.Header{"Webhook-Id": {id}, "Webhook-Timestamp": {stamp}, "Webhook-Signature": {signature}}
		if v.Verify(h, good, signedAt) != nil {
			return
		}
		// The last digit of base64 holds bits that no byte needs, so it may be another one.
		known := strings.Contains(signature, digest[:len(digest)-2]) || strings.Contains(signature, point[:len(point)-4])
		if id != "msg_1" || stamp != "1760000000" || !known {
			t.Fatalf("accepted %q %q %q", id, stamp, signature)
		}
	})
}

// compareReaders reads a paid message once more, with encoding/json and nothing of the mapping: both see the same money.
func compareReaders(t *testing.T, body []byte, facts credit.Facts) {
	t.Helper()
	var message struct {
		Data struct {
			ID     any
			Amount map[string]any
		}
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if err := d.Decode(&message); err != nil {
		t.Fatalf("paid, and encoding/json cannot read it: %v", err)
	}
	text, ok := message.Data.Amount["value"].(string)
	want, number := new(big.Rat).SetString(text)
	got, _ := new(big.Rat).SetString(facts.Parts[0].Amount.Decimal())
	if !ok || !number || got.Cmp(want) != 0 || strings.ContainsAny(text, "eE/_xX+") {
		t.Fatalf("the amount is %q, read as %s", text, facts.Parts[0].Amount)
	}
	if currency := fmt.Sprint(message.Data.Amount["currency"]); !strings.EqualFold(currency, facts.Parts[0].Amount.Currency()) {
		t.Fatalf("currency %q, read as %s", currency, facts.Parts[0].Amount)
	}
	if id := fmt.Sprint(message.Data.ID); facts.Payment != id {
		t.Fatalf("the payment is %q, read as %q", id, facts.Payment)
	}
}

// FuzzMap never panics, and whatever it calls paid has all that a row needs and can be stored.
func FuzzMap(f *testing.F) {
	f.Add([]byte(paidMessage))
	f.Add([]byte(refundMessage))
	f.Add([]byte(`{"type":"payment.created","timestamp":1,"data":{"live":false,"merchant":"a","status":"b"}}`))
	f.Add([]byte(`{"data":{"amount":null,"amount":{}}}`))
	for _, amount := range []string{
		`"1e3"`, `"-0"`, `"-5"`, `"0"`, `"0.001"`, `"500.000"`, `"NaN"`, `500`, `1e309`, `null`, `"500,00"`, `" 5"`, `"٥"`, `"9007199254740993.01"`, `"5","value":"6"`, `"5","Value":"6"`,
	} {
		f.Add([]byte(strings.Replace(paidMessage, `"500.00"`, amount, 1)))
	}
	for _, currency := range []string{"JPY", "KWD", "UGX", "USDT", "uſd", "", "xxx"} {
		f.Add([]byte(strings.Replace(paidMessage, "usd", currency, 1)))
	}
	p := reader(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		m, err := p.Map(signedID, body)
		if err != nil {
			return
		}
		facts := m.Facts
		if m.MessageKey != "msg_1" || facts.Type == "" || !utf8.ValidString(facts.Payment+facts.Code+facts.Movement+facts.Status) {
			t.Fatalf("read as %+v", m)
		}
		if _, err := json.Marshal(facts); err != nil {
			t.Fatalf("cannot be stored: %v", err)
		}
		switch facts.Effect {
		case credit.EffectPaid:
			if len(facts.Parts) != 1 || facts.Parts[0].Amount.Sign() <= 0 || facts.Payment == "" || facts.Parts[0].ID == "" {
				t.Fatalf("paid without what a row needs: %+v", m)
			}
			compareReaders(t, body, facts)
		case credit.EffectRefund, credit.EffectDispute:
			if facts.Payment == "" || len(facts.Parts) != 0 {
				t.Fatalf("reversal of no payment: %+v", m)
			}
		case credit.EffectNone, credit.EffectUnknown:
			if len(facts.Parts) != 0 {
				t.Fatalf("parts without money: %+v", m)
			}
		default:
			t.Fatalf("effect %q without an error", facts.Effect)
		}
	})
}
