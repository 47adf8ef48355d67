package credit

import (
	"slices"
	"strconv"
	"time"
)

// The moves of people. Each needs what its decision in people.go has checked; Apply checks the table all the same.

// adopted records a deal that two people say is the row's.
func adopted(p People, from State, d Deal, schedule time.Time, watch time.Duration) Transition {
	ev := p.evidence()
	ev.Deal = &d
	return Transition{
		name: "deal adopted", from: []State{from}, to: Done, by: ByTwoPeople, actor: p.Actor, at: p.At,
		reason: "deal " + strconv.FormatUint(d.Ticket, 10) + ": " + p.Reason, evidence: &ev,
		check: func(c Credit) error { return adoptable(c, d, 0, plain(d.Comment)) },
		change: func(c *Credit) {
			c.Ticket, c.Holds, c.Unsent, c.NotSent, c.NextAt = d.Ticket, nil, 0, nil, time.Time{}
			if c.Reissues > 0 {
				c.WatchUntil, c.NextAt = schedule.Add(watch), schedule.Add(watchEvery)
			}
		},
	}
}

// closedWithoutDeal ends the row: nothing is credited for it.
func closedWithoutDeal(p People, from State) Transition {
	ev := p.evidence()
	return Transition{
		name: "closed without a deal", from: []State{from}, to: Cancelled, by: ByTwoPeople, actor: p.Actor, at: p.At,
		reason: p.Reason, evidence: &ev,
		change: func(c *Credit) { c.Holds = nil },
	}
}

// released drops the holds that two people overrule or that are gone, and keeps the remaining ones. amount is what the
// row credits from now on.
func released(p People, amount Amount, fixed bool, remaining []Hold, next time.Time) Transition {
	ev := p.evidence()
	return Transition{
		name: "released", from: []State{Held}, by: ByTwoPeople, actor: p.Actor, at: p.At,
		reason: p.Reason + " (" + amount.String() + "; " + holdText(remaining) + ")", evidence: &ev,
		change: func(c *Credit) {
			c.Amount, c.Fixed = amount, c.Fixed || fixed
			c.Holds = withHolds(remaining)
			if len(remaining) == 0 {
				// The limit of the day was judged for today, so today is the day that the row counts in.
				c.Holds, c.State, c.NextAt, c.PendingAt = nil, Pending, next, instant(p.At)
			}
		},
	}
}

// retried makes a refused row unknown: looking decides what follows.
func retried(p People, row Credit, g Guard) Transition {
	ev := p.evidence()
	since := row.Ended
	if since.Process == "" {
		since = g.Now
	}
	return Transition{
		name: "retry asked", from: []State{Failed}, to: Unknown, by: ByOperator, actor: p.Actor, at: p.At,
		reason: p.Reason, evidence: &ev,
		change: func(c *Credit) { c.UnknownSince, c.NextAt = since, g.Schedule },
	}
}

// granted allows one further call of a row that was handed over.
func granted(p People, next time.Time) Transition {
	ev := p.evidence()
	return Transition{
		name: "further call allowed", from: []State{Unknown}, by: ByTwoPeople, actor: p.Actor, at: p.At,
		reason: p.Reason, evidence: &ev,
		change: func(c *Credit) { c.Grants, c.HandedOver, c.NextAt = 1, false, next },
	}
}

// hurried brings the next turn of the row forward.
func hurried(p People, from State, next time.Time) Transition {
	ev := p.evidence()
	return Transition{
		name: "look asked", from: []State{from}, by: ByOperator, actor: p.Actor, at: p.At, reason: p.Reason, evidence: &ev,
		change: func(c *Credit) { c.NextAt = next },
	}
}

// excluded records a deal as not this payment.
func excluded(p People, from State, d Deal, next time.Time) Transition {
	ev := p.evidence()
	ev.Deal = &d
	return Transition{
		name: "not this deal", from: []State{from}, by: ByTwoPeople, actor: p.Actor, at: p.At,
		reason: "deal " + strconv.FormatUint(d.Ticket, 10) + ": " + p.Reason, evidence: &ev,
		change: func(c *Credit) {
			c.NotDeals = append(c.NotDeals, d.Ticket)
			slices.Sort(c.NotDeals)
			forgetLooks(c)
			if c.State == Unknown {
				c.NextAt = next
			}
		},
	}
}

// examined keeps a look that a person asked for. Of an unknown row it brings the loop's own look forward where there
// is something to find.
func examined(p People, from State, look *LookEvidence, first *Mark, next time.Time) Transition {
	ev := p.evidence()
	ev.Look = look
	return Transition{
		name: "looked by hand", from: []State{from}, by: ByOperator, actor: p.Actor, at: p.At, reason: look.Reason, evidence: &ev,
		change: func(c *Credit) {
			c.noteLook(look, first)
			if c.State == Unknown && look.Verdict == VerdictFound {
				c.NextAt = next
			}
		},
	}
}
