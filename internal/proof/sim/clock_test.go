package sim

import (
	"context"
	"time"

	"creditonce/credit"
)

// machine is a host with its two clocks. The boot clock goes on while the machine sleeps; the wall clock can be set.
type machine struct {
	name   string
	booted time.Duration // world time at which the boot clock was 0
	wall   time.Duration // what the wall clock is wrong by
}

func (m *machine) boot(now time.Duration) time.Duration   { return now - m.booted }
func (m *machine) world(boot time.Duration) time.Duration { return boot + m.booted }

// clock is credit.Clock of one process.
type clock struct{ p *process }

var _ credit.Clock = clock{}

func (c clock) Now() time.Time {
	s := c.p.sim
	return s.begun.Add(s.now + c.p.host.wall).UTC()
}

func (c clock) Boot() time.Duration { return c.p.host.boot(c.p.sim.now) }

// Wait parks the actor. Lanes and keeper poll their store every second; polls that are sure to find nothing are left out
// unless the run is a patient one: an actor whose store does not change wakes when the next thing is planned.
func (c clock) Wait(ctx context.Context, until time.Duration, wake <-chan struct{}) error {
	s := c.p.sim
	a := s.current
	s.steps++
	a.until, a.wake, a.ctx, a.idle = until, wake, ctx, 0
	if !s.patient && until > c.Boot() {
		a.idle, a.seen = c.p.planned(a), c.p.file.version
	}
	s.park(a, "wait")
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case <-wake:
	default:
	}
	return nil
}

// planned is the boot time at which a loop of the process next has something to do.
func (p *process) planned(a *actor) time.Duration {
	const never = time.Hour
	if r := p.file.world.Settings.Restore; r != nil && (r.MovedAt.IsZero() || (!r.ReleasedAt.IsZero() && r.FreedAt.IsZero())) {
		return 0 // rows are being moved or freed, piece by piece
	}
	next := p.clock().Boot() + never
	scale := func(at time.Time) time.Duration { return at.Sub(p.info.At) + p.info.Started }
	for i := range p.file.world.Rows {
		row := &p.file.world.Rows[i].Credit
		switch row.State {
		case credit.Claimed:
			if row.LeaseUntil.Process != p.info.ID {
				return 0
			}
			next = min(next, row.LeaseUntil.Boot)
		case credit.Pending:
			if p.file.mode() != credit.ModeLive {
				continue
			}
			next = min(next, max(scale(row.NextAt), p.claimsFrom))
		case credit.Held, credit.Unknown, credit.Done:
			if !row.NextAt.IsZero() {
				next = min(next, scale(row.NextAt))
			}
		case credit.New, credit.Failed, credit.Cancelled:
		}
	}
	return next
}
