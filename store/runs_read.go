package store

import (
	"bytes"
	"context"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"creditonce/credit"
	"creditonce/recon"
)

// Runs implements [recon.RunBook].
func (db *DB) Runs(ctx context.Context, below recon.RunID, limit int) (out []recon.Run, err error) {
	err = db.read(ctx, func(tx *bolt.Tx) error {
		out = nil
		return down(tx, runs.bucket, nil, uint64(below), func(id []byte) (bool, error) {
			r, err := runs.must(tx, id)
			if err != nil {
				return false, err
			}
			if r.Finished {
				out = append(out, r.Run)
			}
			return len(out) < limitOf(limit), nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	return out, nil
}

// Run implements [recon.RunBook].
func (db *DB) Run(ctx context.Context, id recon.RunID) (out recon.Run, err error) {
	err = db.read(ctx, func(tx *bolt.Tx) error {
		r, err := finishedRun(tx, id)
		out = r.Run
		return err
	})
	if err != nil {
		return recon.Run{}, fmt.Errorf("read run: %w", err)
	}
	return out, nil
}

// RunOfDay implements [recon.RunBook].
func (db *DB) RunOfDay(ctx context.Context, zone string, d recon.Day) (out recon.Run, err error) {
	err = db.read(ctx, func(tx *bolt.Tx) error {
		id, _, err := runOfDay(tx, zone, d)
		if err != nil {
			return err
		}
		if id == 0 {
			return fmt.Errorf("no run covers the day: %w", credit.ErrNotFound)
		}
		r, err := finishedRun(tx, id)
		out = r.Run
		return err
	})
	if err != nil {
		return recon.Run{}, fmt.Errorf("read the run of %s: %w", d, err)
	}
	return out, nil
}

// Findings implements [recon.RunBook]; the items of a run that is under way are there for who knows its number. Those of a run that was purged
// are refused (*credit.RefusedError). Limit 0 is 100.
func (db *DB) Findings(ctx context.Context, id recon.RunID, after, limit int) (items []recon.Item, next int, err error) {
	limit = min(limitOf(limit), mostWalked)
	err = db.read(ctx, func(tx *bolt.Tx) error {
		items, next = nil, 0
		r, err := runs.must(tx, idKey(uint64(id)))
		if err != nil {
			return err
		}
		if r.Run.Purged {
			return credit.Refuse("purged", "the items of run %d were removed, since newer complete runs cover its days", id)
		}
		prefix := idKey(uint64(id))
		c := tx.Bucket([]byte(findings.bucket)).Cursor()
		for k, v := c.Seek(idKey2(uint64(id), uint64(max(after, 0))+1)); k != nil && bytes.HasPrefix(k, prefix); k, v = c.Next() {
			f, err := findings.decode(k, v)
			if err != nil {
				return err
			}
			items = append(items, f.Item)
			if len(items) == limit {
				if f.Position < r.Saved {
					next = f.Position
				}
				return nil
			}
		}
		return nil
	})
	if err != nil {
		return nil, 0, fmt.Errorf("list findings of run %d: %w", id, err)
	}
	return items, next, nil
}

// Reached implements [recon.RunBook].
func (db *DB) Reached(ctx context.Context) (out recon.Reached, err error) {
	err = db.read(ctx, func(tx *bolt.Tx) error {
		out, err = reached(tx)
		return err
	})
	if err != nil {
		return recon.Reached{}, fmt.Errorf("read how far complete runs reach: %w", err)
	}
	return out, nil
}

// DiscrepancyTask implements [recon.RunBook].
func (db *DB) DiscrepancyTask(ctx context.Context, k recon.Key) (t credit.Task, ok bool, err error) {
	err = db.read(ctx, func(tx *bolt.Tx) error {
		d, err := discrepancies.get(tx, discrepancyKey(k))
		if ok = d != nil; err != nil || !ok {
			return err
		}
		t, err = tasks.must(tx, idKey(uint64(d.Task)))
		return err
	})
	if err != nil {
		return credit.Task{}, false, fmt.Errorf("read the task of %s, %s: %w", k.Class, k.Entity, err)
	}
	return t, ok, nil
}

// Discrepancies lists discrepancies in the order of class and entity, after a key (the zero key: from the first), explained ones too.
// Limit 0 is 100.
func (db *DB) Discrepancies(ctx context.Context, after recon.Key, limit int) (out []recon.Discrepancy, err error) {
	var from []byte
	if after != (recon.Key{}) {
		from = discrepancyKey(after)
	}
	err = db.read(ctx, func(tx *bolt.Tx) error {
		out, err = discrepancies.page(tx, from, min(limitOf(limit), mostWalked))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list discrepancies: %w", err)
	}
	return out, nil
}
