package probe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"time"

	"creditonce/credit"
	"creditonce/mt5"
)

// Options are what a probe may do, and to what.
type Options struct {
	Server  *mt5.Server
	Label   string
	Program string // this program's version, for the report
	Manager uint64
	Login   uint64

	Identity   string
	Masks      []string       // groups that may be probed; none refuses every login
	LiveMasks  []string       // groups with clients' money; a login in one takes Permit whatever Masks say
	Currencies map[string]int // configured account currencies and digits
	Configured int            // sessions that the service opens

	// Permit takes the permit of two people for Login, once and for good; nil: there is none, and every login outside the
	// test groups is refused. It is called before anything was asked but the login's group, and its error ends the probe.
	Permit func(ctx context.Context) error

	Operate      bool   // balance operations on Login are allowed
	Operations   int    // pairs of an operation and its reversal, at least 1
	Overdraw     bool   // also try to take more than the balance
	UnknownLogin uint64 // a login that does not exist
	Sessions     int    // how many sessions are opened at once; below 2 the question is not asked
	NoSessions   string // why the question is not asked, where Sessions is below 2

	Quarantine time.Duration // what the service waits before it believes "no deal"
	LongestAct time.Duration // the longest life of one balance call
	Patience   time.Duration // how long a deal is waited for
	Pace       time.Duration // least time between two requests, so that flood control is not met

	Clock credit.Clock
	Rand  io.Reader
	Say   func(text string) // what is about to be done, before it is done; may be nil
}

// GroupError says that the login is in a group that may not be probed.
type GroupError struct {
	Login uint64
	Group string
	Live  bool // the group holds clients' money
	Masks []string
}

// Error implements error.
func (e *GroupError) Error() string {
	switch {
	case e.Live:
		return fmt.Sprintf("login %d is in the live group %q: take a login in a test group; "+twoPeople, e.Login, e.Group)
	case len(e.Masks) == 0:
		return fmt.Sprintf("login %d is in group %q, and no test group is named: name one under probe_groups of the server in the "+
			"configuration, or with --group", e.Login, e.Group)
	}
	return fmt.Sprintf("login %d is in group %q, which is none of the test groups %s: take a login in a test group; "+
		twoPeople, e.Login, e.Group, strings.Join(e.Masks, ", "))
}

const twoPeople = "any other takes two people: one proposes it with creditonce mt5 permit, another confirms, and --permit names the proposal"

// RefusedMask tells whether a mask names every group, so that it sets no limit.
func RefusedMask(mask string) bool {
	return !strings.HasPrefix(mask, "!") && strings.Trim(mask, "*") == ""
}

// Run asks everything. It returns a *GroupError or an error of Permit before anything was asked but the login's group, the
// errors of mt5.Server.Inquire, or an error of ctx with what was found by then. What must be done by hand is in the report.
func Run(ctx context.Context, o Options) (Report, error) {
	r := &run{o: o, pairs: map[string]bool{}, report: Report{
		Format: Format, Program: o.Program, Server: o.Label, Identity: o.Identity, Manager: o.Manager, Login: o.Login,
		Started: o.Clock.Now().UTC(), Operated: o.Operate,
	}}
	var err error
	r.say("connect to %s, authenticate as manager %d, compare the server's name", o.Label, o.Manager)
	if r.q, err = o.Server.Inquire(ctx); err != nil {
		return r.report, err
	}
	defer func() { r.q.Close() }()
	r.report.Build = r.q.Build()
	if err := r.admit(ctx); err != nil {
		return r.report, err
	}
	for _, step := range []func(context.Context){
		r.askClock, r.askRights, r.askForms, r.askEmpty, r.askUnknown, r.askOrder, r.askPages, r.operate, r.askWindow,
		r.askSessions, r.askDead, r.conclude,
	} {
		if ctx.Err() != nil {
			break
		}
		step(ctx)
	}
	r.report.Ended = o.Clock.Now().UTC()
	r.fill()
	if err := ctx.Err(); err != nil {
		return r.report, fmt.Errorf("the probe was stopped: %w", err)
	}
	return r.report, nil
}

// run is one probe under way.
type run struct {
	o      Options
	q      *mt5.Inquiry
	report Report
	pairs  map[string]bool // HTTP status and return code that came together

	user        user
	server      int64         // seconds on the server's clock at boot time at
	at          time.Duration // zero before the clock was read
	total       int           // deals of the login
	newestFirst bool
	known       *deal // a deal of the login, for the questions about windows
	made        []made
	stopped     bool // no further balance operation
	urgent      bool // do not wait for the pace: a fresh deal is being looked for
}

func (r *run) say(format string, args ...any) {
	if r.o.Say != nil {
		r.o.Say(fmt.Sprintf(format, args...))
	}
}

func (r *run) found(id string, v Verdict, format string, args ...any) {
	r.report.Findings = append(r.report.Findings, Finding{ID: id, Verdict: v, Answer: fmt.Sprintf(format, args...)})
}

// differs records a contradiction to what the client assumes, with what to do.
func (r *run) differs(id, answer, next string) {
	r.report.Findings = append(r.report.Findings, Finding{ID: id, Verdict: Differs, Answer: answer, Next: next})
}

// judge records an answer that is either as assumed or a difference.
func (r *run) judge(id string, good bool, answer, next string) {
	if good {
		r.found(id, AsAssumed, "%s", answer)
		return
	}
	r.differs(id, answer, next)
}

// judgeMild records an answer that is either as assumed, or otherwise and no harm; follows says what follows then.
func (r *run) judgeMild(id string, good bool, answer, follows string) {
	r.judge(id, good, answer, follows)
	if !good {
		r.report.Findings[len(r.report.Findings)-1].Verdict = Handled
	}
}

func (r *run) attention(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	r.report.Attention = append(r.report.Attention, text)
	r.say("ATTENTION: %s", text)
}

// ask asks a read on the connection, made anew where an odd question before has ended it. Where the session turns out
// to be lost the read is asked once more on a new one (Traps 3).
func (r *run) ask(ctx context.Context, endpoint string, pairs ...string) mt5.Reply {
	params := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		params.Set(pairs[i], pairs[i+1])
	}
	reply := r.askOnce(ctx, endpoint, params)
	if reply.Err == nil && gone(reply) && !ok(r.askOnce(ctx, "test/access", nil)) {
		r.q.Close()
		reply = r.askOnce(ctx, endpoint, params)
	}
	r.note(reply)
	return reply
}

func (r *run) askOnce(ctx context.Context, endpoint string, params url.Values) mt5.Reply {
	if err := r.fit(ctx); err != nil {
		return mt5.Reply{Code: -1, Err: err}
	}
	return r.q.Ask(ctx, endpoint, params)
}

// fit waits for the pace, and connects where there is no connection.
func (r *run) fit(ctx context.Context) error {
	if !r.urgent {
		if err := r.o.Clock.Wait(ctx, r.o.Clock.Boot()+r.o.Pace, nil); err != nil {
			return err
		}
	}
	if r.q.Alive() {
		return nil
	}
	return r.q.Reconnect(ctx)
}

// note remembers which status came with which code.
func (r *run) note(reply mt5.Reply) {
	if reply.Err == nil && reply.Code >= 0 {
		r.pairs[fmt.Sprintf("%d with HTTP %d", reply.Code, reply.Status)] = true
	}
}

// fill adds the questions that were not asked, and brings all into the order of the table.
func (r *run) fill() {
	var all []Finding
	for _, a := range Assumptions() {
		f, ok := r.report.Found(a.ID)
		if !ok {
			f = Finding{ID: a.ID, Verdict: NotAsked, Answer: a.Unaskable}
			switch {
			case a.Unaskable != "":
			case a.Money && !r.o.Operate:
				f.Answer = "it takes balance operations: --operate"
			case a.ID == "amount.overdraw":
				f.Answer = "it takes more than the smallest amount: --overdraw"
			default:
				f.Answer = "the probe ended before"
			}
		}
		all = append(all, f)
	}
	r.report.Findings = all
}

var errUnreadable = errors.New("the answer lacks what was asked for")

func number(n uint64) string  { return strconv.FormatUint(n, 10) }
func seconds(n int64) string  { return strconv.FormatInt(n, 10) }
func count(n int) string      { return strconv.Itoa(n) }
func ok(reply mt5.Reply) bool { return reply.Err == nil && reply.Status == 200 && reply.Code == 0 }
func gone(reply mt5.Reply) bool {
	return reply.Err != nil || reply.Status == 401 || reply.Status == 403
}
