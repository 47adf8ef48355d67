package store

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	bolt "go.etcd.io/bbolt"

	"creditonce/credit"
)

// Dossier implements [credit.Book].
func (db *DB) Dossier(ctx context.Context, id credit.ID) (d credit.Dossier, err error) {
	low := db.gauge.measure().stopClaims
	err = db.read(ctx, func(tx *bolt.Tx) error {
		d, err = readDossier(tx, id, low)
		return err
	})
	if err != nil {
		return credit.Dossier{}, fmt.Errorf("read dossier of credit %d: %w", id, err)
	}
	return d, nil
}

func readDossier(tx *bolt.Tx, id credit.ID, lowSpace bool) (d credit.Dossier, err error) {
	d.LowSpace = lowSpace
	if d.Row, err = credits.must(tx, idKey(uint64(id))); err != nil {
		return d, err
	}
	row := d.Row
	if d.Settings, err = readSettings(tx); err != nil {
		return d, err
	}
	if d.Deposit, err = depositOf(tx, row); err != nil {
		return d, err
	}
	d.Reversed = isReversed(tx, row.Unit.ProviderKind, row.Unit.Account, row.Unit.Payment)
	if d.OpenTasks, err = openTasks(tx, credit.RowEntity(id)); err != nil {
		return d, err
	}
	if row.Login == 0 {
		return d, nil
	}
	if d.Account, err = accounts.get(tx, loginKey(row.Server, row.Login)); err != nil {
		return d, err
	}
	if d.Busy, err = busy(tx, row); err != nil {
		return d, err
	}
	if d.Stops, err = tasks.list(tx, taskStops, loginKey(row.Identity, row.Login), 0); err != nil {
		return d, err
	}
	a, err := anchors.get(tx, loginKey(row.Identity, row.Login))
	if err == nil && a != nil {
		d.Anchor = &a.Anchor
	}
	return d, err
}

// depositOf finds the deposit that the row joined, or that waits under its code.
func depositOf(tx *bolt.Tx, row credit.Credit) (*credit.Deposit, error) {
	code := row.Deposit
	if code == "" {
		code = row.Code
	}
	if code == "" {
		return nil, nil
	}
	d, err := deposits.find(tx, depositByCode, key(nil).text(code))
	if err != nil || d == nil {
		return nil, err
	}
	return &d.Deposit, nil
}

// busy lists the other claimed and unknown rows of the login. The login is one where the MT5 server's own name
// is the same, and where the label is: a label that was given another server by hand hides no row.
func busy(tx *bolt.Tx, row credit.Credit) ([]credit.ID, error) {
	ids := listIDs(tx, creditOpen.bucket, loginKey(row.Identity, row.Login))
	for _, id := range listIDs(tx, creditLive.bucket, loginKey(row.Server, row.Login)) {
		if id == row.ID || slices.Contains(ids, id) {
			continue
		}
		other, err := credits.must(tx, idKey(uint64(id)))
		if err != nil {
			return nil, err
		}
		if other.State.Open() {
			ids = append(ids, id)
		}
	}
	ids = slices.DeleteFunc(ids, func(id credit.ID) bool { return id == row.ID })
	slices.Sort(ids)
	return ids, nil
}

// listIDs reads the row numbers that an ordered index has under the very key, without the rows.
func listIDs(tx *bolt.Tx, bucket string, prefix []byte) []credit.ID {
	var ids []credit.ID
	c := tx.Bucket([]byte(bucket)).Cursor()
	for k, _ := c.Seek(prefix); k != nil && bytes.HasPrefix(k, prefix); k, _ = c.Next() {
		ids = append(ids, credit.ID(keyID(k)))
	}
	return ids
}

// openTasks lists the open tasks about an entity, by kind.
func openTasks(tx *bolt.Tx, entity string) ([]credit.Task, error) {
	prefix := key(nil).text(entity)
	var out []credit.Task
	c := tx.Bucket([]byte(taskOpen.bucket)).Cursor()
	for k, _ := c.Seek(prefix); k != nil && bytes.HasPrefix(k, prefix); k, _ = c.Next() {
		t, err := tasks.find(tx, taskOpen, k)
		if err != nil {
			return nil, err
		}
		out = append(out, *t)
	}
	return out, nil
}

// countOpenTasks counts them without reading them.
func countOpenTasks(tx *bolt.Tx, entity string) int {
	prefix := key(nil).text(entity)
	n := 0
	c := tx.Bucket([]byte(taskOpen.bucket)).Cursor()
	for k, _ := c.Seek(prefix); k != nil && bytes.HasPrefix(k, prefix); k, _ = c.Next() {
		n++
	}
	return n
}

// Holders implements [credit.Book].
func (db *DB) Holders(ctx context.Context, identity string, tickets []uint64) (map[uint64]credit.ID, error) {
	out := map[uint64]credit.ID{}
	err := db.read(ctx, func(tx *bolt.Tx) error {
		clear(out)
		for _, ticket := range tickets {
			row, err := credits.find(tx, creditByDeal, dealKey(identity, ticket))
			if err != nil {
				return err
			}
			if row != nil {
				out[ticket] = row.ID
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read holders of %d tickets: %w", len(tickets), err)
	}
	return out, nil
}
