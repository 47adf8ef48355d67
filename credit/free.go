package credit

import (
	"fmt"
	"slices"
	"time"
)

// Freeing is a row that was held until the release after a restore, with its surroundings, read in one snapshot.
type Freeing struct {
	Dossier
	DayTotal Amount   // of its login in the UTC day of the decision: rows that became pending; unset: none
	Further  []ID     // other rows that joined its deposit
	Around   []Credit // see [IntakeFound]
}

// waitsForRelease tells that the row was born after a restore and is held until its release: it is older than nothing.
func (c Credit) waitsForRelease() bool {
	return c.State == Held && !c.Restored && c.HasHold(HoldRestored)
}

// FreeRow decides what the release after a restore makes of a row that was born between both (design §12): its birth checks
// run again, and only the reason "restored" goes. Nothing for any other row. It is pure. It returns ErrConflict while the
// restore has not been released.
func FreeRow(f Freeing, rules IntakeRules) (Decision, error) {
	row := f.Row
	if !row.waitsForRelease() {
		return Decision{}, nil
	}
	r := f.Settings.Restore
	if r == nil || r.ReleasedAt.IsZero() {
		return Decision{}, fmt.Errorf("free credit %d: the store is not released: %w", row.ID, ErrConflict)
	}
	birth := intake{found: IntakeFound{Settings: f.Settings, Reversed: f.Reversed}}
	holds := withHolds(withoutHolds(row.Holds, HoldRestored), birth.birthHolds(row)...)
	if row.Joined() {
		if f.Deposit == nil {
			return Decision{}, fmt.Errorf("free credit %d: its deposit is missing: %w", row.ID, ErrInvalid)
		}
		j := joining{settings: f.Settings, rules: rules, account: f.Account, dayTotal: f.DayTotal, taken: &Amount{}, around: f.Around}
		holds = withHolds(holds, j.checks(row, *f.Deposit)...)
		if len(f.Further) > 0 {
			holds = withHolds(holds, HoldSecondPart) // the gap brought another payment of it
		}
	}
	t := freed(rules.Now, *r, holds, rules.schedule())
	return Decision{Move: &t}, nil
}

// freed ends the wait for the release after a restore, which two people decided.
func freed(at time.Time, r Restore, remaining []Hold, next time.Time) Transition {
	return Transition{
		name: "freed", from: []State{Held}, by: ByTwoPeople, actor: r.ReleasedBy, at: at,
		reason: "the store was released after the " + string(r.Kind) + "; " + holdText(remaining), evidence: &Evidence{Proposal: r.Proposal},
		change: func(c *Credit) {
			c.Holds = slices.Clone(remaining)
			if len(remaining) == 0 {
				// The limit of the day was judged for today, so today is the day that the row counts in.
				c.Holds, c.State, c.NextAt, c.PendingAt = nil, Pending, next, instant(at)
			}
		},
	}
}
