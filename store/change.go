package store

import (
	"context"

	"creditonce/credit"
)

// Change decides on the settings and the tasks about the store in one transaction and writes them; the answer names the tasks
// that were opened and closed. change is pure and may run more than once; its error is returned as it is, and nothing is
// written.
func (db *DB) Change(ctx context.Context, change func(credit.Settings) (credit.StoreChange, error)) (credit.Result, error) {
	var out credit.Result
	err := db.write(ctx, false, func(w *writer) error {
		before, err := readSettings(w.tx)
		if err != nil {
			return err
		}
		c, err := change(before)
		if err != nil {
			return err
		}
		if err := stageSettings(w, c.Settings); err != nil {
			return err
		}
		done, err := stageTasks(w, c.Open, c.Close)
		out = credit.Result{Opened: done.opened, Closed: done.closed}
		return err
	})
	if err != nil {
		return credit.Result{}, err
	}
	return out, nil
}
