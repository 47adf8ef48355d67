package webhook_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/webhook"
	"creditonce/webhook/fakepsp"
	"creditonce/webhook/stripe"
)

func pulledPair(t *testing.T) (endpoint webhook.Endpoint, id string, webhookBody, listBody []byte) {
	t.Helper()
	provider, err := stripe.New(stripe.Config{Secrets: [][]byte{[]byte("whsec_x")}})
	if err != nil {
		t.Fatal(err)
	}
	maker := fakepsp.NewMaker([32]byte{1}, func() time.Time { return time.Unix(1790000000, 0) })
	p, err := maker.NewPayment("code-0123456789abcdefghij", 5000, "usd", fakepsp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	e := maker.EventIntentSucceeded(p)
	var compact bytes.Buffer
	if err := json.Compact(&compact, bytes.Replace(e.Body, []byte(`"pending_webhooks": 1`), []byte(`"pending_webhooks": 0`), 1)); err != nil {
		t.Fatal(err)
	}
	return webhook.Endpoint{Name: "stripe-eu", Account: "acct_1", Provider: provider}, e.ID, e.Body, compact.Bytes()
}

func TestPulledEvent_IsTheWebhooksEventWithOtherBytesAndSaysHowItCame(t *testing.T) {
	t.Parallel()
	endpoint, id, _, body := pulledPair(t)
	now := time.Unix(1790000100, 0).UTC()
	e := webhook.PulledEvent(endpoint, id, body, now)
	if e.MessageKey != id || e.Facts.Effect != credit.EffectPaid || e.Facts.Code != "code-0123456789abcdefghij" || e.Provider != "stripe-eu" ||
		e.Kind != "stripe" || e.Account != "acct_1" || !bytes.Equal(e.Body, body) || !e.ReceivedAt.Equal(now) {
		t.Errorf("event %+v", e)
	}
	if len(e.Headers) != 1 || e.Headers[webhook.SourceHeader] != webhook.Pulled {
		t.Errorf("headers %v", e.Headers)
	}
}

func TestPulledEvent_NobodyCanSendItsMark(t *testing.T) {
	t.Parallel()
	endpoint, _, _, _ := pulledPair(t)
	for _, name := range endpoint.Provider.EvidenceHeaders() {
		if name == webhook.SourceHeader {
			t.Error("the mark is kept of requests")
		}
	}
}

func TestPulledEvent_ThatCannotBeReadKeepsItsIdWhateverItsBytes(t *testing.T) {
	t.Parallel()
	endpoint, id, _, body := pulledPair(t)
	body = bytes.Replace(body, []byte(`"amount_received":5000`), []byte(`"amount_received":5e3`), 1)
	for _, more := range []string{"", " "} {
		e := webhook.PulledEvent(endpoint, id, append([]byte(more), body...), time.Now())
		if e.MessageKey != id || e.Facts.Effect != credit.EffectUnreadable || e.Facts.Problem == "" {
			t.Errorf("event %+v", e)
		}
	}
	if e := webhook.PulledEvent(endpoint, "evt_another", body, time.Now()); e.MessageKey != "evt_another" || e.Facts.Effect != credit.EffectUnreadable {
		t.Errorf("event %+v", e)
	}
}
