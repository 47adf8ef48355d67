package store

import (
	"bytes"
	"fmt"
	"slices"

	"creditonce/credit"
)

// effects are what a staged change really opened and closed.
type effects struct{ opened, closed []credit.Task }

// stageChanges stages everything that a decision wants written. packed is the body of Changes.Event.
func stageChanges(w *writer, c credit.Changes, packed []byte) (effects, error) {
	if c.Event != nil {
		if err := stageEvent(w, *c.Event, packed); err != nil {
			return effects{}, err
		}
	}
	for _, r := range c.Rows {
		if err := stageRow(w, r); err != nil {
			return effects{}, err
		}
	}
	if c.Deposit != nil {
		if err := stageDeposit(w, *c.Deposit); err != nil {
			return effects{}, err
		}
	}
	if c.Account != nil {
		prior, err := accounts.get(w.tx, accounts.key(*c.Account))
		if err != nil {
			return effects{}, err
		}
		if err := accounts.stage(w, prior, *c.Account); err != nil {
			return effects{}, err
		}
	}
	return stageTasks(w, c.Open, c.Close)
}

// stageEvent appends an event with its body.
func stageEvent(w *writer, e credit.Event, packed []byte) error {
	if err := events.stage(w, nil, e); err != nil {
		return err
	}
	k := idKey(uint64(e.ID))
	return w.put(bucketBodies, k, seal(bucketBodies, k, packed))
}

// byPeople tells that people moved a row: an older file would not know it, and pay what they closed or adopted.
func byPeople(e credit.Entry) bool { return e.By == credit.ByOperator || e.By == credit.ByTwoPeople }

// stageRow writes a row and appends its history. The row must stand as the decision saw it.
func stageRow(w *writer, r credit.RowChange) error {
	id := r.After.ID
	var old *credit.Credit
	if r.Before != nil {
		stored, err := credits.must(w.tx, idKey(uint64(id)))
		if err != nil {
			return err
		}
		if stored.Head != r.Before.Head || stored.Entries != r.Before.Entries {
			return fmt.Errorf("credit %d is not as it was decided on: %w", id, credit.ErrConflict)
		}
		old = &stored
		switch {
		case stored.State != credit.Claimed && r.After.State == credit.Claimed:
			w.claims++
		case slices.ContainsFunc(r.Entries, byPeople):
			w.claims, w.decided = w.claims+1, true
		}
	}
	written := 0
	if old != nil {
		written = old.Entries
	}
	for i, e := range r.Entries {
		e.Credit = id
		if e.Seq != written+i+1 {
			return fmt.Errorf("credit %d: history entry %d comes after entry %d: %w", id, e.Seq, written+i, credit.ErrImpossible)
		}
		if err := history.stage(w, nil, e); err != nil {
			return err
		}
	}
	if r.After.Entries != written+len(r.Entries) {
		return fmt.Errorf("credit %d counts %d history entries, %d are written: %w", id, r.After.Entries, written+len(r.Entries), credit.ErrImpossible)
	}
	return credits.stage(w, old, r.After)
}

// stageDeposit inserts a deposit, or changes which row took it and when it was closed: nothing else of a deposit
// ever changes.
func stageDeposit(w *writer, d credit.Deposit) error {
	old, err := deposits.find(w.tx, depositByCode, key(nil).text(d.Code))
	if err != nil {
		return err
	}
	if old == nil {
		return deposits.stage(w, nil, numberedDeposit{deposits.next(w), d})
	}
	if old.Deposit.Credit != 0 && old.Deposit.Credit != d.Credit {
		return fmt.Errorf("deposit %d: credit %d has taken it: %w", old.Number, old.Deposit.Credit, credit.ErrConflict)
	}
	was, now := old.Deposit, d
	was.Credit, was.ClosedAt, was.ClosedBy = now.Credit, now.ClosedAt, now.ClosedBy
	a, err := encode(was)
	if err != nil {
		return err
	}
	b, err := encode(now)
	if err != nil {
		return err
	}
	if !bytes.Equal(a, b) {
		return fmt.Errorf("deposit %d: a stored deposit may only be taken or closed: %w", old.Number, credit.ErrConflict)
	}
	return deposits.stage(w, old, numberedDeposit{old.Number, d})
}

// stageTasks closes, then opens: a discrepancy that ends and begins in one decision gets a new task. A key that
// is open already keeps its task; a key without one has nothing to close.
func stageTasks(w *writer, open []credit.Task, closing []credit.TaskClose) (effects, error) {
	var out effects
	closed := map[credit.TaskKey]bool{}
	for _, c := range closing {
		t, err := tasks.find(w.tx, taskOpen, taskKey(c.Key))
		if err != nil {
			return effects{}, err
		}
		if t == nil || closed[c.Key] {
			continue
		}
		closed[c.Key] = true
		after := *t
		after.ClosedAt, after.ClosedBy, after.Reason = instant(c.At), c.By, c.Reason
		if err := tasks.stage(w, t, after); err != nil {
			return effects{}, err
		}
		if err := stageAccepted(w, after); err != nil {
			return effects{}, err
		}
		out.closed = append(out.closed, after)
	}
	opened := map[credit.TaskKey]bool{}
	for _, t := range open {
		prior, err := tasks.find(w.tx, taskOpen, taskKey(t.Key()))
		if err != nil {
			return effects{}, err
		}
		if (prior != nil && !closed[t.Key()]) || opened[t.Key()] {
			continue
		}
		opened[t.Key()] = true
		t.ID, t.OpenedAt = credit.TaskID(tasks.next(w)), instant(t.OpenedAt)
		if err := tasks.stage(w, nil, t); err != nil {
			return effects{}, err
		}
		out.opened = append(out.opened, t)
	}
	return out, stageNotices(w, credit.TaskNotices(out.opened, out.closed))
}
