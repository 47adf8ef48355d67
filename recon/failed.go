package recon

import (
	"context"
	"errors"

	"creditonce/credit"
)

// failed tells people of a run that ended with an error: the next complete one closes the task. It returns the error, and its own beside it. A
// run that was called off, and a store that has stopped, leave no task.
func (r *Runner) failed(ctx context.Context, run Run, err error) error {
	if ctx.Err() != nil || errors.Is(err, credit.ErrStopped) || errors.Is(err, credit.ErrRefused) {
		return err
	}
	text := validText(err.Error())
	own := r.Book.RunTask(ctx, credit.Task{
		Kind: credit.TaskReconIncomplete, Entity: reconEntity, OpenedAt: r.Now(),
		Summary: "reconciliation of " + daysText(run) + " did not come to its end",
		Next:    "do what the reason says; the run is tried again every hour, or now with `creditonce recon run`",
		Records: []credit.Record{{Source: "run", Fields: []credit.Field{{Name: "reason", Value: text}}}},
	}, nil)
	if own != nil {
		return errors.Join(err, own)
	}
	return err
}
