package credit

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// modelClock is the process's clock: boot is moved by the scripted session only.
type modelClock struct{ boot time.Duration }

func (c *modelClock) Now() time.Time      { return modelNow.Add(c.boot - modelBoot) }
func (c *modelClock) Boot() time.Duration { return c.boot }
func (c *modelClock) Wait(context.Context, time.Duration, <-chan struct{}) error {
	return errors.New("nothing in the model waits")
}

type modelSilence struct{}

func (modelSilence) Step(context.Context, Step) {}
func (modelSilence) Note(context.Context, Note) {}

// modelStop ends the lane's own code at a point where other things may happen before it goes on.
type modelStop struct{}

// stops runs the product's code up to such a point and tells that it got there.
func stops(f func() error) (stopped bool, err error) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(modelStop); !ok {
				panic(r)
			}
			stopped = true
		}
	}()
	return false, f()
}

// modelSession is MT5 as one step of the lane meets it.
type modelSession struct {
	clock   *modelClock
	account AccountState  // as it is now
	earlier *AccountState // what the first question is answered with, where that was asked before now
	deals   []Deal        // that a look shows
	stop    string        // verb at which the step ends: "look", "balance"
	call    *Call
}

func (s *modelSession) Ready(context.Context) error { return nil }

func (s *modelSession) Account(context.Context, uint64) (AccountState, error) {
	if s.earlier != nil {
		st := *s.earlier
		s.earlier = nil
		return st, nil
	}
	s.clock.boot = modelBoot
	return s.account, nil
}

func (s *modelSession) Look(_ context.Context, q LookQuery) Sighting {
	if s.stop == "look" {
		panic(modelStop{})
	}
	s.clock.boot = modelBoot
	out := Sighting{Complete: true, Control: "last row"}
	for _, d := range s.deals {
		if d.Login == q.Login {
			out.Deals = append(out.Deals, d)
		}
	}
	return out
}

func (s *modelSession) Relook(ctx context.Context, q LookQuery, _ Sighting) Sighting {
	return s.Look(ctx, q)
}

func (s *modelSession) Balance(_ context.Context, c Call) CallResult {
	s.call = &c
	panic(modelStop{})
}

func (s *modelSession) Deal(_ context.Context, ticket uint64) (Deal, error) {
	for _, d := range s.deals {
		if d.Ticket == ticket {
			return d, nil
		}
	}
	return Deal{}, ErrNotFound
}

func (s *modelSession) Drop(string) {}

// modelEnv is everything beside the row that one decision sees. It is part of the key under which the decision is kept.
type modelEnv struct {
	settings       modelSettings
	deposit, moved bool   // the store has the deposit's record; it knows that the login has another client
	busy           bool   // another row of the login is claimed or unknown
	other          uint64 // ticket on the other row
	taken          bool   // the other row has taken the deposit that both name
	further        bool   // the other row came to the deposit that this one took
	started        uint8  // ticks since the process started
	asked          uint8  // ticks since the account was read, or since a look was begun
	changed        bool   // MT5 has made another account of the login
	seen           uint8  // bits of deals that a look shows, see model.deals
	live           bool   // a call for the row is under way
	verdict        Verdict
	ticket         uint64
	outcome        Outcome
	act            string
	stopped        uint16 // tasks about the login's other row that stop claims on the login
	old            bool   // the payment is older than the restore
	waits          bool   // no claim before the quarantine after the start of the process
}

// modelStep is what one decision made of a row.
type modelStep struct {
	row      modelRow
	reached  bool // the step went on: to the look, to the claim, to the call
	asked    uint8
	deadline uint8 // ticks from now until the call may no longer leave
	verdict  Verdict
	ticket   uint64
	refused  string
	unproven string
	call     Call
}

type modelKey struct {
	what string
	unit int
	row  modelRow // as it is
	was  modelRow // as the caller read it before
	env  modelEnv
}

func (m *model) process(started uint8) Process {
	age := time.Duration(started) * modelTick
	return Process{ID: modelProcess, Started: modelBoot - age, At: modelNow.Add(-age)}
}

func (m *model) clockAt(age uint8) *modelClock {
	return &modelClock{boot: modelBoot - time.Duration(age)*modelTick}
}

// lane is the product's lane over the store of one row.
func (m *model) lane(k modelKey, s *modelSession) (*Lane, *rowBook) {
	b := m.book(k)
	if s.clock == nil {
		s.clock = m.clockAt(0)
	}
	s.account = m.accountAtMT5(k.env.changed)
	from := time.Duration(0)
	if k.env.waits {
		from = m.process(k.env.started).Started + m.timing.Quarantine
	}
	return &Lane{
		ClaimsFrom: from, Server: testServer, Shards: 1, Book: b, Session: s, Clock: s.clock, Observer: modelSilence{}, Process: m.process(k.env.started),
		Timing: m.timing, Live: &LiveCalls{}, Token: func() string { return "token" },
	}, b
}

func (m *model) accountAtMT5(changed bool) AccountState {
	st := AccountState{Login: testLogin, Currency: "USD", Digits: 2}
	if changed {
		st.Refusal = "the account is in a group that the configuration does not allow"
	}
	return st
}

// accountOf is the answer for the row's login.
func (m *model) answerFor(s *modelSession, login uint64) { s.account.Login = login }

// once makes a decision, or finds it where it was made before.
func (m *model) once(k modelKey, decide func(k modelKey) modelStep) modelStep {
	if out, ok := m.made[k]; ok {
		return out
	}
	out := decide(k)
	m.made[k] = out
	return out
}

func (m *model) ended(b *rowBook, err error) modelStep {
	if err != nil && !errors.Is(err, ErrConflict) && !errors.Is(err, ErrRefused) {
		panic(fmt.Sprintf("the model met an error that nothing in it may cause: %v", err))
	}
	out := modelStep{row: m.rows.keep(b.file)}
	if err != nil {
		out.refused = err.Error()
	}
	for _, e := range b.moved {
		if err := unproven(e); err != nil {
			out.unproven = err.Error()
		}
	}
	return out
}

// take begins the turn of a pending row: pay up to the look.
func (m *model) take(k modelKey) modelStep {
	s := &modelSession{stop: "look"}
	l, b := m.lane(k, s)
	d, _ := b.Dossier(context.Background(), 0)
	m.answerFor(s, d.Row.Login)
	reached, err := stops(func() error { return l.pay(context.Background(), d, nil) })
	out := m.ended(b, err)
	out.reached = reached
	return out
}

// lookFirst goes on from the account's answer through prepare: the look before the call, and what it decides.
func (m *model) lookFirst(k modelKey) modelStep {
	s := &modelSession{clock: m.clockAt(k.env.asked), deals: m.deals(k.env.seen)}
	l, b := m.lane(k, s)
	d := m.dossier(k, k.was)
	m.answerFor(s, d.Row.Login)
	before := m.accountAtMT5(false)
	before.Login = d.Row.Login
	s.earlier = &before
	fresh, look, _, err := l.prepare(context.Background(), d)
	out := m.ended(b, err)
	out.reached = look != nil
	out.asked = uint8((modelBoot - fresh) / modelTick)
	return out
}

// claim goes on from an absent look through claimAndCall, up to the call.
func (m *model) claim(k modelKey) modelStep {
	s := &modelSession{}
	l, b := m.lane(k, s)
	row := m.rows.of(k.was).row
	fresh := modelBoot - time.Duration(k.env.asked)*modelTick
	mark := Mark{Process: modelProcess, Boot: fresh}
	look := &LookEvidence{Verdict: VerdictAbsent, Complete: true, Started: mark}
	reached, err := stops(func() error { return l.claimAndCall(context.Background(), row, fresh, look, nil) })
	out := m.ended(b, err)
	out.reached = reached
	if reached {
		out.call = *s.call
		out.deadline = uint8(min((s.call.Deadline-modelBoot)/modelTick, 9))
	}
	return out
}

// record writes what the call of the attempt that claimed k.was gave.
func (m *model) record(k modelKey) modelStep {
	s := &modelSession{deals: m.deals(k.env.seen)}
	l, b := m.lane(k, s)
	r := CallResult{Outcome: k.env.outcome, Ticket: k.env.ticket, Answered: k.env.outcome == OutcomeApplied}
	return m.ended(b, l.record(context.Background(), m.rows.of(k.was).row, "token", r))
}

// see makes a look at an unknown row; only what it means is kept.
func (m *model) see(k modelKey) modelStep {
	s := &modelSession{deals: m.deals(k.env.seen)}
	l, b := m.lane(k, s)
	d, _ := b.Dossier(context.Background(), 0)
	_, match, _, err := l.look(context.Background(), d, nil)
	out := m.ended(b, err)
	out.verdict, out.ticket = match.Verdict, match.Deal.Ticket
	return out
}

// looked decides on a look that was made k.env.asked ticks ago, by the loop or, by hand, by a person.
func (m *model) looked(k modelKey, byHand bool) modelStep {
	l, b := m.lane(k, &modelSession{})
	started := Mark{Process: modelProcess, Boot: modelBoot - time.Duration(k.env.asked)*modelTick, At: modelNow}
	ev := &LookEvidence{Verdict: k.env.verdict, Complete: k.env.verdict != VerdictNoAnswer, Started: started}
	if byHand {
		d, _ := b.Dossier(context.Background(), 0)
		dec, err := Examined(d, modelPeople, m.guard(k), ev)
		return m.decided(b, d.Row, dec, err)
	}
	match := Match{Verdict: k.env.verdict, Deal: m.deal(k.env.ticket)}
	_, err := l.advance(context.Background(), b.file.row.ID, m.forgetting(l.decideLooked(match, ev, nil, k.env.live)))
	return m.ended(b, err)
}

// forgetting leaves out of the dossier what a rule that is switched off would have read there.
func (m *model) forgetting(decide Decide) Decide {
	if !m.off.successNever {
		return decide
	}
	return func(d Dossier) (Decision, error) {
		d.Row.Answered = false
		return decide(d)
	}
}

// restart is a process start over the store.
func (m *model) restart(k modelKey) modelStep {
	_, b := m.lane(k, &modelSession{})
	b.file = *m.rows.of(m.rows.carriedOver(k.row))
	return m.ended(b, m.keeper(k, b).Start(context.Background()))
}

// sweep is one round of the keeper.
func (m *model) sweep(k modelKey) modelStep {
	_, b := m.lane(k, &modelSession{})
	return m.ended(b, m.keeper(k, b).round(context.Background()))
}

func (m *model) keeper(k modelKey, b *rowBook) *Keeper {
	return &Keeper{Book: b, Clock: m.clockAt(0), Observer: modelSilence{}, Process: m.process(k.env.started), Timing: m.timing}
}
