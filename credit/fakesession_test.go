package credit

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// fakeMT5 is a server with its deals and one session of it. Scripts replace what a verb does; without one it is an
// honest and instant server. Use it inside a synctest bubble when it takes time.
type fakeMT5 struct {
	mu     sync.Mutex
	clock  *bubbleClock
	book   *memBook
	deals  []Deal
	hidden map[uint64]bool // deals that looks do not show yet
	next   uint64
	log    []string // the order of calls, balance calls with the state that their row had on disk
	lookAt []time.Duration
	calls  []Call
	query  []LookQuery

	offset      time.Duration
	lookTakes   time.Duration
	relookTakes time.Duration
	ready       func() error
	account     func(AccountState) (AccountState, error)
	look        func(Sighting) Sighting        // changes an honest sighting
	balance     func(n int, c Call) CallResult // n counts calls from 1; nil: apply
	deal        func(Deal, bool) (Deal, error)
	before      func(verb string) // runs before a verb, outside the lock
}

func (m *fakeMT5) enter(verb string) {
	m.mu.Lock()
	m.log = append(m.log, verb)
	m.mu.Unlock()
	if m.before != nil {
		m.before(verb)
	}
}

// Ready implements Session.
func (m *fakeMT5) Ready(context.Context) error {
	if m.ready != nil {
		return m.ready()
	}
	return nil
}

// Account implements Session.
func (m *fakeMT5) Account(_ context.Context, login uint64) (AccountState, error) {
	m.enter("account")
	st := AccountState{Login: login, Group: "real\\usd", Currency: "USD", Digits: 2}
	if m.account != nil {
		return m.account(st)
	}
	return st, nil
}

// Look implements Session.
func (m *fakeMT5) Look(_ context.Context, q LookQuery) Sighting {
	m.enter("look")
	time.Sleep(m.lookTakes)
	return m.see(q)
}

// Relook implements Session.
func (m *fakeMT5) Relook(_ context.Context, q LookQuery, _ Sighting) Sighting {
	m.enter("relook")
	time.Sleep(m.relookTakes)
	return m.see(q)
}

func (m *fakeMT5) see(q LookQuery) Sighting {
	m.mu.Lock()
	m.lookAt = append(m.lookAt, m.clock.Boot())
	m.query = append(m.query, q)
	s := Sighting{
		Complete: true, Offset: m.offset, From: q.Earliest.Add(-48 * time.Hour), Until: m.clock.Now().Add(24 * time.Hour),
		Control: "empty history",
	}
	for _, d := range m.deals {
		if d.Login == q.Login && !m.hidden[d.Ticket] {
			s.Deals, s.Rows = append(s.Deals, d), s.Rows+1
			s.Newest, s.Control = &Anchor{d.Ticket, d.ServerTime}, "last row"
		}
	}
	m.mu.Unlock()
	if m.look != nil {
		s = m.look(s)
	}
	return s
}

// Balance implements Session.
func (m *fakeMT5) Balance(ctx context.Context, c Call) CallResult {
	m.enter("balance on " + string(m.stateOf(c.Reference)))
	m.mu.Lock()
	m.calls = append(m.calls, c)
	n := len(m.calls)
	m.mu.Unlock()
	var r CallResult
	if m.balance == nil {
		r = m.apply(c)
	} else {
		r = m.balance(n, c)
	}
	if ctx.Err() != nil { // an adapter gives up a call whose context ended
		return CallResult{Outcome: OutcomeUnknown, Detail: ctx.Err().Error()}
	}
	return r
}

func (m *fakeMT5) stateOf(ref Reference) State {
	m.book.mu.Lock()
	defer m.book.mu.Unlock()
	for _, r := range m.book.rows {
		if r.Reference == ref {
			return r.State
		}
	}
	return New
}

// apply makes the deal and answers as an honest server does.
func (m *fakeMT5) apply(c Call) CallResult {
	d := m.add(c.Login, ActionBalance, c.Amount, string(c.Reference))
	return CallResult{Outcome: OutcomeApplied, Answered: true, Ticket: d.Ticket, Code: "0 Done", Status: 200}
}

func (m *fakeMT5) add(login uint64, action int, a Amount, comment string) Deal {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.next++
	d := Deal{
		Ticket: 1000 + m.next, Login: login, Action: action, Amount: a, Comment: comment, Dealer: 77,
		ServerTime: m.clock.Now().Add(m.offset).Unix(),
	}
	m.deals = append(m.deals, d)
	return d
}

// Deal implements Session.
func (m *fakeMT5) Deal(ctx context.Context, ticket uint64) (Deal, error) {
	m.enter("deal")
	if ctx.Err() != nil {
		return Deal{}, ctx.Err()
	}
	m.mu.Lock()
	var found Deal
	ok := false
	for _, d := range m.deals {
		if d.Ticket == ticket {
			found, ok = d, true
		}
	}
	m.mu.Unlock()
	switch {
	case m.deal != nil:
		return m.deal(found, ok)
	case !ok:
		return Deal{}, fmt.Errorf("deal %d: %w", ticket, ErrNotFound)
	}
	return found, nil
}

// Drop implements Session.
func (m *fakeMT5) Drop(string) { m.enter("drop") }

func (m *fakeMT5) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.deals)
}

func (m *fakeMT5) callCount() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.calls)
}

func (m *fakeMT5) took() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string(nil), m.log...)
}

func (m *fakeMT5) looks() []time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]time.Duration(nil), m.lookAt...)
}
