package credit

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Pulled is how far the pull of a provider's own list of events has come (design §5.6). It is stored.
type Pulled struct {
	Provider string    `json:"provider"` // label
	To       time.Time `json:"to"`       // everything that the provider listed up to here was taken in; zero: nothing yet
	At       time.Time `json:"at"`       // when that was, UTC
	Events   int       `json:"events"`   // that the newest complete pull listed
	Missed   uint64    `json:"missed"`   // ever: events that were here by no webhook when the list brought them
	MissedAt time.Time `json:"missed_at,omitzero"`

	FailingSince time.Time `json:"failing_since,omitzero"` // zero: the last pull was complete
	Problem      string    `json:"problem,omitempty"`      // of the last pull, where it was not
}

// PullOf is how far the pull of a provider has come; the zero value before the first.
func (s Settings) PullOf(provider string) Pulled {
	for _, p := range s.Pulls {
		if p.Provider == provider {
			return p
		}
	}
	return Pulled{Provider: provider}
}

// withPull returns the settings with a changed copy of the provider's progress.
func (s Settings) withPull(provider string, change func(*Pulled)) Settings {
	p := s.PullOf(provider)
	change(&p)
	s.Pulls = slices.DeleteFunc(slices.Clone(s.Pulls), func(o Pulled) bool { return o.Provider == provider })
	s.Pulls = append(s.Pulls, p)
	slices.SortFunc(s.Pulls, func(a, b Pulled) int { return strings.Compare(a.Provider, b.Provider) })
	return s
}

// ErrExpired says that a part of the window is older than the provider lists events. The rest was listed.
var ErrExpired = errors.New("the provider lists events of that age no more")

// PullRefusal is an error of a list that no repetition can end: a person must do something.
type PullRefusal struct {
	Err  error
	Next string // what the person can do
}

// Error implements error.
func (e *PullRefusal) Error() string { return e.Err.Error() }

// Unwrap gives what went wrong.
func (e *PullRefusal) Unwrap() error { return e.Err }

// pullOverlap is how far before the end of the last complete pull the next one begins: a list may show an event late.
const pullOverlap = time.Hour

// pullWindow is what the next pull asks for. kept is how long the provider lists events: the first pull reaches back to the
// store's creation and no further than that; bounded tells that the store is older.
func pullWindow(s Settings, provider string, now time.Time, kept time.Duration) (from time.Time, bounded bool) {
	last := s.PullOf(provider).To
	if !last.IsZero() {
		return last.Add(-pullOverlap), false
	}
	// An hour within the bound: while the pages are read the oldest events would drop out of the list.
	if oldest := now.Add(time.Hour - kept); oldest.After(s.CreatedAt) {
		return oldest, true
	}
	return s.CreatedAt, false
}

// clockIsFast tells that the clock here is so far ahead of the provider's that the answer to a window means nothing: the window, which reaches
// back as far as the clock here said that events are listed, has not begun by the provider's clock; or it seemed too old here and is not there.
func clockIsFast(from, until time.Time, kept time.Duration, bounded bool, err error) bool {
	if errors.Is(err, ErrExpired) {
		return !from.Before(until.Add(-kept))
	}
	return err == nil && bounded && until.Before(from)
}

// pullResult is what one pull gave.
type pullResult struct {
	provider string
	from, to time.Time // what was asked for; to as the provider's clock has it
	events   int
	missed   uint64
	at       time.Time
	err      error
}

// pullEnded decides what a pull changes: progress where it was complete, else the problem; a task at once where a person must
// do something, and when pulls have failed for longer than patience. What was missed counts either way. It is pure.
func pullEnded(s Settings, r pullResult, patience time.Duration) StoreChange {
	expired := errors.Is(r.err, ErrExpired)
	complete := r.err == nil || expired
	entity := "provider/" + r.provider
	var out StoreChange
	out.Settings = s.withPull(r.provider, func(p *Pulled) {
		if r.missed > 0 {
			p.Missed, p.MissedAt = p.Missed+r.missed, instant(r.at)
		}
		if !complete {
			if p.FailingSince.IsZero() {
				p.FailingSince = instant(r.at)
			}
			p.Problem = plain(r.err.Error())
			return
		}
		p.FailingSince, p.Problem = time.Time{}, ""
		p.At, p.Events = instant(r.at), r.events
		if r.to.After(p.To) {
			p.To = instant(r.to)
		}
	})
	now := out.Settings.PullOf(r.provider)
	if complete {
		out.Close = []TaskClose{{Key: TaskKey{TaskPull, entity}, By: pullActor, At: instant(r.at), Reason: "a pull was complete"}}
		if expired {
			out.Open = []Task{gapTask(s, r)}
		}
		return out
	}
	var refusal *PullRefusal
	next := "see whether the provider's API can be reached from here, and whether the provider has a disturbance; webhooks go on, and pulling goes on by itself"
	if errors.As(r.err, &refusal) {
		next = refusal.Next
	} else if r.at.Sub(now.FailingSince) < patience {
		return out
	}
	out.Open = []Task{{
		Kind: TaskPull, Entity: entity, OpenedAt: instant(r.at), Next: next,
		Summary: fmt.Sprintf("the list of provider %s cannot be pulled, so a payment whose webhook is lost is not found: %v", r.provider, r.err),
	}}
	return out
}

// gapTask asks a person to look through what the provider lists no more.
func gapTask(s Settings, r pullResult) Task {
	next := "compare the provider's dashboard or settlements of that time with creditonce credits list; then close this task"
	if slices.ContainsFunc(s.OpenGaps(), func(g Gap) bool { return g.Provider == r.provider }) {
		next = "compare the provider's dashboard or settlements of that time with creditonce credits list; then record it with creditonce gap-checked " +
			r.provider + ", and close this task"
	}
	return Task{
		Kind: TaskPullGap, Entity: "provider/" + r.provider, OpenedAt: instant(r.at), Next: next,
		Summary: fmt.Sprintf("what provider %s knows from %s on is older than it lists: payments of then may be missing (%v)", r.provider, timeText(r.from), r.err),
	}
}

// gapRead decides what a pull of a gap changes that read all that is listed: the gap is complete, or people must look
// through what is too old. A gap that nobody waits for any more is none. It is pure.
func gapRead(s Settings, r pullResult) (StoreChange, error) {
	if r.err != nil {
		return StoreChange{Settings: s, Open: []Task{gapTask(s, r)}}, nil //nolint:nilerr // it is what people must hear of
	}
	after, err := GapPulled(s, GapPull{Provider: r.provider, From: r.from, To: r.to, At: r.at, By: pullActor})
	if errors.Is(err, ErrConflict) {
		return StoreChange{Settings: s}, nil
	}
	return StoreChange{Settings: after}, err
}
