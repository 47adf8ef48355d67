package mt5

import (
	"context"
	"sync"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/mt5/fakemt5"
)

const (
	testManager  = 1007
	testPassword = "Fund5Bridge!"
	testIdentity = "ExampleBroker-Live"
	testLogin    = 500123 // EUR, opening balance 100.00
	emptyLogin   = 500200 // EUR, no deal at all
	jpyLogin     = 500300 // JPY, no digits
)

// testStart is a Wednesday outside European summer time.
var testStart = time.Date(2026, 1, 14, 12, 0, 0, 0, time.UTC)

// testClock is the fake's manual clock as a credit.Clock.
type testClock struct{ *fakemt5.ManualClock }

func (c testClock) Boot() time.Duration { return c.Now().Sub(testStart) }

func (c testClock) Wait(ctx context.Context, _ time.Duration, _ <-chan struct{}) error {
	<-ctx.Done()
	return ctx.Err()
}

// rig is a fake server and one session on it.
type rig struct {
	t       *testing.T
	fake    *fakemt5.Server
	control *fakemt5.Control
	clock   testClock
	seen    *recorder
	session *Session
	server  *Server
}

// recorder keeps what the observer was told.
type recorder struct {
	mu        sync.Mutex
	exchanges []Exchange
	connects  int
	drops     []string
}

func (r *recorder) Exchanged(e Exchange) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.exchanges = append(r.exchanges, e)
}

func (r *recorder) Connected(string, int, string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.connects++
}

func (r *recorder) Dropped(_ string, _ int, reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drops = append(r.drops, reason)
}

// of are the exchanges with one endpoint.
func (r *recorder) of(endpoint string) []Exchange {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []Exchange
	for _, e := range r.exchanges {
		if e.Endpoint == endpoint {
			out = append(out, e)
		}
	}
	return out
}

func (r *recorder) connections() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.connects
}

// world is what the fake begins with.
func world() fakemt5.World {
	return fakemt5.World{
		Server:   testIdentity,
		Zone:     fakemt5.Zone{OffsetMinutes: 120},
		Managers: []fakemt5.Manager{{Login: testManager, Password: testPassword}},
		Groups: []fakemt5.Group{
			{Name: `real\forex\eur`, Currency: "EUR", Digits: 2}, {Name: `real\jpy`, Currency: "JPY"},
		},
		Accounts: []fakemt5.Account{
			{Login: testLogin, Group: `real\forex\eur`, Balance: 100_00},
			{Login: emptyLogin, Group: `real\forex\eur`},
			{Login: jpyLogin, Group: `real\jpy`, Balance: 5000},
		},
	}
}

type option func(*fakemt5.Config, *Config)

func onWire(change func(*fakemt5.Wire)) option {
	return func(f *fakemt5.Config, _ *Config) { change(&f.World.Wire) }
}

func onWorld(change func(*fakemt5.World)) option {
	return func(f *fakemt5.Config, _ *Config) { change(&f.World) }
}

func onClient(change func(*Config)) option {
	return func(_ *fakemt5.Config, c *Config) { change(c) }
}

// impatient is for the few tests in which the time-out of a call must really pass.
func impatient(c *Config) { c.CallTimeout = 150 * time.Millisecond }

// impatientOnce lets the time-out of the next call pass, but not before the fake has come to the wait of its
// fault: what it does before that wait has then been done, however slow the machine is.
func (r *rig) impatientOnce(wait time.Duration) {
	impatient(r.session.cfg)
	r.session.cfg.Step = func(ctx context.Context, name string) {
		if name != credit.StepWritten {
			return
		}
		if err := r.clock.AwaitTimer(ctx, wait); err != nil {
			r.t.Error(err)
		}
	}
}

func newRig(t *testing.T, options ...option) *rig {
	t.Helper()
	clock := testClock{fakemt5.NewManualClock(testStart)}
	fakeConfig := fakemt5.Config{Control: "127.0.0.1:0", Clock: clock.ManualClock, World: world()}
	seen := &recorder{}
	cfg := Config{
		Label: "main", Identity: testIdentity, Manager: testManager, Password: func() []byte { return []byte(testPassword) },
		Clock: clock, Observer: seen,
	}
	for _, o := range options {
		o(&fakeConfig, &cfg)
	}
	fake, err := fakemt5.Start(t.Context(), fakeConfig)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = fake.Close() })
	cfg.Addresses = append(cfg.Addresses, fake.Addr())
	cfg.TLS.CAPEM = fake.CertPEM()
	server, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{
		t: t, fake: fake, control: fakemt5.NewControl(fake.ControlAddr()), clock: clock, seen: seen,
		server: server, session: server.Session(0),
	}
	t.Cleanup(func() { r.session.Drop("end of the test") })
	return r
}

func (r *rig) ready() {
	r.t.Helper()
	if err := r.session.Ready(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) fault(rule fakemt5.Rule) {
	r.t.Helper()
	if _, err := r.control.Fault(r.t.Context(), rule); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) add(d fakemt5.ManualDeal) uint64 {
	r.t.Helper()
	e, err := r.control.AddDeal(r.t.Context(), d)
	if err != nil {
		r.t.Fatal(err)
	}
	return e.Ticket
}

func (r *rig) seed(login uint64, n int, over time.Duration) {
	r.t.Helper()
	if _, err := r.control.SeedDeals(r.t.Context(), fakemt5.Seed{Login: login, Count: n, Number: 7, Over: fakemt5.Duration(over)}); err != nil {
		r.t.Fatal(err)
	}
}

// reference is a valid one that no other test data resembles.
var reference = credit.NewReference("live", testIdentity, credit.KindDeposit, credit.Unit{
	ProviderKind: "stripe", Account: "acct_1", Payment: "pi_1", Part: "1",
})

// call is a balance call of 500.00 EUR that may be sent for two seconds.
func (r *rig) call() credit.Call {
	r.t.Helper()
	amount, err := credit.Minor(500_00, "EUR", 2)
	if err != nil {
		r.t.Fatal(err)
	}
	return credit.Call{Login: testLogin, Amount: amount, Reference: reference, Deadline: r.clock.Boot() + 2*time.Second}
}

// executed are the deals that the fake booked for the reference, whatever it did to the comment.
func (r *rig) executed() []fakemt5.JournalEntry {
	var out []fakemt5.JournalEntry
	for _, e := range r.fake.Journal() {
		if e.Source == fakemt5.SourceAPI {
			out = append(out, e)
		}
	}
	return out
}

// query is a look from an hour before now.
func (r *rig) query(login uint64) credit.LookQuery {
	return credit.LookQuery{Login: login, Earliest: r.clock.Now().Add(-time.Hour)}
}

// look demands a complete sighting.
func (r *rig) look(q credit.LookQuery) credit.Sighting {
	r.t.Helper()
	s := r.session.Look(r.t.Context(), q)
	if !s.Complete {
		r.t.Fatalf("the look is not complete: %s", s.Reason)
	}
	return s
}

func comments(s credit.Sighting) []string {
	var out []string
	for _, d := range s.Deals {
		out = append(out, d.Comment)
	}
	return out
}

func serverMsc(t time.Time) int64 { return t.Add(2 * time.Hour).UnixMilli() }
