package bench

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync/atomic"
	"time"

	"creditonce/webhook/fakepsp"
)

// maker makes the bodies of one process's events: payment_intent.succeeded of about 3 KB, each about a payment of its
// own. About a third of a body is random hex, which compresses as badly as ids and tokens do. Safe for concurrent use.
type maker struct {
	secret string
	run    string // tells the runs of one store apart
	next   atomic.Uint64
}

// bodyPadding brings a body to about 3 KB, the middle of what Stripe sends for a card payment.
const bodyPadding = 14

// event is the body of a new payment, for the deposit code (empty: none), and its signature at now.
func (m *maker) event(r *rand.Rand, code string, minor int64, now time.Time) (body []byte, signature string) {
	n := m.next.Add(1)
	id := fmt.Sprintf("%s%016x", m.run, mix(n))
	metadata := ""
	if code != "" {
		metadata = strconv.Quote(fakepsp.MetadataKey) + ": " + strconv.Quote(code)
	}
	body = make([]byte, 0, 3300)
	body = fmt.Appendf(body, `{
  "id": "evt_3%[1]s",
  "object": "event",
  "api_version": "2025-08-27.basil",
  "created": %[2]d,
  "data": {
    "object": {
      "id": "pi_3%[1]s",
      "object": "payment_intent",
      "amount": %[3]d,
      "amount_capturable": 0,
      "amount_received": %[3]d,
      "capture_method": "automatic_async",
      "created": %[2]d,
      "currency": "usd",
      "latest_charge": "ch_3%[1]s",
      "livemode": false,
      "metadata": {%[4]s},
      "payment_method_options": {
        "card": {"installments": null, "mandate_options": null, "network": null, "request_three_d_secure": "automatic"}
      },
      "payment_method_types": ["card"],
`, id, now.Unix(), minor, metadata)
	body = pad(body, r)
	body = append(body, `      "status": "succeeded"
    }
  },
  "livemode": false,
  "pending_webhooks": 1,
  "request": {"id": null, "idempotency_key": null},
  "type": "payment_intent.succeeded"
}`...)
	return body, fakepsp.Sign(m.secret, body, now)
}

// pad appends members that no receiver reads.
func pad(body []byte, r *rand.Rand) []byte {
	var noise [33]byte
	for i := range bodyPadding {
		for j := range noise {
			noise[j] = byte(r.Uint32())
		}
		body = fmt.Appendf(body, "      \"x_detail_%02d\": {\"fingerprint\": \"", i)
		body = hex.AppendEncode(body, noise[:])
		body = append(body, "\", \"checks\": {\"address_line1_check\": null, \"cvc_check\": \"pass\"}},\n"...)
	}
	return body
}

// mix spreads the numbers over all 64 bits, so that ids come in no order, as a provider's do. It maps no two to one.
func mix(n uint64) uint64 {
	n *= 0x9e3779b97f4a7c15
	n ^= n >> 29
	n *= 0xbf58476d1ce4e5b9
	return n ^ n>>32
}
