package app

import (
	"context"
	"fmt"

	"creditonce/internal/desk"
	"creditonce/recon"
)

// Withdraw implements admin.Reconciliation. The statement itself keeps who withdrew it and why, so that a process that dies before the audit
// record is written leaves no doubt.
func (r *reconciliation) Withdraw(ctx context.Context, who desk.Actor, id recon.StatementID, reason string) (recon.Imported, error) {
	person, err := r.app.desk.MayReconcile(ctx, who, desk.ReconWithdraw)
	if err != nil {
		return recon.Imported{}, err
	}
	im, err := r.runner.Withdraw(ctx, id, string(person.ID), reason)
	if err != nil {
		return im, err
	}
	r.app.log.Info().Uint64("statement", uint64(id)).Str("provider", im.Statement.Provider.Label).Int("rows", im.Statement.Rows).Msg("statement withdrawn")
	act := desk.Act{Kind: desk.ReconWithdraw, Subject: "recon", Params: map[string]string{
		"statement": fmt.Sprint(id), "provider": im.Statement.Provider.Label, "file": im.Statement.Name, "sha256": im.Statement.Digest,
	}}
	return im, r.app.desk.RecordReconciliation(ctx, who, act, reason)
}
