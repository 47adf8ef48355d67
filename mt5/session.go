package mt5

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"creditonce/credit"
)

// Session is one authenticated session with the server; it implements credit.Session. One owner uses it; a
// second caller at the same time is refused, because two requests on one connection would mix their answers.
type Session struct {
	cfg   *Config
	trust *verifier
	index int

	busy       atomic.Bool
	wire       *wire  // authenticated, of the right identity; nil when there is none
	generation uint64 // counts authentications: what was learned on another one does not carry over
	address    int    // of cfg.Addresses, where the next connect begins
	dials      int
	build      string // what the trade server said about itself at the last authentication
	clock      serverClock
	logins     pace                           // after a failed authentication
	refusals   pace                           // after a status 401 or 403 that a new session did not cure
	accounts   map[uint64]credit.AccountState // read on this generation
}

var _ credit.Session = (*Session)(nil)

// errShared is the refusal of a second caller.
var errShared = errors.New("the session is in use by another caller")

// lostError says that the session is gone: reads may be repeated on a new one, a balance call never.
type lostError struct {
	reason  string
	refused bool // by HTTP status 401 or 403: the connection still stands
}

func (e *lostError) Error() string { return e.reason }

// codeError is a readable answer with another return code than success.
type codeError struct{ status, code int }

func (e *codeError) Error() string { return "MT5 answered " + explain(e.code) }

// enter takes the session for one call; leave gives it back.
func (s *Session) enter() error {
	if !s.busy.CompareAndSwap(false, true) {
		return s.failed("use the session", errShared)
	}
	return nil
}

func (s *Session) leave() { s.busy.Store(false) }

// failed names the server in an error.
func (s *Session) failed(doing string, err error) error {
	return fmt.Errorf("mt5 %s: %s: %w", s.cfg.Label, doing, err)
}

// Ready implements credit.Session. It pings a session that was idle for longer than PingEvery, connects and
// authenticates where needed, and measures the server's clock when the last measure is older than
// OffsetFreshFor. After a refused authentication it answers with an error, without asking again, for 5 s,
// growing to 2 min.
func (s *Session) Ready(ctx context.Context) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	return s.ready(ctx)
}

func (s *Session) ready(ctx context.Context) error {
	if err := s.ping(ctx); err != nil && ctx.Err() != nil {
		return s.failed("ping", ctx.Err())
	}
	if s.wire == nil {
		if err := s.connect(ctx); err != nil {
			return err
		}
	}
	if s.clock.fresh(s.generation, s.cfg.Clock.Boot(), s.cfg.OffsetFreshFor) {
		return nil
	}
	err := s.measure(ctx)
	if lost := new(lostError); errors.As(err, &lost) {
		s.drop(lost.reason)
	}
	return err
}

// Ping keeps an idle session alive (§1.1). It asks nothing when the session was used within PingEvery or is
// not connected. After an error the session is gone; the next Ready makes another.
func (s *Session) Ping(ctx context.Context) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	if err := s.ping(ctx); err != nil {
		return s.failed("ping", err)
	}
	return nil
}

func (s *Session) ping(ctx context.Context) error {
	if s.wire == nil {
		return nil
	}
	idle := s.cfg.Clock.Boot() - s.wire.lastUse
	switch {
	case s.wire.spent:
		s.drop("the connection cannot be used any more")
		return nil
	case idle >= deadAfter:
		s.drop("idle for too long")
		return nil
	case idle < s.cfg.PingEvery:
		return nil
	}
	if _, err := s.get(ctx, "test/access", nil); err != nil {
		s.drop("the ping failed")
		return err
	}
	return nil
}

// Drop implements credit.Session. The reason is for the observer.
func (s *Session) Drop(reason string) {
	if s.enter() != nil {
		return // its owner is in a call, which drops the connection itself where that is due
	}
	defer s.leave()
	s.drop(reason)
}

func (s *Session) drop(reason string) {
	if s.wire == nil {
		return
	}
	s.wire.reset()
	s.wire = nil
	s.cfg.Observer.Dropped(s.cfg.Label, s.index, reason)
}

// Close says good-bye to the server, waits for that at most as long as for a connect, and ends the connection.
// The session can be used again afterwards.
func (s *Session) Close() error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	if s.wire == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.cfg.ConnectTimeout)
	defer cancel()
	// Whether the server heard it does not matter: the connection ends now.
	_, _ = s.get(ctx, "quit", nil)
	s.drop("closed")
	return nil
}

// get asks a read once, on the connection that is there. An unreadable or foreign answer costs the connection.
// Errors: *lostError where another session may help, *codeError for a readable refusal, others for no answer.
func (s *Session) get(ctx context.Context, endpoint string, params url.Values) (envelope, error) {
	if s.wire == nil {
		return envelope{}, &lostError{reason: "there is no session"}
	}
	return s.getOn(ctx, s.wire, endpoint, params)
}

func (s *Session) getOn(ctx context.Context, w *wire, endpoint string, params url.Values) (envelope, error) {
	e, status, err := s.exchange(ctx, w, order{
		method: http.MethodGet, endpoint: endpoint, params: params, agent: s.cfg.Agent, timeout: s.cfg.ReadTimeout,
	})
	switch {
	case errors.Is(err, errClosed) && ctx.Err() == nil:
		s.dropWire(w, "the server closed the connection")
		return e, &lostError{reason: errClosed.Error()}
	case err != nil:
		s.dropWire(w, err.Error())
		return e, err
	}
	return e, s.judgeRead(w, status, e)
}

// judgeRead tells a session that is gone from a refusal. Status 401 and 403 stand for both, and servers differ
// (§1.1, Traps 3), so they count as a lost session here.
func (s *Session) judgeRead(w *wire, status int, e envelope) error {
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		reason := fmt.Sprintf("MT5 refuses the session or the right to do this (HTTP status %d", status)
		if e.code > codeDone {
			reason += ", " + explain(e.code)
		}
		return &lostError{reason: reason + ")", refused: true}
	case status != http.StatusOK && status != http.StatusBadRequest && status != http.StatusNotFound:
		return fmt.Errorf("MT5 answered with HTTP status %d", status)
	case e.code == noCode:
		s.dropWire(w, errGarbled.Error())
		return errGarbled
	case e.code != codeDone:
		return &codeError{status: status, code: e.code}
	case status != http.StatusOK:
		return fmt.Errorf("MT5 answered success with HTTP status %d", status)
	}
	return nil
}

// dropWire drops w, be it the session's connection or one that is still authenticating.
func (s *Session) dropWire(w *wire, reason string) {
	if s.wire == w {
		s.drop(reason)
		return
	}
	w.reset()
}

// exchange sends one order and reads the body first and the status after it (§1.1). An unreadable body gives
// an envelope without a code, not an error.
func (s *Session) exchange(ctx context.Context, w *wire, o order) (envelope, int, error) {
	started, dials := s.cfg.Clock.Boot(), s.dials
	a, err := w.exchange(ctx, o)
	ended := s.cfg.Clock.Boot()
	e := envelope{code: noCode}
	if err == nil {
		w.lastUse = ended
		e, _ = parseEnvelope(a.body) // noCode says it
	}
	report := Exchange{
		Label: s.cfg.Label, Session: s.index, Endpoint: o.endpoint, Took: ended - started,
		Status: a.status, Code: e.code, Dials: s.dials - dials, Bytes: w.under.written, Err: err,
	}
	if report.Bytes > 0 {
		report.Requests = 1
	}
	s.cfg.Observer.Exchanged(report)
	return e, a.status, err
}

// twice does reads that may be repeated: when the session turns out to be lost, it is made anew once and all is
// done once more. Where a new session does not cure a status 401 or 403, the cause may be a missing right
// (Traps 3): the session stays, and for a while no such status costs another authentication.
func (s *Session) twice(ctx context.Context, do func() error) error {
	if err := s.ready(ctx); err != nil {
		return err
	}
	err := do()
	var lost *lostError
	if !errors.As(err, &lost) {
		return err
	}
	if lost.refused {
		if s.refusals.hold(s.cfg.Clock.Boot()) != nil {
			return err
		}
		s.drop(lost.reason)
	}
	if err := s.ready(ctx); err != nil {
		return err
	}
	err = do()
	switch {
	case !errors.As(err, &lost):
		s.refusals.succeeded()
	case lost.refused:
		s.refusals.failed(s.cfg.Clock.Boot(), lost)
	}
	return err
}

// step tells the hook, if there is one, that a boundary has been reached.
func (s *Session) step(ctx context.Context, name string) {
	if s.cfg.Step != nil {
		s.cfg.Step(ctx, name)
	}
}

// pace slows authentications down after failures: 5 s, doubling to 2 min (Traps 3, 21).
type pace struct {
	until time.Duration // boot time before which nothing is tried
	wait  time.Duration
	cause error
}

const (
	paceFirst = 5 * time.Second
	paceMost  = 2 * time.Minute
)

func (p *pace) failed(now time.Duration, cause error) {
	p.wait = min(max(2*p.wait, paceFirst), paceMost)
	p.until, p.cause = now+p.wait, cause
}

// hold is the error of a session that must not try yet, or nil.
func (p *pace) hold(now time.Duration) error {
	if now >= p.until {
		return nil
	}
	return fmt.Errorf("the next try is in %s, after: %w", (p.until - now).Round(time.Second), p.cause)
}

func (p *pace) succeeded() { *p = pace{} }
