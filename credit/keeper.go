package credit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Keeper sees that no row is forgotten: claims of an earlier process or past their lease become unknown, and
// held rows whose deposit does not come get their task.
type Keeper struct {
	Book     KeeperBook
	Clock    Clock
	Observer Observer
	Process  Process
	Timing   Timing
	Servers  []string            // labels of the MT5 servers that have lanes; empty: all have
	Rules    IntakeRules         // standing arguments of birth checks, which a release after a restore repeats; Now and Schedule are set
	Wake     func(server string) // a row of the server became pending; nil: nobody is told; must not block

	sweep restoreSweep
}

const (
	keeperActor = "keeper"
	keeperEvery = time.Second
	// farthest is the longest wait that a loop of this version plans; a later NextAt stems from another clock.
	farthest = 15 * time.Minute
)

// Start sweeps what an earlier process left: it must return before any lane runs. Every claimed row becomes
// unknown, and what was planned too far ahead by another clock is due now.
func (k *Keeper) Start(ctx context.Context) error {
	now, schedule, mark := k.Clock.Now(), k.Process.Schedule(k.Clock), k.mark()
	err := k.each(ctx, Claimed, func(c Credit) (*Transition, []Task) {
		t := orphaned(now, keeperActor, "the process that claimed it has ended", mark, schedule)
		return &t, nil
	})
	if err != nil {
		return fmt.Errorf("sweep claimed rows: %w", err)
	}
	for _, state := range []State{Unknown, Pending} {
		if err := k.bringForward(ctx, state, now, schedule); err != nil {
			return err
		}
	}
	return k.unserved(ctx, now, schedule)
}

// bringForward makes due now what was planned too far ahead by another clock. A held row without a next turn waits
// for a person; the others are never without one.
func (k *Keeper) bringForward(ctx context.Context, state State, now, schedule time.Time) error {
	far := schedule.Add(max(farthest, k.Timing.HeldGrace))
	err := k.each(ctx, state, func(c Credit) (*Transition, []Task) {
		if (c.NextAt.IsZero() && state == Held) || (!c.NextAt.IsZero() && !c.NextAt.After(far)) {
			return nil, nil
		}
		t := rescheduled(now, keeperActor, state, schedule)
		return &t, nil
	})
	if err != nil {
		return fmt.Errorf("sweep %s rows: %w", state, err)
	}
	return nil
}

// unserved shows a person every open row whose MT5 server has gone from the configuration: no lane takes it up, so
// it would wait in silence. It goes on by itself once a start finds its server again.
func (k *Keeper) unserved(ctx context.Context, now, schedule time.Time) error {
	if len(k.Servers) == 0 {
		return nil
	}
	for _, state := range []State{Pending, Unknown} { // in this order, so that the same store gets the same task numbers
		kind := map[State]TaskKind{Pending: TaskStuck, Unknown: TaskNoAnswer}[state]
		err := k.each(ctx, state, func(c Credit) (*Transition, []Task) {
			if slices.Contains(k.Servers, c.Server) {
				return nil, nil
			}
			t := rescheduled(now, keeperActor, state, schedule)
			return &t, []Task{task(kind, c, now, fmt.Sprintf("nobody works this payment: the configuration has no MT5 server %q any more", c.Server),
				"put the server back under this name and start again, until its rows are settled; a renamed server is another one")}
		})
		if err != nil {
			return fmt.Errorf("sweep %s rows without a server: %w", state, err)
		}
	}
	return nil
}

// Run works until ctx ends or the store stops. It returns nil when ctx ended it.
func (k *Keeper) Run(ctx context.Context) error {
	// Held rows may be many and none is urgent: the service does not wait for their sweep.
	if err := k.bringForward(ctx, Held, k.Clock.Now(), k.Process.Schedule(k.Clock)); err != nil && ctx.Err() == nil {
		if errors.Is(err, ErrStopped) {
			return fmt.Errorf("keeper: %w", err)
		}
		k.Observer.Note(ctx, Note{What: "held rows not swept; the next start does", Err: err})
	}
	for k.Clock.Wait(ctx, k.Clock.Boot()+keeperEvery, nil) == nil {
		err := k.round(ctx)
		switch {
		case err == nil, ctx.Err() != nil:
		case errors.Is(err, ErrStopped):
			return fmt.Errorf("keeper: %w", err)
		default: // a full queue or disk: the next round tries again
			k.Observer.Note(ctx, Note{What: "keeper round not finished", Err: err, Retry: keeperEvery})
		}
	}
	return nil
}

func (k *Keeper) round(ctx context.Context) error {
	boot, now, schedule, mark := k.Clock.Boot(), k.Clock.Now(), k.Process.Schedule(k.Clock), k.mark()
	err := k.each(ctx, Claimed, func(c Credit) (*Transition, []Task) {
		if c.LeaseUntil.Process == k.Process.ID && boot < c.LeaseUntil.Boot {
			return nil, nil
		}
		t := orphaned(now, keeperActor, "the lease has ended", mark, schedule)
		return &t, nil
	})
	if err != nil {
		return fmt.Errorf("end leases: %w", err)
	}
	if err := k.restored(ctx, now, schedule); err != nil {
		return fmt.Errorf("go on with the restore: %w", err)
	}
	return k.endGrace(ctx, now, schedule)
}

// endGrace opens the task of held rows that waited for their deposit long enough.
func (k *Keeper) endGrace(ctx context.Context, now, schedule time.Time) error {
	rows, err := k.Book.Due(ctx, DueQuery{State: Held, UpTo: schedule, Limit: batchSize})
	if err != nil {
		return fmt.Errorf("list held rows: %w", err)
	}
	for _, row := range rows {
		err := k.advance(ctx, row.ID, Held, func(c Credit) (*Transition, []Task) {
			t := graced(now, keeperActor)
			return &t, []Task{task(TaskHeld, c, now, "a payment came in and no deposit record claims it",
				"find whose payment it is; the row goes on by itself when its deposit is made")}
		})
		if err != nil {
			return fmt.Errorf("end grace of credit %d: %w", row.ID, err)
		}
	}
	return nil
}

// each decides on every row of a state, in pages.
func (k *Keeper) each(ctx context.Context, state State, decide func(Credit) (*Transition, []Task)) error {
	var after ID
	for {
		rows, err := k.Book.Rows(ctx, RowQuery{State: state, After: after, Limit: batchSize})
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, row := range rows {
			after = row.ID
			if t, _ := decide(row); t == nil {
				continue
			}
			if err := k.advance(ctx, row.ID, state, decide); err != nil {
				return err
			}
		}
	}
}

func (k *Keeper) advance(ctx context.Context, id ID, state State, decide func(Credit) (*Transition, []Task)) error {
	res, err := k.Book.Advance(ctx, id, func(d Dossier) (Decision, error) {
		if d.Row.State != state {
			return Decision{}, fmt.Errorf("credit %d is %q: %w", id, d.Row.State, ErrConflict)
		}
		move, open := decide(d.Row)
		return Decision{Move: move, Open: open}, nil
	})
	if errors.Is(err, ErrConflict) {
		return nil // it moved on meanwhile
	}
	if err != nil {
		return err
	}
	for i := range res.Entries {
		k.Observer.Note(ctx, Note{What: "row moved", Row: &res.Row, Entry: &res.Entries[i]})
	}
	Announce(ctx, k.Observer, nil, res.Opened, res.Closed)
	return nil
}

func (k *Keeper) mark() Mark {
	return Mark{Process: k.Process.ID, Boot: k.Clock.Boot(), At: instant(k.Clock.Now())}
}
