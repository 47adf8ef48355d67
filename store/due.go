package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"creditonce/credit"
)

const (
	// defaultLimit bounds a list whose query sets no limit.
	defaultLimit = 100
	// mostScanned bounds how many entries of other shards one Due walks over, a few milliseconds' worth. Rows
	// behind so many due ones of other shards wait until those are taken up or postponed.
	mostScanned = 100_000
)

func limitOf(n int) int {
	if n <= 0 {
		return defaultLimit
	}
	return n
}

// Due implements [credit.Book]. Rows with the same time come by id.
func (db *DB) Due(ctx context.Context, q credit.DueQuery) (out []credit.DueRow, err error) {
	err = db.read(ctx, func(tx *bolt.Tx) error {
		out, err = readDue(tx, q)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list due %s rows: %w", q.State, err)
	}
	return out, nil
}

func readDue(tx *bolt.Tx, q credit.DueQuery) ([]credit.DueRow, error) {
	const tail = 16 // time, number
	prefix := workKey(q.State, q.Server)
	var out []credit.DueRow
	c := tx.Bucket([]byte(creditWork.bucket)).Cursor()
	scanned := 0
	for k, v := c.Seek(prefix); k != nil && bytes.HasPrefix(k, prefix); k, v = c.Next() {
		if len(k) != len(prefix)+tail || len(v) != 8 {
			return nil, &DamageError{creditWork.bucket, bytes.Clone(k), "the entry has another form"}
		}
		at := momentOf(k[len(prefix):])
		if scanned++; at.After(q.UpTo) || len(out) >= limitOf(q.Limit) || scanned > mostScanned {
			break
		}
		login := binary.BigEndian.Uint64(v)
		if q.Shards > 1 && login%uint64(q.Shards) != uint64(q.Shard) {
			continue
		}
		out = append(out, credit.DueRow{ID: credit.ID(keyID(k)), Login: login, NextAt: at})
	}
	return out, nil
}
