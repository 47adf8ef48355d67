package store

import (
	"bytes"
	"context"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"creditonce/credit"
	"creditonce/internal/desk"
)

// TaskQuery selects tasks by number, after After; Limit bounds the answer (0: 100).
type TaskQuery = desk.TaskQuery

// Counts are how much the store holds, in the snapshot of one moment.
type Counts struct {
	Events    int
	Rows      map[credit.State]int // every state, also those without rows
	OpenTasks int
}

// Event reads an event without its body; ErrNotFound where there is none.
func (db *DB) Event(ctx context.Context, id credit.EventID) (e credit.Event, err error) {
	err = db.read(ctx, func(tx *bolt.Tx) error {
		e, err = events.must(tx, idKey(uint64(id)))
		return err
	})
	if err != nil {
		return credit.Event{}, fmt.Errorf("read event: %w", err)
	}
	return e, nil
}

// Events lists events by number, after the given one, without bodies; limit 0 is 100.
func (db *DB) Events(ctx context.Context, after credit.EventID, limit int) (out []credit.Event, err error) {
	err = db.read(ctx, func(tx *bolt.Tx) error {
		out, err = events.page(tx, idKey(uint64(after)), limitOf(limit))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list events: %w", err)
	}
	return out, nil
}

// NewestEvents lists events without their bodies below the given number (0: all), the newest first. Limit 0 is 100.
func (db *DB) NewestEvents(ctx context.Context, below credit.EventID, limit int) (out []credit.Event, err error) {
	err = db.read(ctx, func(tx *bolt.Tx) error {
		out, err = events.newest(tx, uint64(below), limitOf(limit))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list the newest events: %w", err)
	}
	return out, nil
}

// Credit reads a row; ErrNotFound where there is none.
func (db *DB) Credit(ctx context.Context, id credit.ID) (c credit.Credit, err error) {
	err = db.read(ctx, func(tx *bolt.Tx) error {
		c, err = credits.must(tx, idKey(uint64(id)))
		return err
	})
	if err != nil {
		return credit.Credit{}, fmt.Errorf("read credit: %w", err)
	}
	return c, nil
}

// Rows lists the rows of a state by number, after q.After; without a state, all rows. Limit 0 is 100.
func (db *DB) Rows(ctx context.Context, q credit.RowQuery) (out []credit.Credit, err error) {
	err = db.read(ctx, func(tx *bolt.Tx) error {
		if q.State == credit.New {
			out, err = credits.page(tx, idKey(uint64(q.After)), limitOf(q.Limit))
		} else {
			out, err = credits.pageOf(tx, creditByState, stateKey(q.State), uint64(q.After), limitOf(q.Limit))
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list %s rows: %w", q.State, err)
	}
	return out, nil
}

// History lists a row's entries, oldest first; ErrNotFound where there is no such row.
func (db *DB) History(ctx context.Context, id credit.ID) (out []credit.Entry, err error) {
	err = db.read(ctx, func(tx *bolt.Tx) error {
		if tx.Bucket([]byte(credits.bucket)).Get(idKey(uint64(id))) == nil {
			return credit.ErrNotFound
		}
		out, err = entriesOf(tx, id)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read history of credit %d: %w", id, err)
	}
	return out, nil
}

func entriesOf(tx *bolt.Tx, id credit.ID) ([]credit.Entry, error) {
	prefix := idKey(uint64(id))
	var out []credit.Entry
	c := tx.Bucket([]byte(history.bucket)).Cursor()
	for k, v := c.Seek(prefix); k != nil && bytes.HasPrefix(k, prefix); k, v = c.Next() {
		e, err := history.decode(k, v)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

// Tasks lists tasks by number.
func (db *DB) Tasks(ctx context.Context, q TaskQuery) (out []credit.Task, err error) {
	err = db.read(ctx, func(tx *bolt.Tx) error {
		if q.OpenOnly {
			out, err = tasks.pageOf(tx, taskOpenList, nil, uint64(q.After), limitOf(q.Limit))
		} else {
			out, err = tasks.page(tx, idKey(uint64(q.After)), limitOf(q.Limit))
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list tasks: %w", err)
	}
	return out, nil
}

// Counts reads counters that every transaction keeps: it costs the same for ten rows and for a million.
func (db *DB) Counts(ctx context.Context) (n Counts, err error) {
	err = db.read(ctx, func(tx *bolt.Tx) error {
		n, err = readCounts(tx)
		return err
	})
	if err != nil {
		return Counts{}, fmt.Errorf("read counts: %w", err)
	}
	return n, nil
}

func readCounts(tx *bolt.Tx) (Counts, error) {
	n := Counts{Rows: map[credit.State]int{}}
	stored, err := readCounter(tx, counterKey(events.bucket, "all"))
	if err != nil {
		return n, err
	}
	open, err := readCounter(tx, counterKey(tasks.bucket, "open"))
	if err != nil {
		return n, err
	}
	n.Events, n.OpenTasks = int(stored), int(open)
	for _, s := range credit.States() {
		rows, err := readCounter(tx, counterKey(credits.bucket, string(s)))
		if err != nil {
			return n, err
		}
		n.Rows[s] = int(rows)
	}
	return n, nil
}
