package credit

import (
	"fmt"
	"time"
)

// Timing is every wait of the protocol (design §6, §7). All of them run on the boot-time clock.
type Timing struct {
	Lease         time.Duration   // a claim not ended by then is unknown
	SendWithin    time.Duration   // after the claim; later nothing is sent
	FreshFor      time.Duration   // from the account check to the write
	Quarantine    time.Duration   // Q: an absent look counts only after it
	SecondLook    time.Duration   // between the two looks of an absence
	Looks         []time.Duration // after the row became unknown
	LookEvery     time.Duration   // after the last of Looks
	LookWithTask  time.Duration   // once a task is open
	TaskAfter     time.Duration   // without an answer
	HeldGrace     time.Duration   // a held row without a deposit becomes a task
	Watch         time.Duration   // a re-issued row is watched for a second deal
	Retry         time.Duration   // first wait of a pending row that could not be looked up
	UnsentRetries int             // calls in a row that never left the machine before a task is opened
}

// watchEvery is the time between two looks at a watched row.
const watchEvery = 10 * time.Minute

// MinQuarantine is the floor of Q, except for a store that the demo made (design §7).
const MinQuarantine = 2 * time.Minute

// DefaultTiming is design §6 and §7.
func DefaultTiming() Timing {
	return Timing{
		Lease: 2 * time.Minute, SendWithin: 2 * time.Second, FreshFor: 10 * time.Second,
		Quarantine: 10 * time.Minute, SecondLook: time.Minute,
		Looks: []time.Duration{
			2 * time.Second, 10 * time.Second, 30 * time.Second,
			time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute,
		},
		LookEvery: time.Minute, LookWithTask: 10 * time.Minute,
		TaskAfter: 15 * time.Minute, HeldGrace: 10 * time.Minute, Watch: 48 * time.Hour,
		Retry: 2 * time.Second, UnsentRetries: 3,
	}
}

// Check refuses a timing that the protocol is not safe with. callTimeout is the adapter's bound on one balance
// call. demo lifts the floor of the quarantine.
func (t Timing) Check(callTimeout time.Duration, demo bool) error {
	positive := map[string]time.Duration{
		"lease": t.Lease, "send deadline": t.SendWithin, "fresh for": t.FreshFor, "quarantine": t.Quarantine,
		"second look": t.SecondLook, "look every": t.LookEvery, "look with task": t.LookWithTask,
		"task after": t.TaskAfter, "held grace": t.HeldGrace, "watch": t.Watch, "retry": t.Retry,
	}
	for name, d := range positive {
		if d <= 0 {
			return fmt.Errorf("timing: %s must be more than 0: %w", name, ErrInvalid)
		}
	}
	for i, d := range t.Looks {
		if d <= 0 || (i > 0 && d <= t.Looks[i-1]) {
			return fmt.Errorf("timing: looks must be more than 0 and each later than the one before: %w", ErrInvalid)
		}
	}
	switch {
	case len(t.Looks) == 0:
		return fmt.Errorf("timing: at least one look is needed: %w", ErrInvalid)
	case t.UnsentRetries < 1:
		return fmt.Errorf("timing: unsent retries must be at least 1: %w", ErrInvalid)
	case t.Lease < t.SendWithin+callTimeout:
		return fmt.Errorf("timing: lease %v is shorter than send deadline %v plus call time-out %v: %w", t.Lease, t.SendWithin, callTimeout, ErrInvalid)
	case !demo && t.Quarantine < MinQuarantine:
		return fmt.Errorf("timing: quarantine %v is under its floor of %v: %w", t.Quarantine, MinQuarantine, ErrInvalid)
	case t.Quarantine <= t.SendWithin+callTimeout && !demo:
		return fmt.Errorf("timing: quarantine %v must exceed the longest life of a call, %v: %w", t.Quarantine, t.SendWithin+callTimeout, ErrInvalid)
	}
	return nil
}

// nextLook is how long after the previous look the next one is due. looks counts those made already.
func (t Timing) nextLook(looks int, task bool) time.Duration {
	switch {
	case task:
		return t.LookWithTask
	case looks == 0:
		return t.Looks[0]
	case looks < len(t.Looks):
		return t.Looks[looks] - t.Looks[looks-1]
	default:
		return t.LookEvery
	}
}

// backoff grows with n from first to a minute.
func backoff(first time.Duration, n int) time.Duration {
	const longest = time.Minute
	d := first
	for range n {
		if d >= longest {
			break
		}
		d *= 2
	}
	return min(max(d, first), max(longest, first))
}
