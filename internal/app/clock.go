package app

import (
	"context"
	"time"
)

// systemClock is the host's time. Boot goes on while the machine is suspended where the kernel has such a
// clock (Linux: CLOCK_BOOTTIME); a wait that spans a suspension ends late, which is the safe side.
type systemClock struct{}

// Now is the wall clock in UTC.
func (systemClock) Now() time.Time { return time.Now().UTC() }

// Boot is the boot-time clock.
func (systemClock) Boot() time.Duration { return bootTime() }

// Wait returns nil at until or on wake, and ctx's error when ctx ends first.
func (c systemClock) Wait(ctx context.Context, until time.Duration, wake <-chan struct{}) error {
	d := until - c.Boot()
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	case <-wake:
		return nil
	}
}
