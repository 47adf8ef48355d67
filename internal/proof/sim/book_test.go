package sim

import (
	"context"
	"fmt"
	"slices"
	"time"

	"creditonce/credit"
	"creditonce/internal/desk"
	"creditonce/internal/invariant"
	"creditonce/store"
)

// file is a store's file with what every committed transaction has said about it: the invariants judge that, and each
// start and the end compare it with what is really there.
type file struct {
	name    string
	path    string
	version uint64 // counts commits
	world   *invariant.World
	place   map[credit.ID]int // row -> place in world.Rows
	tasks   map[credit.TaskID]int
	codes   map[string]int
	stale   bool // the file is not what the commits said: to be read anew
	older   bool // an older file was put back
}

func newFile(name, path string, w *invariant.World) *file {
	return &file{name: name, path: path, world: w, place: map[credit.ID]int{}, tasks: map[credit.TaskID]int{}, codes: map[string]int{}}
}

func (f *file) mode() credit.Mode { return f.world.Settings.Mode }

// changed takes in what a commit changed. It returns the deposits that rows have joined by it.
func (f *file) changed(rows []credit.RowChange, opened, closed []credit.Task) (joined []string) {
	f.version++
	w := f.world
	for _, r := range rows {
		at, ok := f.place[r.After.ID]
		if !ok {
			at = len(w.Rows)
			f.place[r.After.ID] = at
			w.Rows = append(w.Rows, invariant.Row{})
		}
		if w.Rows[at].Credit.Deposit != r.After.Deposit {
			joined = append(joined, r.After.Deposit)
		}
		w.Rows[at].Credit = r.After
		w.Rows[at].History = append(w.Rows[at].History, r.Entries...)
	}
	for _, list := range [][]credit.Task{closed, opened} {
		for _, t := range list {
			at, ok := f.tasks[t.ID]
			if !ok {
				at = len(w.Tasks)
				f.tasks[t.ID] = at
				w.Tasks = append(w.Tasks, credit.Task{})
			}
			w.Tasks[at] = t
		}
	}
	return joined
}

// openTask tells that a task about the entity is open, of one of the kinds where any are named.
func (f *file) openTask(entity string, kinds ...credit.TaskKind) bool {
	for i := range f.world.Tasks {
		if t := &f.world.Tasks[i]; t.IsOpen() && t.Entity == entity && (len(kinds) == 0 || slices.Contains(kinds, t.Kind)) {
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
			b.p.sim.claimAllowed(r.Entries)
		}
		res = r
		return err
	})
	return res, err
}

// Free implements credit.KeeperBook.
func (b *book) Free(ctx context.Context, id credit.ID, rules credit.IntakeRules) (res credit.Result, err error) {
	err = b.commit("free", "freed", func() error {
		r, err := b.DB.Free(ctx, id, rules)
		if err == nil && len(r.Entries)+len(r.Opened)+len(r.Closed) > 0 {
			b.joined(b.p.file.changed([]credit.RowChange{{After: r.Row, Entries: r.Entries}}, r.Opened, r.Closed))
			b.p.sim.count(freedAfterRestore)
		}
		res = r
		return err
	})
	return res, err
}

// Settle implements credit.KeeperBook.
func (b *book) Settle(ctx context.Context, change func(credit.Settings) (credit.Settings, error)) (s credit.Settings, err error) {
	err = b.commit("settle", "settled", func() error {
		after, err := b.DB.Settle(ctx, change)
		if err == nil {
			b.p.file.changed(nil, nil, nil)
			b.p.file.world.Settings = after
		}
		s = after
		return err
	})
	return s, err
}

// Accept implements credit.IntakeBook.
func (b *book) Accept(ctx context.Context, e credit.Event, rules credit.IntakeRules) (rec credit.Receipt, err error) {
	err = b.commit("accept", "accepted", func() error {
		r, err := b.DB.Accept(ctx, e, rules)
		if err == nil && !r.Repeat {
			b.joined(b.p.file.changed(r.Rows, r.Opened, r.Closed))
			b.stored(r.Event)
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
			b.joined([]string{n.Deposit.Code})
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
			b.joined(b.p.file.changed(r.Credit.Rows, r.Opened, r.Closed))
			if e := r.Credit.Event; e != nil {
				b.stored(e.ID)
			}
			if r.Settings != nil {
				b.settings(*r.Settings)
			}
		}
		rec = r
		return err
	})
	return rec, err
}

// joined reads deposits anew that a commit has made or changed.
func (b *book) joined(codes []string) {
	f := b.p.file
	for _, code := range codes {
		if code == "" {
			continue
		}
		v, err := b.Deposit(background, code)
		if err != nil {
			b.p.sim.fail("read deposit %s, just written: %v", code, err)
			return
		}
		at, ok := f.codes[code]
		if !ok {
			at = len(f.world.Deposits)
			f.codes[code] = at
			f.world.Deposits = append(f.world.Deposits, credit.Deposit{})
		}
		f.world.Deposits[at] = v.Deposit
	}
}

// stored reads an event that a commit has written.
func (b *book) stored(id credit.EventID) {
	e, err := b.Event(background, id)
	if err != nil {
		b.p.sim.fail("read event %d, just written: %v", id, err)
	}
	b.p.file.world.Events = append(b.p.file.world.Events, e)
}

// settings takes in what people made of the settings. A takeover is a fence: the quarantine counts from it.
func (b *book) settings(s credit.Settings) {
	w := b.p.file.world
	was := 0
	if r := w.Settings.Restore; r != nil {
		was = r.Number
	}
	if r := s.Restore; r != nil && r.Number > was && r.Kind == credit.FromCopy {
		w.Fences = append(w.Fences, r.Mark)
		b.p.sim.count(takenOver)
	}
	w.Settings = s
}
