package bench

import (
	"context"
	"errors"
	"fmt"
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

// fill makes the store of the house that comes next hold so many events.
func (r *run) fill(ctx context.Context) error {
	data := filepath.Join(r.dir, "product", "data")
	if err := os.MkdirAll(data, 0o700); err != nil {
		return err
	}
	path := app.StorePath(data)
	db, err := store.Open(path, store.Options{New: freshSettings()})
	if err != nil {
		return err
	}
	begun := time.Now()
	err = r.acceptMany(ctx, db)
	took := time.Since(begun)
	if err := errors.Join(err, db.Close(context.WithoutCancel(ctx))); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	begun = time.Now()
	if db, err = store.Open(path, store.Options{}); err != nil {
		return err
	}
	r.out.Large = &Large{
		Events: r.Events, Fill: float64(r.Events) / took.Seconds(), Bytes: info.Size(), Open: milliseconds(time.Since(begun)),
	}
	return db.Close(ctx)
}

func freshSettings() credit.Settings {
	return credit.Settings{
		StoreID: runName(), Environment: "test", Mode: credit.ModeLive, ModeReason: "a measurement", Demo: true,
		ModeAt: time.Now(), CreatedAt: time.Now(),
	}
}

func (r *run) acceptMany(ctx context.Context, db *store.DB) error {
	m := &maker{secret: "fill", run: runName()}
	var taken atomic.Int64
	errs := make(chan error, fillers)
	var wg sync.WaitGroup
	for i := range fillers {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(uint64(i), 0xf111))
			for ctx.Err() == nil {
				n := taken.Add(1)
				if n > int64(r.Events) {
					return
				}
				if n%100_000 == 0 {
					r.say("  %d of %d events", n, r.Events)
				}
				e, rules := stripeEvent(m, random, "")
				if _, err := db.Accept(ctx, e, rules); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	r.say("fill the store with %d events", r.Events)
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
