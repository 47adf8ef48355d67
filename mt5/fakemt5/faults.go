package fakemt5

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Kind is what a fault does.
type Kind string

// The kinds of faults. "Executes" means: does what the endpoint does; reads have
// nothing to execute and differ only in their answer.
const (
	ApplyThenDrop   Kind = "apply_then_drop"     // executes, then resets the connection without an answer
	ApplyThenDelay  Kind = "apply_then_delay"    // executes, answers after Delay
	HoldThenExecute Kind = "hold_then_execute"   // executes after Delay, even when the client is gone by then
	NeverExecute    Kind = "never_execute"       // swallows the request: no answer, never executed
	DropBefore      Kind = "drop_before"         // resets the connection before executing
	RefuseCode      Kind = "refuse_code"         // answers Code, does not execute
	CodeAfterApply  Kind = "code_after_apply"    // executes, then answers Code
	CodeBeforeApply Kind = "code_before_apply"   // another name of refuse_code
	HTTPStatus      Kind = "http_status"         // answers Status with Body; executes only when Execute is true
	GarbledBody     Kind = "garbled_body"        // executes, answers Body, or text that is not JSON
	CutBody         Kind = "cut_body"            // executes, sends less than Content-Length says, closes
	EmptyBody       Kind = "empty_body"          // executes, answers 200 with nothing
	NoTicket        Kind = "no_ticket"           // executes, answers "0 Done" without an answer
	WrongTicket     Kind = "wrong_ticket"        // executes, answers Ticket, or a ticket that does not exist
	WrongLogin      Kind = "wrong_login"         // answers with the login Other; see Rule.Execute for trade/balance
	VisibleAfter    Kind = "deal_visible_after"  // the deal shows in lookups Delay later
	CommentAltered  Kind = "comment_altered"     // Prefix, Suffix, Case: stored by trade/balance, shown by deal/*
	AmountAltered   Kind = "amount_altered"      // adds Delta minor units: booked by trade/balance, shown by deal/*
	PageCut         Kind = "page_cut"            // shows at most Rows rows although more exist
	PageRepeat      Kind = "page_repeat"         // shows the page before; the first page shows its first row twice
	PageOfOther     Kind = "page_of_other_login" // answers with the rows of the login Other
	TotalChanges    Kind = "total_changes"       // get_total is wrong by Delta; with Grow by one more Delta each time
	DealsBetween    Kind = "deals_between"       // Rows real trading deals come in after the answer was made
	SessionLost     Kind = "session_lost"        // ends the session before answering; the next requests find none
	SlowAnswer      Kind = "slow_answer"         // waits Delay, then executes and answers
	Desync          Kind = "desync"              // executes, answers what the request before on this connection got
	DuplicateReply  Kind = "duplicate_reply"     // executes, sends the answer twice on the connection
	DuplicateExec   Kind = "duplicate_execute"   // executes twice, answers the first ticket
)

// Rule is one fault: which requests it hits, how often, and what it does.
type Rule struct {
	ID int64 `json:"id,omitempty"` // given by the server
	// Where is an endpoint such as "trade/balance"; "deal/*" and "*" match several.
	Where         string `json:"where"`
	Login         uint64 `json:"login,omitempty"` // any when 0
	CommentPrefix string `json:"comment_prefix,omitempty"`
	Count         int    `json:"count,omitempty"` // hits until the rule is spent; 0 means until cleared
	Skip          int    `json:"skip,omitempty"`  // matching requests that pass first
	Kind          Kind   `json:"kind"`

	Delay  Duration `json:"delay,omitempty"`
	Code   int      `json:"code,omitempty"`
	Status int      `json:"status,omitempty"`
	Body   string   `json:"body,omitempty"`
	// Execute overrides whether the request is executed. For wrong_login on
	// trade/balance true books on the login Other; else only the answer names it.
	Execute *bool  `json:"execute,omitempty"`
	Other   uint64 `json:"other,omitempty"`
	Ticket  uint64 `json:"ticket,omitempty"`
	Prefix  string `json:"prefix,omitempty"`
	Suffix  string `json:"suffix,omitempty"`
	Case    string `json:"case,omitempty"` // "upper", "lower" or empty
	Delta   int64  `json:"delta,omitempty"`
	Rows    int    `json:"rows,omitempty"`
	Grow    bool   `json:"grow,omitempty"`

	Seen int `json:"seen,omitempty"` // matching requests so far; kept by the server
	Hits int `json:"hits,omitempty"` // of these, how many the rule changed; kept by the server
}

// faults holds the rules in the order they were set. Every rule that matches a
// request changes it; where two want the same thing the later one wins.
type faults struct {
	mu    sync.Mutex
	next  int64
	rules []*Rule
}

// add checks a rule and returns it with its id.
func (f *faults) add(r Rule, known map[string]endpoint) (Rule, error) {
	if err := r.validate(known); err != nil {
		return Rule{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next++
	r.ID, r.Seen, r.Hits = f.next, 0, 0
	f.rules = append(f.rules, &r)
	return r, nil
}

// clear removes one rule, or all for id 0, and returns how many went.
func (f *faults) clear(id int64) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	before := len(f.rules)
	f.rules = slices.DeleteFunc(f.rules, func(r *Rule) bool { return id == 0 || r.ID == id })
	return before - len(f.rules)
}

// list returns copies, spent rules included, so that their hits can be read.
func (f *faults) list() []Rule {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := make([]Rule, len(f.rules))
	for i, r := range f.rules {
		out[i] = *r
	}
	return out
}

// draw counts the request against the rules and returns what they make of it.
func (f *faults) draw(req *request, owner func(ticket string) uint64) plan {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := plan{execute: true}
	for _, r := range f.rules {
		if !r.matches(req, owner) {
			continue
		}
		r.Seen++
		if r.Seen <= r.Skip || (r.Count > 0 && r.Hits >= r.Count) {
			continue
		}
		r.Hits++
		kinds[r.Kind].apply(&p, *r, req)
	}
	return p
}

func (r *Rule) matches(req *request, owner func(string) uint64) bool {
	if !matchMask(r.Where, req.endpoint) {
		return false
	}
	if r.CommentPrefix != "" && !strings.HasPrefix(req.params.Get("comment"), r.CommentPrefix) {
		return false
	}
	if r.Login == 0 {
		return true
	}
	if slices.Contains(req.list("login"), strconv.FormatUint(r.Login, 10)) {
		return true
	}
	return slices.ContainsFunc(req.list("ticket"), func(t string) bool { return owner(t) == r.Login })
}

// validate refuses rules that could never do what they say.
func (r *Rule) validate(known map[string]endpoint) error {
	spec, ok := kinds[r.Kind]
	if !ok {
		return fmt.Errorf("fault: unknown kind %q", r.Kind)
	}
	var reached []string
	for name := range known {
		if matchMask(r.Where, name) {
			reached = append(reached, name)
		}
	}
	switch {
	case len(reached) == 0:
		return fmt.Errorf("fault: where %q names no endpoint", r.Where)
	case spec.where != "" && !slices.ContainsFunc(reached, func(name string) bool { return matchMasks(strings.Fields(spec.where), name) }):
		return fmt.Errorf("fault: kind %s works on %s only, not on %q", r.Kind, spec.where, r.Where)
	case r.Count < 0, r.Skip < 0, r.Rows < 0, r.Delay < 0:
		return errors.New("fault: count, skip, rows and delay must not be negative")
	case r.CommentPrefix != "" && !slices.Contains(reached, "trade/balance"):
		return fmt.Errorf("fault: comment_prefix works on trade/balance only, not on %q", r.Where)
	case r.Case != "" && r.Case != "upper" && r.Case != "lower":
		return fmt.Errorf("fault: case %q is neither upper nor lower", r.Case)
	case r.Status != 0 && (r.Status < 200 || r.Status > 599):
		return fmt.Errorf("fault: status %d is outside 200..599", r.Status)
	}
	if spec.check == nil {
		return nil
	}
	if complaint := spec.check(*r); complaint != "" {
		return fmt.Errorf("fault %s: %s", r.Kind, complaint)
	}
	return nil
}
