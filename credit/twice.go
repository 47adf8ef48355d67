package credit

import (
	"slices"
	"time"
)

// A payment may reach the store twice by two ways that know nothing of each other: people enter what a lost webhook never
// told, and the webhook comes after all, from a retry, a pull or a replay. The two have different units, so no unique key
// stands between them; what both are about does: the login, the amount and the time.

const (
	// twiceSlack is how far apart the two may say that the money moved: people write the bank's or the settlement's day.
	twiceSlack = 3 * 24 * time.Hour
	// enteredSlack is how much earlier than the payment, by the provider's clock, people can have entered it.
	enteredSlack = time.Hour
)

// ComparedSince is from when on (UTC) a row that became pending on the login may be the same payment by the other way.
func (c Credit) ComparedSince() time.Time { return comparedSince(c.Provider, c.PaidAt) }

// ComparedSince is that of the row that the event may make.
func (n IntakeNeeds) ComparedSince() time.Time { return comparedSince(n.Provider, n.PaidAt) }

func comparedSince(provider string, paidAt time.Time) time.Time {
	if provider == ManualProvider {
		return paidAt.Add(-twiceSlack)
	}
	return paidAt.Add(-enteredSlack)
}

// twinOf is the first of the rows that may be the same payment by the other way, of which the row knows nothing; nil where there
// is none. One that was closed or refused pays nothing: should people let it go on, it is compared itself.
func twinOf(row Credit, credited Amount, others []Credit) *Credit {
	i := slices.IndexFunc(others, func(o Credit) bool {
		if o.ID == row.ID || o.State == Cancelled || o.State == Failed || !o.Amount.Equal(credited) {
			return false
		}
		switch hand, other := row.Provider == ManualProvider, o.Provider == ManualProvider; {
		case hand == other:
			return false // what came twice by one way is told apart by its keys
		case hand:
			apart := row.PaidAt.Sub(o.PaidAt)
			return apart <= twiceSlack && apart >= -twiceSlack
		default:
			return !o.PendingAt.Before(row.ComparedSince())
		}
	})
	if i < 0 {
		return nil
	}
	return &others[i]
}
