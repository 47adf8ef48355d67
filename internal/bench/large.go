package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"creditonce/credit"
	"creditonce/internal/app"
	"creditonce/store"
)

// fillers is how many callers fill a store: whole batches, each one synced commit.
const fillers = 512

// FillProduct makes the store of the product that is started next under dir hold so many events.
func FillProduct(ctx context.Context, dir string, events int, progress io.Writer) (Large, error) {
	data := filepath.Join(dir, "product", "data")
	if err := os.MkdirAll(data, 0o700); err != nil {
		return Large{}, err
	}
	path := app.StorePath(data)
	db, err := store.Open(path, store.Options{New: freshSettings()})
	if err != nil {
		return Large{}, err
	}
	begun := time.Now()
	err = acceptMany(ctx, db, events, progress)
	took := time.Since(begun)
	if err := errors.Join(err, db.Close(context.WithoutCancel(ctx))); err != nil {
		return Large{}, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return Large{}, err
	}
	begun = time.Now()
	if db, err = store.Open(path, store.Options{}); err != nil {
		return Large{}, err
	}
	large := Large{Events: events, Fill: float64(events) / took.Seconds(), Bytes: info.Size(), Open: milliseconds(time.Since(begun))}
	return large, db.Close(ctx)
}

func freshSettings() credit.Settings {
	return credit.Settings{
		StoreID: runName(), Environment: "test", Mode: credit.ModeLive, ModeReason: "a measurement", Demo: true,
		ModeAt: time.Now(), CreatedAt: time.Now(),
	}
}

func acceptMany(ctx context.Context, db *store.DB, events int, progress io.Writer) error {
	m := &maker{secret: "fill", run: runName()}
	var taken atomic.Int64
	errs := make(chan error, fillers)
	var wg sync.WaitGroup
	for i := range fillers {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(uint64(i), 0xf111))
			for ctx.Err() == nil {
				n := taken.Add(1)
				if n > int64(events) {
					return
				}
				if n%100_000 == 0 {
					_, _ = fmt.Fprintf(progress, "  %d of %d events\n", n, events)
				}
				e, rules := stripeEvent(m, random, "")
				if _, err := db.Accept(ctx, e, rules); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	wg.Wait()
	close(errs)
	return errors.Join(ctx.Err(), <-errs)
}

// idleFor is how long a service is left alone before its memory is read.
const idleFor = 3 * time.Second

// idle reads what the service needs while nothing happens.
func (r *run) idle(ctx context.Context, s *service) error {
	r.out.Large.Serving = milliseconds(s.ready)
	if err := pause(ctx, idleFor); err != nil {
		return err
	}
	if bytes, known := anonymousMemory(s.cmd.Process.Pid); known {
		r.out.Large.Anonymous = float64(bytes) / (1 << 20)
	}
	r.say("open in %.0f ms, %s", r.out.Large.Open, fmt.Sprintf("%.1f MiB of anonymous memory", r.out.Large.Anonymous))
	return nil
}

// Payments makes one verified payment after the other, as the webhook's adapter would hand it over. Not safe for
// concurrent use.
func Payments() func() credit.Event {
	m := &maker{secret: "fill", run: runName()}
	random := rand.New(rand.NewPCG(rand.Uint64(), 0xf111))
	return func() credit.Event {
		e, _ := stripeEvent(m, random, "")
		return e
	}
}
