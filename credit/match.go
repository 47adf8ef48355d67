package credit

import (
	"fmt"
	"slices"
	"time"
)

// Verdict is what a look says about one row (design §2, §7).
type Verdict string

// The verdicts. Absent alone needs waiting and evidence; see [Absence].
const (
	VerdictFound    Verdict = "found"
	VerdictAbsent   Verdict = "absent"
	VerdictConflict Verdict = "conflict"
	VerdictNoAnswer Verdict = "no_answer"
)

// lookAlikeBefore is how long before the payment a deal made by hand can have been meant for it (design §7).
const lookAlikeBefore = time.Hour

// Match is the verdict on one row with the deals it rests on.
type Match struct {
	Verdict   Verdict
	Reason    string
	Deal      Deal // of a found verdict
	Deals     []Deal
	LookAlike bool // the conflict is a deal without a reference
}

// is tells whether a deal is exactly the row's: login, action, signed amount and the whole comment.
func (d Deal) is(c Credit) bool {
	return d.Login == c.Login && d.Action == ActionBalance && d.Comment == string(c.Reference) && d.Amount.Equal(c.DealAmount())
}

// Judge reads a sighting for a row. held maps tickets that are on rows already to their rows.
// It is pure, and the only place that turns deals into a
// verdict:
//
//   - not complete: no_answer, whatever was seen;
//   - one deal with the whole reference, action 2, the signed amount and the login: found;
//   - the reference twice, or on anything different, or damaged, or on a deal that another row has: conflict;
//   - a deal that people recorded as not this payment is passed over, unless it carries the row's own reference;
//   - a look-alike (same signed amount, no valid reference, on no row, from an hour before the payment on): conflict;
//   - else absent.
func Judge(c Credit, s Sighting, held map[uint64]ID) Match {
	if !s.Complete {
		return Match{Verdict: VerdictNoAnswer, Reason: s.Reason}
	}
	var ours, damaged, alike []Deal
	for _, d := range s.Deals {
		switch {
		case d.Comment == string(c.Reference):
			ours = append(ours, d)
		case slices.Contains(c.NotDeals, d.Ticket):
		case c.Reference.Damages(d.Comment): // also on a ticket of another row: a restored server gives tickets again
			damaged = append(damaged, d)
		case ownedByOther(held, d.Ticket, c.ID):
		case looksLike(c, d, s.Offset):
			alike = append(alike, d)
		}
	}
	switch {
	case len(ours) == 1 && ownedByOther(held, ours[0].Ticket, c.ID):
		return Match{Verdict: VerdictConflict, Deals: ours,
			Reason: fmt.Sprintf("deal %d carries the reference and is recorded on credit %d", ours[0].Ticket, held[ours[0].Ticket])}
	case len(ours) == 1 && len(damaged) == 0 && ours[0].is(c):
		return Match{Verdict: VerdictFound, Deal: ours[0], Deals: ours}
	case len(ours) > 1:
		return Match{Verdict: VerdictConflict, Reason: fmt.Sprintf("%d deals carry the reference", len(ours)), Deals: ours}
	case len(ours) == 1 && !ours[0].is(c):
		return Match{Verdict: VerdictConflict, Reason: differs(c, ours[0]), Deals: ours}
	case len(damaged) > 0:
		return Match{Verdict: VerdictConflict, Reason: "a deal carries a damaged copy of the reference", Deals: append(ours, damaged...)}
	case len(alike) > 0:
		return Match{Verdict: VerdictConflict, LookAlike: true, Deals: alike,
			Reason: "a deal of the same amount without a reference may be this payment, credited by hand"}
	}
	return Match{Verdict: VerdictAbsent}
}

func ownedByOther(held map[uint64]ID, ticket uint64, row ID) bool {
	holder, ok := held[ticket]
	return ok && holder != row
}

// looksLike applies the look-alike rule of design §7. The deal's time is on the server's own clock.
func looksLike(c Credit, d Deal, offset time.Duration) bool {
	if Reference(d.Comment).Valid() || !d.Amount.Equal(c.DealAmount()) {
		return false
	}
	made := time.Unix(d.ServerTime, 0).UTC().Add(-offset)
	return !made.Before(c.PaidAt.Add(-lookAlikeBefore))
}

func differs(c Credit, d Deal) string {
	switch {
	case d.Login != c.Login:
		return fmt.Sprintf("deal %d carries the reference on login %d, not %d", d.Ticket, d.Login, c.Login)
	case d.Action != ActionBalance:
		return fmt.Sprintf("deal %d carries the reference with action %d, not %d", d.Ticket, d.Action, ActionBalance)
	default:
		return fmt.Sprintf("deal %d carries the reference with %s, not %s", d.Ticket, d.Amount, c.DealAmount())
	}
}
