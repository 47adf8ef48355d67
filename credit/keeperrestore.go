package credit

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	// restorePiece is how many rows one round moves or frees at most: leases must not wait for a large store.
	restorePiece = 256
	// restoreSeen is how many rows one round looks at for that.
	restoreSeen = 64 * batchSize
)

// restoreSweep is how far the keeper has come with the rows of a restore. What it forgets, at a restart, is looked at again.
type restoreSweep struct {
	number  int
	freeing bool
	state   int // of movable
	after   ID
	moved   bool // this pass has moved something: another one follows
}

// restored goes on with what a restore or takeover, or the release after it, makes of the rows, piece by piece. Each row is a
// transaction of its own and is moved once, so a crash costs nothing but looking again.
func (k *Keeper) restored(ctx context.Context, now, schedule time.Time) error {
	s, err := k.Book.Settings(ctx)
	if err != nil || s.Restore == nil {
		return err
	}
	r := *s.Restore
	freeing := !r.ReleasedAt.IsZero()
	if freeing && !r.FreedAt.IsZero() || !freeing && !r.MovedAt.IsZero() {
		return nil
	}
	if k.sweep.number != r.Number || k.sweep.freeing != freeing {
		k.sweep = restoreSweep{number: r.Number, freeing: freeing}
	}
	states, take := movable, func(c Credit) (bool, error) { return k.moveRow(ctx, c, r, now, schedule) }
	if freeing {
		states, take = []State{Held}, func(c Credit) (bool, error) { return k.freeRow(ctx, c, now, schedule) }
	}
	done, err := k.sweepPiece(ctx, states, take)
	if err != nil || !done {
		return err
	}
	_, err = k.Book.Settle(ctx, func(s Settings) (Settings, error) {
		if freeing {
			return rowsFreed(s, r.Number, now)
		}
		return RowsMoved(s, r.Number, now)
	})
	if errors.Is(err, ErrConflict) {
		return nil
	}
	if err == nil {
		k.Observer.Note(ctx, Note{What: map[bool]string{false: "rows moved for the restore", true: "rows freed after the restore"}[freeing]})
	}
	return err
}

// sweepPiece takes up rows until the piece is full; done tells that a whole pass found nothing more to do.
func (k *Keeper) sweepPiece(ctx context.Context, states []State, take func(Credit) (bool, error)) (done bool, err error) {
	for took, seen := 0, 0; took < restorePiece && seen < restoreSeen; {
		if k.sweep.state >= len(states) {
			moved := k.sweep.moved
			k.sweep = restoreSweep{number: k.sweep.number, freeing: k.sweep.freeing}
			if !moved {
				return true, nil
			}
			continue
		}
		rows, err := k.Book.Rows(ctx, RowQuery{State: states[k.sweep.state], After: k.sweep.after, Limit: batchSize})
		if err != nil {
			return false, err
		}
		if len(rows) == 0 {
			k.sweep.state, k.sweep.after = k.sweep.state+1, 0
		}
		for _, row := range rows {
			ok, err := take(row)
			if err != nil {
				return false, fmt.Errorf("credit %d: %w", row.ID, err)
			}
			k.sweep.after = row.ID
			seen++
			if ok {
				took, k.sweep.moved = took+1, true
			}
		}
	}
	return false, nil
}

func (k *Keeper) moveRow(ctx context.Context, c Credit, r Restore, now, schedule time.Time) (bool, error) {
	if c.Restore >= r.Number {
		return false, nil
	}
	res, err := k.Book.Advance(ctx, c.ID, func(d Dossier) (Decision, error) {
		return MoveRow(d, keeperActor, now, schedule), nil
	})
	return k.swept(ctx, res, err)
}

func (k *Keeper) freeRow(ctx context.Context, c Credit, now, schedule time.Time) (bool, error) {
	if !c.waitsForRelease() {
		return false, nil
	}
	rules := k.Rules
	rules.Now, rules.Schedule = now, schedule
	res, err := k.Book.Free(ctx, c.ID, rules)
	if errors.Is(err, ErrConflict) {
		return false, nil
	}
	moved, err := k.swept(ctx, res, err)
	if moved && res.Row.State == Pending && k.Wake != nil {
		k.Wake(res.Row.Server)
	}
	return moved, err
}

func (k *Keeper) swept(ctx context.Context, res Result, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	for i := range res.Entries {
		k.Observer.Note(ctx, Note{What: "row moved", Row: &res.Row, Entry: &res.Entries[i]})
	}
	Announce(ctx, k.Observer, nil, res.Opened, res.Closed)
	return len(res.Entries) > 0, nil
}
