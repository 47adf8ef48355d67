package demo

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"creditonce/webhook/fakepsp"
)

const kills = 5

// From one kill to the next there is less than a quarantine, on a slow machine too, so that a row can be called again
// only after the last one: a row that is killed in its second call as well would rightly wait for a person.
const (
	longestLife    = 600 * time.Millisecond
	longQuarantine = 8 * time.Second
)

// killUnderLoad lets deposits be made and paid all the time while serve is killed at random moments and started again.
func killUnderLoad(rng *rand.Rand) func(context.Context, *show) error {
	return func(ctx context.Context, s *show) error {
		loading, stop := context.WithCancel(ctx)
		defer stop()
		loaded := make(chan error, 1)
		go func() { loaded <- s.load(loading) }()
		for n := range kills {
			if err := pause(ctx, 20*time.Millisecond+time.Duration(rng.Int64N(int64(longestLife)))); err != nil {
				return err
			}
			if !s.serve.Running() {
				return fmt.Errorf("serve ended by itself before kill %d:\n%s", n+1, s.serve.Last())
			}
			s.crash()
			if err := s.startServe(ctx); err != nil {
				return err
			}
		}
		stop()
		return <-loaded
	}
}

// load makes and pays deposits until ctx ends. While serve is down the portal repeats its request under the same key.
func (s *show) load(ctx context.Context) error {
	for i := 0; ctx.Err() == nil; i++ {
		d := s.cast.next(accountAt(i % accountCount))
		err := until(context.WithoutCancel(ctx), "make a deposit", startTime, func(ctx context.Context) (bool, error) {
			err := s.open(ctx, d)
			return err == nil, err
		})
		if err != nil {
			return err
		}
		if _, err := s.pay(context.WithoutCancel(ctx), d, fakepsp.PaymentRequest{}); err != nil {
			return err
		}
	}
	return nil
}

// What the provider was told is stored must be stored, and no payment may have two deals, whenever serve dies.
func TestKillNineUnderLoad_LosesNothingAcknowledgedAndDoublesNothing(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("CREDITONCE_SEED"); text != "" {
		given, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seed = given
	}
	t.Logf("seed %d; again with CREDITONCE_SEED=%d", seed, seed)
	o, progress := testOptions(t, seed)
	o.quarantine = longQuarantine
	r := playScene(t, o, scenario{
		name: "kill-nine", deposits: 200, play: killUnderLoad(rand.New(rand.NewPCG(seed, kills))),
		disorder: fakepsp.Disorder{Repeat: 30, Reorder: 50, MaxDelay: 300 * time.Millisecond},
	})
	t.Logf("%d deposits, %d deals, %.1f s", r.Deposits, r.Deals, r.Seconds)
	if !r.OK || r.Doubled+r.Missing+r.Wrong != 0 || r.Deals != r.Deposits || r.Deposits < kills {
		t.Fatalf("got %+v\n%s", r, progress)
	}
}
