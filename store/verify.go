package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	bolt "go.etcd.io/bbolt"

	"creditonce/credit"
)

// Report is what Verify found.
type Report struct {
	Checked  int      // entries of all buckets
	Findings []string // sentences that name bucket and row; empty: the store is whole
	More     int      // findings beyond those listed
}

// Clean tells that nothing was found.
func (r Report) Clean() bool { return len(r.Findings) == 0 && r.More == 0 }

const (
	// piece is how many entries one snapshot checks: the file may be in use, and a long snapshot makes it grow.
	piece = 500
	// mostFindings bounds the report of a file that is damaged throughout.
	mostFindings = 1000
)

// Verify checks the whole store while it is in use: every value's checksum and form, every index recomputed from
// the rows and compared both ways, the counters, each row's history chain, the rules between rows, history,
// tasks, deposits, events and bodies, and bbolt's own pages. Damage is a finding, never a panic; an error means
// that the check itself could not go on (ctx ended, store stopped). progress may be nil; it is called between
// snapshots. The check of the pages stops all writes for as long as it takes, about as long as reading the file.
func (db *DB) Verify(ctx context.Context, progress func(done, total int)) (Report, error) {
	v := &verifier{db: db, ctx: ctx, progress: progress}
	ended := make(chan error, 1)
	go func() { // a goroutine of its own: what it sets about faults must not outlive it
		debug.SetPanicOnFault(true)
		ended <- v.run()
	}()
	if err := <-ended; err != nil {
		return v.report, fmt.Errorf("verify: %w", err)
	}
	return v.report, nil
}

// verifier walks the buckets and collects findings.
type verifier struct {
	db       *DB
	ctx      context.Context
	progress func(done, total int)
	total    int
	report   Report
	settings credit.Settings
}

func (v *verifier) find(format string, args ...any) {
	if len(v.report.Findings) >= mostFindings {
		v.report.More++
		return
	}
	v.report.Findings = append(v.report.Findings, fmt.Sprintf(format, args...))
}

// fault notes an error that is a finding about a row.
func (v *verifier) fault(bucket string, k []byte, err error) {
	var damage *DamageError
	if errors.As(err, &damage) {
		v.find("%s", damage.Error())
		return
	}
	v.find("bucket %q, key %s: %s", bucket, keyText(k), err)
}

func (v *verifier) run() error {
	steps := []func() error{
		v.checkPages, v.checkMeta, v.count,
		func() error { return verifyTable(v, events, v.crossEvent) },
		v.checkBodies,
		func() error { return verifyTable(v, credits, v.crossCredit) },
		func() error { return verifyTable(v, history, v.crossEntry) },
		func() error { return verifyTable(v, deposits, v.crossDeposit) },
		func() error { return verifyTable(v, accounts, nil) },
		func() error { return verifyTable(v, tasks, v.crossTask) },
		func() error { return verifyTable(v, answers, nil) },
		func() error { return verifyTable(v, anchors, nil) },
		v.verifyDesk,
		v.verifyOutbox,
		v.verifyRecon,
		v.checkCounters,
	}
	for _, step := range steps {
		if err := step(); errors.Is(err, errPathless) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return nil
}

// snapshot runs fn in a read transaction. A panic in it is a finding: pages that cannot be read.
func (v *verifier) snapshot(what string, fn func(tx *bolt.Tx) error) error {
	err := v.db.read(v.ctx, fn)
	if err != nil && errors.Is(err, errPanicked) {
		v.find("%s: pages cannot be read (%s)", what, err)
		return nil
	}
	return err
}

// walk visits every entry of a bucket, some in each snapshot.
func (v *verifier) walk(bucket string, visit func(tx *bolt.Tx, k, value []byte)) error {
	var after []byte
	for more := true; more; {
		more = false
		err := v.snapshot(fmt.Sprintf("bucket %q", bucket), func(tx *bolt.Tx) error {
			c := tx.Bucket([]byte(bucket)).Cursor()
			k, value := c.First()
			if after != nil {
				if k, value = c.Seek(after); bytes.Equal(k, after) {
					k, value = c.Next()
				}
			}
			n := 0
			for ; k != nil && n < piece; k, value = c.Next() {
				visit(tx, k, value)
				after = bytes.Clone(k)
				n++
			}
			v.report.Checked += n
			more = k != nil
			return nil
		})
		if err != nil {
			return err
		}
		if v.progress != nil {
			v.progress(v.report.Checked, max(v.total, v.report.Checked))
		}
	}
	return nil
}

// verifyTable checks the rows, then every index entry back to its row. cross, where set, checks a row against
// other tables.
func verifyTable[T any](v *verifier, t *table[T], cross func(*bolt.Tx, T) error) error {
	var last uint64
	err := v.walk(t.bucket, func(tx *bolt.Tx, k, value []byte) {
		last = keyID(k)
		row, err := t.decode(k, value)
		if err == nil {
			v.checkIndexed(tx, t.indexed(row), k)
			if cross != nil {
				err = cross(tx, row)
			}
		}
		if err != nil {
			v.fault(t.bucket, k, err)
		}
	})
	if err != nil {
		return err
	}
	if err := verifyBack(v, t); err != nil || !t.numbered {
		return err
	}
	return v.snapshot(t.bucket, func(tx *bolt.Tx) error {
		if next := tx.Bucket([]byte(t.bucket)).Sequence(); last > next {
			v.find("bucket %q: row %d is beyond the last number given, %d", t.bucket, last, next)
		}
		return nil
	})
}

// indexed lists every index entry that the row must have.
func (t *table[T]) indexed(row T) []entry {
	k := t.key(row)
	var out []entry
	for _, u := range t.unique {
		if at := u.key(row); at != nil {
			out = append(out, entry{u.bucket, at, k})
		}
	}
	for _, o := range t.ordered {
		if at := o.key(row); at != nil {
			out = append(out, entry{o.bucket, append(at, k...), o.entry(row)})
		}
	}
	return out
}

func (v *verifier) checkIndexed(tx *bolt.Tx, want []entry, k []byte) {
	for _, e := range want {
		got := tx.Bucket([]byte(e.bucket)).Get(e.key)
		switch {
		case got == nil:
			v.find("bucket %q: the entry of row %s is missing", e.bucket, keyText(k))
		case !bytes.Equal(got, e.value):
			v.find("bucket %q: the entry of row %s holds %x, not %x", e.bucket, keyText(k), got, e.value)
		}
	}
}

// verifyBack follows every index entry to its row and asks the row for that entry.
func verifyBack[T any](v *verifier, t *table[T]) error {
	back := func(bucket string, row func(k, value []byte) []byte) error {
		return v.walk(bucket, func(tx *bolt.Tx, k, value []byte) {
			id := row(k, value)
			found, err := t.get(tx, id)
			switch {
			case err != nil:
				return // the row's own walk has named it
			case found == nil:
				v.find("bucket %q: entry %s leads to row %s, which does not exist", bucket, keyText(k), keyText(id))
				return
			}
			for _, e := range t.indexed(*found) {
				if e.bucket == bucket && bytes.Equal(e.key, k) {
					return
				}
			}
			v.find("bucket %q: entry %s is none of row %s", bucket, keyText(k), keyText(id))
		})
	}
	for _, u := range t.unique {
		if err := back(u.bucket, func(_, value []byte) []byte { return value }); err != nil {
			return err
		}
	}
	for _, o := range t.ordered {
		target := func(k, value []byte) []byte {
			if t.numbered {
				return k[max(0, len(k)-8):]
			}
			return value
		}
		if err := back(o.bucket, target); err != nil {
			return err
		}
	}
	return nil
}
