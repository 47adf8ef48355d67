package sim

import (
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"creditonce/credit"
	"creditonce/internal/invariant"
)

// options are what a run is made with, beside its seed.
type options struct {
	off   map[fault]bool // faults that are not used
	force []fault        // faults that every run has, at their most frequent
	steps int            // gates until the calm; 0: drawn
	keep  int            // trace lines to keep
	finds string         // a failure of this kind ends the search

	// What a test of the simulation breaks: the waits, what a look is taken for, the world, what a start compares.
	timing func(*credit.Timing)
	trust  func(credit.Sighting) credit.Sighting
	world  func(*sim)
	blind  bool
}

// sim is one run: the world, and the processes under test in it.
type sim struct {
	sched
	seed      uint64
	options   options
	faults    faults
	calm      bool // the faults are over
	patient   bool // loops really poll every second
	lazy      uint32
	timing    credit.Timing
	dayLimits map[string]credit.Amount
	label     string

	hosts     []*machine
	witness   string
	backup    *backup
	files     []*file
	checker   invariant.Checker
	processes []*process
	lives     int
	tokens    int
	doomedBy  string
	free      uint64
	mt5       *mt5Server

	payments   []*payment
	deliveries []*delivery
	listing    []listed // newest first
	listDown   time.Duration
	pulls      bool // the configuration has a key for the provider's list
	pullEvery  time.Duration
	requests   []*request
	acked      []ack
	meant      map[uint64]string // ticket made by hand for a payment -> the payment
	dirty      bool
	absentOnce map[credit.ID]bool
	seen       [sometimesCount]int
}

type ack struct {
	event  credit.EventID
	key    string
	digest string
}

// result is what a run came to.
type result struct {
	seed    uint64
	failure string
	hash    string
	faults  []string
	steps   int
	spent   time.Duration // of the world
	lines   []string
	story   []string // rows and MT5's journal, of a failure
	seen    [sometimesCount]int
}

// run plays one seed. It must be called inside a synctest bubble.
func run(seed uint64, dir string, o options) (r result) {
	s := &sim{sched: newSched(seed, o.keep, time.Now()), seed: seed, options: o, free: roomy, label: firstLabel, meant: map[uint64]string{}, absentOnce: map[credit.ID]bool{}}
	path := filepath.Join(dir, fmt.Sprintf("%d.db", seed))
	s.witness = filepath.Join(dir, fmt.Sprintf("%d.witness", seed))
	defer func() {
		for _, f := range s.files {
			_ = os.Remove(f.path)
		}
		_ = os.RemoveAll(path + ".copy")
		_, _ = os.Remove(s.witness), os.Remove(path+".backup")
	}()
	s.draw()
	if err := s.lay(path); err != nil {
		s.fail("lay the store: %v", err)
		return s.result()
	}
	s.mt5 = newServer(s)
	if o.timing != nil {
		o.timing(&s.timing)
	}
	if o.world != nil {
		o.world(s)
	}
	if o.timing != nil || o.world != nil || o.trust != nil {
		w := s.world()
		w.Quarantine, w.SecondLook, w.Lease = 0, 0, 0
	}
	s.plan()
	s.mischief()
	s.start(s.hosts[0], s.files[0])
	for looked := 0; s.failure == "" && s.steps < s.options.steps && s.now < 3*time.Hour; {
		s.tend()
		if !s.turn(s.lazy) || (s.steps > looked && s.over()) {
			break
		}
		if s.steps > looked {
			looked = s.steps + 20
		}
		s.check()
	}
	s.settle()
	s.end()
	return s.result()
}

// world is what the invariants judge: of the first store, which the others are copies of.
func (s *sim) world() *invariant.World { return s.files[0].world }

// draw chooses what kind of run this is.
func (s *sim) draw() {
	s.faults = s.drawFaults(s.options.off)
	for _, f := range s.options.force {
		s.faults[f] = menu[f].rate
	}
	steps := 200 + s.rng.IntN(700)
	if s.options.steps == 0 {
		s.options.steps = steps
	}
	s.patient = s.oneIn(40)
	s.lazy = uint32(pick(&s.sched, []int{0, 4, 16, 48}))
	s.sticky = uint32(pick(&s.sched, []int{0, 64, 160, 220}))
	s.timing = credit.DefaultTiming()
	if s.oneIn(3) {
		s.timing.Quarantine = credit.MinQuarantine
	}
	if !s.oneIn(20) {
		s.timing.Watch = time.Hour // two days of looks every ten minutes are two days of the same
	}
	if s.oneIn(4) {
		s.dayLimits = map[string]credit.Amount{"USD": usd(3000)}
	}
	s.pulls, s.pullEvery = s.oneIn(2), pick(&s.sched, []time.Duration{5 * time.Minute, 15 * time.Minute})
	s.hosts = []*machine{{name: "host-1", booted: -s.between(10*time.Second, 1000*time.Hour)}}
}

// tend sees to the processes: the doomed die, the dead get a successor.
func (s *sim) tend() {
	for _, p := range slices.Clone(s.processes) {
		switch {
		case s.doomed == p || p.stopped:
			s.kill(p, s.doomedBy)
			if s.strikes(rebootHost) && !slices.ContainsFunc(s.processes, func(o *process) bool { return o.host == p.host }) {
				p.host.booted = s.now - s.between(5*time.Second, time.Minute)
				s.count(hostRebooted)
			}
		case p.ctx.Err() != nil && p.actors == 0:
			s.note("%s has stopped", p.id)
			s.bury(p)
		default:
			continue
		}
		if s.strikes(pspRenamed) {
			s.label = otherLabel
			s.count(labelRenamed)
		}
		if p.file != s.files[0] {
			continue
		}
		s.betweenLives(p)
		s.restart(p.host, p.file)
	}
}

// over tells that nothing is left that a fault could spoil: every row is settled for good, and nothing more will come.
func (s *sim) over() bool {
	if s.backup != nil && !s.backup.done {
		return false
	}
	for _, d := range s.deliveries {
		if !d.acked || d.more > 0 {
			return false
		}
	}
	for _, r := range s.requests {
		if !r.made && !r.never {
			return false
		}
	}
	for i := range s.world().Rows {
		if c := &s.world().Rows[i].Credit; !c.State.Terminal() || !c.WatchUntil.IsZero() {
			return false
		}
	}
	return true
}

// pass is a gate: the scheduler may let others run first, or kill the process here.
func (s *sim) pass(name string) {
	a := s.current
	s.steps++
	s.note("%s", name)
	if s.strikes(killAtGate) {
		s.doom(a.proc, "at "+name)
	}
	if s.doomed != a.proc && s.rng.Uint32N(256) < s.sticky {
		return
	}
	a.until, a.idle, a.wake, a.ctx = 0, 0, nil, nil
	s.park(a, name)
}

// settle ends the faults and lets days pass until nothing is in motion (invariant I-L1).
func (s *sim) settle() {
	s.calm, s.free, s.mt5.downTill, s.listDown = true, roomy, 0, 0
	clear(s.mt5.archived)
	for _, p := range s.processes {
		p.paused = 0
	}
	s.note("the faults are over")
	s.after(time.Second, s.goLive)
	bound := s.now + 12*time.Hour
	for turns := 0; s.failure == ""; turns++ {
		s.tend()
		at, _ := s.next()
		if (turns%16 == 0 || at > s.now+time.Minute) && s.unsettled() == "" {
			break
		}
		if s.now > bound {
			s.fail("I-L1: after 12 quiet hours %s", s.unsettled())
			return
		}
		if !s.turn(0) {
			s.fail("I-L1: nothing will ever happen again, and %s", s.unsettled())
			return
		}
		s.check()
	}
	s.steps++
}

// end compares the store with everything that was said about it, and leaves no goroutine.
func (s *sim) end() {
	if p := s.serving(); p != nil && s.failure == "" {
		s.current = nil
		s.compareWithStore(p)
		s.verify(p)
	}
	for len(s.processes) > 0 {
		s.kill(s.processes[0], "the run is over")
	}
	if len(s.parked) > 0 {
		s.fail("I-L4: %d goroutines are left", len(s.parked))
	}
}

func (s *sim) result() result {
	return result{
		seed: s.seed, failure: s.failure, hash: hex.EncodeToString(s.hash.Sum(nil)[:8]), faults: s.faults.names(), steps: s.steps, spent: s.now,
		lines: s.lines, story: s.story(), seen: s.seen,
	}
}

// story tells, of a failure, what every row went through and what MT5 did.
func (s *sim) story() []string {
	if s.failure == "" || s.options.keep == 0 {
		return nil
	}
	var out []string
	for _, f := range s.files {
		for _, r := range f.world.Rows {
			row := &r.Credit
			out = append(out, fmt.Sprintf("%s credit %d: %s %v, login %d, %s, %s, ticket %d", f.name, row.ID, row.State, row.Holds, row.Login, row.Amount, row.Reference, row.Ticket))
			for _, e := range r.History {
				out = append(out, fmt.Sprintf("    %d %s %s: %s %s->%s %s", e.Seq, e.At.Format(time.TimeOnly), e.Actor, e.Move, e.From, e.To, e.Reason))
			}
		}
		for i := range f.world.Tasks {
			if t := &f.world.Tasks[i]; t.IsOpen() {
				out = append(out, fmt.Sprintf("%s task %d: %s %s: %s", f.name, t.ID, t.Kind, t.Entity, t.Summary))
			}
		}
	}
	for _, o := range s.mt5.orders {
		out = append(out, fmt.Sprintf("mt5 order %s on %d over %s sent at %v, executed %t", o.Reference, o.Login, o.Amount, o.sent, o.deal != nil))
	}
	for _, d := range s.mt5.deals {
		out = append(out, fmt.Sprintf("mt5 deal %d on %d over %s comment %q dealer %d visible from %v, gone %t", d.Ticket, d.Login, d.Amount, d.Comment, d.Dealer, d.visible, d.gone))
	}
	return out
}

var background = context.Background()
