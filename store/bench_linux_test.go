package store_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/store"
	"creditonce/store/storetest"
)

// The benchmarks run on the disk of b.TempDir (TMPDIR) with every commit synced. Each reports operations a second,
// beside it what the same disk does in 4 KiB overwrites with fdatasync in the same run, and the ratio of both:
// the ratio is what can be compared between machines.

var callers = []int{1, 32, 128}

// rawSyncs measures overwrites of an allocated block, each followed by fdatasync, one after the other.
func rawSyncs(b *testing.B) float64 {
	b.Helper()
	f, err := os.Create(filepath.Join(b.TempDir(), "raw"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	block := make([]byte, 4096)
	const span = 300 * time.Millisecond
	n := 0
	begun := time.Now()
	for ; time.Since(begun) < span; n++ {
		block[0] = byte(n)
		if _, err := f.WriteAt(block, 0); err != nil {
			b.Fatal(err)
		}
		if err := syscall.Fdatasync(int(f.Fd())); err != nil {
			b.Fatal(err)
		}
	}
	return float64(n) / time.Since(begun).Seconds()
}

// report is called after the timed part, with the rate measured before it; it measures again and takes the mean.
func report(b *testing.B, before float64) {
	b.Helper()
	b.StopTimer()
	rate := float64(b.N) / b.Elapsed().Seconds()
	raw := (before + rawSyncs(b)) / 2
	b.ReportMetric(rate, "ops/s")
	b.ReportMetric(raw, "fdatasync/s")
	b.ReportMetric(rate/raw, "ops/fdatasync")
}

// spread runs fn for 0 to n-1 from so many callers.
func spread(callers, n int, fn func(i int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				fn(i)
			}
		})
	}
	wg.Wait()
}

func benchWorld(b *testing.B) (*storetest.World, *store.DB) {
	b.Helper()
	return world(b, func(o *store.Options) { o.Strict, o.UnsafeNoSync = false, false })
}

// body is 3 KiB of JSON, a third of it random, as providers send them.
func body(i int) []byte {
	out := []byte(`{"id":"evt","object":"event","data":{"object":{"id":"pi","amount":50000,"currency":"usd","metadata":{}}}`)
	for line := 0; len(out) < 3000; line++ {
		out = fmt.Appendf(out, `,"field_%02d":"%016x","description of the field":"the same text in every line"`, line, uint64(i+1)*uint64(line+7)*0x9e3779b97f4a7c15)
	}
	return append(out, '}')
}

func BenchmarkAccept(b *testing.B) {
	for _, n := range callers {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w, db := benchWorld(b)
			raw := rawSyncs(b)
			rules := credit.IntakeRules{Now: w.Clock.Now(), HeldGrace: time.Minute}
			b.ResetTimer()
			spread(n, b.N, func(i int) {
				e := storetest.WithBody(w.Event(storetest.Paid(fmt.Sprintf("pi_%016x", uint64(i)*0x9e3779b97f4a7c15), "", "", 500)), body(i))
				if _, err := db.Accept(context.Background(), e, rules); err != nil {
					b.Error(err)
				}
			})
			report(b, raw)
			w.Must(db.Close(context.Background()))
		})
	}
}

// pending makes so many pending rows, each on a login of its own, and returns their numbers.
func pending(w *storetest.World, db *store.DB, n int) []credit.ID {
	ids := make([]credit.ID, n)
	spread(64, n, func(i int) {
		ids[i] = w.Pay(uint64(1_000_000+i), 500).ID
	})
	return ids
}

func BenchmarkClaim(b *testing.B) {
	for _, n := range callers {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w, db := benchWorld(b)
			ids := pending(w, db, b.N)
			claims := w.Decisions("process-1")
			var claim credit.Decide
			for _, claim = range claims {
				break // a claim decides by the dossier: one serves all rows
			}
			raw := rawSyncs(b)
			b.ResetTimer()
			spread(n, b.N, func(i int) {
				if _, err := db.Advance(context.Background(), ids[i], claim); err != nil {
					b.Error(err)
				}
			})
			report(b, raw)
			w.Must(db.Close(context.Background()))
		})
	}
}

// instantly is an MT5 session that answers at once and knows only its last deal.
type instantly struct {
	*storetest.MT5
	tickets *atomic.Uint64
	last    credit.Deal
}

func (s *instantly) Look(_ context.Context, q credit.LookQuery) credit.Sighting {
	return credit.Sighting{Complete: true, From: q.Earliest, Until: q.Earliest, Control: "none needed"}
}

func (s *instantly) Balance(_ context.Context, c credit.Call) credit.CallResult {
	s.last = credit.Deal{
		Ticket: s.tickets.Add(1), Login: c.Login, Action: credit.ActionBalance, Amount: c.Amount, Comment: string(c.Reference),
	}
	return credit.CallResult{Outcome: credit.OutcomeApplied, Answered: true, Ticket: s.last.Ticket, Code: "0 Done", Status: 200}
}

func (s *instantly) Deal(context.Context, uint64) (credit.Deal, error) { return s.last, nil }

// BenchmarkClaimToDone runs whole lanes, one a caller, over an MT5 that takes no time: look, claim, call, done.
func BenchmarkClaimToDone(b *testing.B) {
	for _, n := range callers {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w, db := benchWorld(b)
			pending(w, db, b.N)
			raw := rawSyncs(b)
			var tickets atomic.Uint64
			b.ResetTimer()
			var wg sync.WaitGroup
			for shard := range n {
				lane := w.Lane(db, storetest.NewClock(w.Clock.Now(), b.N/32+64), fmt.Sprint("process-", shard))
				lane.Shard, lane.Shards, lane.Session = shard, n, &instantly{MT5: w.MT5, tickets: &tickets}
				wg.Go(func() {
					if err := lane.Run(context.Background()); err != nil {
						b.Error(err)
					}
				})
			}
			wg.Wait()
			report(b, raw)
			got, err := db.Counts(context.Background())
			w.Must(err)
			if got.Rows[credit.Done] != b.N {
				b.Errorf("%d of %d rows are done", got.Rows[credit.Done], b.N)
			}
			w.Must(db.Close(context.Background()))
		})
	}
}

// BenchmarkAcceptWithTask accepts events that each open a task: without a channel, and with two that are told.
func BenchmarkAcceptWithTask(b *testing.B) {
	for name, names := range map[string][]string{"untold": nil, "told": {"email", "webhook"}} {
		b.Run(name, func(b *testing.B) {
			w, db := benchWorld(b)
			w.Must(db.SetChannels(b.Context(), names))
			raw := rawSyncs(b)
			rules := credit.IntakeRules{Now: w.Clock.Now(), HeldGrace: time.Minute}
			b.ResetTimer()
			spread(128, b.N, func(i int) {
				facts := credit.Facts{Effect: credit.EffectUnreadable, Problem: "a member is missing"}
				if _, err := db.Accept(context.Background(), storetest.WithBody(w.Event(facts), body(i)), rules); err != nil {
					b.Error(err)
				}
			})
			report(b, raw)
			w.Must(db.Close(context.Background()))
		})
	}
}
