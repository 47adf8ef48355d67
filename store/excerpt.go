package store

import (
	"context"
	"errors"
	"fmt"
	"slices"

	bolt "go.etcd.io/bbolt"

	"creditonce/credit"
)

// Excerpt is a part of the store in one snapshot: some rows with all that belongs to them, so that a judge of it concludes
// nothing from what two moments tell.
type Excerpt struct {
	Settings  credit.Settings
	Rows      []credit.Credit  // by number
	Histories [][]credit.Entry // of Rows, in their order; each whole
	Events    []credit.Event   // those asked for, and those that the histories name; by number
	Deposits  []credit.Deposit // that the rows joined, in the order of the rows
	Tasks     []credit.Task    // open ones about the rows, or stopping their logins; by number
}

// ExcerptQuery selects what an excerpt is of. Rows that share a deposit with a selected one come along.
type ExcerptQuery struct {
	Rows        []credit.ID    // these rows, where they exist
	Events      int            // so many events, 0: none,
	EventsAfter credit.EventID // by number after this one, with the rows of their payments
}

// Excerpt reads one. Damage is a *DamageError.
func (db *DB) Excerpt(ctx context.Context, q ExcerptQuery) (x Excerpt, err error) {
	err = db.read(ctx, func(tx *bolt.Tx) error {
		r := excerpt{tx: tx, rows: map[credit.ID]bool{}, events: map[credit.EventID]bool{}, deposits: map[string]bool{}, tasks: map[credit.TaskID]bool{}}
		if err := r.read(q); err != nil {
			return err
		}
		x = r.out
		return nil
	})
	if err != nil {
		return Excerpt{}, fmt.Errorf("read an excerpt: %w", err)
	}
	return x, nil
}

// excerpt gathers records, each once.
type excerpt struct {
	tx       *bolt.Tx
	out      Excerpt
	rows     map[credit.ID]bool
	events   map[credit.EventID]bool
	deposits map[string]bool
	tasks    map[credit.TaskID]bool
}

func (r *excerpt) read(q ExcerptQuery) (err error) {
	if r.out.Settings, err = readSettings(r.tx); err != nil {
		return err
	}
	ids := slices.Clone(q.Rows)
	if q.Events > 0 {
		fresh, err := events.page(r.tx, idKey(uint64(q.EventsAfter)), q.Events)
		if err != nil {
			return err
		}
		for _, e := range fresh {
			r.addEvent(e)
			if e.Facts.Payment == "" {
				continue
			}
			rows, err := rowsOf(r.tx, e.Kind, e.Account, e.Facts.Payment)
			if err != nil {
				return err
			}
			for _, row := range rows {
				ids = append(ids, row.ID)
			}
		}
	}
	for _, id := range ids {
		if err := r.addRow(id); err != nil {
			return err
		}
	}
	r.sort()
	return nil
}

// addRow adds a row with its surroundings; nothing where it does not exist.
func (r *excerpt) addRow(id credit.ID) error {
	if r.rows[id] {
		return nil
	}
	row, err := credits.get(r.tx, idKey(uint64(id)))
	if err != nil || row == nil {
		return err
	}
	r.rows[id] = true
	entries, err := entriesOf(r.tx, id)
	if err != nil {
		return err
	}
	r.out.Rows, r.out.Histories = append(r.out.Rows, *row), append(r.out.Histories, entries)
	for _, e := range entries {
		if e.Evidence == nil || e.Evidence.Event == 0 || r.events[e.Evidence.Event] {
			continue
		}
		event, err := events.get(r.tx, idKey(uint64(e.Evidence.Event)))
		if err != nil {
			return err
		}
		if event != nil {
			r.addEvent(*event)
		}
	}
	open, err := openTasks(r.tx, credit.RowEntity(id))
	if err != nil {
		return err
	}
	if row.Login != 0 {
		stops, err := tasks.list(r.tx, taskStops, loginKey(row.Identity, row.Login), 0)
		if err != nil {
			return err
		}
		open = append(open, stops...)
	}
	for _, t := range open {
		if !r.tasks[t.ID] {
			r.tasks[t.ID], r.out.Tasks = true, append(r.out.Tasks, t)
		}
	}
	return r.addDeposit(*row)
}

func (r *excerpt) addEvent(e credit.Event) {
	if !r.events[e.ID] {
		r.events[e.ID], r.out.Events = true, append(r.out.Events, e)
	}
}

// addDeposit adds the row's deposit, and the other rows that joined it.
func (r *excerpt) addDeposit(row credit.Credit) error {
	if row.Deposit == "" || r.deposits[row.Deposit] {
		return nil
	}
	r.deposits[row.Deposit] = true
	d, err := deposits.find(r.tx, depositByCode, key(nil).text(row.Deposit))
	if err != nil || d == nil {
		return err
	}
	r.out.Deposits = append(r.out.Deposits, d.Deposit)
	others, err := rowsOfDeposit(r.tx, d.Deposit)
	if errors.Is(err, credit.ErrNotFound) {
		return nil // the row that took the deposit is gone, which the deposit itself tells
	}
	if err != nil {
		return err
	}
	for _, other := range others {
		if err := r.addRow(other.ID); err != nil {
			return err
		}
	}
	return nil
}

func (r *excerpt) sort() {
	place := make([]int, len(r.out.Rows))
	for i := range place {
		place[i] = i
	}
	rows, histories := r.out.Rows, r.out.Histories
	slices.SortFunc(place, func(a, b int) int { return int(int64(rows[a].ID) - int64(rows[b].ID)) })
	r.out.Rows, r.out.Histories = make([]credit.Credit, len(rows)), make([][]credit.Entry, len(rows))
	for to, from := range place {
		r.out.Rows[to], r.out.Histories[to] = rows[from], histories[from]
	}
	slices.SortFunc(r.out.Events, func(a, b credit.Event) int { return int(int64(a.ID) - int64(b.ID)) })
	slices.SortFunc(r.out.Tasks, func(a, b credit.Task) int { return int(int64(a.ID) - int64(b.ID)) })
}

// ChangeStore changes the settings, with the tasks that follow, in one transaction, and returns what became open. change is
// pure and may run more than once; its error is returned as it is, and nothing is written.
func (db *DB) ChangeStore(ctx context.Context, change func(credit.Settings) (credit.StoreChange, error)) (opened []credit.Task, err error) {
	err = db.write(ctx, false, func(w *writer) error {
		s, err := readSettings(w.tx)
		if err != nil {
			return err
		}
		c, err := change(s)
		if err != nil {
			return err
		}
		if err := stageSettings(w, c.Settings); err != nil {
			return err
		}
		done, err := stageTasks(w, c.Open, c.Close)
		opened = done.opened
		return err
	})
	if err != nil {
		return nil, err
	}
	return opened, nil
}
