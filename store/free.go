package store

import (
	"context"
	"fmt"
	"slices"

	bolt "go.etcd.io/bbolt"

	"creditonce/credit"
)

// Free implements [credit.KeeperBook].
func (db *DB) Free(ctx context.Context, id credit.ID, rules credit.IntakeRules) (credit.Result, error) {
	var result credit.Result
	err := db.write(ctx, false, func(w *writer) error {
		f, err := readFreeing(w, id, rules)
		if err != nil {
			return err
		}
		decision, err := credit.FreeRow(f, rules)
		if err != nil {
			return err
		}
		result, err = stageDecision(w, f.Row, decision)
		return err
	})
	if err != nil {
		return credit.Result{}, fmt.Errorf("free credit %d: %w", id, err)
	}
	return result, nil
}

func readFreeing(w *writer, id credit.ID, rules credit.IntakeRules) (f credit.Freeing, err error) {
	if f.Dossier, err = readDossier(w.tx, id, w.lowSpace); err != nil || !f.Row.Joined() {
		return f, err
	}
	f.Further = furtherOf(w.tx, f.Row)
	if f.Around, err = pendingSince(w.tx, f.Row.Server, f.Row.Login, f.Row.ComparedSince(), rules.Now); err != nil {
		return f, err
	}
	f.DayTotal = dayTotal(f.Around, f.Row.Amount, rules.Now)
	return f, nil
}

// furtherOf lists the other rows that joined the row's deposit after the one that took it.
func furtherOf(tx *bolt.Tx, row credit.Credit) []credit.ID {
	ids := listIDs(tx, creditFurther.bucket, key(nil).text(row.Deposit))
	return slices.DeleteFunc(ids, func(id credit.ID) bool { return id == row.ID })
}
