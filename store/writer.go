package store

import (
	"bytes"
	"encoding/binary"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"creditonce/credit"
)

// writer is what one operation sees of the shared write transaction: it reads from tx, decides, and stages
// writes. Nothing reaches the transaction before apply, so an operation that is refused leaves no trace in it.
type writer struct {
	tx       *bolt.Tx
	lowSpace bool // less room than the floor for claims, as measured before the batch
	tight    bool // less room than reconciliation leaves
	dels     []entry
	puts     []entry
	freed    places            // by dels
	taken    places            // by puts
	issued   map[string]uint64 // numbers taken, by bucket
	deltas   map[string]int64  // by counter key
	claims   uint64            // rows that became claimed, or that people decided about
	decided  bool              // people decided about a row
	testify  bool              // the witness is to be written, claims or none
	dirty    bool              // something has been written to tx
	beforeOp func(put int) error
	memo     *settingsMemo
}

// entry is one key with its value in one bucket.
type entry struct {
	bucket     string
	key, value []byte
}

func newWriter(tx *bolt.Tx, lowSpace bool, memo *settingsMemo) *writer {
	return &writer{
		tx: tx, lowSpace: lowSpace, memo: memo, issued: map[string]uint64{}, deltas: map[string]int64{},
	}
}

// put stages one key. The same key twice in one operation is a programming fault and refused.
func (w *writer) put(bucket string, k, value []byte) error {
	if len(k) > maxKey {
		return fmt.Errorf("%s: a key of %d bytes, at most %d are allowed: %w", bucket, len(k), maxKey, credit.ErrInvalid)
	}
	if w.taken.has(bucket, k) {
		return fmt.Errorf("%s %s: written twice in one operation: %w", bucket, keyText(k), credit.ErrImpossible)
	}
	w.taken.add(bucket, k)
	w.puts = append(w.puts, entry{bucket, k, value})
	return nil
}

func (w *writer) del(bucket string, k []byte) {
	w.freed.add(bucket, k)
	w.dels = append(w.dels, entry{bucket: bucket, key: k})
}

// moveUnique stages the move of a unique entry from was to now; either may be nil.
func (w *writer) moveUnique(bucket string, was, now, row []byte) error {
	if bytes.Equal(was, now) && (was == nil) == (now == nil) {
		return nil
	}
	if now != nil {
		if holder := w.tx.Bucket([]byte(bucket)).Get(now); holder != nil && !w.freed.has(bucket, now) {
			return &credit.DuplicateError{Rule: bucket, Holder: keyID(holder)}
		}
		if w.taken.has(bucket, now) {
			return &credit.DuplicateError{Rule: bucket}
		}
	}
	if was != nil {
		w.del(bucket, was)
	}
	if now == nil {
		return nil
	}
	return w.put(bucket, now, row)
}

// moveOrdered stages the move of an ordered entry.
func (w *writer) moveOrdered(bucket string, was, wasValue, now, value []byte) error {
	same := was != nil && now != nil && bytes.Equal(was, now)
	if same && bytes.Equal(wasValue, value) {
		return nil
	}
	if was != nil && !same {
		w.del(bucket, was)
	}
	if now == nil {
		return nil
	}
	return w.put(bucket, now, value)
}

// staged tells that the operation wants something written.
func (w *writer) staged() bool { return len(w.puts)+len(w.dels) > 0 }

// apply writes what was staged: first every deletion, then every put. Any error in it poisons the transaction.
func (w *writer) apply() error {
	if !w.staged() {
		return nil
	}
	w.dirty = true
	for _, e := range w.dels {
		if err := w.tx.Bucket([]byte(e.bucket)).Delete(e.key); err != nil {
			return fmt.Errorf("%s %s: delete: %w", e.bucket, keyText(e.key), err)
		}
	}
	for i, e := range w.puts {
		if w.beforeOp != nil {
			if err := w.beforeOp(i); err != nil {
				return err
			}
		}
		if err := w.tx.Bucket([]byte(e.bucket)).Put(e.key, e.value); err != nil {
			return fmt.Errorf("%s %s: put: %w", e.bucket, keyText(e.key), err)
		}
	}
	for bucket, n := range w.issued {
		b := w.tx.Bucket([]byte(bucket))
		if err := b.SetSequence(b.Sequence() + n); err != nil {
			return fmt.Errorf("%s: number rows: %w", bucket, err)
		}
	}
	if w.claims > 0 {
		n, err := readClaims(w.tx)
		if err != nil {
			return err
		}
		if err := putClaims(w.tx, n+w.claims); err != nil {
			return fmt.Errorf("count claims: %w", err)
		}
	}
	return w.applyCounters()
}

func (w *writer) applyCounters() error {
	b := w.tx.Bucket([]byte(bucketCounters))
	for at, by := range w.deltas {
		if by == 0 {
			continue
		}
		k := []byte(at)
		n, err := readCounter(w.tx, k)
		if err != nil {
			return err
		}
		if n += by; n < 0 {
			return &DamageError{bucketCounters, k, "a counter would fall below 0"}
		}
		if err := b.Put(k, seal(bucketCounters, k, binary.BigEndian.AppendUint64(nil, uint64(n)))); err != nil {
			return fmt.Errorf("%s: put: %w", bucketCounters, err)
		}
	}
	return nil
}

func counterKey(table, label string) []byte { return key(nil).text(table).text(label) }

// readCounter reads a counter; one that was never written is 0.
func readCounter(tx *bolt.Tx, k []byte) (int64, error) {
	v := tx.Bucket([]byte(bucketCounters)).Get(k)
	if v == nil {
		return 0, nil
	}
	payload, err := unseal(bucketCounters, k, v)
	if err != nil {
		return 0, err
	}
	if len(payload) != 8 {
		return 0, &DamageError{bucketCounters, bytes.Clone(k), "a counter is not 8 bytes"}
	}
	return int64(binary.BigEndian.Uint64(payload)), nil
}
