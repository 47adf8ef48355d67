package fakemt5

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Control is a client of the control port. Safe for concurrent use. Its errors carry
// the server's own explanation.
type Control struct {
	base string
	http *http.Client
}

// NewControl returns a client for the control port at host:port, as Server.ControlAddr
// gives it. It opens no connection yet.
func NewControl(addr string) *Control {
	return &Control{
		base: "http://" + addr,
		http: &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{Proxy: nil, DisableKeepAlives: true}},
	}
}

// Info says where and what the server is.
func (c *Control) Info(ctx context.Context) (Info, error) { return get[Info](ctx, c, "/info") }

// Fault sets a rule and returns it with its id.
func (c *Control) Fault(ctx context.Context, r Rule) (Rule, error) {
	return send[Rule](ctx, c, http.MethodPost, "/faults", r)
}

// Faults lists the rules with what they hit so far, spent ones included.
func (c *Control) Faults(ctx context.Context) ([]Rule, error) { return get[[]Rule](ctx, c, "/faults") }

// ClearFaults removes all rules.
func (c *Control) ClearFaults(ctx context.Context) error { return c.remove(ctx, "/faults", "id", 0) }

// ClearFault removes one rule. Removing one that is gone already is no error.
func (c *Control) ClearFault(ctx context.Context, id int64) error {
	return c.remove(ctx, "/faults", "id", uint64(id))
}

// AddGroup adds a group or changes it.
func (c *Control) AddGroup(ctx context.Context, g Group) error {
	_, err := send[Group](ctx, c, http.MethodPost, "/groups", g)
	return err
}

// Groups lists the groups by name.
func (c *Control) Groups(ctx context.Context) ([]Group, error) {
	return get[[]Group](ctx, c, "/groups")
}

// AddAccount adds an account with its opening deals, or replaces the attributes of one
// that exists; its money stays.
func (c *Control) AddAccount(ctx context.Context, a Account) (AccountState, error) {
	return send[AccountState](ctx, c, http.MethodPost, "/accounts", a)
}

// ChangeAccount changes the given fields of an account.
func (c *Control) ChangeAccount(ctx context.Context, change AccountChange) (AccountState, error) {
	return send[AccountState](ctx, c, http.MethodPost, "/accounts/change", change)
}

// MoveAccount puts an account into another group.
func (c *Control) MoveAccount(ctx context.Context, login uint64, group string) (AccountState, error) {
	return c.ChangeAccount(ctx, AccountChange{Login: login, Group: &group})
}

// SetMargin sets the used margin of an account in minor units.
func (c *Control) SetMargin(ctx context.Context, login uint64, minor int64) (AccountState, error) {
	return c.ChangeAccount(ctx, AccountChange{Login: login, Margin: &minor})
}

// RemoveAccount makes a login unknown. Adding it again brings its history back.
func (c *Control) RemoveAccount(ctx context.Context, login uint64) error {
	return c.remove(ctx, "/accounts", "login", login)
}

// Accounts lists all accounts as they stand now, by login.
func (c *Control) Accounts(ctx context.Context) ([]AccountState, error) {
	return get[[]AccountState](ctx, c, "/accounts")
}

// AddDeal books a deal by hand.
func (c *Control) AddDeal(ctx context.Context, d ManualDeal) (JournalEntry, error) {
	return send[JournalEntry](ctx, c, http.MethodPost, "/deals", d)
}

// EditDeal changes a deal and not the balance.
func (c *Control) EditDeal(ctx context.Context, d DealEdit) (JournalEntry, error) {
	return send[JournalEntry](ctx, c, http.MethodPost, "/deals/edit", d)
}

// DeleteDeal takes a deal out of the history and leaves the balance.
func (c *Control) DeleteDeal(ctx context.Context, ticket uint64) error {
	return c.remove(ctx, "/deals", "ticket", ticket)
}

// SeedDeals makes trading deals and returns their tickets.
func (c *Control) SeedDeals(ctx context.Context, s Seed) ([]uint64, error) {
	out, err := send[Tickets](ctx, c, http.MethodPost, "/deals/seed", s)
	return out.Tickets, err
}

// Deals lists the deals of a login, or of all for 0, oldest first, hidden ones included.
func (c *Control) Deals(ctx context.Context, login uint64) ([]JournalEntry, error) {
	return get[[]JournalEntry](ctx, c, numbered("/deals", "login", login))
}

// Sessions lists the live sessions.
func (c *Control) Sessions(ctx context.Context) ([]SessionInfo, error) {
	return get[[]SessionInfo](ctx, c, "/sessions")
}

// KillSessions ends the sessions of one manager, or all for 0; connections stay open.
func (c *Control) KillSessions(ctx context.Context, manager uint64) error {
	return c.remove(ctx, "/sessions", "login", manager)
}

// ResetConnections cuts all connections of the wire, as a server that restarts does.
func (c *Control) ResetConnections(ctx context.Context) error {
	_, err := send[Count](ctx, c, http.MethodDelete, "/connections", nil)
	return err
}

// SetZone changes the server's zone and daylight saving from now on.
func (c *Control) SetZone(ctx context.Context, z Zone) error {
	_, err := send[Zone](ctx, c, http.MethodPut, "/zone", z)
	return err
}

// ShiftClock moves the server's idea of UTC and returns the sum of all shifts.
func (c *Control) ShiftClock(ctx context.Context, by time.Duration) (time.Duration, error) {
	out, err := send[Shift](ctx, c, http.MethodPost, "/clock", Shift{By: Duration(by)})
	return out.Total.std(), err
}

// Wire returns how the server answers now.
func (c *Control) Wire(ctx context.Context) (Wire, error) { return get[Wire](ctx, c, "/wire") }

// ChangeWire changes the non-zero fields of w and leaves the others. To switch a
// boolean off use PatchWire.
func (c *Control) ChangeWire(ctx context.Context, w Wire) (Wire, error) {
	return send[Wire](ctx, c, http.MethodPatch, "/wire", w)
}

// PatchWire changes the named fields, named as in JSON.
func (c *Control) PatchWire(ctx context.Context, fields map[string]any) (Wire, error) {
	return send[Wire](ctx, c, http.MethodPatch, "/wire", fields)
}

// Counters returns what each endpoint got and carried out.
func (c *Control) Counters(ctx context.Context) (map[string]Counter, error) {
	return get[map[string]Counter](ctx, c, "/counters")
}

// Journal returns the executed deals in order of execution.
func (c *Control) Journal(ctx context.Context) ([]JournalEntry, error) {
	return get[[]JournalEntry](ctx, c, "/journal")
}

func (c *Control) remove(ctx context.Context, path, name string, n uint64) error {
	_, err := send[Count](ctx, c, http.MethodDelete, numbered(path, name, n), nil)
	return err
}

func numbered(path, name string, n uint64) string {
	return path + "?" + url.Values{name: {strconv.FormatUint(n, 10)}}.Encode()
}

func get[Out any](ctx context.Context, c *Control, path string) (Out, error) {
	return send[Out](ctx, c, http.MethodGet, path, nil)
}

func send[Out any](ctx context.Context, c *Control, method, path string, in any) (out Out, err error) {
	fail := func(err error) (Out, error) {
		return out, fmt.Errorf("control %s %s: %w", method, path, err)
	}
	body := []byte(nil)
	if in != nil {
		if body, err = json.Marshal(in); err != nil {
			return fail(err)
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return fail(err)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return fail(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return fail(err)
	}
	if resp.StatusCode != http.StatusOK {
		var refused controlError
		if json.Unmarshal(text, &refused) != nil || refused.Error == "" {
			refused.Error = resp.Status
		}
		return fail(errors.New(refused.Error))
	}
	if err := json.Unmarshal(text, &out); err != nil {
		return fail(err)
	}
	return out, nil
}
