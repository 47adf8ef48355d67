package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"creditonce/credit"
)

// Clock is a clock that a test moves: Wait jumps to the moment that it waits for, a set number of times.
type Clock struct {
	mu    sync.Mutex
	start time.Time
	boot  time.Duration
	waits int
}

// NewClock is a clock that stands at now until it is moved, and ends the loop that waits on it for the given time.
func NewClock(now time.Time, waits int) *Clock { return &Clock{start: now, waits: waits} }

var errEnoughRounds = errors.New("enough rounds")

// Now implements credit.Clock.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.start.Add(c.boot)
}

// Boot implements credit.Clock.
func (c *Clock) Boot() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.boot
}

// Move lets time pass.
func (c *Clock) Move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.boot += d
}

// Wait implements credit.Clock.
func (c *Clock) Wait(ctx context.Context, until time.Duration, _ <-chan struct{}) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waits--; c.waits <= 0 {
		return errEnoughRounds
	}
	c.boot = max(c.boot, until)
	return ctx.Err()
}

// MT5 is a server with deals and nothing else: as much as a Lane needs to move rows through an engine.
type MT5 struct {
	mu     sync.Mutex
	clock  *Clock
	last   uint64
	deals  []credit.Deal
	calls  int
	Answer func(credit.Call) (applies bool, r credit.CallResult) // nil: every call is applied and answered
	Ticket func() uint64                                         // nil: the next number
}

// Calls is how many balance calls came.
func (m *MT5) Calls() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls
}

// ByHand makes a deal as a dealer does at the terminal, with any comment.
func (m *MT5) ByHand(login uint64, a credit.Amount, comment string) credit.Deal {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last++
	d := credit.Deal{
		Ticket: m.last, Login: login, Action: credit.ActionBalance, Amount: a, Comment: comment, ServerTime: m.clock.Now().Unix(),
	}
	m.deals = append(m.deals, d)
	return d
}

// Edit changes a deal as an administrator can.
func (m *MT5) Edit(ticket uint64, change func(*credit.Deal)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.deals {
		if m.deals[i].Ticket == ticket {
			change(&m.deals[i])
		}
	}
}

// Delete removes a deal as an administrator can.
func (m *MT5) Delete(ticket uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.deals = slices.DeleteFunc(m.deals, func(d credit.Deal) bool { return d.Ticket == ticket })
}

// Deals lists the deals of a login, oldest first.
func (m *MT5) Deals(login uint64) []credit.Deal {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []credit.Deal
	for _, d := range m.deals {
		if d.Login == login {
			out = append(out, d)
		}
	}
	return out
}

// Ready implements credit.Session.
func (m *MT5) Ready(context.Context) error { return nil }

// Account implements credit.Session.
func (m *MT5) Account(_ context.Context, login uint64) (credit.AccountState, error) {
	return credit.AccountState{Login: login, Currency: "USD", Digits: 2}, nil
}

// Look implements credit.Session.
func (m *MT5) Look(_ context.Context, q credit.LookQuery) credit.Sighting {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c := q.Control; c != nil && !slices.ContainsFunc(m.deals, func(d credit.Deal) bool { return d.Ticket == c.Ticket }) {
		return credit.Sighting{Reason: fmt.Sprintf("deal %d, which MT5 showed before, is not shown", c.Ticket)}
	}
	s := credit.Sighting{Complete: true, Rows: len(m.deals), From: q.Earliest, Until: m.clock.Now(), Control: "fake"}
	for _, d := range m.deals {
		if d.Login == q.Login {
			s.Deals = append(s.Deals, d)
			s.Newest = &credit.Anchor{Ticket: d.Ticket, ServerTime: d.ServerTime}
		}
	}
	return s
}

// Relook implements credit.Session.
func (m *MT5) Relook(ctx context.Context, q credit.LookQuery, _ credit.Sighting) credit.Sighting {
	return m.Look(ctx, q)
}

// Balance implements credit.Session.
func (m *MT5) Balance(_ context.Context, c credit.Call) credit.CallResult {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls++
	applies, result := true, credit.CallResult{}
	if m.Answer != nil {
		applies, result = m.Answer(c)
	}
	if !applies {
		return result
	}
	m.last++
	ticket := m.last
	if m.Ticket != nil {
		ticket = m.Ticket()
	}
	m.deals = append(m.deals, credit.Deal{
		Ticket: ticket, Login: c.Login, Action: credit.ActionBalance, Amount: c.Amount,
		Comment: string(c.Reference), ServerTime: m.clock.Now().Unix(),
	})
	if m.Answer == nil {
		result = credit.CallResult{Outcome: credit.OutcomeApplied, Answered: true, Ticket: ticket, Code: "0 Done", Status: 200}
	}
	return result
}

// Deal implements credit.Session: the newest deal with the ticket.
func (m *MT5) Deal(_ context.Context, ticket uint64) (credit.Deal, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := len(m.deals) - 1; i >= 0; i-- {
		if m.deals[i].Ticket == ticket {
			return m.deals[i], nil
		}
	}
	return credit.Deal{}, credit.ErrNotFound
}

// Drop implements credit.Session.
func (m *MT5) Drop(string) {}

// silent is an Observer that hears nothing.
type silent struct{}

func (silent) Step(context.Context, credit.Step) {}
func (silent) Note(context.Context, credit.Note) {}
