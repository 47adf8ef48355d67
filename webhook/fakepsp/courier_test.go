package fakepsp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// receiver answers from a script and remembers what came, in order.
type receiver struct {
	mu    sync.Mutex
	reply func(n int) (int, error) // n counts posts from 1
	got   []delivered
}

type delivered struct {
	at        time.Time
	body      string
	signature string
}

func (r *receiver) post(_ context.Context, body []byte, signature string) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got = append(r.got, delivered{time.Now(), string(body), signature})
	if r.reply == nil {
		return 200, nil
	}
	return r.reply(len(r.got))
}

func testConfig(t *testing.T) Config {
	t.Helper()
	cfg, err := Config{
		URL: "https://127.0.0.1:1/webhooks/psp", Secrets: []string{"whsec_a", "whsec_b"}, Seed: 7, Now: time.Now,
		Journal: filepath.Join(t.TempDir(), "psp.jsonl"), Control: "127.0.0.1:0",
	}.checked()
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func provider(t *testing.T, cfg Config, post poster) *Server {
	t.Helper()
	s, err := assemble(t.Context(), cfg, post)
	if err != nil {
		t.Fatal(err)
	}
	close(s.served)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func mustDrain(t *testing.T, s *Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	if err := s.Drain(ctx); err != nil {
		t.Fatal(err)
	}
}

func mustPay(t *testing.T, s *Server, r PaymentRequest) Payment {
	t.Helper()
	if r.Amount == 0 {
		r.Amount = 5_000
	}
	r.Code, r.Currency = "code-0123456789abcdefghij", "usd"
	p, err := s.Pay(r)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestDelivery_IsRetriedUntil2xxWithAFreshSignature(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		r := &receiver{reply: func(n int) (int, error) {
			return []int{503, 401, 302, 0, 204}[n-1], map[bool]error{true: io.ErrUnexpectedEOF}[n == 4]
		}}
		cfg := testConfig(t)
		cfg.Journal, cfg.Backoff = filepath.Join(dir, "j"), Backoff{First: 8 * time.Second, Max: 20 * time.Second}
		s := provider(t, cfg, r.post)
		mustPay(t, s, PaymentRequest{Events: []string{"payment_intent.succeeded"}})
		mustDrain(t, s)
		if len(r.got) != 5 {
			t.Fatalf("%d posts, want 5", len(r.got))
		}
		for i, d := range r.got {
			if d.signature != SignAll(cfg.Secrets, []byte(d.body), d.at) || d.body != r.got[0].body {
				t.Errorf("attempt %d is not the same body with a signature of its own time", i+1)
			}
			if i > 0 && d.at.Unix() == r.got[i-1].at.Unix() {
				t.Errorf("attempt %d has the timestamp of the one before", i+1)
			}
		}
		attempts := s.Attempts()
		for i, a := range attempts {
			if a.Number != i+1 || a.Acknowledged != (i == 4) || (a.Error != "") != (i == 3) {
				t.Errorf("attempt %d recorded as %+v", i+1, a)
			}
		}
	})
}

// TestDisorder_RepeatsAndReorders also shows that equal seeds give the same disorder.
func TestDisorder_RepeatsAndReordersReproducibly(t *testing.T) {
	t.Parallel()
	run := func(seed uint64) []string {
		var order []string
		dir := t.TempDir()
		synctest.Test(t, func(t *testing.T) {
			r := &receiver{}
			cfg := testConfig(t)
			cfg.Journal, cfg.Seed = filepath.Join(dir, "j"), seed
			cfg.Disorder = Disorder{Repeat: 50, Reorder: 50, MaxDelay: time.Second}
			s := provider(t, cfg, r.post)
			for range 10 {
				mustPay(t, s, PaymentRequest{})
				time.Sleep(100 * time.Millisecond) // inside a synctest bubble: fake time
			}
			mustDrain(t, s)
			events := s.Events()
			for _, d := range r.got {
				order = append(order, fmt.Sprint(d.at.Sub(r.got[0].at), slices.IndexFunc(events, func(e Event) bool { return string(e.Body) == d.body })))
			}
		})
		slices.Sort(order) // posts of one instant have no order
		return order
	}
	first := run(11)
	if len(first) <= 30 {
		t.Errorf("30 events came %d times: nothing was repeated", len(first))
	}
	if again := run(11); !slices.Equal(first, again) {
		t.Errorf("seed 11 gave\n%v\nand then\n%v", first, again)
	}
	if other := run(12); slices.Equal(first, other) {
		t.Error("seeds 11 and 12 gave the same disorder")
	}
	if waits := (Disorder{}).waits(1, "evt_1", 0); !slices.Equal(waits, []time.Duration{0}) {
		t.Errorf("no disorder gives %v, want one delivery at once", waits)
	}
}

func TestDelivery_ConcurrencyIsBounded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var now, most int
		post := func(context.Context, []byte, string) (int, error) {
			mu.Lock()
			now++
			most = max(most, now)
			mu.Unlock()
			time.Sleep(time.Second) // inside a synctest bubble: fake time
			mu.Lock()
			defer mu.Unlock()
			now--
			return 200, nil
		}
		cfg := testConfig(t)
		cfg.Journal, cfg.Concurrency = filepath.Join(dir, "j"), 4
		s := provider(t, cfg, post)
		mustPay(t, s, PaymentRequest{Delivery: Delivery{Copies: 10}})
		mustDrain(t, s)
		if most != 4 {
			t.Errorf("at most %d posts at a time, want 4", most)
		}
	})
}

func TestDrain_EndsWithItsContext(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		r := &receiver{reply: func(int) (int, error) { return 503, nil }}
		cfg := testConfig(t)
		cfg.Journal = filepath.Join(dir, "j")
		s := provider(t, cfg, r.post)
		mustPay(t, s, PaymentRequest{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := s.Drain(ctx); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "3 deliveries") {
			t.Errorf("drain answered %v", err)
		}
	})
}

func TestRestart_GoesOnWithWhatHadNo2xx(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	answered := make(chan struct{}, 100)
	refuse := &receiver{reply: func(int) (int, error) { answered <- struct{}{}; return 500, nil }}
	s := provider(t, cfg, refuse.post)
	p := mustPay(t, s, PaymentRequest{})
	refund, err := s.Refund(RefundRequest{Payment: p.ID, Amount: 2_000})
	if err != nil {
		t.Fatal(err)
	}
	<-answered
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Refund(RefundRequest{Payment: p.ID, Amount: 1}); !errors.Is(err, errClosed) {
		t.Errorf("a closed provider answered %v", err)
	}

	accept := &receiver{}
	s = provider(t, cfg, accept.post)
	mustDrain(t, s)
	events := s.Events()
	if len(accept.got) != 5 || len(events) != 5 {
		t.Fatalf("%d posts of %d events after the restart, want 5 of 5", len(accept.got), len(events))
	}
	if got := s.Payments(); len(got) != 1 || got[0].ID != p.ID {
		t.Errorf("payments after the restart: %+v", got)
	}
	if _, err := s.Refund(RefundRequest{Payment: p.ID, Amount: 3_001}); !errors.Is(err, errRefused) {
		t.Errorf("refund over what is left after %s answered %v", refund.ID, err)
	}
	if fresh := mustPay(t, s, PaymentRequest{Silent: true}); fresh.ID == p.ID {
		t.Error("the restarted provider drew an id a second time")
	}
}
