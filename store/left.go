package store

import (
	"context"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"creditonce/recon"
)

// lastNumbers are those that statements and runs had when the store was opened: what is not finished of them a killed process left.
type lastNumbers struct {
	statement recon.StatementID
	run       recon.RunID
}

func readLastNumbers(b *bolt.DB) (out lastNumbers, err error) {
	err = b.View(func(tx *bolt.Tx) error {
		out.statement = recon.StatementID(tx.Bucket([]byte(statements.bucket)).Sequence())
		out.run = recon.RunID(tx.Bucket([]byte(runs.bucket)).Sequence())
		return nil
	})
	return out, err
}

// DropLeft drops, in pieces, the imports and runs that earlier processes left unfinished, and tells how many it was. What is under way in this
// process stays. It may be called at any time, and again.
func (db *DB) DropLeft(ctx context.Context) (n int, err error) {
	for more := true; more; {
		if err := ctx.Err(); err != nil {
			return n, err
		}
		gone := false
		err := db.write(ctx, false, func(w *writer) error {
			more, gone, err = db.dropOneLeft(w)
			return err
		})
		if err != nil {
			return n, fmt.Errorf("drop what a killed process left: %w", err)
		}
		if gone {
			n++
		}
	}
	return n, nil
}

// dropOneLeft drops a piece; gone tells that it was the last of an import or a run.
func (db *DB) dropOneLeft(w *writer) (more, gone bool, err error) {
	open, err := statements.list(w.tx, statementUnfinished, nil, 0) // one of each merchant account
	if err != nil {
		return false, false, err
	}
	for _, s := range open {
		if s.Imported.ID <= db.left.statement {
			gone, err = dropSome(w, s)
			return true, gone, err
		}
	}
	begun, err := runs.list(w.tx, runUnfinished, nil, 1)
	if err != nil || len(begun) == 0 || begun[0].Run.ID > db.left.run {
		return false, false, err
	}
	gone, err = dropFindings(w, begun[0])
	return true, gone, err
}
