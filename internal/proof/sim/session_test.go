package sim

import (
	"context"
	"errors"
	"fmt"
	"time"

	"creditonce/credit"
)

const callTimeout = 20 * time.Second

// session is one session of a process with the server: honest about what the real adapter would know.
type session struct {
	p     *process
	name  string
	money bool // may call balance operations
}

var _ credit.Session = (*session)(nil)

var errTimeout = errors.New("no answer within the time-out")

// Ready implements credit.Session.
func (x *session) Ready(context.Context) error {
	s := x.p.sim
	if s.now < s.mt5.downTill {
		s.count(sessionWasDown)
		return errors.New("dial refused")
	}
	return nil
}

// ask is one round trip that changes nothing at MT5.
func (x *session) ask(what string) error {
	s := x.p.sim
	s.sleep(s.spread(2*time.Millisecond, 80*time.Millisecond), what)
	if s.now < s.mt5.downTill {
		return errors.New("connection refused")
	}
	if s.strikes(readFails) {
		s.sleep(s.between(time.Second, callTimeout), "no answer")
		return errTimeout
	}
	return nil
}

// Account implements credit.Session.
func (x *session) Account(_ context.Context, login uint64) (credit.AccountState, error) {
	s := x.p.sim
	if err := x.ask("account"); err != nil {
		return credit.AccountState{}, err
	}
	if s.mt5.archived[login] {
		s.count(loginWasMissing)
		return credit.AccountState{}, fmt.Errorf("account %d: %w", login, credit.ErrNotFound)
	}
	if s.strikes(wrongLogin) {
		s.count(wrongLoginAnswered)
		login++
	}
	return credit.AccountState{Login: login, Group: `real\usd`, Currency: "USD", Digits: 2}, nil
}

// Look implements credit.Session.
func (x *session) Look(_ context.Context, q credit.LookQuery) credit.Sighting {
	seen := x.look(q, 1+x.p.sim.mt5.pages[q.Login])
	if trust := x.p.sim.options.trust; trust != nil {
		seen = trust(seen)
	}
	return seen
}

// Relook implements credit.Session.
func (x *session) Relook(_ context.Context, q credit.LookQuery, before credit.Sighting) credit.Sighting {
	x.p.sim.count(lookedAgain)
	return x.look(q, 1)
}

// look reads pages. What was visible at its beginning is in a complete answer; what became so on the way may be.
func (x *session) look(q credit.LookQuery, pages int) credit.Sighting {
	s := x.p.sim
	begun := s.now
	for left := pages; left > 0; left -= 40 {

		s.sleep(time.Duration(min(left, 40))*s.between(10*time.Millisecond, 200*time.Millisecond), credit.StepLookPage)
	}
	from := q.Earliest.Add(-48 * time.Hour)
	seen := credit.Sighting{Offset: s.mt5.offset, From: from, Until: s.begun.Add(s.now + 24*time.Hour).UTC()}
	switch {
	case s.now < s.mt5.downTill:
		seen.Reason = "connection refused"
		return seen
	case s.mt5.archived[q.Login]:
		seen.Reason, seen.LoginMissing = "MT5 says that the login does not exist", true
		return seen
	case s.strikes(lookFails):
		seen.Reason = pick(&s.sched, []string{"page cut", "a row of another login", "a ticket came twice", errTimeout.Error()})
		s.count(pageWasCut)
		return seen
	}
	at := begun
	if s.oneIn(2) {
		at = s.now
	}
	control := q.Control == nil
	for _, d := range s.mt5.shown(q.Login, at) {
		if q.Control != nil && d.Ticket == q.Control.Ticket && d.ServerTime == q.Control.ServerTime {
			control = true
		}
		seen.Newest = &credit.Anchor{Ticket: d.Ticket, ServerTime: d.ServerTime}
		if time.Unix(d.ServerTime, 0).Add(-s.mt5.offset).Before(from) {
			continue
		}
		seen.Deals = append(seen.Deals, d.Deal)
	}
	if !control {
		s.count(controlFailed)
		return credit.Sighting{Reason: fmt.Sprintf("deal %d, known before, is not shown", q.Control.Ticket), Offset: seen.Offset, From: seen.From, Until: seen.Until}
	}
	seen.Complete, seen.Control, seen.Rows = true, "checked", len(seen.Deals)+100*(pages-1)
	s.note("look at %d sees %d deals", q.Login, len(seen.Deals))
	return seen
}

// Deal implements credit.Session.
func (x *session) Deal(_ context.Context, ticket uint64) (credit.Deal, error) {
	s := x.p.sim
	if err := x.ask("deal"); err != nil {
		return credit.Deal{}, err
	}
	if s.strikes(wrongLogin) && len(s.mt5.deals) > 1 {
		s.count(wrongLoginAnswered)
		return pick(&s.sched, s.mt5.deals).Deal, nil
	}
	for _, d := range s.mt5.deals {
		if d.Ticket == ticket && !d.gone && d.visible <= s.now {
			return d.Deal, nil
		}
	}
	return credit.Deal{}, fmt.Errorf("deal %d: %w", ticket, credit.ErrNotFound)
}

// Drop implements credit.Session.
func (x *session) Drop(reason string) { x.p.sim.note("%s drops: %s", x.name, reason) }

// Balance implements credit.Session: at most one order reaches the server, none after the call's deadline.
func (x *session) Balance(_ context.Context, c credit.Call) credit.CallResult {
	s := x.p.sim

	s.pass(credit.StepPartlyWritten)
	switch {
	case x.p.file != s.files[0]:
		s.fail("I-O1: %s, an instance on a copy, calls", x.p.id)
	case !x.money:
		s.fail("a session without money sent a balance call")
	case x.p.boot() > c.Deadline:
		s.count(deadlineHeld)
		return credit.CallResult{Outcome: credit.OutcomeNotSent, Detail: "the send deadline has passed"}
	case s.now < s.mt5.downTill, s.strikes(callNotSent):
		s.count(callWasNotSent)
		return credit.CallResult{Outcome: credit.OutcomeNotSent, Detail: "dial refused"}
	}
	at := s.orderSent(x, c)
	o := &order{Call: c, sent: s.now, place: at}
	s.mt5.orders = append(s.mt5.orders, o)
	end := s.planCall(o)

	s.sleep(end.at-s.now, credit.StepWritten)
	s.world().Calls[at].Ended = x.p.mark()
	return end.result(o)
}

// ending is how and when a call ends for its caller.
type ending struct {
	at     time.Duration
	result func(*order) credit.CallResult
}

func timedOut(*order) credit.CallResult {
	return credit.CallResult{Outcome: credit.OutcomeUnknown, Detail: errTimeout.Error()}
}

func answered(o *order) credit.CallResult {
	if o.deal == nil {
		return timedOut(o)
	}
	return credit.CallResult{Outcome: credit.OutcomeApplied, Answered: true, Ticket: o.deal.Ticket, Code: "0 Done", Status: 200}
}

func fixed(r credit.CallResult) func(*order) credit.CallResult {
	return func(*order) credit.CallResult { return r }
}

// planCall draws what becomes of an order that left: when the server executes it, if it does, and what the caller sees.
func (s *sim) planCall(o *order) ending {
	quick := s.spread(3*time.Millisecond, 300*time.Millisecond)
	reply := s.spread(2*time.Millisecond, 100*time.Millisecond)
	run := func(in time.Duration) { s.after(in, func() { s.mt5.execute(o) }) }
	maybe := func() {
		if s.oneIn(2) {
			run(quick)
		}
	}
	timeout := s.now + callTimeout
	switch {
	case s.mt5.archived[o.Login]:
		return ending{s.now + quick, fixed(credit.CallResult{Outcome: credit.OutcomeRefused, Code: "13 not found", Status: 200})}
	case s.strikes(callRefused):
		s.count(callWasRefused)
		return ending{s.now + quick, fixed(credit.CallResult{Outcome: credit.OutcomeRefused, Code: "10019 no money", Status: 200})}
	case s.strikes(callLost):
		run(quick)
		s.count(answerLost)
		return ending{timeout, timedOut}
	case s.strikes(callNever):
		s.count(neverExecuted)
		return ending{s.now + s.between(quick, callTimeout), timedOut}
	case s.strikes(callLate):
		late := s.between(0, s.mt5.lateMost)
		run(late)
		if late+reply < callTimeout {
			return ending{s.now + late + reply, answered}
		}
		return ending{timeout, timedOut}
	case s.strikes(callOdd):
		maybe()
		return ending{s.now + quick + reply, fixed(credit.CallResult{Outcome: credit.OutcomeUnknown, Code: "10011 error", Status: 500, Detail: "an answer that no list knows"})}
	case s.strikes(callNoTicket):
		maybe()
		s.count(successWithoutTicket)
		return ending{s.now + quick + reply, fixed(credit.CallResult{Outcome: credit.OutcomeUnknown, Answered: true, Code: "0 Done", Status: 200, Detail: "success without a ticket"})}
	case s.strikes(callWrongTicket) && len(s.mt5.deals) > 0:
		other := pick(&s.sched, s.mt5.deals).Ticket
		maybe()
		s.count(foreignTicket)
		return ending{s.now + quick + reply, fixed(credit.CallResult{Outcome: credit.OutcomeApplied, Answered: true, Ticket: other, Code: "0 Done", Status: 200})}
	}
	run(quick)
	return ending{s.now + quick + reply, answered}
}

// questions is MT5 as the desk asks it.
type questions struct{ x *session }

// Deal implements desk.MT5.
func (q questions) Deal(ctx context.Context, _ string, ticket uint64) (credit.Deal, error) {
	return q.x.Deal(ctx, ticket)
}

// Look implements desk.MT5.
func (q questions) Look(ctx context.Context, _ string, query credit.LookQuery) credit.Sighting {
	return q.x.Look(ctx, query)
}

// reader maps nothing anew: what nobody could read stays so.
type reader struct{}

// Read implements desk.Reader.
func (reader) Read(string, map[string]string, []byte) (credit.Facts, error) {
	return credit.Facts{}, errors.New("still not readable")
}
