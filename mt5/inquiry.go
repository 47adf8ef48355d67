package mt5

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"creditonce/credit"
)

// TrialPrefix begins the comment of every balance operation that is made to learn about a server. No kind of
// reference begins with it, so such a deal is never taken for a credit.
const TrialPrefix = "prb:"

// Inquiry is a connection for questions that a Session never asks: how the server answers what is wrong, empty or
// unknown. It reports what came back, judges nothing and repeats nothing. It moves money only by Operate. One owner.
type Inquiry struct {
	session *Session
	member  bool // authenticated
}

// Reply is what came back to one question.
type Reply struct {
	Status int             // HTTP status; 0 without an answer
	Code   int             // return code; -1 without a readable one
	Form   string          // of the answer: "absent", "null", "empty list", "list", "object", "value"; "no body" and "not readable" for a body without a return code
	Answer json.RawMessage // content of the answer; nil when absent or null
	Strict bool            // the body was valid JSON as it came
	Took   time.Duration   // on the boot-time clock
	Sent   bool            // at least one byte left
	Err    error           // why there is no answer, without parameters
}

// Inquire connects, authenticates and checks the server's name. Errors are *IdentityError, *LoginError, or those of a
// server that cannot be asked.
func (s *Server) Inquire(ctx context.Context) (*Inquiry, error) {
	q := &Inquiry{session: s.Session(inquirySession), member: true}
	if err := q.session.connect(ctx); err != nil {
		return nil, err
	}
	return q, nil
}

// inquirySession is the session number of an inquiry in messages; lanes count from 0.
const inquirySession = -1

// Stranger connects and does not authenticate.
func (s *Server) Stranger(ctx context.Context) (*Inquiry, error) {
	session := s.Session(inquirySession)
	w, _, err := session.dialAny(ctx)
	if err != nil {
		return nil, session.failed("connect", err)
	}
	session.wire = w
	return &Inquiry{session: session}, nil
}

// Alive tells whether another question can be asked on the connection.
func (q *Inquiry) Alive() bool { return q.session.wire != nil && !q.session.wire.spent }

// Reconnect makes a new connection in place of the old one, authenticated again.
func (q *Inquiry) Reconnect(ctx context.Context) error {
	q.Close()
	q.member = true
	return q.session.connect(ctx)
}

// Close ends the connection without a word to the server; Ask "quit" first where it is to know.
func (q *Inquiry) Close() { q.session.drop("the inquiry is over") }

// Build is what the trade server said about its version at the authentication; "" before.
func (q *Inquiry) Build() string { return q.session.build }

// CertificateEnds is when the server's certificate expires; zero without a connection.
func (q *Inquiry) CertificateEnds() time.Time {
	if q.session.wire == nil {
		return time.Time{}
	}
	if chain := q.session.wire.secure.ConnectionState().PeerCertificates; len(chain) > 0 {
		return chain[0].NotAfter
	}
	return time.Time{}
}

// askable are the endpoints of Ask: they read, or end the own session.
var askable = []string{
	"common/get", "deal/get", "deal/get_page", "deal/get_total", "group/get", "quit", "test/access", "time/get", "time/server",
	"user/account/get", "user/check_balance", "user/get",
}

// Ask asks a read once. An endpoint that could change something is refused; user/check_balance always goes with
// fixflag 0, since 1 would change the balance (Traps 17).
func (q *Inquiry) Ask(ctx context.Context, endpoint string, params url.Values) Reply {
	if !slices.Contains(askable, endpoint) {
		return Reply{Code: noCode, Err: fmt.Errorf("endpoint %s is not one that only reads", endpoint)}
	}
	if endpoint == "user/check_balance" {
		fixed := url.Values{"fixflag": {"0"}}
		if params.Has("login") {
			fixed.Set("login", params.Get("login"))
		}
		params = fixed
	}
	return q.exchange(ctx, order{
		method: http.MethodGet, endpoint: endpoint, params: params, agent: q.session.cfg.Agent, timeout: q.session.cfg.ReadTimeout,
	})
}

// ServerTime reads the server's wall clock: seconds that read as if it were UTC (§5).
func (q *Inquiry) ServerTime(ctx context.Context) (int64, error) {
	r := q.Ask(ctx, "time/server", nil)
	if r.Err != nil {
		return 0, r.Err
	}
	var answer struct{ Time scalar }
	if r.Code != codeDone || fields(r.Answer, &answer) != nil {
		return 0, errors.New(r.String())
	}
	text, _, _ := strings.Cut(answer.Time.text, " ")
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil || seconds <= 0 {
		return 0, errGarbled
	}
	return seconds, nil
}

// Cookies are the names of the cookies that the server set on the connection.
func (q *Inquiry) Cookies() []string {
	if q.session.wire == nil {
		return nil
	}
	var names []string
	for _, c := range q.session.wire.jar.Cookies(q.session.wire.base) {
		names = append(names, c.Name)
	}
	slices.Sort(names)
	return names
}

// AskAs asks a read with the cookies of another inquiry instead of its own; of nil with none.
func (q *Inquiry) AskAs(ctx context.Context, other *Inquiry, endpoint string) Reply {
	w := q.session.wire
	if w == nil {
		return Reply{Code: noCode, Err: errClosed}
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		return Reply{Code: noCode, Err: err}
	}
	if other != nil && other.session.wire != nil {
		jar.SetCookies(w.base, other.session.wire.jar.Cookies(other.session.wire.base))
	}
	own := w.jar
	w.jar = jar
	defer func() { w.jar = own }()
	return q.Ask(ctx, endpoint, nil)
}

// Trial is a balance operation that is made to learn about the server. Amount is text, since how odd text is taken is
// one of the questions; it must be a number with at most one digit of exponent. Comment begins with TrialPrefix.
type Trial struct {
	Login      uint64
	Amount     string
	Comment    string
	SkipMargin bool // check_margin=0
}

var trialAmount = regexp.MustCompile(`^-?[0-9]{1,16}(\.[0-9]{1,12})?([eE]-?[0-9])?$`)

// Operate makes one balance operation, once, by POST (Traps 1), and judges its answer as Session.Balance does.
// ticket is 0 without one. Where the outcome is credit.OutcomeUnknown the connection has been reset.
func (q *Inquiry) Operate(ctx context.Context, t Trial) (r Reply, outcome credit.Outcome, ticket uint64) {
	refuse := func(reason string) (Reply, credit.Outcome, uint64) {
		return Reply{Code: noCode, Err: errors.New(reason)}, credit.OutcomeNotSent, 0
	}
	switch {
	case !strings.HasPrefix(t.Comment, TrialPrefix) || !utf8.ValidString(t.Comment):
		return refuse("a trial's comment begins with " + TrialPrefix)
	case !trialAmount.MatchString(t.Amount):
		return refuse("a trial's amount is not a plain number")
	case t.Login == 0 || !q.member:
		return refuse("a trial names a login, on an authenticated connection")
	}
	check := "1"
	if t.SkipMargin {
		check = "0"
	}
	r = q.exchange(ctx, order{
		method: http.MethodPost, endpoint: "trade/balance", agent: q.session.cfg.Agent, timeout: q.session.cfg.CallTimeout,
		params: url.Values{
			"login": {number(t.Login)}, "type": {strconv.Itoa(credit.ActionBalance)}, "balance": {t.Amount},
			"comment": {t.Comment}, "check_margin": {check},
		},
	})
	if r.Err != nil {
		q.Close()
		if !r.Sent {
			return r, credit.OutcomeNotSent, 0
		}
		return r, credit.OutcomeUnknown, 0
	}
	var given struct{ Ticket scalar }
	if r.Answer != nil && fields(r.Answer, &given) == nil {
		ticket, _ = given.Ticket.uint() // 0 is no ticket
	}
	if outcome, _ = Classify(r.Status, r.Code, ticket); outcome == credit.OutcomeUnknown {
		q.Close()
	}
	return r, outcome, ticket
}

// exchange sends one order on the connection that is there.
func (q *Inquiry) exchange(ctx context.Context, o order) Reply {
	w := q.session.wire
	if w == nil || w.spent {
		return Reply{Code: noCode, Err: errClosed}
	}
	clock := q.session.cfg.Clock
	started := clock.Boot()
	a, err := w.exchange(ctx, o)
	ended := clock.Boot()
	r := Reply{Status: a.status, Code: noCode, Took: ended - started, Sent: w.under.written > 0, Err: err}
	if err != nil {
		return r
	}
	w.lastUse = ended
	r.Strict = json.Valid(a.body)
	e, err := parseEnvelope(a.body)
	switch {
	case len(bytes.TrimSpace(a.body)) == 0:
		r.Form = "no body"
	case err != nil:
		r.Form = "not readable"
	default:
		r.Code, r.Answer = e.code, e.answer
		r.Form = formOf(e)
	}
	return r
}

// formOf names the form of an answer's content.
func formOf(e envelope) string {
	var outer struct{ Answer json.RawMessage }
	switch {
	case e.answer == nil && json.Unmarshal(e.whole, &outer) == nil && outer.Answer != nil:
		return "null"
	case e.answer == nil:
		return "absent"
	case isEmptyList(e.answer):
		return "empty list"
	case e.answer[0] == '[':
		return "list"
	case e.answer[0] == '{':
		return "object"
	}
	return "value"
}

// String is the reply in short words: "HTTP 200, code 13 MT_RET_ERR_NOTFOUND, answer absent".
func (r Reply) String() string {
	switch {
	case r.Err != nil:
		return r.Err.Error()
	case r.Code < 0:
		return fmt.Sprintf("HTTP %d, %s", r.Status, r.Form)
	}
	return fmt.Sprintf("HTTP %d, code %s, answer %s", r.Status, codeText(r.Code), r.Form)
}
