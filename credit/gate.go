package credit

import (
	"fmt"
	"time"
)

// Absence is the evidence that MT5 has no deal of a row: two complete looks of one process, both begun after
// the quarantine, at least SecondLook apart. Only gate makes one; a Transition that puts money in play again
// demands one.
type Absence struct {
	row     ID
	attempt int
	process string
	before  Mark // start of the earlier look
	look    *LookEvidence
}

// holds tells whether the evidence is about the row as it is now.
func (a Absence) holds(c Credit) error {
	switch {
	case a.look == nil || a.row != c.ID || a.attempt != c.Attempt:
		return fmt.Errorf("absence evidence is about credit %d attempt %d: %w", a.row, a.attempt, ErrConflict)
	case c.FirstAbsent == nil || c.FirstAbsent.Process != a.process:
		return fmt.Errorf("no first look of this process is stored: %w", ErrConflict)
	}
	return nil
}

// Process identifies the running process for evidence: what another process saw or did not see does not count.
type Process struct {
	ID      string        // random, drawn at start
	Started time.Duration // on the boot-time clock
	At      time.Time     // wall clock at Started, UTC
}

// Schedule is the scale of every NextAt: the wall clock of the process's start, carried on by the boot clock, so
// that a step of the wall clock neither hurries nor delays a row. All loops of a process and its intake share it.
// A process without At falls back to the wall clock.
func (p Process) Schedule(c Clock) time.Time {
	if p.At.IsZero() {
		return c.Now()
	}
	return p.At.Add(c.Boot() - p.Started)
}

// ruling is what the gate makes of an absent look.
type ruling struct {
	first   *Mark    // to store as the first look of an absence; nil: none counts yet
	absence *Absence // set when the row is proven absent
	wait    time.Duration
}

// quarantineStart is the moment from which Q counts: the call's end where this process saw it, else the start
// of this process (design §7). A restore or a fence makes rows unknown in a process of its own, so its moment
// is never before that.
func quarantineStart(c Credit, p Process) time.Duration {
	start := p.Started
	for _, m := range []Mark{c.UnknownSince, c.Ended} {
		if m.Process == p.ID {
			start = max(start, m.Boot)
		}
	}
	return start
}

// gate decides what an absent, complete look proves. look.Started is when it began. liveCall tells that this
// process still has a call for the row under way: then nothing is proven.
func gate(c Credit, look *LookEvidence, p Process, t Timing, liveCall bool) ruling {
	open := quarantineStart(c, p) + t.Quarantine
	started := look.Started.Boot
	if liveCall || look.Started.Process != p.ID || !look.Complete || look.Verdict != VerdictAbsent {
		return ruling{first: c.FirstAbsent, wait: t.SecondLook}
	}
	if started < open {
		return ruling{wait: open - started}
	}
	first := c.FirstAbsent
	if first == nil || first.Process != p.ID || first.Boot < open {
		mark := look.Started
		return ruling{first: &mark, wait: t.SecondLook}
	}
	if started < first.Boot+t.SecondLook {
		return ruling{first: first, wait: first.Boot + t.SecondLook - started}
	}
	return ruling{first: first, absence: &Absence{row: c.ID, attempt: c.Attempt, process: p.ID, before: *first, look: look}}
}

// mayReissue tells whether an absence may put the row back to pending without a person (design §7).
func mayReissue(c Credit) (bool, string) {
	switch {
	case c.Grants > 0:
		return true, ""
	case c.Answered:
		return false, "MT5 once answered success for this row, yet no deal can be found"
	case c.Restored:
		return false, "the row was moved by a restore or takeover"
	case c.Reissues > 0:
		return false, "the call was repeated once already"
	case c.HandedOver:
		return false, "a person has been asked"
	}
	return true, ""
}
