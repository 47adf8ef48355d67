package stripe_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"creditonce/webhook/stripe"
)

// An event whose time cannot be stored would be answered 500, and the provider would deliver it for ever.
func TestMap_EveryTimeThatIsReadCanBeStored(t *testing.T) {
	t.Parallel()
	p := provider(t, stripe.Config{})
	for _, body := range []string{
		`{"id":"e","object":"v2.core.event","type":"x","livemode":false,"created":"9999-12-31T23:59:59-23:59"}`,
		`{"id":"e","object":"v2.core.event","type":"x","livemode":false,"created":"0000-01-01T00:00:00+23:59"}`,
		`{"id":"e","object":"event","type":"customer.created","livemode":false,"created":253402300799}`,
		`{"id":"e","object":"event","type":"customer.created","livemode":false,"created":253402300800}`,
		fmt.Sprintf(`{"id":"e","object":"event","type":"customer.created","livemode":false,"created":%d}`, uint64(1)<<40-1),
	} {
		m, err := p.Map(nil, []byte(body))
		if err != nil {
			continue // stored as unreadable, without a time
		}
		if _, err := json.Marshal(m.Facts); err != nil {
			t.Errorf("%s: %v", body, err)
		}
	}
}
