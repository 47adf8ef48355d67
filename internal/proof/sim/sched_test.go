// Package sim runs the whole deposit path - lanes, keeper, intake, portal, desk and the real store - under a scheduler of
// its own: every goroutine of it meets the scheduler at gates, between two gates exactly one runs, and every choice is
// drawn from one seed. Provider, MT5, clocks, process deaths and people are simulated. The same seed gives the same run.
package sim

import (
	"cmp"
	"container/heap"
	"context"
	"crypto/sha256"
	"fmt"
	"hash"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"time"
)

// actor is one goroutine of a process under test. It runs only between two gates, and only while the scheduler waits.
type actor struct {
	id      int
	name    string
	proc    *process
	ch      chan bool // true: go on; false: the process was killed
	body    func()
	started bool

	gate  string          // where it is parked
	until time.Duration   // on its machine's boot clock: asleep until then
	idle  time.Duration   // later than until: nothing is planned before, so polling would find nothing
	seen  uint64          // version of the store that idle was worked out for
	wake  <-chan struct{} // wakes it early
	ctx   context.Context // its end wakes it early
}

// happening is something that the world does at a time of its own.
type happening struct {
	at  time.Duration
	seq int
	do  func()
}

type agenda []*happening

func (a agenda) Len() int { return len(a) }
func (a agenda) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(a[i].at, a[j].at), cmp.Compare(a[i].seq, a[j].seq)) < 0
}
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(x any)   { *a = append(*a, x.(*happening)) }
func (a *agenda) Pop() any {
	old := *a
	last := old[len(old)-1]
	*a = old[:len(old)-1]
	return last
}

// sched is the scheduler: the one who runs, who is parked where, and the world's time.
type sched struct {
	rng     *rand.Rand
	begun   time.Time     // wall time of the world's 0
	now     time.Duration // of the world
	parked  []*actor      // by id
	current *actor
	back    chan struct{} // the running actor has parked or ended
	actors  int           // ids given
	todo    agenda
	seq     int
	steps   int // gates passed
	sticky  uint32
	doomed  *process // to be killed before anybody runs on

	hash    hash.Hash
	line    []byte
	lines   []string // the newest ones, or all of them
	keep    int      // how many lines are kept; 0: none, they are only hashed
	failure string
}

func newSched(seed uint64, keep int, begun time.Time) sched {
	return sched{
		rng: rand.New(rand.NewPCG(seed, 0x5eed)), begun: begun, back: make(chan struct{}), hash: sha256.New(), keep: keep,
	}
}

// note adds a line to the trace.
func (s *sched) note(format string, args ...any) {
	who := "world"
	if s.current != nil {
		who = s.current.name
	}
	s.line = fmt.Appendf(s.line[:0], "%d %v %s ", s.steps, s.now, who)
	s.line = fmt.Appendf(s.line, format, args...)
	s.line = append(s.line, '\n')
	s.hash.Write(s.line)
	if s.keep == 0 {
		return
	}
	if len(s.lines) >= 2*s.keep {
		s.lines = append(s.lines[:0], s.lines[len(s.lines)-s.keep:]...)
	}
	s.lines = append(s.lines, string(s.line[:len(s.line)-1]))
}

// fail keeps the first violation.
func (s *sched) fail(format string, args ...any) {
	if s.failure == "" {
		s.failure = fmt.Sprintf(format, args...)
		s.note("VIOLATION %s", s.failure)
	}
}

// spawn adds an actor; its body begins when the scheduler first releases it.
func (s *sched) spawn(p *process, name string, body func()) {
	s.actors++
	a := &actor{id: s.actors, name: fmt.Sprintf("%s/%s#%d", p.id, name, s.actors), proc: p, ch: make(chan bool), body: body, gate: "start"}
	p.actors++
	s.parked = append(s.parked, a)
}

// sleep parks the running actor for a while of its machine's boot clock.
func (s *sched) sleep(d time.Duration, name string) {
	a := s.current
	s.steps++
	a.until, a.idle, a.wake, a.ctx = a.proc.host.boot(s.now)+d, 0, nil, nil
	s.park(a, name)
}

func (s *sched) park(a *actor, name string) {
	a.gate = name
	at, _ := slices.BinarySearchFunc(s.parked, a.id, func(x *actor, id int) int { return cmp.Compare(x.id, id) })
	s.parked = slices.Insert(s.parked, at, a)
	s.back <- struct{}{}
	if !<-a.ch {
		runtime.Goexit()
	}
}

// release lets one parked actor run until it parks again or ends; alive false ends it here.
func (s *sched) release(a *actor, alive bool) {
	at := slices.Index(s.parked, a)
	s.parked = slices.Delete(s.parked, at, at+1)
	if !a.started && !alive {
		a.proc.actors--
		return
	}
	s.current = a
	if a.started {
		a.ch <- alive
	} else {
		a.started = true
		go s.live(a)
	}
	<-s.back
	s.current = nil
}

func (s *sched) live(a *actor) {
	defer func() {
		if r := recover(); r != nil {
			s.fail("panic in %s: %v\n%s", a.name, r, debug.Stack())
		}
		a.proc.actors--
		s.back <- struct{}{}
	}()
	a.body()
}

// ready tells whether the actor could go on now.
func (s *sched) ready(a *actor) bool { return s.readyAt(a) <= s.now }

// readyAt is when the actor can go on, if nothing wakes it earlier.
func (s *sched) readyAt(a *actor) time.Duration {
	p := a.proc
	at := time.Duration(0)
	if (a.ctx == nil || a.ctx.Err() == nil) && len(a.wake) == 0 {
		until := a.until
		if a.idle > until && a.seen == p.file.version {
			until = a.idle
		}
		if until > 0 {
			at = p.host.world(until)
		}
	}
	return max(at, p.paused)
}

// after plans something that the world does in d.
func (s *sched) after(d time.Duration, do func()) {
	s.seq++
	heap.Push(&s.todo, &happening{s.now + max(d, 0), s.seq, do})
}

// advance lets the world's time go on to a moment, with everything that happens on the way.
func (s *sched) advance(to time.Duration) {
	for len(s.todo) > 0 && s.todo[0].at <= to && s.failure == "" {
		h := heap.Pop(&s.todo).(*happening)
		s.moveTo(h.at)
		h.do()
	}
	s.moveTo(to)
}

func (s *sched) moveTo(at time.Duration) {
	if at > s.now {
		time.Sleep(at - s.now) // the bubble's clock is the world's
		s.now = at
	}
}

// next is the first moment at which anything can go on; ok is false when nothing ever will.
func (s *sched) next() (at time.Duration, ok bool) {
	if len(s.todo) > 0 {
		at, ok = s.todo[0].at, true
	}
	for _, a := range s.parked {
		if w := s.readyAt(a); !ok || w < at {
			at, ok = w, true
		}
	}
	return at, ok
}

// turn is one step: an actor runs on, or time does.
func (s *sched) turn(lazy uint32) bool {
	var able []*actor
	for _, a := range s.parked {
		if s.ready(a) {
			able = append(able, a)
		}
	}
	switch {
	case len(able) == 0:
		at, ok := s.next()
		if !ok {
			return false
		}
		s.advance(max(at, s.now))
	case s.rng.Uint32N(256) < lazy:
		s.advance(s.now + s.spread(time.Millisecond, 4*time.Second))
	default:
		s.release(able[s.rng.IntN(len(able))], true)
	}
	return true
}

// between draws a duration evenly.
func (s *sched) between(low, high time.Duration) time.Duration {
	if high <= low {
		return low
	}
	return low + time.Duration(s.rng.Int64N(int64(high-low)))
}

// spread draws a duration over orders of magnitude: short ones are as likely as long ones.
func (s *sched) spread(low, high time.Duration) time.Duration {
	d := low
	for d < high && s.rng.IntN(4) != 0 {
		d *= 2
	}
	return s.between(d/2, min(d, high))
}

func (s *sched) oneIn(n int) bool { return s.rng.IntN(n) == 0 }

func pick[T any](s *sched, from []T) T { return from[s.rng.IntN(len(from))] }
