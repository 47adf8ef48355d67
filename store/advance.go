package store

import (
	"context"
	"errors"
	"fmt"

	"creditonce/credit"
)

// Advance implements [credit.Book].
func (db *DB) Advance(ctx context.Context, id credit.ID, decide credit.Decide) (credit.Result, error) {
	var result credit.Result
	var refusal error // what decide said: passed on as it is
	err := db.write(ctx, false, func(w *writer) error {
		refusal = nil
		d, err := readDossier(w.tx, id, w.lowSpace)
		if err != nil {
			return err
		}
		decision, err := decide(d)
		if err != nil {
			refusal = err
			return err
		}
		result, err = stageDecision(w, d.Row, decision)
		return err
	})
	switch {
	case err == nil:
		return result, nil
	case refusal != nil && errors.Is(err, refusal) && !errors.Is(err, credit.ErrStopped):
		return credit.Result{}, err
	default:
		return credit.Result{}, fmt.Errorf("advance credit %d: %w", id, err)
	}
}

func stageDecision(w *writer, row credit.Credit, d credit.Decision) (credit.Result, error) {
	changes, err := d.Changes(row)
	if err != nil {
		return credit.Result{}, err
	}
	done, err := stageChanges(w, changes, nil)
	if err != nil {
		return credit.Result{}, err
	}
	result := credit.Result{Row: row, Opened: done.opened, Closed: done.closed}
	for _, r := range changes.Rows {
		result.Row, result.Entries = r.After, r.Entries
	}
	if d.Hour != nil {
		if err := stageHour(w, *d.Hour); err != nil {
			return credit.Result{}, err
		}
	}
	if d.Anchor != nil {
		err = stageAnchor(w, result.Row, *d.Anchor)
	}
	return result, err
}

// stageHour keeps what was done by itself of late in the settings.
func stageHour(w *writer, h credit.Hour) error {
	s, err := readSettings(w.tx)
	if err != nil {
		return err
	}
	s.Hour = &h
	return stageSettings(w, s)
}

// stageAnchor keeps the login's newest known deal: tickets of a server grow.
func stageAnchor(w *writer, row credit.Credit, a credit.Anchor) error {
	if row.Identity == "" || row.Login == 0 || a.Ticket == 0 {
		return nil
	}
	prior, err := anchors.get(w.tx, loginKey(row.Identity, row.Login))
	if err != nil {
		return err
	}
	if prior != nil && prior.Anchor.Ticket >= a.Ticket {
		return nil
	}
	return anchors.stage(w, prior, loginAnchor{row.Identity, row.Login, a})
}
