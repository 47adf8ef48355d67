package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"creditonce/credit"
)

// Run sweeps what an earlier process left, opens the listeners last, and works until ctx ends or a part fails; the
// first failure stops the service, since half-alive is worse than restarted. It returns nil after a clean stop.
// After a commit error it returns at once and closes nothing: what is on disk is known only to the next process.
func (a *App) Run(ctx context.Context) error {
	if err := a.keeper.Start(ctx); err != nil {
		return errors.Join(fmt.Errorf("start: %w", err), a.stop(ctx))
	}
	if err := a.judgeFirst(ctx); err != nil {
		return errors.Join(fmt.Errorf("start: %w", err), a.stop(ctx))
	}
	for _, l := range []*listener{a.portal, a.public} {
		if err := l.open(ctx); err != nil {
			return errors.Join(err, a.stop(ctx))
		}
	}
	a.removeLeftovers()
	if err := a.openAdmin(ctx); err != nil {
		return errors.Join(err, a.stop(ctx))
	}
	jobs, err := a.schedule(ctx)
	if err != nil {
		return errors.Join(err, a.stop(ctx))
	}
	// The loops have a context of their own: a stop lets listeners finish first, then the loops.
	loops, stopLoops := context.WithCancel(context.WithoutCancel(ctx))
	defer stopLoops()
	work, loopsCtx := errgroup.WithContext(loops)
	for _, lane := range a.lanes {
		work.Go(func() error { return lane.Run(loopsCtx) })
	}
	work.Go(func() error { return a.keeper.Run(loopsCtx) })
	work.Go(func() error { return a.seeFile(loopsCtx) })
	work.Go(func() error { return a.sentinel.run(loopsCtx) })
	work.Go(func() error { return a.stops.run(loopsCtx) })
	work.Go(func() error { a.recon.dropLeft(loopsCtx); return nil })
	for _, puller := range a.pullers {
		work.Go(func() error { return puller.Run(loopsCtx) })
	}
	for _, sender := range a.senders {
		work.Go(func() error { return sender.Run(loopsCtx) })
	}
	serve, broken := errgroup.WithContext(ctx)
	serve.Go(a.portal.serve)
	serve.Go(a.public.serve)
	serve.Go(a.operators.serve)
	jobs.Start()
	a.sayServing()

	a.teardown.add("close MT5 sessions", func(context.Context) error { return a.closeSessions() })
	a.teardown.add("stop the portal's API", a.portal.shutdown)
	a.teardown.add("let calls under way finish", func(ctx context.Context) error {
		stopLoops()
		return within(ctx, work.Wait)
	})
	a.teardown.add("stop schedules", func(ctx context.Context) error { return within(ctx, func() error { <-jobs.Stop().Done(); return nil }) })
	a.teardown.add("stop the webhook listener", a.public.shutdown)
	a.teardown.add("stop the operators' socket", a.operators.shutdown)

	var cause error
	select {
	case err := <-a.store.Failed():
		return fmt.Errorf("the store has stopped: %w", err)
	case <-loopsCtx.Done():
		cause = context.Cause(loopsCtx)
	case <-broken.Done():
	}
	a.log.Info().Msg("stopping")
	err = a.stop(ctx)
	return errors.Join(ignoreCancel(cause), err, serve.Wait())
}

// stop undoes everything, bounded by the configured shutdown time. A call that outlives it stays claimed on disk
// and is unknown at the next start: nothing is abandoned silently.
func (a *App) stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.cfg.ShutdownTimeout)
	defer cancel()
	return a.teardown.run(ctx)
}

func (a *App) closeSessions() error {
	var errs []error
	for _, s := range a.sessions {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

// sayServing tells, in one line, where the service listens and what it may do.
func (a *App) sayServing() {
	a.log.Info().Stringer("webhooks", a.public.addr()).Stringer("api", a.portal.addr()).Str("operators", a.operators.place()).Str("mode", string(a.settings.Mode)).
		Str("environment", a.settings.Environment).Str("store", a.cfg.DataDir).Str("process", a.process.ID).Msg("serving")
	switch a.settings.Mode {
	case credit.ModeObserve:
		a.log.Warn().Msg("mode observe: events are accepted and stored, every row is held, and no balance operation is called")
	case credit.ModeHold:
		a.log.Warn().Str("reason", a.settings.ModeReason).Msg("mode hold: events are accepted and looked up, nothing is claimed")
	case credit.ModeLive:
	}
}

// within waits for f until ctx ends.
func within(ctx context.Context, f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return ignoreCancel(err)
	case <-ctx.Done():
		return fmt.Errorf("not finished in time: %w", ctx.Err())
	}
}

func ignoreCancel(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// answersKept is how long an idempotency key replays its answer; the API promises 24 h.
const answersKept = 48 * time.Hour
