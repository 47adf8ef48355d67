package recon

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"creditonce/mt5"
	"creditonce/mt5/fakemt5"
)

// dealStart is a Monday; the server of the tests keeps New York's time and seven hours, UTC+2 on that day.
var dealStart = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// skipClock stands still but for waits, which pass at once.
type skipClock struct {
	*fakemt5.ManualClock
	start time.Time
	waits []time.Duration
	ended func() // runs before a wait; may end the context
}

func (c *skipClock) Boot() time.Duration { return c.Now().Sub(c.start) }

func (c *skipClock) Wait(ctx context.Context, until time.Duration, _ <-chan struct{}) error {
	if c.ended != nil {
		c.ended()
	}
	c.waits = append(c.waits, until-c.Boot())
	c.Advance(until - c.Boot())
	return ctx.Err()
}

// floor is an MT5 server on a socket, a session on it, and what a listing gave.
type floor struct {
	t       *testing.T
	clock   *skipClock
	control *fakemt5.Control
	fake    *fakemt5.Server
	session *mt5.Session
	asked   map[string]int // requests by endpoint
	deals   []Deal
	steps   []string // progress
}

// Exchanged, Connected and Dropped make floor the session's observer.
func (f *floor) Exchanged(e mt5.Exchange)      { f.asked[e.Endpoint]++ }
func (f *floor) Connected(string, int, string) {}
func (f *floor) Dropped(string, int, string)   {}

const (
	eur, usd   = `real\eur`, `real\usd`
	baseLogin  = 7000
	newYorkDST = fakemt5.DSTUS
)

// openFloor has the logins 7001 to 7000+n, those with even numbers in euros. Each has an opening balance three months old.
func openFloor(t *testing.T, n int, change func(*fakemt5.Config, *mt5.Config)) *floor {
	t.Helper()
	return openFloorAt(t, dealStart, n, change)
}

func openFloorAt(t *testing.T, start time.Time, n int, change func(*fakemt5.Config, *mt5.Config)) *floor {
	t.Helper()
	f := &floor{t: t, clock: &skipClock{ManualClock: fakemt5.NewManualClock(start), start: start}, asked: map[string]int{}}
	fc := fakemt5.Config{Control: "127.0.0.1:0", Clock: f.clock.ManualClock, World: fakemt5.World{
		Zone:     fakemt5.Zone{OffsetMinutes: 120, DST: newYorkDST},
		Managers: []fakemt5.Manager{{Login: 1007, Password: "Fund5Bridge!"}},
		Groups:   []fakemt5.Group{{Name: eur, Currency: "EUR", Digits: 2}, {Name: usd, Currency: "USD", Digits: 2}},
	}}
	for i := range uint64(n) {
		group := usd
		if i%2 == 1 {
			group = eur
		}
		fc.World.Accounts = append(fc.World.Accounts, fakemt5.Account{Login: baseLogin + 1 + i, Group: group, Balance: 100_00})
	}
	mc := mt5.Config{
		Label: "main", Identity: "ExampleBroker-Live", Manager: 1007, Password: func() []byte { return []byte("Fund5Bridge!") }, Clock: f.clock, Observer: f,
	}
	if change != nil {
		change(&fc, &mc)
	}
	var err error
	if f.fake, err = fakemt5.Start(t.Context(), fc); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.fake.Close() })
	f.control = fakemt5.NewControl(f.fake.ControlAddr())
	if mc.Addresses == nil {
		mc.Addresses = []string{f.fake.Addr()}
	}
	mc.TLS.CAPEM = f.fake.CertPEM()
	server, err := mt5.New(mc)
	if err != nil {
		t.Fatal(err)
	}
	f.session = server.Session(0)
	t.Cleanup(func() { f.session.Drop("end of the test") })
	return f
}

// query asks for the last two days of everything.
func (f *floor) query() DealQuery {
	return DealQuery{
		Server: "main", Identity: "ExampleBroker-Live", From: dealStart.Add(-48 * time.Hour), Groups: []string{`real\*`},
		Rule: ServerClock{Location: zone(f.t, "America/New_York"), Ahead: 7 * time.Hour}, Clock: f.clock,
	}
}

// read lists, and demands no error.
func (f *floor) read(q DealQuery) DealList {
	f.t.Helper()
	f.deals, f.steps = nil, nil
	if q.Progress == nil {
		q.Progress = func(done, total int) { f.steps = append(f.steps, fmt.Sprintf("%d/%d", done, total)) }
	}
	list, err := ReadDeals(f.t.Context(), f.session, q, func(d Deal) error { f.deals = append(f.deals, d); return nil })
	if err != nil {
		f.t.Fatal(err)
	}
	if list.Deals != len(f.deals) || list.Complete != (list.Reason == "") {
		f.t.Errorf("%d deals emitted; the list says %+v", len(f.deals), list)
	}
	return list
}

// complete demands a complete list.
func (f *floor) complete(q DealQuery) DealList {
	f.t.Helper()
	list := f.read(q)
	if !list.Complete {
		f.t.Fatalf("the list is not complete: %s", list.Reason)
	}
	return list
}

// deal books one at a moment, and gives its ticket.
func (f *floor) deal(login uint64, action int, amount string, at time.Time) uint64 {
	f.t.Helper()
	offset := ServerClock{Location: zone(f.t, "America/New_York"), Ahead: 7 * time.Hour}.Offset(at)
	e, err := f.control.AddDeal(f.t.Context(), fakemt5.ManualDeal{Login: login, Action: action, Amount: amount, Comment: "by hand", TimeMsc: at.Add(offset).UnixMilli()})
	if err != nil {
		f.t.Fatal(err)
	}
	return e.Ticket
}

func (f *floor) fault(r fakemt5.Rule) {
	f.t.Helper()
	if _, err := f.control.Fault(f.t.Context(), r); err != nil {
		f.t.Fatal(err)
	}
}

// lines are the deals emitted, as login, action, amount.
func (f *floor) lines() []string {
	var out []string
	for _, d := range f.deals {
		out = append(out, fmt.Sprintf("%d %d %s", d.Login-baseLogin, d.Action, d.Amount))
	}
	return out
}

// refusedPorts counts the addresses that were given out.
var refusedPorts atomic.Uint32

// refusedAddress is a loopback address on which nothing listens: of a port below those that a system gives out by itself, so that no listener of
// another test gets it meanwhile. Two in a row differ.
func refusedAddress(t *testing.T) string {
	t.Helper()
	return fmt.Sprintf("127.0.0.1:%d", 2+refusedPorts.Add(1)%4)
}
