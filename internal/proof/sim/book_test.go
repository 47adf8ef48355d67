package sim

import (
	"context"
	"fmt"
	"time"

	"creditonce/credit"
	"creditonce/internal/desk"
	"creditonce/store"
)

// file is a store's file with what every committed transaction has said about it.
type file struct {
	name    string
	path    string
	version uint64 // counts commits
	mode    credit.Mode
	rows    map[credit.ID]*credit.Credit
	list    []*credit.Credit // by id
	history map[credit.ID][]credit.Entry
	tasks   map[credit.TaskID]credit.Task // open ones
	events  map[credit.EventID]string     // message keys
}

func newFile(name, path string, mode credit.Mode) *file {
	return &file{
		name: name, path: path, mode: mode, rows: map[credit.ID]*credit.Credit{}, history: map[credit.ID][]credit.Entry{},
		tasks: map[credit.TaskID]credit.Task{}, events: map[credit.EventID]string{},
	}
}

func (f *file) row(c credit.Credit, entries []credit.Entry) {
	at, ok := f.rows[c.ID]
	if !ok {
		at = &credit.Credit{}
		f.rows[c.ID] = at
		f.list = append(f.list, at)
	}
	*at = c
	f.history[c.ID] = append(f.history[c.ID], entries...)
}

func (f *file) changed(rows []credit.RowChange, opened, closed []credit.Task) {
	f.version++
	for _, r := range rows {
		f.row(r.After, r.Entries)
	}
	for _, t := range closed {
		delete(f.tasks, t.ID)
	}
	for _, t := range opened {
		f.tasks[t.ID] = t
	}
}

// openTask tells whether an open task is about the entity.
func (f *file) openTask(entity string) bool {
	for _, t := range f.tasks {
		if t.Entity == entity {
			return true
		}
	}
	return false
}

// book is the store of one process, with gates around every commit and the faults of a disk.
type book struct {
	*store.DB
	p *process
}

var (
	_ credit.KeeperBook = (*book)(nil)
	_ credit.IntakeBook = (*book)(nil)
	_ desk.Book         = (*book)(nil)
)

// commit runs one transaction between two gates. A commit error ends the process, whether or not it was applied.
func (b *book) commit(before, after string, op func() error) error {
	p, s := b.p, b.p.sim
	s.pass(before)
	switch {
	case p.stopped:
		return fmt.Errorf("%w: an earlier commit", credit.ErrStopped)
	case s.strikes(storeBusy):
		s.count(storeWasBusy)
		return fmt.Errorf("the queue is full: %w", credit.ErrBusy)
	case s.strikes(commitFails):
		return b.stop("nothing was written", commitFailed)
	}
	version := p.file.version
	err := op()
	if p.file.version != version {
		s.committed(p)
		if s.strikes(commitLost) {
			return b.stop("all was written", commitApplied)
		}
	}
	s.pass(after)
	return err
}

func (b *book) stop(what string, c sometimes) error {
	b.p.stopped = true
	b.p.sim.count(c)
	b.p.sim.doom(b.p, "commit error, "+what)
	return fmt.Errorf("%w: commit: input/output error (%s)", credit.ErrStopped, what)
}

// Advance implements credit.Book.
func (b *book) Advance(ctx context.Context, id credit.ID, decide credit.Decide) (res credit.Result, err error) {
	err = b.commit("advance", "advanced", func() error {
		r, err := b.DB.Advance(ctx, id, decide)
		if err == nil && len(r.Entries)+len(r.Opened)+len(r.Closed) > 0 {
			b.p.file.changed([]credit.RowChange{{After: r.Row, Entries: r.Entries}}, r.Opened, r.Closed)
			b.p.sim.countMoves(r.Row, r.Entries, r.Opened)
		}
		res = r
		return err
	})
	return res, err
}

// Accept implements credit.IntakeBook.
func (b *book) Accept(ctx context.Context, e credit.Event, rules credit.IntakeRules) (rec credit.Receipt, err error) {
	err = b.commit("accept", "accepted", func() error {
		r, err := b.DB.Accept(ctx, e, rules)
		if err == nil && !r.Repeat {
			b.p.file.changed(r.Rows, r.Opened, r.Closed)
			b.p.file.events[r.Event] = e.MessageKey
		}
		rec = r
		return err
	})
	return rec, err
}

// MakeDeposit is the portal's verb.
func (b *book) MakeDeposit(ctx context.Context, n credit.NewDeposit, rules credit.DepositRules) error {
	return b.commit("make deposit", "deposit made", func() error {
		r, err := b.DB.MakeDeposit(ctx, n, rules)
		if err == nil && !r.Answer.Replay {
			b.p.file.changed(r.Rows, r.Opened, r.Closed)
		}
		return err
	})
}

// PutAccount is the portal's verb.
func (b *book) PutAccount(ctx context.Context, a credit.Account, actor string, now time.Time) error {
	return b.commit("put account", "account put", func() error {
		r, err := b.DB.PutAccount(ctx, a, actor, now)
		if err == nil {
			b.p.file.changed(r.Rows, r.Opened, r.Closed)
		}
		return err
	})
}

// Act implements desk.Book.
func (b *book) Act(ctx context.Context, q desk.Query, decide desk.Decide) (rec desk.Receipt, err error) {
	err = b.commit("act", "acted", func() error {
		r, err := b.DB.Act(ctx, q, decide)
		if err == nil {
			b.p.file.changed(r.Credit.Rows, r.Opened, r.Closed)
			if e := r.Credit.Event; e != nil {
				b.p.file.events[e.ID] = e.MessageKey
			}
			if r.Settings != nil {
				b.p.file.mode = r.Settings.Mode
			}
		}
		rec = r
		return err
	})
	return rec, err
}
