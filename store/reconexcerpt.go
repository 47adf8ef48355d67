package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	bolt "go.etcd.io/bbolt"

	"creditonce/credit"
	"creditonce/recon"
)

// ReconExcerpt is a part of what reconciliation stored in one snapshot, with all that it is judged by, so that a judge concludes nothing from
// what two moments tell.
type ReconExcerpt struct {
	Discrepancies []recon.Discrepancy
	Tasks         []credit.Task    // by number
	Statements    []recon.Imported // finished ones
	Lines         []recon.KeptLine // by number
	Repeats       []LineRepeat     // of Lines, by Statements
}

// LineRepeat says that a statement repeats a line of an earlier one.
type LineRepeat struct {
	Statement recon.StatementID
	Line      recon.LineID
}

// DifferencesAfter reads differences in the order of class and entity, after one, with their tasks. last is the zero key at the end.
func (db *DB) DifferencesAfter(ctx context.Context, after recon.Key, limit int) (x ReconExcerpt, last recon.Key, err error) {
	var from []byte
	if after != (recon.Key{}) {
		from = discrepancyKey(after)
	}
	err = db.read(ctx, func(tx *bolt.Tx) error {
		x, last = ReconExcerpt{}, recon.Key{}
		page, err := discrepancies.page(tx, from, limit)
		if err != nil {
			return err
		}
		if len(page) == limit {
			last = page[len(page)-1].Key
		}
		x.Discrepancies = page
		return x.addTasks(tx)
	})
	if err != nil {
		return ReconExcerpt{}, last, fmt.Errorf("read differences with their tasks: %w", err)
	}
	return x, last, nil
}

// DifferenceTasksAfter reads tasks by number, after one: those of differences, with these and with the tasks that these name. last is 0 at the end.
func (db *DB) DifferenceTasksAfter(ctx context.Context, after credit.TaskID, limit int) (x ReconExcerpt, last credit.TaskID, err error) {
	err = db.read(ctx, func(tx *bolt.Tx) error {
		x, last = ReconExcerpt{}, 0
		page, err := tasks.page(tx, idKey(uint64(after)), limit)
		if err != nil {
			return err
		}
		if len(page) == limit {
			last = page[len(page)-1].ID
		}
		seen := map[recon.Key]bool{}
		for _, t := range page {
			k, is := recon.KeyOfTask(t)
			if !is {
				continue
			}
			x.Tasks = append(x.Tasks, t)
			d, err := discrepancies.get(tx, discrepancyKey(k))
			if err != nil {
				return err
			}
			if d != nil && !seen[k] {
				seen[k], x.Discrepancies = true, append(x.Discrepancies, *d)
			}
		}
		return x.addTasks(tx)
	})
	if err != nil {
		return ReconExcerpt{}, last, fmt.Errorf("read tasks with their differences: %w", err)
	}
	return x, last, nil
}

// addTasks adds the tasks of the differences.
func (x *ReconExcerpt) addTasks(tx *bolt.Tx) error {
	have := map[credit.TaskID]bool{}
	for _, t := range x.Tasks {
		have[t.ID] = true
	}
	for _, d := range x.Discrepancies {
		if have[d.Task] {
			continue
		}
		t, err := tasks.get(tx, idKey(uint64(d.Task)))
		if err != nil {
			return err
		}
		if t != nil {
			have[t.ID], x.Tasks = true, append(x.Tasks, *t)
		}
	}
	slices.SortFunc(x.Tasks, func(a, b credit.Task) int { return cmp.Compare(a.ID, b.ID) })
	return nil
}

// MovementsAfter reads settlement lines by number, after one, with every line of the same movements, their statements and the repeats. last is
// 0 at the end.
func (db *DB) MovementsAfter(ctx context.Context, after recon.LineID, limit int) (x ReconExcerpt, last recon.LineID, err error) {
	err = db.read(ctx, func(tx *bolt.Tx) error {
		x, last = ReconExcerpt{}, 0
		page, err := lines.page(tx, idKey(uint64(after)), limit)
		if err != nil {
			return err
		}
		if len(page) == limit {
			last = recon.LineID(page[len(page)-1].ID)
		}
		all, err := withMovements(tx, page)
		if err != nil {
			return err
		}
		if x.Lines, err = newStates(nil).standings(tx, all); err != nil {
			return err
		}
		return x.addStatements(tx)
	})
	if err != nil {
		return ReconExcerpt{}, last, fmt.Errorf("read settlement lines with their movements: %w", err)
	}
	return x, last, nil
}

// withMovements adds to lines all those of the same movements; of a movement with more than 2,000 only the first.
func withMovements(tx *bolt.Tx, page []keptLine) ([]keptLine, error) {
	have, looked := map[uint64]bool{}, map[string]bool{}
	var out []keptLine
	add := func(l keptLine) {
		if !have[l.ID] {
			have[l.ID], out = true, append(out, l)
		}
	}
	for _, l := range page {
		add(l)
		k := movementKey(l.Line)
		if k == nil || looked[string(k)] {
			continue
		}
		looked[string(k)] = true
		same, err := lines.list(tx, lineByMovement, k, mostWalked)
		if err != nil {
			return nil, err
		}
		for _, s := range same {
			add(s)
		}
	}
	slices.SortFunc(out, func(a, b keptLine) int { return cmp.Compare(a.ID, b.ID) })
	return out, nil
}

// addStatements adds the finished statements of the lines, and which of the lines they repeat.
func (x *ReconExcerpt) addStatements(tx *bolt.Tx) error {
	have := map[recon.StatementID]bool{}
	for _, l := range x.Lines {
		if have[l.Statement] {
			continue
		}
		have[l.Statement] = true
		s, err := statements.get(tx, idKey(uint64(l.Statement)))
		if err != nil {
			return err
		}
		if s == nil || !s.finished() {
			continue
		}
		x.Statements = append(x.Statements, s.Imported)
	}
	for _, s := range x.Statements {
		for _, l := range x.Lines {
			r, err := repeats.get(tx, repeats.key(repeat{Statement: s.ID, Line: uint64(l.ID)}))
			if err != nil {
				return err
			}
			if r != nil {
				x.Repeats = append(x.Repeats, LineRepeat{s.ID, l.ID})
			}
		}
	}
	return nil
}

// StatementBelow reads the newest finished statement below a number (0: of all) with those that it leans on, and counts its lines where it has
// at most so many; else counted is false. id is 0 where there is none.
func (db *DB) StatementBelow(ctx context.Context, below recon.StatementID, most int) (x ReconExcerpt, id recon.StatementID, own int, counted bool, err error) {
	err = db.read(ctx, func(tx *bolt.Tx) error {
		x, id, own, counted = ReconExcerpt{}, 0, 0, false
		err := down(tx, statements.bucket, nil, uint64(below), func(k []byte) (bool, error) {
			s, err := statements.must(tx, k)
			if err != nil || !s.finished() {
				return err == nil, err
			}
			x.Statements, id = append(x.Statements, s.Imported), s.Imported.ID
			return false, nil
		})
		if err != nil || id == 0 {
			return err
		}
		for _, earlier := range x.Statements[0].LeansOn {
			s, err := statements.get(tx, idKey(uint64(earlier)))
			if err != nil {
				return err
			}
			if s != nil && s.finished() {
				x.Statements = append(x.Statements, s.Imported)
			}
		}
		if counted = x.Statements[0].Stored <= most; counted {
			own = countKeys(tx, lineByPlace.bucket, idKey(uint64(id)))
		}
		return nil
	})
	if err != nil {
		return ReconExcerpt{}, id, 0, false, fmt.Errorf("read a statement with those that it leans on: %w", err)
	}
	return x, id, own, counted, nil
}
