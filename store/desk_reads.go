package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	bolt "go.etcd.io/bbolt"

	"creditonce/credit"
	"creditonce/internal/desk"
)

// People lists everybody by id, disabled people too.
func (db *DB) People(ctx context.Context) (out []desk.Person, err error) {
	err = db.read(ctx, func(tx *bolt.Tx) error {
		out, err = people.all(tx)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list people: %w", err)
	}
	return out, nil
}

// Keys lists the stored keys of the portal's API by number, revoked ones too.
func (db *DB) Keys(ctx context.Context) (out []desk.Key, err error) {
	err = db.read(ctx, func(tx *bolt.Tx) error {
		out, err = apiKeys.all(tx)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list API keys: %w", err)
	}
	return out, nil
}

// Proposal reads a proposal; ErrNotFound where there is none.
func (db *DB) Proposal(ctx context.Context, id desk.ProposalID) (p desk.Proposal, err error) {
	err = db.read(ctx, func(tx *bolt.Tx) error {
		p, err = proposals.must(tx, idKey(uint64(id)))
		return err
	})
	if err != nil {
		return desk.Proposal{}, fmt.Errorf("read proposal: %w", err)
	}
	return p, nil
}

// Proposals lists proposals by number.
func (db *DB) Proposals(ctx context.Context, q desk.ProposalQuery) (out []desk.Proposal, err error) {
	err = db.read(ctx, func(tx *bolt.Tx) error {
		if q.Open {
			out, err = proposals.pageOf(tx, proposalOpen, nil, uint64(q.After), limitOf(q.Limit))
		} else {
			out, err = proposals.page(tx, idKey(uint64(q.After)), limitOf(q.Limit))
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list proposals: %w", err)
	}
	return out, nil
}

// Records lists audit records by number, after the given one; limit 0 is 100.
func (db *DB) Records(ctx context.Context, after uint64, limit int) (out []desk.Record, err error) {
	err = db.read(ctx, func(tx *bolt.Tx) error {
		out, err = records.page(tx, idKey(after), limitOf(limit))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list audit records: %w", err)
	}
	return out, nil
}

// NewestRecords implements [desk.Book].
func (db *DB) NewestRecords(ctx context.Context, below uint64, limit int) (out []desk.Record, err error) {
	err = db.read(ctx, func(tx *bolt.Tx) error {
		out, err = records.newest(tx, below, limitOf(limit))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list the newest audit records: %w", err)
	}
	return out, nil
}

// OpenTasks implements [desk.Book]. It reads the index's keys, and of each kind the task with the lowest number.
func (db *DB) OpenTasks(ctx context.Context) (out []desk.OpenKind, err error) {
	err = db.read(ctx, func(tx *bolt.Tx) error {
		out, err = openKinds(tx)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("count open tasks: %w", err)
	}
	return out, nil
}

func openKinds(tx *bolt.Tx) ([]desk.OpenKind, error) {
	counts, first := map[credit.TaskKind]int{}, map[credit.TaskKind]uint64{}
	c := tx.Bucket([]byte(taskOpen.bucket)).Cursor()
	for k, id := c.First(); k != nil; k, id = c.Next() {
		kind, err := kindOfTaskKey(k)
		if err != nil {
			return nil, err
		}
		counts[kind]++
		if n := keyID(id); first[kind] == 0 || n < first[kind] {
			first[kind] = n
		}
	}
	out := []desk.OpenKind{}
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		t, err := tasks.must(tx, idKey(first[kind]))
		if err != nil {
			return nil, err
		}
		out = append(out, desk.OpenKind{Kind: kind, Open: counts[kind], Oldest: t.OpenedAt})
	}
	return out, nil
}

// kindOfTaskKey reads the second text of a key that taskKey made.
func kindOfTaskKey(k []byte) (credit.TaskKind, error) {
	rest := k
	for range 2 {
		n, width := binary.Uvarint(rest)
		if width <= 0 || n > uint64(len(rest)-width) {
			return "", &DamageError{taskOpen.bucket, bytes.Clone(k), "the entry has another form"}
		}
		k, rest = rest[width:width+int(n)], rest[width+int(n):]
	}
	return credit.TaskKind(k), nil
}

// Task reads a task; ErrNotFound where there is none.
func (db *DB) Task(ctx context.Context, id credit.TaskID) (t credit.Task, err error) {
	err = db.read(ctx, func(tx *bolt.Tx) error {
		t, err = tasks.must(tx, idKey(uint64(id)))
		return err
	})
	if err != nil {
		return credit.Task{}, fmt.Errorf("read task: %w", err)
	}
	return t, nil
}

// Totals reads counters that every transaction keeps: it costs the same for ten rows and for a million.
func (db *DB) Totals(ctx context.Context) (t desk.Totals, err error) {
	err = db.read(ctx, func(tx *bolt.Tx) error {
		n, err := readCounts(tx)
		if err != nil {
			return err
		}
		open, err := readCounter(tx, counterKey(proposals.bucket, "open"))
		t = desk.Totals{Events: n.Events, Rows: n.Rows, OpenTasks: n.OpenTasks, OpenProposals: int(open)}
		return err
	})
	if err != nil {
		return desk.Totals{}, fmt.Errorf("read totals: %w", err)
	}
	return t, nil
}

// KnownWire implements [desk.Book].
func (db *DB) KnownWire(ctx context.Context, bank string) (k credit.KnownWire, err error) {
	err = db.read(ctx, func(tx *bolt.Tx) error {
		s, err := readSettings(tx)
		if err != nil {
			return err
		}
		k, err = knownWire(tx, s, bank)
		return err
	})
	if err != nil {
		return credit.KnownWire{}, fmt.Errorf("read what a bank's reference is known for: %w", err)
	}
	return k, nil
}
