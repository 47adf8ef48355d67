package fakemt5

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Clock is where the server takes time and timers from. Implementations are safe
// for concurrent use; AfterFunc never runs f on the caller's stack.
type Clock interface {
	Now() time.Time
	AfterFunc(d time.Duration, f func()) Timer
}

// Timer is a pending call of a Clock. Stop reports whether it prevented the call.
type Timer interface {
	Stop() bool
}

type realClock struct{}

func (realClock) Now() time.Time { return time.Now() }

func (realClock) AfterFunc(d time.Duration, f func()) Timer { return time.AfterFunc(d, f) }

// ManualClock is a Clock that moves only when told to. Safe for concurrent use.
type ManualClock struct {
	mu      sync.Mutex
	now     time.Time
	pending []*manualTimer
	changed chan struct{}
}

type manualTimer struct {
	clock *ManualClock
	due   time.Time
	f     func()
}

// NewManualClock returns a clock that stands at start.
func NewManualClock(start time.Time) *ManualClock {
	return &ManualClock{now: start, changed: make(chan struct{})}
}

// Now returns the time the clock stands at.
func (c *ManualClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// AfterFunc registers f to run inside the Advance that reaches its time.
func (c *ManualClock) AfterFunc(d time.Duration, f func()) Timer {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &manualTimer{clock: c, due: c.now.Add(d), f: f}
	c.pending = append(c.pending, t)
	close(c.changed)
	c.changed = make(chan struct{})
	return t
}

// Stop removes the timer; false when it has run or was stopped before.
func (t *manualTimer) Stop() bool {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	i := slices.Index(t.clock.pending, t)
	if i < 0 {
		return false
	}
	t.clock.pending = slices.Delete(t.clock.pending, i, i+1)
	return true
}

// Advance moves the clock by d and runs the timers that come due, in the order of
// their times, each with the clock standing at its own time. It returns when all
// of them have returned.
func (c *ManualClock) Advance(d time.Duration) {
	c.mu.Lock()
	target := c.now.Add(d)
	c.mu.Unlock()
	for f := c.next(target); f != nil; f = c.next(target) {
		f()
	}
}

// next takes the earliest timer due at or before target, or moves to target.
func (c *ManualClock) next(target time.Time) func() {
	c.mu.Lock()
	defer c.mu.Unlock()
	first := -1
	for i, t := range c.pending {
		if t.due.After(target) {
			continue
		}
		if first < 0 || t.due.Before(c.pending[first].due) {
			first = i
		}
	}
	if first < 0 {
		c.now = target
		return nil
	}
	t := c.pending[first]
	c.pending = slices.Delete(c.pending, first, first+1)
	if t.due.After(c.now) {
		c.now = t.due
	}
	return t.f
}

// AwaitTimer returns once a timer due exactly after from now is pending, so that a
// test advances only when the server has begun to wait. It fails when ctx ends.
func (c *ManualClock) AwaitTimer(ctx context.Context, after time.Duration) error {
	for {
		c.mu.Lock()
		due, changed := c.now.Add(after), c.changed
		found := slices.ContainsFunc(c.pending, func(t *manualTimer) bool { return t.due.Equal(due) })
		c.mu.Unlock()
		if found {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("await a timer due in %s: %w", after, ctx.Err())
		}
	}
}
