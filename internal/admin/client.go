package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"syscall"
	"time"
)

// clientTimeout is a little above the longest answer of the service (a look at MT5), so that the service's own
// message comes first.
const clientTimeout = answerTimeout + 5*time.Second

// maxAnswer bounds what a client reads of one answer: one event's body and the largest page stay below it.
const maxAnswer = 64 << 20

// Client asks a running service over its socket. Make one with NewClient; it is safe for concurrent use. Errors are
// *Problem where the service answered, *UnreachableError where none did.
type Client struct {
	path string
	http http.Client
}

// NewClient makes a client of the socket at path. Nothing is opened yet.
func NewClient(path string) *Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}
	return &Client{path: path, http: http.Client{Timeout: clientTimeout, Transport: &http.Transport{DialContext: dial, Proxy: nil, ExpectContinueTimeout: time.Minute}}}
}

// UnreachableError says that no service could be asked.
type UnreachableError struct {
	Path  string
	Cause error
	User  string // who owns the socket; empty where there is none
	Group string
	Mode  fs.FileMode
}

// Error says which socket, why, and what to do.
func (e *UnreachableError) Error() string {
	start := "start it with: creditonce serve; if it runs, its log line \"serving\" names its socket: give that with --socket"
	switch {
	case errors.Is(e.Cause, fs.ErrNotExist):
		return fmt.Sprintf("no service answers: there is no socket %s; %s", e.Path, start)
	case e.User != "" && e.Mode.Type() != fs.ModeSocket:
		return fmt.Sprintf("no service answers: %s is no socket; %s", e.Path, start)
	case errors.Is(e.Cause, syscall.ECONNREFUSED):
		return fmt.Sprintf("no service answers at %s: the service that made this socket (as user %s) has ended; %s", e.Path, e.User, start)
	case e.Denied() && e.User == "":
		return fmt.Sprintf("you may not look into the folder of %s, so nobody can be asked; run this as the service's user, or let the "+
			"configuration's admin section put the socket into a folder that operators may enter", e.Path)
	case e.Denied():
		return fmt.Sprintf("you may not open %s: it belongs to user %s and group %s with mode %04o; become a member of that group "+
			"(admin.group of the configuration), or run this as user %s", e.Path, e.User, e.Group, e.Mode.Perm(), e.User)
	default:
		return fmt.Sprintf("the service at %s gave no answer: %v; whether the request was carried out is shown by the lists: look before you repeat it", e.Path, e.Cause)
	}
}

// Unwrap gives the cause.
func (e *UnreachableError) Unwrap() error { return e.Cause }

// Denied tells that there is a service, or may be one, and the system does not let this user reach it.
func (e *UnreachableError) Denied() bool { return errors.Is(e.Cause, fs.ErrPermission) }

func (c *Client) unreachable(cause error) error {
	e := &UnreachableError{Path: c.path, Cause: cause}
	if info, err := os.Stat(c.path); err == nil {
		e.Mode = info.Mode()
		e.User, e.Group = ownersOf(info)
	}
	return e
}

// Path is the socket.
func (c *Client) Path() string { return c.path }

// get asks a route that changes nothing.
func get[T any](ctx context.Context, c *Client, filter url.Values, format string, parts ...any) (T, error) {
	target, err := address(format, parts...)
	if err != nil {
		var none T
		return none, err
	}
	if len(filter) > 0 {
		target += "?" + filter.Encode()
	}
	return do[T](ctx, c, http.MethodGet, target, nil)
}

// post asks a route that decides something.
func post[T any](ctx context.Context, c *Client, body any, format string, parts ...any) (T, error) {
	var none T
	text, err := json.Marshal(body)
	if err != nil {
		return none, fmt.Errorf("render the request: %w", err)
	}
	target, err := address(format, parts...)
	if err != nil {
		return none, err
	}
	return do[T](ctx, c, http.MethodPost, target, text)
}

// address fills in the parts of a path, escaped. The host is nobody's: the connection goes to the socket. A part that
// would make another path, as an empty variable of a script does, is no id.
func address(format string, parts ...any) (string, error) {
	for i, p := range parts {
		text := fmt.Sprint(p)
		if text == "" || text == "." || text == ".." {
			return "", invalid("%q is no id of a record; give the one that the list shows", text)
		}
		parts[i] = url.PathEscape(text)
	}
	return "http://creditonce" + fmt.Sprintf(format, parts...), nil
}

func do[T any](ctx context.Context, c *Client, method, target string, body []byte) (T, error) {
	var out T
	r, err := http.NewRequestWithContext(ctx, method, target, bytes.NewReader(body))
	if err != nil {
		return out, fmt.Errorf("make the request: %w", err)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	return send[T](c, r)
}

// send asks and reads the answer.
func send[T any](c *Client, r *http.Request) (T, error) {
	var out T
	res, err := c.http.Do(r)
	if err != nil {
		return out, c.unreachable(unwrapped(err))
	}
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err := errors.Join(err, res.Body.Close()); err != nil {
		return out, c.unreachable(err)
	}
	if res.StatusCode != http.StatusOK {
		return out, problemIn(res.StatusCode, text)
	}
	if err := json.Unmarshal(text, &out); err != nil {
		return out, c.unreachable(fmt.Errorf("the answer cannot be read: %w", err))
	}
	return out, nil
}

// unwrapped takes off what repeats the method and an address that means nothing to people.
func unwrapped(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}

// problemIn reads the reason of an answer that is no success.
func problemIn(status int, text []byte) *Problem {
	p := &Problem{Status: status}
	if err := json.Unmarshal(text, p); err != nil || p.Detail == "" {
		p.Code, p.Detail = "unreadable", fmt.Sprintf("the service answered %d without a reason; are the command and the service of one version?", status)
	}
	return p
}

// Status reads one screen about the service.
func (c *Client) Status(ctx context.Context) (Status, error) {
	return get[Status](ctx, c, nil, "/v1/status")
}

// Who reads which person the caller is.
func (c *Client) Who(ctx context.Context) (Person, error) { return get[Person](ctx, c, nil, "/v1/who") }

// Find searches for any id.
func (c *Client) Find(ctx context.Context, text string) (List[Found], error) {
	return get[List[Found]](ctx, c, url.Values{"text": {text}}, "/v1/find")
}

// Credits lists credits; the filter's names are the flags of `creditonce credits list`.
func (c *Client) Credits(ctx context.Context, filter url.Values) (List[Credit], error) {
	return get[List[Credit]](ctx, c, filter, "/v1/credits")
}

// Credit reads one credit with all that is known about it.
func (c *Client) Credit(ctx context.Context, id string) (CreditDetail, error) {
	return get[CreditDetail](ctx, c, nil, "/v1/credits/%s", id)
}

// Candidates asks MT5 now which deals a credit could adopt.
func (c *Client) Candidates(ctx context.Context, id string) (List[Deal], error) {
	return get[List[Deal]](ctx, c, nil, "/v1/credits/%s/candidates", id)
}

// Events lists events.
func (c *Client) Events(ctx context.Context, filter url.Values) (List[Event], error) {
	return get[List[Event]](ctx, c, filter, "/v1/events")
}

// Event reads one event with its body.
func (c *Client) Event(ctx context.Context, id string) (EventDetail, error) {
	return get[EventDetail](ctx, c, nil, "/v1/events/%s", id)
}

// Deposits lists deposits.
func (c *Client) Deposits(ctx context.Context, filter url.Values) (List[Deposit], error) {
	return get[List[Deposit]](ctx, c, filter, "/v1/deposits")
}

// Deposit reads one deposit.
func (c *Client) Deposit(ctx context.Context, code string) (DepositDetail, error) {
	return get[DepositDetail](ctx, c, nil, "/v1/deposits/%s", code)
}

// Tasks lists tasks.
func (c *Client) Tasks(ctx context.Context, filter url.Values) (List[Task], error) {
	return get[List[Task]](ctx, c, filter, "/v1/tasks")
}

// Task reads one task with the records side by side; a difference of reconciliation also as text for so many columns, where they are not 0.
func (c *Client) Task(ctx context.Context, id string, columns int) (TaskDetail, error) {
	filter := url.Values{}
	if columns > 0 {
		filter.Set("columns", strconv.Itoa(columns))
	}
	return get[TaskDetail](ctx, c, filter, "/v1/tasks/%s", id)
}

// Accounts lists registered logins.
func (c *Client) Accounts(ctx context.Context, filter url.Values) (List[Account], error) {
	return get[List[Account]](ctx, c, filter, "/v1/accounts")
}

// Proposals lists proposals.
func (c *Client) Proposals(ctx context.Context, filter url.Values) (List[Proposal], error) {
	return get[List[Proposal]](ctx, c, filter, "/v1/proposals")
}

// Proposal reads one proposal.
func (c *Client) Proposal(ctx context.Context, id string) (Proposal, error) {
	return get[Proposal](ctx, c, nil, "/v1/proposals/%s", id)
}

// People lists the people who may act.
func (c *Client) People(ctx context.Context) (List[Person], error) {
	return get[List[Person]](ctx, c, nil, "/v1/people")
}

// Keys lists the portal's API keys.
func (c *Client) Keys(ctx context.Context) (List[Key], error) {
	return get[List[Key]](ctx, c, nil, "/v1/keys")
}

// Audit lists what people did.
func (c *Client) Audit(ctx context.Context, filter url.Values) (List[AuditEntry], error) {
	return get[List[AuditEntry]](ctx, c, filter, "/v1/audit")
}

// Alerts lists the places where people are told.
func (c *Client) Alerts(ctx context.Context) (List[Channel], error) {
	return get[List[Channel]](ctx, c, nil, "/v1/alerts")
}

// Submit does what one person may do, or makes a proposal of it.
func (c *Client) Submit(ctx context.Context, act Act) (Outcome, error) {
	return post[Outcome](ctx, c, act, "/v1/acts")
}

// Confirm agrees to a proposal as it was shown, and does it.
func (c *Client) Confirm(ctx context.Context, id string, v Verdict) (Outcome, error) {
	return post[Outcome](ctx, c, v, "/v1/proposals/%s/confirm", id)
}

// UsePermit marks the permit of a confirmed probe as used; without an error the probe may begin.
func (c *Client) UsePermit(ctx context.Context, id string, claim PermitClaim) (Proposal, error) {
	return post[Proposal](ctx, c, claim, "/v1/proposals/%s/use", id)
}

// Reject ends a proposal undone.
func (c *Client) Reject(ctx context.Context, id string, v Verdict) (Proposal, error) {
	return post[Proposal](ctx, c, v, "/v1/proposals/%s/reject", id)
}

// Bootstrap makes the first two people of a store; only root may.
func (c *Client) Bootstrap(ctx context.Context, b Bootstrap) (Outcome, error) {
	return post[Outcome](ctx, c, b, "/v1/people/bootstrap")
}

// NewKey draws an API key and proposes it.
func (c *Client) NewKey(ctx context.Context, k NewKey) (Outcome, error) {
	return post[Outcome](ctx, c, k, "/v1/keys")
}
