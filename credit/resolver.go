package credit

import (
	"context"
	"fmt"
	"time"
)

// resolve looks at an unknown row (design §7). Found is taken at any time; only absent waits.
func (l *Lane) resolve(ctx context.Context, d Dossier, ready error) error {
	ev, s, m := (*LookEvidence)(nil), Sighting{}, Match{Verdict: VerdictNoAnswer}
	if ready != nil {
		ev = l.noAnswer(ready)
		m.Reason = ev.Reason
	} else {
		var err error
		if s, m, ev, err = l.look(ctx, d, nil); err != nil {
			return err
		}
	}
	newest := (*Anchor)(nil)
	if s.Complete {
		newest = s.Newest
	}
	_, err := l.advance(ctx, d.Row.ID, l.decideLooked(m, ev, newest, l.Live.Live(d.Row.ID)))
	if err == nil {
		l.Observer.Step(ctx, Step{Name: StepVerdict, Credit: d.Row.ID})
	}
	return err
}

// decideLooked is what a look that has been made decides about the row as it is by then. live tells that a call for the
// row is under way, newest is the newest deal that a complete look read.
func (l *Lane) decideLooked(m Match, ev *LookEvidence, newest *Anchor, live bool) Decide {
	now, schedule := l.Clock.Now(), l.schedule()
	return func(d Dossier) (Decision, error) {
		if d.Row.State != Unknown {
			return Decision{}, fmt.Errorf("credit %d is %q: %w", d.Row.ID, d.Row.State, ErrConflict)
		}
		dec := l.settle(d, m, ev, now, schedule, live)
		dec.Anchor = newest
		return dec, nil
	}
}

// settle turns a verdict on an unknown row into a decision. It is pure.
func (l *Lane) settle(d Dossier, m Match, ev *LookEvidence, now, schedule time.Time, live bool) Decision {
	row := d.Row
	switch m.Verdict {
	case VerdictFound:
		t := done(now, ByResolver, l.actor(), "found", Unknown, "", m.Deal, Evidence{Look: ev}, schedule, l.Timing.Watch)
		return Decision{Move: &t}
	case VerdictConflict:
		t := looked(now, l.actor(), ev, nil, row.HandedOver, schedule.Add(l.Timing.LookWithTask))
		return Decision{Move: &t, Open: []Task{task(TaskConflict, row, now, m.Reason,
			"compare the deals with the row; adopt one, or close the row without a deal", dealRecords(m.Deals)...)}}
	case VerdictAbsent:
		return l.settleAbsent(d, ev, now, schedule, live)
	case VerdictNoAnswer:
	}
	return l.settleNoAnswer(d, ev, now, schedule)
}

func (l *Lane) settleAbsent(d Dossier, ev *LookEvidence, now, schedule time.Time, live bool) Decision {
	row := d.Row
	r := gate(row, ev, l.Process, l.Timing, live)
	if r.absence == nil {
		wait := min(l.Timing.nextLook(row.Looks+1, hasTask(d)), max(r.wait, l.Timing.Looks[0]))
		t := looked(now, l.actor(), ev, r.first, row.HandedOver, schedule.Add(wait))
		return Decision{Move: &t}
	}
	ok, why := mayReissue(row)
	var hour *Hour
	if ok && row.Grants == 0 {
		hour, why = l.Pace.reissue(d.Settings.Hour, row.Amount, schedule)
		ok = why == ""
	}
	if ok {
		t := reissued(now, l.actor(), *r.absence, schedule)
		return Decision{Move: &t, Hour: hour}
	}
	proof := *ev
	proof.Proven = true
	t := looked(now, l.actor(), &proof, r.first, true, schedule.Add(l.Timing.LookWithTask))
	return Decision{Move: &t, Open: []Task{task(TaskHandedOver, row, now,
		"MT5 has no deal for this payment, and no further call is made without a person: "+why,
		"check the login at MT5; then ask for a retry, adopt a deal or close the row")}}
}

func (l *Lane) settleNoAnswer(d Dossier, ev *LookEvidence, now, schedule time.Time) Decision {
	row := d.Row
	overdue := ev.Started.Boot-quarantineStart(row, l.Process) >= l.Timing.TaskAfter
	if row.UnknownSince.Process != l.Process.ID && now.Sub(row.UnknownSince.At) >= l.Timing.TaskAfter {
		overdue = true // across processes only the wall clock knows; wrong, it costs a task too early
	}
	t := looked(now, l.actor(), ev, row.FirstAbsent, row.HandedOver, schedule.Add(l.Timing.nextLook(row.Looks+1, hasTask(d) || overdue)))
	dec := Decision{Move: &t}
	if overdue {
		dec.Open = []Task{task(TaskNoAnswer, row, now, "nobody knows whether MT5 applied this payment, and MT5 gives no complete answer: "+ev.Reason,
			"see that MT5 can be reached; the row settles itself by looking. "+deletedHint)}
	}
	return dec
}

// hasTask tells whether a person has been asked about the unknown row: then looking slows down.
func hasTask(d Dossier) bool {
	for _, t := range d.OpenTasks {
		switch t.Kind {
		case TaskNoAnswer, TaskConflict, TaskHandedOver:
			return true
		default:
		}
	}
	return false
}

// watch looks for a second deal of a row whose call was repeated (design §7).
func (l *Lane) watch(ctx context.Context, d Dossier, ready error) error {
	if d.Row.WatchUntil.IsZero() {
		return nil
	}
	ev, m := (*LookEvidence)(nil), Match{}
	if ready != nil {
		ev = l.noAnswer(ready)
	} else {
		var err error
		if _, m, ev, err = l.look(ctx, d, nil); err != nil {
			return err
		}
	}
	now, schedule := l.Clock.Now(), l.schedule()
	_, err := l.advance(ctx, d.Row.ID, func(d Dossier) (Decision, error) {
		t := watched(now, l.actor(), ev, schedule, m.Verdict == VerdictConflict)
		dec := Decision{Move: &t}
		if m.Verdict == VerdictConflict {
			dec.Open = []Task{task(TaskSecondDeal, d.Row, now, "a payment whose call was repeated: "+m.Reason,
				"take the surplus back at MT5 and note it here", dealRecords(m.Deals)...)}
		}
		return dec, nil
	})
	return err
}
