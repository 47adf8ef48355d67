package stripe

import (
	"context"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"creditonce/internal/psp/ask"
	"creditonce/webhook/fakepsp"
)

const (
	account = "acct_1ExampleAccount"
	apiKey  = "rk_test_51ExampleKeyThatMustNeverBeShown"
)

// world is a client and the simulated provider, on one clock that only the test moves.
type world struct {
	t       *testing.T
	fake    *fakepsp.Server
	control *fakepsp.Control
	client  *Client

	mu     sync.Mutex
	now    time.Time
	paused []time.Duration
}

var start = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func newWorld(t *testing.T, change ...func(*Config)) *world {
	t.Helper()
	w := &world{t: t, now: start}
	fake, err := fakepsp.Start(t.Context(), fakepsp.Config{
		URL: "https://127.0.0.1:1/webhooks/none", Secrets: []string{"whsec_test"}, Journal: filepath.Join(t.TempDir(), "provider.jsonl"),
		Control: "127.0.0.1:0", Seed: 1, Now: w.clock, API: fakepsp.APIConfig{Listen: "127.0.0.1:0", Keys: []string{apiKey}, Account: account},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = fake.Close() })
	w.fake, w.control = fake, fakepsp.NewControl(fake.ControlAddr())
	cfg := Config{
		URL: "http://" + fake.APIAddr(), Key: func() []byte { return []byte(apiKey) }, Account: account,
		Types: []string{"payment_intent.succeeded", "refund.created", "charge.dispute.created"},
		Now:   w.clock, Wait: w.wait, Spread: func() float64 { return 0 },
	}
	for _, c := range change {
		c(&cfg)
	}
	if w.client, err = New(cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.client.Close)
	return w
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

// wait passes the time at once and remembers it.
func (w *world) wait(ctx context.Context, d time.Duration) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
	w.paused = append(w.paused, d)
	return ctx.Err()
}

// pay makes n payments, each a second after the one before, whose webhooks never come.
func (w *world) pay(n int) []string {
	w.t.Helper()
	var ids []string
	for range n {
		_, err := w.fake.Pay(fakepsp.PaymentRequest{
			Code: "code", Amount: 5000, Currency: "usd", Events: []string{"payment_intent.succeeded"}, Delivery: fakepsp.Delivery{Lost: true},
		})
		if err != nil {
			w.t.Fatal(err)
		}
		events := w.fake.Events()
		ids = append(ids, events[len(events)-1].ID)
		w.pass(time.Second)
	}
	return ids
}

func (w *world) faults(f fakepsp.APIFaults) {
	w.t.Helper()
	if _, err := w.control.SetAPI(w.t.Context(), f); err != nil {
		w.t.Fatal(err)
	}
}

// list asks for everything from an hour before the start on.
func (w *world) list(take func(Event) error) ([]Event, Listing, error) {
	w.t.Helper()
	var got []Event
	listing, err := w.client.Events(w.t.Context(), start.Add(-time.Hour), w.clock(), func(e Event) error {
		got = append(got, e)
		if take == nil {
			return nil
		}
		return take(e)
	})
	return got, listing, err
}

func ids(events []Event) map[string]int {
	out := map[string]int{}
	for _, e := range events {
		out[e.ID]++
	}
	return out
}

func wantFault(t *testing.T, err error, reason ask.Reason) *ask.Fault {
	t.Helper()
	f := ask.FaultOf(err)
	if f == nil || f.Reason != reason {
		t.Fatalf("got %v, want a fault %q", err, reason)
	}
	return f
}
