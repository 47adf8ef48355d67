package boundary

import (
	"context"
	"testing"

	"creditonce/store"
)

// FuzzWholeRequest sends bytes as they are to the listener with both kinds of providers, over a real socket and a real
// store: there is never an answer of 2xx more than there are events that the store said yes to, and each of these has a
// body that somebody with a key has signed. Signatures in the corpus are good; making another one is not in a fuzzer's
// power.
func FuzzWholeRequest(f *testing.F) {
	p := newPublic(f, func(o *store.Options) { o.UnsafeNoSync = true })
	for _, a := range attacks {
		if raw := a.bytes(p); len(raw) < 4_000 {
			f.Add([]byte(raw))
		}
	}
	for range 4 {
		f.Add([]byte(p.next().raw() + p.next().raw()))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		p.t = t // f itself may not be used in here
		defer func() { p.t = f }()
		before := len(p.intake.receipts())
		got := p.talk(string(raw))
		fresh := p.intake.receipts()[before:]
		if n := count2xx(got); n > len(fresh) {
			t.Fatalf("answers %v, and %d events", got, len(fresh))
		}
		for _, r := range fresh {
			body, err := p.store.EventBody(context.Background(), r.Event)
			if err != nil {
				t.Fatalf("event %d was acknowledged: %v", r.Event, err)
			}
			if !p.signed[string(body)] {
				t.Fatalf("stored, and nobody with a key has signed it: %q", body)
			}
		}
	})
}
