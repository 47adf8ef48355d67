package fakepsp

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func fixedNow() time.Time { return time.Unix(1_760_000_000, 0) }

func testSubject(t *testing.T, m *Maker) Subject {
	t.Helper()
	p, err := m.NewPayment("code-0123456789abcdefghij", 12_345, "USD", Options{Live: true})
	if err != nil {
		t.Fatal(err)
	}
	r, err := m.NewRefund(p, 345, "")
	if err != nil {
		t.Fatal(err)
	}
	d, err := m.NewDispute(p, 12_345, "")
	if err != nil {
		t.Fatal(err)
	}
	return Subject{Payment: p, Refund: r, Dispute: d, RefundedTotal: 345}
}

func TestEventNamed_EachNameCarriesItsFacts(t *testing.T) {
	t.Parallel()
	m := NewMaker([32]byte{1}, fixedNow)
	s := testSubject(t, m)
	p := s.Payment
	code := `"creditonce_deposit": "` + p.Code + `"`
	want := map[string][]string{
		"checkout.session.completed":                     {`"payment_status": "paid"`, `"amount_total": 12345`, p.ID, p.Session, code, `"client_reference_id": "` + p.Code},
		"checkout.session.completed:unpaid":              {`"payment_status": "unpaid"`, `"amount_total": 12345`},
		"checkout.session.completed:no_payment_required": {`"payment_status": "no_payment_required"`, `"payment_intent": null`, `"amount_total": 0`},
		"checkout.session.async_payment_succeeded":       {`"payment_status": "paid"`, p.ID, code},
		"checkout.session.async_payment_failed":          {`"payment_status": "unpaid"`, p.ID},
		"payment_intent.succeeded":                       {`"amount_received": 12345`, `"status": "succeeded"`, code, `"currency": "usd"`},
		"payment_intent.payment_failed":                  {`"amount_received": 0`, `"status": "requires_payment_method"`},
		"payment_intent.amount_capturable_updated":       {`"amount_received": 0`, `"amount_capturable": 12345`, `"status": "requires_capture"`},
		"charge.succeeded":                               {p.Charge, `"payment_intent": "` + p.ID, `"amount_refunded": 0`, `"refunded": false`},
		"charge.refunded":                                {`"amount_refunded": 345`, `"refunded": false`, p.ID},
		"refund.created":                                 {s.Refund.ID, `"amount": 345`, `"status": "succeeded"`, p.ID, p.Charge},
		"refund.updated":                                 {s.Refund.ID, `"status": "succeeded"`},
		"refund.failed":                                  {s.Refund.ID, `"status": "failed"`},
		"charge.dispute.created":                         {s.Dispute.ID, `"balance_transactions": []`, `"status": "needs_response"`, p.ID},
		"charge.dispute.funds_withdrawn":                 {s.Dispute.ID, `"amount": -12345`, `"net": -13845`},
		"charge.dispute.closed":                          {s.Dispute.ID, p.Charge},
		"customer.created":                               {`"object": "customer"`},
	}
	for _, name := range EventNames() {
		e, err := m.EventNamed(name, s)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		facts, known := want[name]
		if !known {
			t.Errorf("%s has no expectation in this test", name)
		}
		kind, _, _ := strings.Cut(name, ":")
		facts = append(facts, `"type": "`+kind+`"`, `"id": "`+e.ID+`"`, `"livemode": true`, `"created": 1760000000`, `"object": "event"`)
		for _, fact := range facts {
			if !bytes.Contains(e.Body, []byte(fact)) {
				t.Errorf("%s lacks %s in\n%s", name, fact, e.Body)
			}
		}
		if !json.Valid(e.Body) || bytes.Contains(e.Body, []byte(`"account"`)) || bytes.Contains(e.Body, []byte(`\u0026`)) {
			t.Errorf("%s: body is not as the provider sends it:\n%s", name, e.Body)
		}
	}
}

func TestOptions_BendWhereTheCodeTravels(t *testing.T) {
	t.Parallel()
	none, other := "", "another-code"
	m := NewMaker([32]byte{2}, fixedNow)
	p, err := m.NewPayment("the-code", 1, "eur", Options{IntentCode: &none, SessionCode: &other, ClientReference: &none})
	if err != nil {
		t.Fatal(err)
	}
	if e := m.EventIntentSucceeded(p); !bytes.Contains(e.Body, []byte(`"metadata": {}`)) {
		t.Errorf("intent carries a code:\n%s", e.Body)
	}
	e := m.EventSessionCompleted(p, "paid")
	if !bytes.Contains(e.Body, []byte(`"client_reference_id": null`)) || !bytes.Contains(e.Body, []byte(other)) ||
		bytes.Contains(e.Body, []byte("the-code")) {
		t.Errorf("session does not carry what the options say:\n%s", e.Body)
	}
}

func TestMaker_RefusesWhatNoMerchantCanMake(t *testing.T) {
	t.Parallel()
	m := NewMaker([32]byte{3}, fixedNow)
	for name, try := range map[string]func() error{
		"zero amount":      func() error { _, err := m.NewPayment("c", 0, "usd", Options{}); return err },
		"negative amount":  func() error { _, err := m.NewPayment("c", -1, "usd", Options{}); return err },
		"two letters":      func() error { _, err := m.NewPayment("c", 1, "us", Options{}); return err },
		"digit":            func() error { _, err := m.NewPayment("c", 1, "us1", Options{}); return err },
		"code too long":    func() error { _, err := m.NewPayment(strings.Repeat("c", 201), 1, "usd", Options{}); return err },
		"refund over":      func() error { _, err := m.NewRefund(Payment{Amount: 5}, 6, ""); return err },
		"dispute of zero":  func() error { _, err := m.NewDispute(Payment{Amount: 5}, 0, ""); return err },
		"unknown event":    func() error { _, err := m.EventNamed("charge.pending", Subject{}); return err },
		"refund missing":   func() error { _, err := m.EventNamed("refund.created", Subject{}); return err },
		"dispute missing":  func() error { _, err := m.EventNamed("charge.dispute.closed", Subject{}); return err },
		"variant unknown":  func() error { _, err := m.EventNamed("checkout.session.completed:late", Subject{}); return err },
		"empty event name": func() error { _, err := m.EventNamed("", Subject{}); return err },
	} {
		if try() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestReissued_ChangesOnlyTheEventID(t *testing.T) {
	t.Parallel()
	m := NewMaker([32]byte{4}, fixedNow)
	e := m.EventIntentSucceeded(testSubject(t, m).Payment)
	again := m.Reissued(e)
	if again.ID == e.ID || !bytes.Contains(again.Body, []byte(again.ID)) || bytes.Contains(again.Body, []byte(e.ID)) {
		t.Fatalf("new id is not in place: %s", again.Body)
	}
	if !bytes.Equal(bytes.ReplaceAll(again.Body, []byte(again.ID), []byte(e.ID)), e.Body) {
		t.Error("more than the id changed")
	}
}

func TestMaker_EqualSeedsDrawEqualIDs(t *testing.T) {
	t.Parallel()
	draw := func(seed byte) string { return testSubjectID(t, NewMaker([32]byte{seed}, fixedNow)) }
	first := draw(5)
	if again := draw(5); again != first {
		t.Errorf("equal seeds gave %s and then %s", first, again)
	}
	if draw(6) == first {
		t.Error("different seeds gave equal ids")
	}
}

func testSubjectID(t *testing.T, m *Maker) string { return testSubject(t, m).Payment.ID }
