package credit

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"
)

// trouble is what a soak does to MT5, the store, the clock and the process while deposits come in.
type trouble struct {
	*world
	rng  *rand.Rand // of the scenario
	mu   sync.Mutex
	far  *rand.Rand // of MT5
	owe  []owed
	calm bool
}

// owed is an execution, or a deal's becoming visible, that MT5 still has before it: within the quarantine.
type owed struct {
	at time.Duration
	do func()
}

// owes is called with mu held.
func (s *trouble) owes(do func()) {
	s.owe = append(s.owe, owed{s.clock.Boot() + time.Duration(s.far.IntN(480))*time.Second, do})
}

// payUp does what has become due at MT5, or all of it.
func (s *trouble) payUp(all bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.owe = slices.DeleteFunc(s.owe, func(o owed) bool {
		due := all || o.at <= s.clock.Boot()
		if due {
			o.do()
		}
		return due
	})
}

func (s *trouble) odds(n int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.calm && s.far.IntN(n) == 0
}

// call ends as calls can: each way the design knows, with the deal before, after or without the answer.
func (s *trouble) call(_ int, c Call) CallResult {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calm {
		return s.mt5.apply(c)
	}
	switch s.far.IntN(10) {
	case 0:
		return CallResult{Outcome: OutcomeNotSent, Detail: "dial refused"}
	case 1:
		return CallResult{Outcome: OutcomeRefused, Code: "10019 no money"}
	case 2:
		return CallResult{Outcome: OutcomeUnknown, Detail: "never executed"}
	case 3:
		s.mt5.apply(c)
		return CallResult{Outcome: OutcomeUnknown, Detail: "reply lost"}
	case 4: // executed late, but within the quarantine
		s.owes(func() { s.mt5.apply(c) })
		return CallResult{Outcome: OutcomeUnknown, Detail: "queued"}
	case 5: // visible late, but within the quarantine
		ticket := s.mt5.apply(c).Ticket
		s.mt5.mu.Lock()
		s.mt5.hidden[ticket] = true
		s.mt5.mu.Unlock()
		s.owes(func() {
			s.mt5.mu.Lock()
			delete(s.mt5.hidden, ticket)
			s.mt5.mu.Unlock()
		})
		return CallResult{Outcome: OutcomeUnknown, Detail: "reply lost"}
	case 6:
		return CallResult{Outcome: OutcomeUnknown, Answered: true, Detail: "success without a ticket"}
	case 7: // a call that outlives its lease
		takes := time.Duration(s.far.IntN(300)) * time.Second
		s.mu.Unlock()
		time.Sleep(takes)
		s.mu.Lock()
		return s.mt5.apply(c)
	default:
		return s.mt5.apply(c)
	}
}

func (s *trouble) look(seen Sighting) Sighting {
	if s.odds(4) {
		seen.Complete, seen.Reason, seen.Deals = false, "page cut", nil
	}
	return seen
}

// step is half a minute of life.
func (s *trouble) step(n int) {
	switch s.rng.IntN(9) {
	case 0, 1:
		code := codeOf(n)
		e := paidEvent(n, s.clock.Now(), code, usd(50000+int64(n)))
		if s.rng.IntN(2) == 0 {
			s.receive(e)
		}
		s.deposit(code, 50000+int64(n), testLogin+uint64(s.rng.IntN(3)))
		s.receive(e)
	case 2:
		s.clock.step(time.Duration(s.rng.Int64N(int64(4*year))) - 2*year)
	case 3:
		s.clock.suspend(time.Duration(s.rng.IntN(600)) * time.Second)
	case 4:
		s.stop()
		s.newProcess()
		s.start()
	case 5:
		until := s.clock.Boot() + time.Duration(s.rng.IntN(40))*time.Second
		s.edit(func(b *memBook) {
			b.fault = func(string) error {
				if s.clock.Boot() < until {
					return ErrBusy
				}
				return nil
			}
		})
		s.pass(45 * time.Second)
	}
	s.pass(30 * time.Second)
}

// settled is invariant I-L1 with I-M1 and I-M4: whatever happened, no payment has two deals, every done row has
// exactly one, and whatever is not done has a task.
func (s *trouble) settled() error {
	deals := map[string]int{}
	for _, d := range s.mt5.deals {
		deals[d.Comment]++
	}
	s.book.mu.Lock()
	defer s.book.mu.Unlock()
	tasks := map[string]bool{}
	for _, t := range s.book.tasks {
		tasks[t.Entity] = tasks[t.Entity] || t.IsOpen()
	}
	for _, r := range s.book.sorted() {
		n := deals[string(r.Reference)]
		switch {
		case n > 1:
			return fmt.Errorf("credit %d has %d deals", r.ID, n)
		case r.State == Done && n != 1:
			return fmt.Errorf("credit %d is done with %d deals", r.ID, n)
		case r.State == Failed && n != 0:
			return fmt.Errorf("credit %d failed with a deal", r.ID)
		case r.State != Done && !tasks[RowEntity(r.ID)]:
			return fmt.Errorf("credit %d is %s %v without a task", r.ID, r.State, r.Holds)
		}
	}
	return nil
}

func TestSoak_NothingIsPaidTwiceOrForgotten(t *testing.T) {
	runs := 4
	if testing.Short() {
		runs = 1
	}
	seed := uint64(time.Now().UnixNano())
	for i := range runs {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Logf("seed %d, run %d", seed, i)
			inWorld(t, func(w *world) {
				s := &trouble{world: w, rng: rand.New(rand.NewPCG(seed, uint64(i))), far: rand.New(rand.NewPCG(seed+1, uint64(i)))}
				w.mt5.before = func(string) { s.payUp(false) }
				w.mt5.balance, w.mt5.look = s.call, s.look
				w.mt5.ready = func() error {
					if s.odds(10) {
						return errors.New("dial refused")
					}
					return nil
				}
				w.start()
				for n := range 60 {
					s.step(n + 1)
					if err := s.settledSoFar(); err != nil {
						t.Fatalf("seed %d, run %d, step %d: %v", seed, i, n, err)
					}
				}
				s.mu.Lock()
				s.calm = true
				s.mu.Unlock()
				w.edit(func(b *memBook) { b.fault = nil })
				s.payUp(true)
				w.pass(2 * time.Hour)
				if err := s.settled(); err != nil {
					t.Fatalf("seed %d, run %d: %v", seed, i, err)
				}
			})
		})
	}
}

// settledSoFar is what must hold at every moment: no reference twice in MT5.
func (s *trouble) settledSoFar() error {
	s.mt5.mu.Lock()
	defer s.mt5.mu.Unlock()
	seen := map[string]bool{}
	for _, d := range s.mt5.deals {
		if seen[d.Comment] {
			return fmt.Errorf("two deals with the reference %s", d.Comment)
		}
		seen[d.Comment] = true
	}
	return nil
}
