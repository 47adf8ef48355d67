package sim

import (
	"time"

	"creditonce/credit"
)

// mischief plans what befalls clocks, processes and MT5 from outside.
func (s *sim) mischief() {
	s.often(peopleAct, time.Minute, s.people)
	s.again(pauseProcess, 4*time.Minute, s.pause)
	s.again(stopProcess, 8*time.Minute, s.cleanStop)
	s.again(wallJump, 5*time.Minute, s.jump)
	s.again(lowSpace, 6*time.Minute, s.fillDisk)
	s.again(sessionDown, 6*time.Minute, func() {
		s.mt5.downTill = s.now + s.spread(time.Second, 25*time.Minute)
		s.note("mt5 is away until %v", s.mt5.downTill)
	})
	s.again(lookAlikes, 3*time.Minute, s.byHand)
	s.again(loginArchived, 10*time.Minute, s.archive)
	s.again(zoneShift, 10*time.Minute, func() {
		s.mt5.offset += time.Duration(1-2*s.rng.IntN(2)) * time.Hour
		s.count(zoneShifted)
		s.note("mt5's clock is now at %v", s.mt5.offset)
	})
	s.often(mt5Restored, 25*time.Minute, func() { s.mt5.restore() })
	s.again(listIsDown, 10*time.Minute, s.loseList)
	s.again(ownerChanges, 8*time.Minute, func() {
		login := pick(&s.sched, logins)
		s.register(login, "client-other")
		s.after(s.spread(time.Minute, 30*time.Minute), func() { s.register(login, clientOf(login)) })
	})
	s.often(backupByHand, 4*time.Minute, func() { s.takeBackup(false) })
	s.often(backupByCommand, 4*time.Minute, func() { s.takeBackup(true) })
	s.often(storeCopied, 8*time.Minute, s.copyStore)
	if s.faults[goLiveLater] > 0 {
		s.after(s.spread(time.Second, 20*time.Minute), s.goLive)
	}
}

// often plans a thing once, where the run has its fault.
func (s *sim) often(f fault, about time.Duration, do func()) {
	if s.faults[f] > 0 {
		s.after(s.spread(time.Second, 2*about), func() {
			if !s.calm {
				do()
			}
		})
	}
}

// again plans a thing over and over, where the run has its fault.
func (s *sim) again(f fault, about time.Duration, do func()) {
	if s.faults[f] == 0 {
		return
	}
	var next func()
	next = func() {
		if s.calm {
			return
		}
		if s.strikes(f) {
			do()
		}
		s.after(s.spread(time.Second, 2*about), next)
	}
	s.after(s.spread(time.Second, about), next)
}

// pause stops a process, or its machine, for a while: the boot clock goes on.
func (s *sim) pause() {
	if p := s.serving(); p != nil {
		p.paused = s.now + s.spread(time.Second, 12*time.Minute)
		s.count(processPaused)
		s.note("%s is paused until %v", p.id, p.paused)
		s.after(p.paused-s.now, func() {})
	}
}

// cleanStop is a stop by the service manager; what has not ended in time is killed.
func (s *sim) cleanStop() {
	p := s.serving()
	if p == nil || p.ctx.Err() != nil {
		return
	}
	s.note("%s is told to stop", p.id)
	p.up = false
	p.cancel()
	s.count(cleanlyStopped)
	s.after(45*time.Second, func() { s.doom(p, "it did not stop in time") })
}

func (s *sim) jump() {
	host := s.hosts[0]
	switch s.rng.IntN(3) {
	case 0:
		host.wall = 0
	case 1:
		host.wall += s.between(-time.Hour, time.Hour)
	default:
		host.wall = s.between(-300*24*time.Hour, 300*24*time.Hour)
	}
	s.count(wallJumped)
	s.note("the wall clock is off by %v", host.wall)
}

func (s *sim) fillDisk() {
	s.free = pick(&s.sched, []uint64{claimFloor / 2, intakeFloor / 2})
	s.count(diskWasLow)
	s.note("the disk has %d bytes", s.free)
	s.after(s.spread(time.Second, 20*time.Minute), func() { s.free = roomy })
}

// byHand is a deal that people at MT5 make: for a payment that waits too long, or for something else of the same amount.
func (s *sim) byHand() {
	p := s.serving()
	if p == nil || len(p.file.world.Rows) == 0 {
		return
	}
	row := s.anyRow(p)
	if row.Login == 0 || s.mt5.archived[row.Login] {
		return
	}
	comment := pick(&s.sched, []string{"", "deposit", "bonus 2026", row.Unit.Payment})
	d := s.mt5.make(row.Login, row.DealAmount(), comment, 12)
	s.count(madeByHand)
	if s.oneIn(2) && row.State == credit.Held {
		s.meant[d.Ticket] = row.Unit.Payment
	}
	s.note("somebody makes deal %d on %d over %s by hand, comment %q", d.Ticket, d.Login, d.Amount, comment)
}

func (s *sim) archive() {
	login := pick(&s.sched, logins)
	s.mt5.archived[login] = true
	s.note("login %d is archived", login)
	s.after(s.spread(time.Minute, 30*time.Minute), func() { s.mt5.archived[login] = false })
}
