package store

import (
	"bytes"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"creditonce/credit"
)

// unique is a rule "at most one row has this key". A nil key means that the row is not under the rule. The
// bucket holds key -> the row's own key and nothing else: its keys are random, so each change rewrites a page.
type unique[T any] struct {
	bucket string
	key    func(T) []byte
}

// ordered is an index that lists rows in the order of its key, then of their number. A nil key means that the
// row is not listed. value, where set, is kept beside the entry so that a list needs no row; of a table without
// numbers it is the row's key.
type ordered[T any] struct {
	bucket string
	key    func(T) []byte
	value  func(T) []byte
}

// listed is the value of an ordered entry that has none of its own.
var listed = []byte{1}

func (o *ordered[T]) entry(row T) []byte {
	if o.value == nil {
		return listed
	}
	return o.value(row)
}

// table keeps a bucket, its indexes and its counters in step. stage and remove are the only ways to write a row.
type table[T any] struct {
	bucket   string
	key      func(T) []byte
	numbered bool // the key is a number of the bucket's own sequence
	unkey    func(k []byte, row *T)
	unique   []*unique[T]
	ordered  []*ordered[T]
	count    func(T) string // label that the row is counted under; empty: not counted
}

func (t *table[T]) buckets() []string {
	names := []string{t.bucket}
	for _, u := range t.unique {
		names = append(names, u.bucket)
	}
	for _, o := range t.ordered {
		names = append(names, o.bucket)
	}
	return names
}

// decode reads a row from its stored value.
func (t *table[T]) decode(k, value []byte) (row T, err error) {
	payload, err := unseal(t.bucket, k, value)
	if err != nil {
		return row, err
	}
	if err := decode(payload, &row); err != nil {
		return row, &DamageError{t.bucket, bytes.Clone(k), err.Error()}
	}
	if t.unkey != nil {
		t.unkey(k, &row)
	}
	if !bytes.Equal(t.key(row), k) {
		return row, &DamageError{t.bucket, bytes.Clone(k), "the row says that its key is " + keyText(t.key(row))}
	}
	return row, nil
}

// get reads the row with the key; nil where there is none.
func (t *table[T]) get(tx *bolt.Tx, k []byte) (*T, error) {
	v := tx.Bucket([]byte(t.bucket)).Get(k)
	if v == nil {
		return nil, nil
	}
	row, err := t.decode(k, v)
	if err != nil {
		return nil, err
	}
	return &row, nil
}

// must reads the row with the key; ErrNotFound where there is none.
func (t *table[T]) must(tx *bolt.Tx, k []byte) (row T, err error) {
	found, err := t.get(tx, k)
	if err != nil {
		return row, err
	}
	if found == nil {
		return row, fmt.Errorf("%s %s: %w", t.bucket, keyText(k), credit.ErrNotFound)
	}
	return *found, nil
}

// find reads the row that a unique rule has under the key; nil where there is none.
func (t *table[T]) find(tx *bolt.Tx, u *unique[T], k []byte) (*T, error) {
	id := tx.Bucket([]byte(u.bucket)).Get(k)
	if id == nil {
		return nil, nil
	}
	row, err := t.get(tx, id)
	if err != nil {
		return nil, err
	}
	if row == nil || !bytes.Equal(u.key(*row), k) {
		return nil, &DamageError{u.bucket, bytes.Clone(k), "the entry does not lead to its row"}
	}
	return row, nil
}

// list reads the rows that an ordered index has under the prefix, in its order, at most limit (0: all).
func (t *table[T]) list(tx *bolt.Tx, o *ordered[T], prefix []byte, limit int) ([]T, error) {
	var out []T
	c := tx.Bucket([]byte(o.bucket)).Cursor()
	for k, _ := c.Seek(prefix); bytes.HasPrefix(k, prefix) && k != nil; k, _ = c.Next() {
		if limit > 0 && len(out) >= limit {
			break
		}
		row, err := t.listedRow(tx, o, k)
		if err != nil {
			return nil, err
		}
		out = append(out, row)
	}
	return out, nil
}

// listedRow reads the row of an ordered entry.
func (t *table[T]) listedRow(tx *bolt.Tx, o *ordered[T], k []byte) (row T, err error) {
	if len(k) < 8 {
		return row, &DamageError{o.bucket, bytes.Clone(k), "the entry is too short"}
	}
	id := k[len(k)-8:]
	found, err := t.get(tx, id)
	if err != nil {
		return row, err
	}
	if found == nil || !bytes.Equal(o.key(*found), k[:len(k)-8]) {
		return row, &DamageError{o.bucket, bytes.Clone(k), "the entry does not lead to its row"}
	}
	return *found, nil
}

// page reads rows in the order of their keys, after the given key, at most limit.
func (t *table[T]) page(tx *bolt.Tx, after []byte, limit int) ([]T, error) {
	var out []T
	c := tx.Bucket([]byte(t.bucket)).Cursor()
	k, v := c.Seek(after)
	if bytes.Equal(k, after) && k != nil {
		k, v = c.Next()
	}
	for ; k != nil && len(out) < limit; k, v = c.Next() {
		row, err := t.decode(k, v)
		if err != nil {
			return nil, err
		}
		out = append(out, row)
	}
	return out, nil
}

// newest reads rows below the given number (0: all), the highest first, at most limit.
func (t *table[T]) newest(tx *bolt.Tx, below uint64, limit int) ([]T, error) {
	var out []T
	err := down(tx, t.bucket, nil, below, func(id []byte) (bool, error) {
		row, err := t.must(tx, id)
		if err != nil {
			return false, err
		}
		out = append(out, row)
		return len(out) < limit, nil
	})
	return out, err
}

// pageOf reads rows that an ordered index has under the very key prefix, by number, after the given one.
func (t *table[T]) pageOf(tx *bolt.Tx, o *ordered[T], prefix []byte, after uint64, limit int) ([]T, error) {
	var out []T
	c := tx.Bucket([]byte(o.bucket)).Cursor()
	start := key(bytes.Clone(prefix)).number(after)
	k, _ := c.Seek(start)
	if k != nil && bytes.Equal(k, start) {
		k, _ = c.Next()
	}
	for ; k != nil && bytes.HasPrefix(k, prefix) && len(out) < limit; k, _ = c.Next() {
		row, err := t.listedRow(tx, o, k)
		if err != nil {
			return nil, err
		}
		out = append(out, row)
	}
	return out, nil
}

// next is the number that the next new row gets.
func (t *table[T]) next(w *writer) uint64 {
	return w.tx.Bucket([]byte(t.bucket)).Sequence() + w.issued[t.bucket] + 1
}

// stage plans to write row in place of old (nil: a new row). It checks every unique rule against the file and
// against what the operation has staged already, and returns a *DuplicateError where one is held.
func (t *table[T]) stage(w *writer, old *T, row T) error {
	k := t.key(row)
	if old != nil && !bytes.Equal(t.key(*old), k) {
		return fmt.Errorf("%s %s: a row may not change its key: %w", t.bucket, keyText(k), credit.ErrImpossible)
	}
	if old == nil {
		if err := t.issue(w, k); err != nil {
			return err
		}
	}
	payload, err := encode(row)
	if err != nil {
		return fmt.Errorf("%s %s: %w", t.bucket, keyText(k), err)
	}
	if err := w.put(t.bucket, k, seal(t.bucket, k, payload)); err != nil {
		return err
	}
	if err := t.stageIndexes(w, old, row, k); err != nil {
		return err
	}
	if old != nil {
		t.countUp(w, *old, -1)
	}
	t.countUp(w, row, 1)
	return nil
}

// issue takes the number of a new row, which must be the next one, or sees that its key is free.
func (t *table[T]) issue(w *writer, k []byte) error {
	if !t.numbered {
		if w.tx.Bucket([]byte(t.bucket)).Get(k) != nil {
			return &credit.DuplicateError{Rule: t.bucket, Holder: keyID(k)}
		}
		return nil
	}
	if want := t.next(w); keyID(k) != want {
		return fmt.Errorf("%s: a new row is numbered %d, the next number is %d: %w", t.bucket, keyID(k), want, credit.ErrImpossible)
	}
	w.issued[t.bucket]++
	return nil
}

func (t *table[T]) stageIndexes(w *writer, old *T, row T, k []byte) error {
	for _, u := range t.unique {
		var was []byte
		if old != nil {
			was = u.key(*old)
		}
		if err := w.moveUnique(u.bucket, was, u.key(row), k); err != nil {
			return err
		}
	}
	for _, o := range t.ordered {
		var was, wasValue []byte
		if old != nil {
			if was = o.key(*old); was != nil {
				was, wasValue = append(was, k...), o.entry(*old)
			}
		}
		now := o.key(row)
		if now != nil {
			now = append(now, k...)
		}
		if err := w.moveOrdered(o.bucket, was, wasValue, now, o.entry(row)); err != nil {
			return err
		}
	}
	return nil
}

// remove plans to delete the row with all its index entries. Only records that are no evidence are ever removed.
func (t *table[T]) remove(w *writer, row T) {
	k := t.key(row)
	for _, u := range t.unique {
		if was := u.key(row); was != nil {
			w.del(u.bucket, was)
		}
	}
	for _, o := range t.ordered {
		if was := o.key(row); was != nil {
			w.del(o.bucket, append(was, k...))
		}
	}
	w.del(t.bucket, k)
	t.countUp(w, row, -1)
}

func (t *table[T]) countUp(w *writer, row T, by int64) {
	if t.count == nil {
		return
	}
	if label := t.count(row); label != "" {
		w.deltas[string(counterKey(t.bucket, label))] += by
	}
}
