package app

import (
	"context"
	"fmt"

	"creditonce/credit"
	"creditonce/internal/desk"
	"creditonce/recon"
)

// Withdraw implements admin.Reconciliation.
func (r *reconciliation) Withdraw(ctx context.Context, who desk.Actor, id recon.StatementID, reason string) (recon.Imported, error) {
	if _, err := r.app.desk.MayReconcile(ctx, who, desk.ReconWithdraw); err != nil {
		return recon.Imported{}, err
	}
	im, err := r.statement(ctx, id)
	if err != nil {
		return im, err
	}
	err = r.runner.Withdraw(func() error {
		return r.app.desk.TakeBackStatement(ctx, who, uint64(id), map[string]string{
			"statement": fmt.Sprint(id), "provider": im.Statement.Provider.Label, "file": im.Statement.Name, "sha256": im.Statement.Digest,
		}, reason)
	})
	if err != nil {
		return recon.Imported{}, err
	}
	r.app.log.Info().Uint64("statement", uint64(id)).Str("provider", im.Statement.Provider.Label).Int("rows", im.Statement.Rows).Msg("statement withdrawn")
	return r.statement(ctx, id)
}

// statement reads one that was imported whole; credit.ErrNotFound where there is none with that number.
func (r *reconciliation) statement(ctx context.Context, id recon.StatementID) (recon.Imported, error) {
	list, err := r.app.store.Statements(ctx, recon.StatementQuery{Below: id + 1, Limit: 1})
	if err != nil {
		return recon.Imported{}, err
	}
	if len(list) == 0 || list[0].ID != id {
		return recon.Imported{}, fmt.Errorf("statement %d: %w", id, credit.ErrNotFound)
	}
	return list[0], nil
}
