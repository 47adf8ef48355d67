package credit

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// pay takes a pending row through account check, look, claim, call and verification (design §6).
func (l *Lane) pay(ctx context.Context, d Dossier, ready error) error {
	l.Observer.Step(ctx, Step{Name: StepSlotHeld, Credit: d.Row.ID})
	if ready != nil {
		return l.postpone(ctx, d.Row, fromMT5("MT5 cannot be reached: "+ready.Error()), nil)
	}
	if len(d.Busy) > 0 && !d.Reversed { // cheap look before the look; the claim checks again inside its transaction, and holds what was refunded
		l.queue.wait(d.Row.Login)
		return l.postpone(ctx, d.Row, behind(d.Busy[0]), nil)
	}
	if reason := d.stop(); reason != "" && !d.Reversed { // as with Busy
		return l.postpone(ctx, d.Row, stoppedBy(reason), nil)
	}
	fresh, look, newest, err := l.prepare(ctx, d)
	if err != nil || look == nil {
		return err
	}
	return l.claimAndCall(ctx, d.Row, fresh, look, newest)
}

// prepare checks the account and looks, until both are fresh together. fresh is the boot time of the account
// check that counts, newest the newest deal that the look read. look is nil when the row has been moved or postponed.
func (l *Lane) prepare(ctx context.Context, d Dossier) (fresh time.Duration, look *LookEvidence, newest *Anchor, err error) {
	begun, since := l.Clock.Boot(), l.schedule()
	var seen *Sighting
	for {
		fresh = l.Clock.Boot()
		if ok, err := l.checkAccount(ctx, d.Row); err != nil || !ok {
			return 0, nil, nil, err
		}
		s, m, ev, err := l.look(ctx, d, seen)
		if err != nil {
			return 0, nil, nil, err
		}
		if m.Verdict != VerdictAbsent {
			return 0, nil, nil, l.lookedFirst(ctx, d.Row, s, m, ev)
		}
		now := l.Clock.Boot()
		if now-fresh < l.Timing.FreshFor {
			return fresh, ev, s.Newest, nil
		}
		if seen != nil && now-begun >= l.Timing.TaskAfter { // one long look alone may be a machine that slept
			return 0, nil, nil, l.postponeSince(ctx, d.Row, since, tooSlow(), s.Newest)
		}
		seen = &s
	}
}

// registeredSlack is for servers whose registration times are of another zone or season than their clock.
const registeredSlack = 3 * time.Hour

// checkAccount compares MT5's account with the row. A readable "no" holds the row; no answer postpones it.
func (l *Lane) checkAccount(ctx context.Context, row Credit) (bool, error) {
	st, err := l.Session.Account(ctx, row.Login)
	switch {
	case errors.Is(err, ErrNotFound):
		return false, l.hold(ctx, row.ID, "MT5 says that the login does not exist", nil, nil, HoldUnknownLogin)
	case err != nil:
		return false, l.postpone(ctx, row, fromMT5("the account cannot be read: "+err.Error()), nil)
	case st.Login != row.Login:
		l.Session.Drop("an account answer for another login")
		return false, l.postpone(ctx, row, fromMT5("MT5 answered for another login"), nil)
	case st.Refusal != "":
		return false, l.hold(ctx, row.ID, st.Refusal, nil, nil, HoldAccount)
	case st.Registered.After(row.DepositAt.Add(registeredSlack)):
		return false, l.hold(ctx, row.ID, fmt.Sprintf("the login was opened at MT5 on %s, after the deposit was made: it may be somebody else's by now",
			st.Registered.UTC().Format(time.DateTime)), nil, nil, HoldAccount)
	case st.Currency != row.Amount.Currency() || st.Digits != row.Amount.Exponent():
		return false, l.hold(ctx, row.ID, fmt.Sprintf("MT5 keeps the account in %s with %d digits, the row is in %s with %d",
			st.Currency, st.Digits, row.Amount.Currency(), row.Amount.Exponent()), nil, nil, HoldAccount)
	}
	return true, nil
}

// lookedFirst acts on a look before the call that was not absent.
func (l *Lane) lookedFirst(ctx context.Context, row Credit, s Sighting, m Match, ev *LookEvidence) error {
	switch m.Verdict {
	case VerdictFound:
		t := done(l.Clock.Now(), ByWorker, l.actor(), "found before the call", Pending, "", m.Deal, Evidence{Look: ev}, l.schedule(), l.Timing.Watch)
		_, err := l.advance(ctx, row.ID, func(Dossier) (Decision, error) {
			return Decision{Move: &t, Anchor: s.Newest}, nil
		})
		return err
	case VerdictConflict:
		reason := HoldConflict
		if m.LookAlike {
			reason = HoldLookAlike
		}
		return l.hold(ctx, row.ID, m.Reason, ev, m.Deals, reason)
	case VerdictNoAnswer:
		return l.postpone(ctx, row, unseen(m.Reason), nil)
	case VerdictAbsent:
	}
	return fmt.Errorf("credit %d: verdict %q after the first look: %w", row.ID, m.Verdict, ErrInvalid)
}

// hold stops the row and shows a person why, with the deals beside it.
func (l *Lane) hold(ctx context.Context, id ID, reason string, look *LookEvidence, deals []Deal, holds ...Hold) error {
	now := l.Clock.Now()
	_, err := l.advance(ctx, id, func(d Dossier) (Decision, error) {
		if d.Row.State != Pending {
			return Decision{}, fmt.Errorf("credit %d is %q: %w", id, d.Row.State, ErrConflict)
		}
		t := stopped(now, ByWorker, l.actor(), reason, &Evidence{Look: look}, holds...)
		row := d.Row
		row.Holds = holds // what stops the login is what the row will be held for
		return Decision{Move: &t, Open: []Task{
			task(TaskHeld, d.Row, now, reason, "look at the records; release the row, adopt a deal or close it", dealRecords(deals)...).stopping(row),
		}}, nil
	})
	return err
}

// postpone leaves the row pending for a while; a task once that has lasted.
func (l *Lane) postpone(ctx context.Context, row Credit, why delay, anchor *Anchor) error {
	return l.postponeSince(ctx, row, l.schedule(), why, anchor)
}

// postponeSince is postpone for a row that got no further from since on.
func (l *Lane) postponeSince(ctx context.Context, row Credit, since time.Time, why delay, anchor *Anchor) error {
	now, schedule := l.Clock.Now(), l.schedule()
	_, err := l.advance(ctx, row.ID, func(d Dossier) (Decision, error) {
		if d.Row.State != Pending {
			return Decision{}, fmt.Errorf("credit %d is %q: %w", row.ID, d.Row.State, ErrConflict)
		}
		dec := l.postponement(d.Row, why, since, now, schedule)
		dec.Anchor = anchor
		return dec, nil
	})
	return err
}

// postponement waits longer the longer the row is stuck. It is pure.
func (l *Lane) postponement(row Credit, why delay, since, now, schedule time.Time) Decision {
	if !row.StuckSince.IsZero() && row.StuckSince.Before(since) {
		since = row.StuckSince
	}
	stuck := schedule.Sub(since)
	wait := min(max(l.Timing.Retry, stuck), max(longestRetry, l.Timing.Retry))
	t := postponed(now, l.actor(), why.reason, since, schedule.Add(wait))
	dec := Decision{Move: &t}
	if stuck >= l.Timing.TaskAfter {
		dec.Open = []Task{task(TaskStuck, row, now, "a paid deposit cannot be credited: "+why.reason, why.next)}
	}
	return dec
}

// claimAndCall is the irreversible part. The claim is on disk before a byte leaves; the call's outcome is
// recorded whatever became of ctx.
func (l *Lane) claimAndCall(ctx context.Context, row Credit, fresh time.Duration, look *LookEvidence, newest *Anchor) error {
	end := l.Live.Begin(row.ID)
	defer end()
	now := l.Clock.Boot()
	if now-fresh >= l.Timing.FreshFor || now < l.ClaimsFrom || ctx.Err() != nil {
		return nil // still pending and due: the next round starts with the account again, and a stop claims nothing
	}
	token, lease := l.Token(), l.mark()
	lease.Boot, lease.At = lease.Boot+l.Timing.Lease, lease.At.Add(l.Timing.Lease)
	deadline := min(now+l.Timing.SendWithin, fresh+l.Timing.FreshFor)
	res, err := l.advance(ctx, row.ID, l.decideClaim(token, lease, look, newest))
	if err != nil {
		return err
	}
	if res.Row.State != Claimed {
		return nil
	}
	whole := context.WithoutCancel(ctx) // a stop waits for the call; the adapter's time-outs bound it
	l.Observer.Step(whole, Step{Name: StepClaimed, Credit: row.ID})
	result := l.Session.Balance(whole, Call{
		Login: res.Row.Login, Amount: res.Row.DealAmount(), Reference: res.Row.Reference, Deadline: deadline,
	})
	l.Observer.Step(whole, Step{Name: StepAnswered, Credit: row.ID})
	return l.record(ctx, res.Row, token, result)
}

// stop says why the row is not claimed: what happened on its login is in doubt (invariant I-S5). Empty: nothing is. A late
// answer about the row itself does not stop it: that restarted the quarantine, and looks after it have seen no deal.
func (d Dossier) stop() string {
	for _, t := range d.Stops {
		if t.Kind != TaskLateAnswer || t.Entity != RowEntity(d.Row.ID) {
			return fmt.Sprintf("task %d on this login is open (%s, %s): until somebody has settled it, nothing is credited there", t.ID, t.Kind, t.Entity)
		}
	}
	return ""
}

// decideClaim is the check inside the claim's transaction (design §6.4): mode, room, ownership, refunds and
// disputes, the login's other rows, what is in doubt on the login, and what may be called for in an hour.
func (l *Lane) decideClaim(token string, lease Mark, look *LookEvidence, newest *Anchor) Decide {
	now, schedule := l.Clock.Now(), l.schedule()
	return func(d Dossier) (Decision, error) {
		switch {
		case d.Row.State != Pending:
			return Decision{}, fmt.Errorf("claim credit %d: it is %q: %w", d.Row.ID, d.Row.State, ErrConflict)
		case d.Settings.Mode != ModeLive:
			return Decision{}, fmt.Errorf("claim credit %d: the mode is %s: %w", d.Row.ID, d.Settings.Mode, ErrConflict)
		case d.LowSpace:
			return l.postponement(d.Row, tooFull(), schedule, now, schedule), nil
		case d.Account == nil || d.Account.Client != d.Row.Client:
			t := stopped(now, ByWorker, l.actor(), "the login no longer belongs to the deposit's client", nil, HoldOwnership)
			return Decision{Move: &t}, nil
		case d.Reversed:
			t := stopped(now, ByWorker, l.actor(), "a refund or dispute of the payment is known", nil, HoldReversal)
			return Decision{Move: &t}, nil
		case len(d.Busy) > 0:
			return l.postponement(d.Row, behind(d.Busy[0]), schedule, now, schedule), nil
		case d.stop() != "":
			return l.postponement(d.Row, stoppedBy(d.stop()), schedule, now, schedule), nil
		}
		hour, why := l.Pace.claim(d.Settings.Hour, d.Row.Amount, schedule)
		if why != "" {
			t := stopped(now, ByWorker, l.actor(), why, nil, HoldLimit)
			return Decision{Move: &t}, nil
		}
		t := claimed(now, l.actor(), token, lease, look)
		return Decision{Move: &t, Anchor: newest, Hour: hour}, nil
	}
}
