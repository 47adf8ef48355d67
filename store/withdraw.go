package store

import (
	"fmt"

	bolt "go.etcd.io/bbolt"

	"creditonce/credit"
	"creditonce/recon"
)

// stageWithdrawal takes a finished import back: from then on its lines count nowhere, lines in whose place they counted count again, and a
// file with its digest is imported anew. It stays listed, and its open task closes with the reason. It is refused as [recon.Withdrawn] says;
// [credit.ErrNotFound] where there is none that was finished. Nothing is written to the lines: each read of one asks its statement. So it
// fits in one transaction, however large the statement is. An import under way that leans on the statement is given up, and its next call is
// [credit.ErrConflict].
func stageWithdrawal(w *writer, id recon.StatementID, take recon.Withdrawal) error {
	s, err := statements.must(w.tx, idKey(uint64(id)))
	if err != nil {
		return err
	}
	if !s.finished() {
		return fmt.Errorf("its import is not finished: %w", credit.ErrNotFound)
	}
	later, err := leaningOn(w.tx, s)
	if err != nil {
		return err
	}
	after := s
	after.State = statementWithdrawn
	if after.Imported, err = recon.Withdrawn(s.Imported, take, later); err != nil {
		return err
	}
	if err := statements.stage(w, &s, after); err != nil {
		return err
	}
	if err := giveUpLeaning(w, s); err != nil {
		return err
	}
	closing := credit.TaskClose{Key: recon.StatementTaskKey(after.Imported.Statement), By: take.By, At: take.At, Reason: take.Reason}
	_, err = stageTasks(w, nil, []credit.TaskClose{closing})
	return err
}

// leaningOn reads which finished statements lean on one, or on one that does: those that must be withdrawn before it.
func leaningOn(tx *bolt.Tx, s keptStatement) (out recon.StatementIDs, err error) {
	below := recon.StatementIDs{s.Imported.ID}
	for after := uint64(s.Imported.ID); ; {
		page, err := statements.pageOf(tx, statementList, providerKey(s.Imported.Statement.Provider), after, mostListed)
		if err != nil {
			return nil, err
		}
		for _, l := range page {
			after = uint64(l.Imported.ID)
			for _, id := range l.Imported.LeansOn {
				if l.State == statementComplete && below.Has(id) {
					below = below.With(l.Imported.ID)
					break
				}
			}
		}
		if len(page) < mostListed {
			return below[1:], nil // the first is the statement itself
		}
	}
}

// mostListed is how many statements are read at once.
const mostListed = 200

// giveUpLeaning marks the imports under way that lean on a statement, so that they take no more lines and are never finished.
func giveUpLeaning(w *writer, s keptStatement) error {
	under, err := statements.list(w.tx, statementUnfinished, providerKey(s.Imported.Statement.Provider), 0)
	if err != nil {
		return err
	}
	for _, u := range under {
		if u.State != statementImporting || !u.Imported.LeansOn.Has(s.Imported.ID) {
			continue
		}
		after := u
		after.State = statementDropping
		if err := statements.stage(w, &u, after); err != nil {
			return err
		}
	}
	return nil
}
