package probe_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"creditonce/mt5"
	"creditonce/mt5/fakemt5"
	"creditonce/mt5/probe"
)

var update = flag.Bool("update", false, "rewrite the golden report")

const (
	manager   = 1007
	password  = "Fund5Bridge!"
	identity  = "ExampleBroker-Live"
	testLogin = 700001 // in a test group, EUR
	liveLogin = 500123
	idleLogin = 700002 // in a test group, no deal
)

var start = time.Date(2026, 1, 14, 12, 0, 0, 0, time.UTC)

// clock is the fake's clock as a credit.Clock: waiting moves it on.
type clock struct{ *fakemt5.ManualClock }

func (c clock) Boot() time.Duration { return c.Now().Sub(start) }

func (c clock) Wait(ctx context.Context, until time.Duration, _ <-chan struct{}) error {
	if d := until - c.Boot(); d > 0 {
		c.Advance(d)
	}
	return ctx.Err()
}

// rig is a fake server and what a probe of it needs.
type rig struct {
	t       *testing.T
	fake    *fakemt5.Server
	control *fakemt5.Control
	clock   clock
	o       probe.Options
	said    []string
}

func newRig(t *testing.T, change ...func(*fakemt5.Config, *mt5.Config)) *rig {
	t.Helper()
	r := &rig{t: t, clock: clock{fakemt5.NewManualClock(start)}}
	fake := fakemt5.Config{Control: "127.0.0.1:0", Clock: r.clock.ManualClock, World: fakemt5.World{
		Server: identity, Zone: fakemt5.Zone{OffsetMinutes: 120, DST: fakemt5.DSTOn},
		Managers: []fakemt5.Manager{{Login: manager, Password: password}},
		Groups:   []fakemt5.Group{{Name: `test\eur`, Currency: "EUR", Digits: 2}, {Name: `real\eur`, Currency: "EUR", Digits: 2}},
		Accounts: []fakemt5.Account{
			{Login: testLogin, Group: `test\eur`, Name: "Probe", Balance: 100_00, SeedDeals: 150, SeedNumber: 7},
			{Login: idleLogin, Group: `test\eur`}, {Login: liveLogin, Group: `real\eur`, Balance: 100_00},
		},
	}}
	cfg := mt5.Config{
		Label: "main", Identity: identity, Manager: manager, Password: func() []byte { return []byte(password) }, Clock: r.clock,
		CallTimeout: 300 * time.Millisecond,
	}
	for _, c := range change {
		c(&fake, &cfg)
	}
	var err error
	if r.fake, err = fakemt5.Start(t.Context(), fake); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.fake.Close() })
	r.control = fakemt5.NewControl(r.fake.ControlAddr())
	cfg.Addresses, cfg.TLS.CAPEM = append(cfg.Addresses, r.fake.Addr()), r.fake.CertPEM()
	server, err := mt5.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	r.o = probe.Options{
		Server: server, Label: "main", Program: "v0", Manager: manager, Login: testLogin, Identity: identity,
		Masks: []string{`test\*`}, Currencies: map[string]int{"EUR": 2}, Configured: 2,
		Operate: true, Operations: 8, Overdraw: true, UnknownLogin: 999_999_001, Sessions: 4,
		Quarantine: 10 * time.Minute, LongestAct: 22 * time.Second, Patience: time.Minute, Pace: 50 * time.Millisecond,
		Clock: r.clock, Rand: rand.NewChaCha8([32]byte{1}), Say: func(s string) { r.said = append(r.said, s) },
	}
	return r
}

func onWire(change func(*fakemt5.Wire)) func(*fakemt5.Config, *mt5.Config) {
	return func(f *fakemt5.Config, _ *mt5.Config) { change(&f.World.Wire) }
}

// run probes and demands that every question of the table is in the report, once and in order.
func (r *rig) run() probe.Report {
	r.t.Helper()
	report, err := probe.Run(r.t.Context(), r.o)
	if err != nil {
		r.t.Fatal(err)
	}
	var want, got []string
	for _, a := range probe.Assumptions() {
		want = append(want, a.ID)
	}
	for _, f := range report.Findings {
		got = append(got, f.ID)
		if f.Answer == "" || (f.Verdict == probe.Differs || f.Verdict == probe.Handled) && f.Next == "" {
			r.t.Errorf("%s has no answer, or no advice: %+v", f.ID, f)
		}
	}
	if !slices.Equal(want, got) {
		r.t.Errorf("the report answers %v", got)
	}
	return report
}

// want demands a verdict, and that the answer holds some words.
func want(t *testing.T, r probe.Report, id string, v probe.Verdict, words string) {
	t.Helper()
	f, _ := r.Found(id)
	if f.Verdict != v || !strings.Contains(f.Answer, words) {
		t.Errorf("%s: got %q %q, want %q with %q", id, f.Verdict, f.Answer, v, words)
	}
}

// asBefore demands that the login's history adds up to what it was and that no other login was touched.
func (r *rig) asBefore() {
	r.t.Helper()
	var sum int64
	for _, e := range r.fake.Journal() {
		if e.Source != fakemt5.SourceAPI {
			continue
		}
		if e.Login != testLogin || !strings.HasPrefix(e.Comment, mt5.TrialPrefix) {
			r.t.Errorf("deal %d is on login %d with comment %q", e.Ticket, e.Login, e.Comment)
		}
		sum += e.Minor
	}
	if sum != 0 {
		r.t.Errorf("the probe left %d minor units on the login", sum)
	}
}

func TestReport_OfAServerAsTheDocumentsSay(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	report := r.run()
	r.asBefore()
	if len(report.Attention) > 0 || len(report.Differences()) > 0 {
		t.Errorf("attention %v, differences %v", report.Attention, report.Differences())
	}
	for i := range report.Operations {
		report.Operations[i].Took = 0
	}
	got := report.Markdown()
	golden := filepath.Join("testdata", "report.md")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the report differs from %s (go test ./mt5/probe -run Report -update):\n%s", golden, got)
	}
}

func TestReport_ReadsBackAsItWasWritten(t *testing.T) {
	t.Parallel()
	report := newRig(t).run()
	text, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	back, err := probe.ParseReport(text)
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := json.Marshal(back); string(again) != string(text) {
		t.Errorf("it reads back as %s", again)
	}
	if f := back.Facts; f.Dealer == nil || *f.Dealer != manager || f.VisibleMost == nil || *f.VisibleMost != 0 || f.Samples < 16 ||
		f.PageLimit == nil || *f.PageLimit != 100 || f.Offset == nil || *f.Offset != 3*time.Hour {
		t.Errorf("facts %+v", f)
	}
	for name, damage := range map[string][2]string{
		"format": {probe.Format, "creditonce-mt5-probe-9"}, "question": {`"page.order"`, `"page.colour"`}, "twice": {`"page.order"`, `"page.limit"`},
		"page limit": {`"page_limit":100`, `"page_limit":0`},
	} {
		if _, err := probe.ParseReport([]byte(strings.Replace(string(text), damage[0], damage[1], 1))); err == nil {
			t.Errorf("%s: a changed report was taken", name)
		}
	}
}

func TestWithoutOperate_NoMoneyMoves(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.o.Operate = false
	report := r.run()
	counters, err := r.control.Counters(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if counters["trade/balance"].Requests != 0 || len(report.Operations) > 0 {
		t.Errorf("trade/balance was called: %+v", counters)
	}
	want(t, report, "deal.visible", probe.NotAsked, "--operate")
	want(t, report, "page.order", probe.AsAssumed, "oldest first")
}

func TestEveryStepIsSaidBeforeItIsDone(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.o.Say = func(s string) {
		r.said = append(r.said, s)
		if strings.HasPrefix(s, "book 0.01 EUR on login 700001") && len(r.said) > 0 {
			for _, e := range r.fake.Journal() {
				_, comment, _ := strings.Cut(s, "comment ")
				if e.Source == fakemt5.SourceAPI && strings.Contains(comment, e.Comment) {
					t.Errorf("%q was said after it was done", s)
				}
			}
		}
	}
	report := r.run()
	said := 0
	for _, s := range r.said {
		if strings.HasPrefix(s, "book ") {
			said++
		}
	}
	if said != len(report.Operations) {
		t.Errorf("%d operations were said, %d made", said, len(report.Operations))
	}
}

func TestLoginOutsideTheTestGroups_IsRefusedBeforeAnythingIsAsked(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		login       uint64
		masks, live []string
		says        string
	}{
		"another group":             {liveLogin, []string{`test\*`}, nil, "none of the test groups"},
		"excluded":                  {testLogin, []string{`!test\eur`, "test*"}, nil, "none of the test groups"},
		"no group named":            {testLogin, nil, nil, "probe_groups"},
		"live, though named a test": {liveLogin, []string{`real\*`}, []string{`real\*`}, "two people"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.o.Login, r.o.Masks, r.o.LiveMasks = test.login, test.masks, test.live
			_, err := probe.Run(t.Context(), r.o)
			var group *probe.GroupError
			if !errors.As(err, &group) || !strings.Contains(err.Error(), test.says) {
				t.Fatalf("got %v", err)
			}
			counters, err := r.control.Counters(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, endpoint := range []string{"deal/get_total", "group/get", "trade/balance", "user/account/get"} {
				if counters[endpoint].Requests != 0 {
					t.Errorf("%s was asked", endpoint)
				}
			}
		})
	}
}

func TestServerThatCannotBeProbed_SaysWhy(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*fakemt5.Config, *mt5.Config)
		kind   func(error) bool
	}{
		"wrong password": {func(_ *fakemt5.Config, c *mt5.Config) { c.Password = func() []byte { return []byte("other") } },
			func(err error) bool { return errors.As(err, new(*mt5.LoginError)) }},
		"refused with a status": {func(f *fakemt5.Config, c *mt5.Config) {
			f.World.Wire.AuthRefused = 403
			c.Password = func() []byte { return []byte("other") }
		}, func(err error) bool { return errors.As(err, new(*mt5.LoginError)) }},
		"another identity": {func(_ *fakemt5.Config, c *mt5.Config) { c.Identity = "Other" },
			func(err error) bool { return errors.As(err, new(*mt5.IdentityError)) }},
		"down": {func(f *fakemt5.Config, _ *mt5.Config) { f.World.Wire.RefuseConnections = true },
			func(err error) bool {
				return err != nil && !errors.As(err, new(*mt5.LoginError)) && !errors.As(err, new(*mt5.IdentityError))
			}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := probe.Run(t.Context(), newRig(t, test.change).o)
			if !test.kind(err) || strings.Contains(err.Error(), password) {
				t.Errorf("got %v", err)
			}
		})
	}
}
