package app

import (
	"context"
	"time"

	"creditonce/credit"
	"creditonce/internal/admin"
)

// Recon is the reconciliation of this process; at moves its wall clock, so that a test need not wait for a business day to end.
func (a *App) Recon(at func() time.Time) admin.Reconciliation {
	if at != nil {
		a.recon.runner.Now, a.recon.runner.Importer.Now = at, at
	}
	return a.recon
}

// ReconcileDue is what the schedule does once an hour.
func (a *App) ReconcileDue(ctx context.Context) error { return a.recon.daily(ctx) }

// StopsShown is what status tells of the reasons for which nothing is credited.
func (a *App) StopsShown(s credit.Settings) []admin.Stop { return a.stops.shown(s) }

// JudgeNow is a look of the sentinel that does not wait for its turn.
func (a *App) JudgeNow(ctx context.Context) error { return a.sentinel.look(ctx) }
