package store

import (
	"bytes"
	"context"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"creditonce/recon"
)

// LastItem is what the newest run that showed a difference showed of it, and that run's number. ok is false where the difference was never
// there, or the run's items are removed. It looks through the run's items in short snapshots of 2,000: only those are decoded in which the
// entity stands.
func (db *DB) LastItem(ctx context.Context, k recon.Key) (item recon.Item, run recon.RunID, ok bool, err error) {
	err = db.read(ctx, func(tx *bolt.Tx) error {
		d, err := discrepancies.get(tx, discrepancyKey(k))
		if err != nil || d == nil {
			return err
		}
		run = d.Last
		return nil
	})
	for after := 0; err == nil && run != 0 && !ok; {
		var next int
		if item, next, ok, err = db.itemAfter(ctx, run, k, after); next == 0 {
			break
		}
		after = next
	}
	if err != nil {
		return recon.Item{}, 0, false, fmt.Errorf("read what a run showed of %s, %s: %w", k.Class, k.Entity, err)
	}
	return item, run, ok, nil
}

// itemAfter looks for an item among the next ones of a run; next is 0 at the end.
func (db *DB) itemAfter(ctx context.Context, id recon.RunID, k recon.Key, after int) (item recon.Item, next int, ok bool, err error) {
	entity, err := encode(k.Entity)
	if err != nil {
		return item, 0, false, err
	}
	err = db.read(ctx, func(tx *bolt.Tx) error {
		item, next, ok = recon.Item{}, 0, false
		prefix, looked := idKey(uint64(id)), 0
		c := tx.Bucket([]byte(findings.bucket)).Cursor()
		for at, v := c.Seek(idKey2(uint64(id), uint64(after)+1)); at != nil && bytes.HasPrefix(at, prefix); at, v = c.Next() {
			if looked == mostWalked {
				next = after + looked // positions have no gaps
				return nil
			}
			looked++
			if !bytes.Contains(v, entity) {
				continue
			}
			f, err := findings.decode(at, v)
			if err != nil {
				return err
			}
			if f.Item.Key == k {
				item, ok = f.Item, true
				return nil
			}
		}
		return nil
	})
	return item, next, ok, err
}
