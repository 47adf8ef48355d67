package cli

import (
	"context"
	"errors"
	"flag"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"creditonce/credit"
	"creditonce/internal/admin"
	"creditonce/internal/desk"
)

var update = flag.Bool("update", false, "write the golden files anew")

var fixedNow = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// scripted is a desk with fixed records; it remembers what it was asked to do.
type scripted struct {
	admin.Desk
	mu   sync.Mutex
	acts []desk.Act
}

func usd(minor int64) credit.Amount {
	a, err := credit.Minor(minor, "USD", 2)
	if err != nil {
		panic(err)
	}
	return a
}

// scriptedCredit is what a hostile provider would like an operator to see: control characters and formulas.
func scriptedCredit() credit.Credit {
	return credit.Credit{
		ID: 17, Kind: credit.KindDeposit, State: credit.Held, Holds: []credit.Hold{credit.HoldLookAlike},
		Unit:     credit.Unit{ProviderKind: "stripe", Account: "acct_1", Payment: "pi_3Qx7RkB2eZvKYlo2C0aBcDeF"},
		Provider: "stripe-main", Paid: usd(50000), PaidAt: fixedNow.Add(-time.Hour), Code: "order-2026-11-30-000017", Deposit: "order-2026-11-30-000017",
		Server: "main", Identity: "Broker", Login: 9007199254740993, Client: "=cmd()\x1b[31m", Amount: usd(50000), Reference: "dep:8QK800AFQN6Y47J371",
		CreatedAt: fixedNow.Add(-time.Hour), UpdatedAt: fixedNow.Add(-30 * time.Minute),
	}
}

func scriptedTask() credit.Task {
	return credit.Task{
		ID: 3, Kind: credit.TaskConflict, Entity: "credit/17", Summary: "MT5 has a deal of 500.00 USD that may be this payment",
		Next: "adopt it, or record that it is another one", OpenedAt: fixedNow.Add(-29 * time.Minute),
		Records: []credit.Record{
			{Source: "row", Fields: []credit.Field{{Name: "login", Value: "9007199254740993"}, {Name: "amount", Value: "500.00 USD"}}},
			{Source: "mt5", Fields: []credit.Field{{Name: "login", Value: "9007199254740993"}, {Name: "amount", Value: "500.00 USD"}, {Name: "comment", Value: "by hand"}}},
		},
		Notes: []credit.TaskNote{{At: fixedNow, By: "carl", Text: "asked the dealer"}},
	}
}

func scriptedProposal(a desk.Act) desk.Proposal {
	return desk.Proposal{
		ID: 5, Act: a, By: "anna", Reason: "by hand on Friday", Digest: strings.Repeat("3f9a01c2d4e5b607", 4), At: fixedNow,
		ExpiresAt: fixedNow.Add(24 * time.Hour), State: desk.ProposalOpen,
	}
}

func (d *scripted) Submit(_ context.Context, _ desk.Actor, a desk.Act, _ string) (desk.Outcome, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.acts = append(d.acts, a)
	lines := desk.Table()
	if i := slices.IndexFunc(lines, func(l desk.Line) bool { return l.Kind == a.Kind }); i >= 0 && lines[i].Two {
		p := scriptedProposal(a)
		return desk.Outcome{Act: a, Proposal: &p, Waits: "the quarantine is over in 3m0s"}, nil
	}
	out := desk.Outcome{Done: true, Act: a}
	if a.Kind == desk.TestAlerts {
		out.Notice = 7
	}
	return out, nil
}

func (d *scripted) Channels(context.Context, desk.Actor) ([]credit.ChannelState, error) {
	return []credit.ChannelState{
		{Channel: credit.Channel{Name: "webhook", Delivered: 7, DeliveredAt: fixedNow}},
		{Channel: credit.Channel{Name: "email ops@broker.example", Delivered: 7, DeliveredAt: fixedNow.Add(-time.Minute)}},
	}, nil
}

func (d *scripted) NewKey(ctx context.Context, who desk.Actor, name string, scopes []string, reason string) (string, desk.Outcome, error) {
	out, err := d.Submit(ctx, who, desk.Act{Kind: desk.NewKey, Subject: "key/" + name, Params: map[string]string{"sha256": "00", "scopes": strings.Join(scopes, ",")}}, reason)
	return "co_scripted", out, err
}

func (d *scripted) Credits(context.Context, desk.Actor, credit.CreditQuery) (credit.Page[credit.Credit], error) {
	second := scriptedCredit()
	second.ID, second.State, second.Holds, second.Ticket, second.UnknownSince.At = 16, credit.Unknown, nil, 18014398509481985, fixedNow.Add(-3*time.Hour)
	return credit.Page[credit.Credit]{Items: []credit.Credit{scriptedCredit(), second}}, nil
}

func (d *scripted) Credit(context.Context, desk.Actor, credit.ID) (desk.CreditView, error) {
	return desk.CreditView{
		Dossier: credit.Dossier{Row: scriptedCredit(), OpenTasks: []credit.Task{scriptedTask()}},
		History: []credit.Entry{
			{Seq: 1, At: fixedNow.Add(-time.Hour), By: credit.ByIntake, Actor: "intake", Move: "born", To: credit.Pending, Evidence: &credit.Evidence{Event: 4}},
			{Seq: 2, At: fixedNow.Add(-30 * time.Minute), By: credit.ByWorker, Actor: "lane main/0", Move: "stop", From: credit.Pending, To: credit.Held, Reason: "look_alike",
				Evidence: &credit.Evidence{Look: &credit.LookEvidence{Verdict: credit.VerdictConflict, Tickets: []string{"900071"}}}},
		},
	}, nil
}

func (d *scripted) Tasks(_ context.Context, _ desk.Actor, q desk.TaskQuery) ([]credit.Task, error) {
	if q.After > 0 {
		return nil, nil
	}
	return []credit.Task{scriptedTask()}, nil
}

func (d *scripted) Task(ctx context.Context, a desk.Actor, _ credit.TaskID) (desk.TaskView, error) {
	v, err := d.Credit(ctx, a, 17)
	return desk.TaskView{Task: scriptedTask(), Credit: &v}, err
}

func (d *scripted) Status(context.Context, desk.Actor) (desk.Status, error) {
	return desk.Status{
		Settings: credit.Settings{Environment: "live", Mode: credit.ModeHold, ModeReason: "MT5 maintenance", ModeBy: "carl", ModeAt: fixedNow.Add(-time.Hour), CutoverAt: fixedNow.AddDate(0, -1, 0)},
		Totals:   desk.Totals{Events: 1204, Rows: map[credit.State]int{credit.Done: 980, credit.Unknown: 1, credit.Held: 1}, OpenTasks: 1, OpenProposals: 2},
		People:   4, Quarantine: 90500 * time.Millisecond, Proposals: 1, Doubt: fixedNow.Add(-3 * time.Hour),
		Tasks: []desk.OpenKind{{Kind: credit.TaskConflict, Open: 1, Oldest: fixedNow.Add(-29 * time.Minute)}},
	}, nil
}

func (d *scripted) Find(_ context.Context, _ desk.Actor, text string) ([]desk.Hit, error) {
	if text == "nothing" {
		return nil, nil
	}
	return []desk.Hit{{Subject: "credit/17", Credit: 17, By: "login"}, {Subject: "account/main/9007199254740993", By: "login"}}, nil
}

func (d *scripted) Proposal(_ context.Context, _ desk.Actor, id desk.ProposalID) (desk.Proposal, error) {
	if id != 5 {
		return desk.Proposal{}, credit.ErrNotFound
	}
	return scriptedProposal(desk.Act{Kind: desk.Adopt, Subject: "credit/17", Params: map[string]string{"ticket": "900071", "comment": "by hand\x1b[2J"}}), nil
}

func (d *scripted) Proposals(context.Context, desk.Actor, desk.ProposalQuery) ([]desk.Proposal, error) {
	p, err := d.Proposal(context.Background(), desk.Actor{}, 5)
	return []desk.Proposal{p}, err
}

func (d *scripted) People(context.Context, desk.Actor) ([]desk.Person, error) {
	return []desk.Person{
		{ID: "anna", Name: "Anna Lim", Users: []string{"anna", "anna-adm"}, Roles: []desk.Role{desk.Admin, desk.Maker}},
		{ID: "eve", Name: "Eve Ho", Users: []string{"eve"}, Roles: []desk.Role{desk.Viewer}, Disabled: true},
	}, nil
}

// desktop serves the scripted desk and returns how to run a command against it.
func desktop(t *testing.T) (*scripted, func(arguments ...string) result) {
	t.Helper()
	d := &scripted{}
	server, err := admin.New(admin.Config{
		Desk: d, Now: func() time.Time { return fixedNow }, Observer: quiet{},
		Service: func() admin.Service {
			return admin.Service{
				Version: "v1.0.0", StartedAt: fixedNow.Add(-26 * time.Hour), Store: "/var/lib/creditonce/creditonce.db", StoreBytes: 3 << 30, FreeBytes: 120 << 30, Alarms: 3,
				AlarmChannels: []admin.AlarmChannel{
					{Name: "email ops@broker.example", Waiting: 3, Oldest: fixedNow.Add(-90 * time.Minute), Attempts: 14, Failure: "send e-mail by mail.broker.example:587: connection refused", FailedAt: fixedNow.Add(-2 * time.Minute)},
					{Name: "webhook", Waiting: 1, Oldest: fixedNow.Add(-10 * time.Second)},
				},
				Sessions: []admin.Session{
					{Server: "main", Index: 0, Open: true, Ready: true, Address: "192.0.2.7:443", Since: fixedNow.Add(-26 * time.Hour)},
					{Server: "main", Index: 1, Since: fixedNow.Add(-time.Minute), Reason: "connection reset"},
				},
			}
		},
		Peer:     func(*net.UnixConn) (admin.Peer, error) { return admin.Peer{UID: 1001}, nil },
		UserName: func(uint32) (string, error) { return "anna", nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "desk")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "a.sock")
	l, err := admin.Listen(t.Context(), path, "")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	t.Cleanup(func() {
		if err := errors.Join(server.Shutdown(context.Background()), <-done, os.RemoveAll(dir)); err != nil {
			t.Error(err)
		}
	})
	return d, func(arguments ...string) result {
		return onTerminal(tableWidth, append(arguments, "--socket", path)...)
	}
}

// onTerminal runs the command line on a terminal of so many columns; 0: in a pipe.
func onTerminal(columns int, arguments ...string) result {
	return runWith(func(p *Process) { p.Columns = func() int { return columns } }, arguments...)
}

// golden compares a screen with its file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
	}
}

func TestScreens_AreAsTheyWere(t *testing.T) {
	t.Parallel()
	_, run := desktop(t)
	for name, line := range map[string]string{
		"status": "status", "status-json": "status -o json", "find": "find 9007199254740993", "credits-list": "credits list", "credits-csv": "credits list -o csv",
		"credits-jsonl": "credits list -o jsonl", "credits-show": "credits show 17", "tasks-list": "tasks list", "tasks-show": "tasks show task/3",
		"people-list": "people list", "proposals-list": "proposals list", "proposals-show": "proposals show 5", "proposals-json": "proposals show 5 -o json",
		"adopt": "adopt-deal 17 900071 --reason by-hand", "note": "tasks note 3 --text seen", "alerts-list": "alerts list", "alerts-test": "alerts test",
	} {
		got := run(strings.Fields(line)...)
		if got.code != ExitDone || got.stderr != "" {
			t.Errorf("%s: %+v", line, got)
			continue
		}
		golden(t, name, got.stdout)
		if strings.ContainsAny(got.stdout, "\x1b\x00") {
			t.Errorf("%s: what a provider wrote reaches the terminal", line)
		}
		if name == "credits-csv" || strings.Contains(line, "json") {
			continue
		}
		for l := range strings.Lines(got.stdout) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(l, "\n")); n > tableWidth {
				t.Errorf("%s: a line has %d characters: %s", line, n, l)
			}
		}
	}
}

// Every act of the desk's table is asked for by a command, with the parameters that the table knows.
func TestEveryAct_HasItsCommand(t *testing.T) {
	t.Parallel()
	d, run := desktop(t)
	const why = " --reason because"
	for _, line := range []string{
		"credits resolve 17", "credits retry 17" + why, "credits hold credit/17" + why, "adopt-deal 17 900071 --comment x" + why, "close-without-deal 17" + why,
		"credits release 17" + why, "not-this-deal 17 900071" + why, "webhook replay 4" + why, "tasks note 3 --text x", "tasks assign 3 --person anna",
		"tasks close 3" + why, "alerts test", "hold" + why, "release" + why, "takeover --fenced address" + why, "gap-checked stripe" + why, "go-live --cutover 2026-12-01T06:00:00Z" + why,
		"deposit manual --client c --server main --login 1 --amount 1.00 --currency USD --bank-reference F --received-at 2026-11-30T09:15:00Z" + why,
		"people add carl --name Carl --user carl --role operator" + why, "people change carl --disabled" + why,
		"deal-gone 500123 900071 --server main" + why,
		"mt5 permit --server main --login 500123" + why,
		"keys new --propose --name shop --scope deposits:read" + why, "keys revoke shop" + why,
	} {
		if got := run(strings.Fields(line)...); got.code != ExitDone {
			t.Errorf("%s: %+v", line, got)
		}
	}
	seen := map[desk.Kind]desk.Act{}
	for _, a := range d.acts {
		seen[a.Kind] = a
	}
	for _, l := range desk.Table() {
		a, ok := seen[l.Kind]
		if !ok {
			if l.Kind != desk.RetryUnknown { // the desk makes it of a retry
				t.Errorf("no command asks for %s", l.Kind)
			}
			continue
		}
		for _, p := range l.Params {
			_, given := a.Params[p.Name]
			if p.Frozen == given && l.Kind != desk.ChangePerson {
				t.Errorf("%s: parameter %s given %t, frozen %t", l.Kind, p.Name, given, p.Frozen)
			}
		}
	}
}

func TestJSON_StandsAloneOnStdoutAndErrorsAreProblems(t *testing.T) {
	t.Parallel()
	_, run := desktop(t)
	got := run("proposals", "show", "9", "-o", "json")
	if got.code != ExitFailed || got.stdout != "" || !strings.HasPrefix(got.stderr, `{"title":`) || !strings.Contains(got.stderr, "proposal 9 does not exist") {
		t.Errorf("%+v", got)
	}
	got = run("find", "nothing", "-o", "json")
	if got.code != ExitFailed || !strings.HasPrefix(got.stdout, "{") || !strings.Contains(got.stderr, "nothing with") {
		t.Errorf("%+v", got)
	}
	for line, says := range map[string]string{
		"credits list -o xml": "table, json, jsonl, csv", "credits show 17 -o csv": "list -o csv", "credits hold x --reason r": "no number",
		"credits list --since yesterday": "24h, 7d", "credits list --state paid": "none of", "credits hold 17": "no --reason",
		"proposals confirm 5": "nothing was done", "proposals confirm 5 --hash 3f9 --reason r": "too short", "proposals confirm 5 --yes": "no --reason",
		"deposit manual --client c --reason r": "no --server", "people change carl --reason r": "nothing to change", "people bootstrap a b --reason r": "is no person",
		"credits list --limit -1": "0 for all", "tasks note 3": "",
	} {
		if says == "" {
			continue
		}
		if got := run(strings.Fields(line)...); got.code != ExitUsage || !strings.Contains(got.stderr, says) {
			t.Errorf("%s: %+v, want %q", line, got, says)
		}
	}
	if got := run("proposals", "confirm", "5", "--hash", "000000000000", "--reason", "r"); got.code != ExitRefused {
		t.Errorf("another hash: %+v", got)
	}
}

func TestGuard_KeepsSpreadsheetsFromRunningOrRounding(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"": "", "500.00": "500.00", "-12.50": "-12.50", "=cmd()": "'=cmd()", "+1 555": "'+1 555", "-x": "'-x", "@a": "'@a", "\tx": "'\tx", "a=b": "a=b",
		"9007199254740993": "'9007199254740993", "123456789012345": "123456789012345", "2026-11-30": "2026-11-30", "-": "'-", "1.": "1.",
	} {
		if got := guard(value); got != want {
			t.Errorf("%q: got %q, want %q", value, got, want)
		}
	}
}
