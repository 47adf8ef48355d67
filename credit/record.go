package credit

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// verifyTries bounds the quick reads of a fresh deal; what is not readable by then is settled by the resolver.
const verifyTries = 3

// busyPause is the wait before a busy store is asked again to take a call's outcome.
const busyPause = 100 * time.Millisecond

// record writes what the call gave, whether or not stop has ended: that ends only the reads of a fresh deal. Whatever is not a verified deal,
// a listed refusal or a proven silence is unknown.
func (l *Lane) record(stop context.Context, row Credit, token string, r CallResult) error {
	ctx := context.WithoutCancel(stop)
	ended := l.mark()
	call := &CallEvidence{
		Attempt: row.Attempt, Outcome: r.Outcome, Code: r.Code, Status: r.Status, Detail: r.Detail,
		Ticket: loginText(r.Ticket), Ended: ended,
	}
	switch r.Outcome {
	case OutcomeApplied:
		return l.recordApplied(stop, row, token, r, call)
	case OutcomeRefused:
		t := refused(l.Clock.Now(), l.actor(), token, call)
		_, err := l.settleCall(ctx, row, call, r.Answered, ended, Decision{Move: &t})
		return err
	case OutcomeNotSent:
		_, err := l.settleCall(ctx, row, call, false, ended, l.decideUnsent(row, token, call, ended))
		return err
	case OutcomeUnknown:
	}
	l.Session.Drop("the outcome of a balance call is unknown")
	return l.loseCall(ctx, row, token, "the outcome of the call is unknown: "+r.Detail, call, r.Answered)
}

// recordApplied verifies the ticket before the row is done (design §6.7).
func (l *Lane) recordApplied(stop context.Context, row Credit, token string, r CallResult, call *CallEvidence) error {
	ctx := context.WithoutCancel(stop)
	deal, err := l.verify(stop, row, r.Ticket)
	if err != nil {
		l.Session.Drop("a fresh deal could not be verified")
		return l.loseCall(ctx, row, token, "MT5 answered success, and the deal cannot be verified: "+err.Error(), call, true)
	}
	l.Observer.Step(ctx, Step{Name: StepChecked, Credit: row.ID})
	if (l.Dealer != 0 || l.DealerMeasured) && deal.Dealer != l.Dealer {
		l.Observer.Note(ctx, Note{What: "deal carries another dealer than our manager", Row: &row,
			Err: fmt.Errorf("deal %d: dealer %d, ours is %d", deal.Ticket, deal.Dealer, l.Dealer)})
		if l.DealerMeasured {
			l.Session.Drop("a fresh deal carries another dealer than ours")
			return l.loseCall(ctx, row, token, fmt.Sprintf("MT5 answered success, and deal %d carries dealer %d, not %d as measured on this server",
				deal.Ticket, deal.Dealer, l.Dealer), call, true)
		}
	}
	anchor := &Anchor{Ticket: deal.Ticket, ServerTime: deal.ServerTime}
	t := done(l.Clock.Now(), ByWorker, l.actor(), "done", Claimed, token, deal, Evidence{Call: call}, l.schedule(), l.Timing.Watch)
	settled, err := l.settleCall(ctx, row, call, true, call.Ended, Decision{Move: &t, Anchor: anchor})
	if errors.Is(err, ErrDuplicate) {
		return l.loseCall(ctx, row, token, "the ticket that MT5 named is on another row: "+err.Error(), call, true)
	}
	if settled {
		l.Observer.Step(ctx, Step{Name: StepDone, Credit: row.ID})
	}
	return err
}

// verify reads the deal by its ticket, a few times at most. Once stop has ended, the reads have as long as a call has to be sent: over a line
// that went silent they would outlast the time that a stop may take. A deal that is not read by then is found by looking.
func (l *Lane) verify(stop context.Context, row Credit, ticket uint64) (Deal, error) {
	if ticket == 0 {
		return Deal{}, errors.New("the answer names no ticket")
	}
	ctx, end := outlasting(stop, l.Timing.SendWithin)
	defer end()
	var err error
	for range verifyTries {
		var d Deal
		if d, err = l.Session.Deal(ctx, ticket); err != nil {
			if ctx.Err() != nil {
				break
			}
			continue
		}
		if d.Ticket != ticket || !d.is(row) {
			return Deal{}, fmt.Errorf("deal %d is on login %d, action %d, %s: not what was ordered", d.Ticket, d.Login, d.Action, d.Amount)
		}
		return d, nil
	}
	return Deal{}, fmt.Errorf("read deal %d: %w", ticket, err)
}

// outlasting is ctx that goes on for a while after its end; what is left of it ends with the returned function.
func outlasting(ctx context.Context, longer time.Duration) (context.Context, context.CancelFunc) {
	out, cancel := context.WithCancel(context.WithoutCancel(ctx))
	leave := context.AfterFunc(ctx, func() {
		timer := time.NewTimer(longer)
		defer timer.Stop()
		select {
		case <-timer.C:
			cancel()
		case <-out.Done():
		}
	})
	return out, func() { leave(); cancel() }
}

func (l *Lane) loseCall(ctx context.Context, row Credit, token, reason string, call *CallEvidence, answered bool) error {
	ended := l.mark()
	next := l.schedule().Add(l.Timing.Looks[0])
	t := lost(l.Clock.Now(), l.actor(), token, reason, call, answered, ended, next)
	settled, err := l.settleCall(ctx, row, call, answered, ended, Decision{Move: &t})
	if settled {
		l.Observer.Step(ctx, Step{Name: StepUnknown, Credit: row.ID})
	}
	return err
}

// decideUnsent takes the row through unknown back to pending: the evidence is this process's own byte count.
func (l *Lane) decideUnsent(row Credit, token string, call *CallEvidence, ended Mark) Decision {
	now, next := l.Clock.Now(), l.schedule().Add(backoff(l.Timing.Retry, row.Unsent))
	first := lost(now, l.actor(), token, "no byte was sent: "+call.Detail, call, false, ended, next)
	then := resent(now, l.actor(), l.Process.ID, next)
	dec := Decision{Move: &first, Then: &then}
	if row.Unsent+1 >= l.Timing.UnsentRetries {
		dec.Open = []Task{task(TaskUnsent, row, now,
			"the balance call could not leave this machine "+strconv.Itoa(row.Unsent+1)+" times",
			"see that MT5 can be reached; the row goes on by itself")}
	}
	return dec
}

// settleCall writes the outcome of a call while the row is still this attempt's; settled tells that it was. If its
// lease ended meanwhile, what the call gave is kept as evidence all the same (hole H7).
func (l *Lane) settleCall(ctx context.Context, row Credit, call *CallEvidence, answered bool, ended Mark, dec Decision) (settled bool, err error) {
	err = l.insist(ctx, row.ID, func(Dossier) (Decision, error) { return dec, nil })
	if !errors.Is(err, ErrConflict) {
		return err == nil, err
	}
	now, next := l.Clock.Now(), l.schedule()
	return false, l.insist(ctx, row.ID, func(d Dossier) (Decision, error) {
		var late Decision
		if d.Row.State == Unknown && d.Row.Attempt == row.Attempt {
			t := answeredLate(now, l.actor(), call, answered, ended, next)
			late.Move = &t
		}
		late.Open = []Task{task(TaskLateAnswer, d.Row, now,
			fmt.Sprintf("attempt %d was answered (%s) after its lease was over", row.Attempt, call.Outcome),
			"wait until the row is settled by looking; check the login for two deals")}
		return late, nil
	})
}

// insist is advance for what a call gave: that exists in this process alone until it is written, so a busy store is
// asked again for as long as a lease, not left for the next round.
func (l *Lane) insist(ctx context.Context, id ID, decide Decide) error {
	until := l.Clock.Boot() + l.Timing.Lease
	for {
		_, err := l.advance(ctx, id, decide)
		if !errors.Is(err, ErrBusy) || l.Clock.Boot() >= until {
			return err
		}
		if err := l.Clock.Wait(ctx, l.Clock.Boot()+busyPause, nil); err != nil {
			return fmt.Errorf("credit %d: wait for the store: %w", id, err)
		}
	}
}
