package credit

import (
	"fmt"
	"slices"
	"strconv"
	"time"
)

// Transition is one change of a row. Only the constructors below build one, so an illegal combination cannot be
// spelled; Apply checks it against the table of legal moves all the same.
type Transition struct {
	name     string
	from     []State // states it may start from
	to       State   // New means: stays where it is
	by       Mover
	actor    string
	at       time.Time
	reason   string
	evidence *Evidence
	change   func(*Credit) // pure; runs on Apply's own copy
	check    func(Credit) error
}

// Name is the transition's name, as the history shows it.
func (t Transition) Name() string { return t.name }

// Apply makes the change on a copy of the row and returns it with its history entry. It returns ErrConflict when
// the row is not in a state that the transition may leave, or is another attempt's.
func Apply(row Credit, t Transition) (Credit, Entry, error) {
	if t.name == "" {
		return row, Entry{}, fmt.Errorf("credit %d: transition without a name: %w", row.ID, ErrImpossible)
	}
	if !slices.Contains(t.from, row.State) {
		return row, Entry{}, fmt.Errorf("credit %d: %s wants %v, the row is %q: %w", row.ID, t.name, t.from, row.State, ErrConflict)
	}
	if t.check != nil {
		if err := t.check(row); err != nil {
			return row, Entry{}, fmt.Errorf("credit %d: %s: %w", row.ID, t.name, err)
		}
	}
	after := row
	after.Holds, after.NotDeals = slices.Clone(row.Holds), slices.Clone(row.NotDeals)
	t.change(&after)
	if t.to != New {
		after.State = t.to
	}
	if after.State != row.State && !legal(row.State, after.State, t.by) {
		return row, Entry{}, fmt.Errorf("credit %d: %s may not move %q to %q: %w", row.ID, t.by, row.State, after.State, ErrImpossible)
	}
	if (after.State == Held) != (len(after.Holds) > 0) {
		return row, Entry{}, fmt.Errorf("credit %d: %s leaves %q with holds %v: %w", row.ID, t.name, after.State, after.Holds, ErrImpossible)
	}
	if after.State != row.State {
		forgetLooks(&after)
	}
	settle(&after, t.at)
	entry := Entry{
		Credit: row.ID, Seq: row.Entries + 1, At: instant(t.at), By: t.by, Actor: t.actor, Move: t.name,
		From: row.State, To: after.State, Reason: plain(t.reason), Evidence: plainEvidence(t.evidence), Previous: row.Head,
	}
	after.Entries, after.Head = entry.Seq, entry.Digest()
	return after, entry, nil
}

// settle keeps the fields that follow from the state.
func settle(c *Credit, at time.Time) {
	c.UpdatedAt = instant(at)
	if c.State == Pending && c.PendingAt.IsZero() {
		c.PendingAt = instant(at)
	}
	if c.State != Pending {
		c.StuckSince = time.Time{}
	}
	if c.State != Claimed {
		c.Token, c.LeaseUntil = "", Mark{}
	}
	if c.State != Unknown {
		c.UnknownSince, c.Looks, c.HandedOver = Mark{}, 0, false
	}
	switch c.State {
	case Claimed, Failed, Cancelled:
		c.NextAt = time.Time{}
	case Done:
		if c.WatchUntil.IsZero() {
			c.NextAt = time.Time{}
		}
	case New, Held, Pending, Unknown:
	}
	c.NextAt, c.ClaimedAt, c.FirstClaimAt = instant(c.NextAt), instant(c.ClaimedAt), instant(c.FirstClaimAt)
	c.StuckSince, c.WatchUntil = instant(c.StuckSince), instant(c.WatchUntil)
}

// born makes a new row: pending without holds, else held. next is when a loop should take it up.
func born(at time.Time, actor string, event EventID, holds []Hold, next time.Time, fill func(*Credit)) Transition {
	to := Pending
	if len(holds) > 0 {
		to = Held
	}
	return Transition{
		name: "born", from: []State{New}, to: to, by: ByIntake, actor: actor, at: at,
		reason: holdText(holds), evidence: eventEvidence(event),
		change: func(c *Credit) {
			fill(c)
			c.Holds, c.NextAt, c.CreatedAt = withHolds(holds), next, instant(at)
		},
	}
}

// joined writes what the deposit says on a held row, once, drops the hold "no deposit" and adds what the birth
// checks found. With no hold left the row becomes pending, due at next.
func joined(at time.Time, actor string, event EventID, d Deposit, ref Reference, found []Hold, next time.Time) Transition {
	return Transition{
		name: "joined", from: []State{Held}, by: ByIntake, actor: actor, at: at,
		reason: "deposit " + d.Code + " joins; " + holdText(found), evidence: eventEvidence(event),
		check: func(c Credit) error {
			if c.Joined() {
				return fmt.Errorf("deposit %s has joined already: %w", c.Deposit, ErrConflict)
			}
			return nil
		},
		change: func(c *Credit) {
			writeDeposit(c, d, ref)
			c.Code, c.Further = d.Code, isFurther(found)
			c.Holds = withHolds(withoutHolds(c.Holds, HoldNoDeposit), found...)
			c.NextAt = time.Time{}
			if len(c.Holds) == 0 {
				c.Holds, c.State, c.NextAt = nil, Pending, next
			}
		},
	}
}

// writeDeposit copies what the deposit decides: the only place where a row gets a login and an amount.
func writeDeposit(c *Credit, d Deposit, ref Reference) {
	c.Deposit, c.DepositAt = d.Code, d.CreatedAt
	c.Server, c.Identity, c.Login, c.Client = d.Server, d.Identity, d.Login, d.Client
	c.Amount, c.Reference = d.Credited, ref
}

// coded notes the deposit code that a later event of the same payment brought, where no deposit is known yet, with the
// reasons to hold that the event found beside.
func coded(at time.Time, actor string, event EventID, code string, holds ...Hold) Transition {
	return Transition{
		name: "coded", from: []State{Held}, by: ByIntake, actor: actor, at: at,
		reason: "a later event brings deposit code " + code, evidence: eventEvidence(event),
		change: func(c *Credit) { c.Code, c.Holds = code, withHolds(c.Holds, holds...) },
	}
}

// stopped holds a pending row, or adds a reason to a held one.
func stopped(at time.Time, by Mover, actor, reason string, ev *Evidence, holds ...Hold) Transition {
	return Transition{
		name: "held", from: []State{Pending, Held}, to: Held, by: by, actor: actor, at: at, reason: reason, evidence: ev,
		change: func(c *Credit) {
			c.Holds = withHolds(c.Holds, holds...)
			if c.Joined() || c.State == Pending {
				c.NextAt = time.Time{}
			}
		},
	}
}

// graced notes that a held row's grace time is over: its task is open now.
func graced(at time.Time, actor string) Transition {
	return Transition{
		name: "grace over", from: []State{Held}, by: ByProcess, actor: actor, at: at,
		reason: "no deposit record came", change: func(c *Credit) { c.NextAt = time.Time{} },
	}
}

// claimed gives the row to one attempt. Committed before a byte is sent.
func claimed(at time.Time, actor, token string, lease Mark, look *LookEvidence) Transition {
	return Transition{
		name: "claimed", from: []State{Pending}, to: Claimed, by: ByWorker, actor: actor, at: at,
		evidence: &Evidence{Look: look, Process: lease.Process},
		change: func(c *Credit) {
			c.Attempt++
			c.Token, c.LeaseUntil, c.ClaimedAt, c.NotSent, c.Ended = token, lease, at, nil, Mark{}
			if c.FirstClaimAt.IsZero() {
				c.FirstClaimAt = at
			}
		},
	}
}

// postponed leaves a pending row where it is, to be tried again at next. stuck is since when it gets no further,
// on the scale of NextAt.
func postponed(at time.Time, actor, reason string, stuck, next time.Time) Transition {
	return Transition{
		name: "postponed", from: []State{Pending}, by: ByWorker, actor: actor, at: at, reason: reason,
		change: func(c *Credit) { c.NextAt, c.StuckSince = next, stuck },
	}
}

// done records the one verified deal. by tells the way: the worker after its call or its look, the resolver.
// token is the claim's for a call that ended, else empty. schedule and watch say from when and how long a
// re-issued row is watched for a second deal.
func done(at time.Time, by Mover, actor, name string, from State, token string, d Deal, ev Evidence, schedule time.Time, watch time.Duration) Transition {
	ev.Deal = &d
	return Transition{
		name: name, from: []State{from}, to: Done, by: by, actor: actor, at: at,
		reason: "deal " + strconv.FormatUint(d.Ticket, 10), evidence: &ev,
		check: func(c Credit) error {
			if d.Ticket == 0 || !d.is(c) {
				return fmt.Errorf("deal %d is not this row's deal: %w", d.Ticket, ErrInvalid)
			}
			if from == Claimed {
				return sameToken(token)(c)
			}
			return nil
		},
		change: func(c *Credit) {
			c.Ticket, c.Unsent, c.NotSent, c.NextAt = d.Ticket, 0, nil, time.Time{}
			if c.Reissues > 0 {
				c.WatchUntil, c.NextAt = schedule.Add(watch), schedule.Add(watchEvery)
			}
		},
	}
}

// watched notes a look of the 48 h watch over a re-issued row; the watch ends at WatchUntil, or when over.
func watched(at time.Time, actor string, look *LookEvidence, schedule time.Time, over bool) Transition {
	return Transition{
		name: "watched", from: []State{Done}, by: ByResolver, actor: actor, at: at, evidence: &Evidence{Look: look},
		change: func(c *Credit) {
			c.NextAt = schedule.Add(watchEvery)
			if over || !schedule.Before(c.WatchUntil) {
				c.WatchUntil, c.NextAt = time.Time{}, time.Time{}
			}
		},
	}
}

// refused records a listed refusal of the current attempt.
func refused(at time.Time, actor, token string, call *CallEvidence) Transition {
	return Transition{
		name: "refused", from: []State{Claimed}, to: Failed, by: ByWorker, actor: actor, at: at,
		reason: "MT5 refused: " + call.Code, evidence: &Evidence{Call: call}, check: sameToken(token),
		change: func(c *Credit) { c.Ended = call.Ended },
	}
}

// lost moves the current attempt to unknown: nobody knows whether MT5 applied it. since is the call's end.
func lost(at time.Time, actor, token, reason string, call *CallEvidence, answered bool, since Mark, next time.Time) Transition {
	return Transition{
		name: "lost", from: []State{Claimed}, to: Unknown, by: ByWorker, actor: actor, at: at,
		reason: reason, evidence: &Evidence{Call: call, Process: since.Process}, check: sameToken(token),
		change: func(c *Credit) {
			c.Answered = c.Answered || answered
			c.UnknownSince, c.NextAt = since, next
			if call.Outcome == OutcomeNotSent {
				mark := since
				c.NotSent = &mark
			} else {
				c.Unsent = 0
			}
		},
	}
}

// orphaned moves a claim whose process or lease is over to unknown.
func orphaned(at time.Time, actor, reason string, since Mark, next time.Time) Transition {
	return Transition{
		name: "orphaned", from: []State{Claimed}, to: Unknown, by: ByProcess, actor: actor, at: at,
		reason: reason, evidence: &Evidence{Process: since.Process},
		change: func(c *Credit) { c.UnknownSince, c.NextAt = since, next },
	}
}

// resent returns a row to pending on the evidence, of this process, that no byte of its call was sent. That is
// no re-issue: nothing was issued. The look before the next call runs again all the same.
func resent(at time.Time, actor, process string, next time.Time) Transition {
	return Transition{
		name: "not sent", from: []State{Unknown}, to: Pending, by: ByWorker, actor: actor, at: at,
		reason: "no byte of the call left this machine", evidence: &Evidence{Process: process},
		check: func(c Credit) error {
			if c.NotSent == nil || c.NotSent.Process != process {
				return fmt.Errorf("no evidence of this process that nothing was sent: %w", ErrConflict)
			}
			return nil
		},
		change: func(c *Credit) { c.Unsent++; c.NotSent, c.NextAt = nil, next },
	}
}

// looked notes a look at an unknown row that did not settle it.
func looked(at time.Time, actor string, look *LookEvidence, first *Mark, handedOver bool, next time.Time) Transition {
	return Transition{
		name: "looked", from: []State{Unknown}, by: ByResolver, actor: actor, at: at,
		reason: look.Reason, evidence: &Evidence{Look: look},
		change: func(c *Credit) {
			c.Looks++
			c.noteLook(look, first)
			c.NextAt, c.HandedOver = next, handedOver
		},
	}
}

// reissued returns a row to pending on an absence verdict.
func reissued(at time.Time, actor string, a Absence, next time.Time) Transition {
	return Transition{
		name: "absent", from: []State{Unknown}, to: Pending, by: ByResolver, actor: actor, at: at,
		reason:   "two complete looks after the quarantine saw no deal with the reference",
		evidence: &Evidence{Look: a.look, Before: &a.before, Process: a.process},
		check:    a.holds,
		change: func(c *Credit) {
			if c.Grants > 0 {
				c.Grants--
			}
			c.Reissues++
			c.NotSent, c.NextAt = nil, next
		},
	}
}

// answeredLate notes what a call gave after its attempt was no longer the row's: always kept as evidence. A
// success is never forgotten: the row is not re-issued automatically any more.
func answeredLate(at time.Time, actor string, call *CallEvidence, answered bool, ended Mark, next time.Time) Transition {
	return Transition{
		name: "answered late", from: []State{Unknown}, by: ByWorker, actor: actor, at: at,
		reason: "the call ended after its lease", evidence: &Evidence{Call: call, Process: ended.Process},
		change: func(c *Credit) {
			c.Answered = c.Answered || answered
			forgetLooks(c)
			c.UnknownSince, c.NextAt = ended, next
		},
	}
}

// rescheduled brings a row's next turn forward at process start: what an earlier process, or an earlier clock,
// planned does not bind this one.
func rescheduled(at time.Time, actor string, state State, next time.Time) Transition {
	return Transition{
		name: "rescheduled", from: []State{state}, by: ByProcess, actor: actor, at: at, reason: "process start",
		change: func(c *Credit) { c.NextAt = next },
	}
}

func sameToken(token string) func(Credit) error {
	return func(c Credit) error {
		if token == "" || c.Token != token {
			return fmt.Errorf("the claim is another attempt's: %w", ErrConflict)
		}
		return nil
	}
}

func eventEvidence(id EventID) *Evidence {
	if id == 0 {
		return nil
	}
	return &Evidence{Event: id}
}

func holdText(holds []Hold) string {
	if len(holds) == 0 {
		return "all checks passed"
	}
	text := "held:"
	for _, h := range withHolds(holds) {
		text += " " + string(h)
	}
	return text
}
