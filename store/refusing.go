package store

import (
	"context"
	"fmt"
)

// Refusing is what the store takes nothing of at the moment, and why. The zero value takes everything.
type Refusing struct {
	Witness error  // no claim, since the witness could not be written when it was tried last; nil: it could
	Room    string // no claim, since there is so little room; empty: there is enough
	Intake  bool   // and no new work either
}

// Claims says why no claim is taken; empty: they are.
func (r Refusing) Claims() string {
	switch {
	case r.Witness != nil:
		return "the witness of the store cannot be written: " + r.Witness.Error()
	default:
		return r.Room
	}
}

// Refusing measures the room, and tells how the last write of the witness ended.
func (db *DB) Refusing() Refusing {
	var out Refusing
	if err := db.committer.mute.Load(); err != nil {
		out.Witness = *err
	}
	r := db.gauge.measure()
	if !r.stopClaims && !r.refuseIntake {
		return out
	}
	out.Intake = r.refuseIntake
	left, err := db.gauge.left()
	if err != nil {
		out.Room = "the room for the store cannot be measured: " + err.Error()
		return out
	}
	out.Room = fmt.Sprintf("the store has room for %d MiB more, and payments are claimed from %d MiB on (space.stop_claims_below), taken in from %d MiB on (space.refuse_intake_below)",
		left>>20, db.gauge.stopClaims>>20, db.gauge.refuseIntake>>20)
	return out
}

// TryWitness writes the witness as it is to be after the last commit, so that a fault of it is seen, and its end too. Nothing is written where
// the store is in doubt: what the witness says then is evidence. It must not be called before the first claim may be made. The
// error is [credit.ErrBusy] as long as the witness cannot be written.
func (db *DB) TryWitness(ctx context.Context) error {
	err := db.write(ctx, false, func(w *writer) error {
		s, err := w.settings()
		if err != nil {
			return err
		}
		w.testify = s.Doubt == nil
		return nil
	})
	if err != nil {
		return fmt.Errorf("try the witness: %w", err)
	}
	return nil
}

// tell writes the witness and remembers how that ended.
func (c *committer) tell(t testimony) error {
	err := c.witness.write(t)
	if err == nil {
		c.mute.Store(nil)
	} else {
		c.mute.Store(&err)
	}
	return err
}
