package mt5

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"creditonce/credit"
)

// commentLimit is what MT5 keeps of a comment, in characters; the rest is cut without an error (§5).
const commentLimit = 31

// Balance implements credit.Session: one POST to trade/balance (design §6.5). It never connects: the call goes
// out on the connection that was there before the claim, or not at all. NotSent means that zero bytes left on
// it since the call began. After an unknown outcome the connection is reset.
func (s *Session) Balance(ctx context.Context, c credit.Call) credit.CallResult {
	if err := s.enter(); err != nil {
		return notSent(err.Error())
	}
	defer s.leave()
	params, err := balanceParams(c)
	if err != nil {
		return notSent("the call is not valid: " + err.Error())
	}
	if reason := s.unfit(ctx, c); reason != "" {
		return notSent(reason)
	}
	w := s.wire
	e, status, err := s.exchange(ctx, w, s.balanceOrder(ctx, c, params))
	if err != nil {
		s.drop("a balance call failed: " + err.Error())
		if w.under.written == 0 {
			return notSent("not a byte was sent: " + err.Error())
		}
		return credit.CallResult{
			Outcome: credit.OutcomeUnknown, Status: status,
			Detail: fmt.Sprintf("%d bytes were sent, then: %s", w.under.written, err),
		}
	}
	result := judgeBalance(c, status, e)
	if result.Outcome == credit.OutcomeUnknown {
		s.drop("the answer to a balance call is odd")
	}
	if w.spent && s.wire == w {
		s.drop("the server ended the connection with its answer")
	}
	return result
}

func notSent(detail string) credit.CallResult {
	return credit.CallResult{Outcome: credit.OutcomeNotSent, Detail: detail}
}

// balanceParams writes the call as parameters, and refuses one that could arrive as something else than meant:
// the decimal text must read back as the same money, the comment must need no escaping and fit (Traps 5, 6).
func balanceParams(c credit.Call) (url.Values, error) {
	text := c.Amount.Decimal()
	back, err := credit.ParseAmount(text, c.Amount.Currency(), c.Amount.Exponent())
	switch {
	case c.Login == 0:
		return nil, errors.New("it names no login")
	case c.Amount.IsZero():
		return nil, errors.New("its amount is zero")
	case err != nil || !back.Equal(c.Amount):
		return nil, errors.New("its amount cannot be written as a plain decimal")
	case !plainComment(string(c.Reference)):
		return nil, fmt.Errorf("its reference is not 1 to %d letters, digits, blanks or : . _ -", commentLimit)
	}
	return url.Values{
		"login": {number(c.Login)}, "type": {strconv.Itoa(credit.ActionBalance)}, "balance": {text},
		"comment": {string(c.Reference)}, "check_margin": {"1"},
	}, nil
}

func plainComment(s string) bool {
	return len(s) <= commentLimit && plainToken(strings.NewReplacer(" ", "", ":", "").Replace(s))
}

// unfit says why the call cannot go out on the session as it stands, or "".
func (s *Session) unfit(ctx context.Context, c credit.Call) string {
	now := s.cfg.Clock.Boot()
	switch {
	case ctx.Err() != nil:
		return "the caller gave up before the call"
	case now >= c.Deadline:
		return errLate.Error()
	case s.wire == nil || s.wire.spent:
		return "there is no session"
	case now-s.wire.lastUse >= deadAfter:
		s.drop("idle for too long")
		return "the session was idle for too long"
	}
	return ""
}

// balanceOrder is the call as an order whose writes stop at the deadline.
func (s *Session) balanceOrder(ctx context.Context, c credit.Call, params url.Values) order {
	o := order{
		method: http.MethodPost, endpoint: "trade/balance", params: params, agent: s.cfg.Agent, timeout: s.cfg.CallTimeout,
		guard: func() error {
			if s.cfg.Clock.Boot() >= c.Deadline {
				return errLate
			}
			return nil
		},
	}
	if s.cfg.Step != nil {
		o.partly = func() { s.step(ctx, credit.StepPartlyWritten) }
		o.wrote = func() { s.step(ctx, credit.StepWritten) }
	}
	return o
}

// judgeBalance reads the answer to a balance call.
func judgeBalance(c credit.Call, status int, e envelope) credit.CallResult {
	r := credit.CallResult{Status: status, Code: codeText(e.code)}
	if e.code == noCode {
		r.Outcome, r.Detail = credit.OutcomeUnknown, fmt.Sprintf("HTTP status %d, and the answer is not readable", status)
		return r
	}
	var given struct{ Ticket, Login scalar }
	readable := e.answer == nil || fields(e.answer, &given) == nil
	ticket, err := given.Ticket.uint()
	if err != nil {
		ticket = 0
	}
	r.Outcome, r.Answered = Classify(status, e.code, ticket)
	r.Detail = fmt.Sprintf("HTTP status %d, return code %s", status, explain(e.code))
	foreign := given.Login.set && given.Login.text != number(c.Login)
	switch {
	case !readable || foreign:
		r.Outcome = credit.OutcomeUnknown
		r.Detail += ", with content that does not fit the call"
	case r.Outcome == credit.OutcomeApplied:
		r.Ticket = ticket
	case r.Answered:
		r.Detail += ", without a usable ticket or status"
	}
	return r
}
