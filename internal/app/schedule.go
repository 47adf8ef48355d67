package app

import (
	"context"
	"fmt"
	"time"

	"github.com/robfig/cron/v3"
)

// Schedules fire in UTC: cron v3 skips and doubles jobs on days with a clock change elsewhere. A job that still
// runs is not started again.
const (
	purgeSpec  = "17 * * * *"
	purgePiece = 500 // keys a transaction, so that the file keeps no long free list
)

// schedule sets up the jobs; the caller starts them.
func (a *App) schedule(ctx context.Context) (*cron.Cron, error) {
	jobs := cron.New(cron.WithLocation(time.UTC), cron.WithChain(cron.SkipIfStillRunning(cron.DiscardLogger)))
	specs := map[string]struct {
		spec string
		run  func(context.Context) error
	}{
		"verify the store":            {a.cfg.Schedules.Verify, a.verify},
		"forget old idempotency keys": {purgeSpec, a.purge},
		"reconcile":                   {a.cfg.Schedules.Reconcile, a.recon.daily},
	}
	for name, job := range specs {
		if job.spec == "" {
			continue
		}
		_, err := jobs.AddFunc(job.spec, func() {
			if err := job.run(ctx); err != nil && ctx.Err() == nil {
				a.log.Error().Str("job", name).Err(err).Msg("job failed")
			}
		})
		if err != nil {
			return nil, fmt.Errorf("schedule to %s: %q: %w", name, job.spec, err)
		}
	}
	return jobs, nil
}

// verify reads the whole store and reports what does not agree.
func (a *App) verify(ctx context.Context) error {
	report, err := a.store.Verify(ctx, nil)
	if err != nil {
		return fmt.Errorf("verify the store: %w", err)
	}
	for _, text := range report.Findings {
		a.observer.heard.strange(finding(text))
		a.log.Error().Str("finding", text).Msg("the store does not agree with itself")
	}
	if len(report.Findings) == 0 {
		a.log.Info().Msg("store verified")
	}
	return nil
}

// purge forgets idempotency keys that are old enough, in small pieces.
func (a *App) purge(ctx context.Context) error {
	before := a.clock.Now().Add(-answersKept)
	for ctx.Err() == nil {
		n, err := a.store.PurgeAnswers(ctx, before, purgePiece)
		if err != nil {
			return fmt.Errorf("forget answers before %s: %w", before.Format(time.RFC3339), err)
		}
		if n < purgePiece {
			return nil
		}
	}
	return ctx.Err()
}
