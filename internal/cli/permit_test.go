package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"creditonce/internal/app"
	"creditonce/internal/desk"
	"creditonce/mt5/fakemt5"
)

// operated counts the balance operations that the broker took over its Web API on the login.
func (b *broker) operated(login uint64) (n int) {
	for _, e := range b.fake.Journal() {
		if e.Source == fakemt5.SourceAPI && e.Login == login {
			n++
		}
	}
	return n
}

// newLiveBroker is a broker whose configuration is live, with clients in the group of realLogin.
func newLiveBroker(t *testing.T) *broker {
	t.Helper()
	b := newBroker(t, "      groups: ['real\\*']\n"+testGroups, "", nil)
	text, err := os.ReadFile(b.config)
	if err != nil {
		t.Fatal(err)
	}
	b.write("config.yaml", strings.Replace(string(text), "environment: test", "environment: live", 1))
	return b
}

// people lets people decide in the broker's store, on a service that is wired and does not run.
func (b *broker) people(decide func(d *desk.Service)) {
	b.t.Helper()
	c, err := loadConfig(&Process{Getenv: func(string) string { return "" }, Now: time.Now, Stderr: os.Stderr}, b.config)
	if err != nil {
		b.t.Fatal(err)
	}
	service, err := app.New(b.t.Context(), app.Options{Config: c})
	if err != nil {
		b.t.Fatal(err)
	}
	decide(service.Desk())
	stopped, stop := context.WithCancel(b.t.Context())
	stop()
	if err := service.Run(stopped); err != nil && !errors.Is(err, context.Canceled) {
		b.t.Fatal(err)
	}
}

func (b *broker) hire(d *desk.Service) {
	b.t.Helper()
	err := d.Bootstrap(b.t.Context(), desk.Actor{User: "root"}, []desk.Person{
		{ID: "anna", Name: "Anna Lim", Users: []string{"anna"}, Roles: []desk.Role{desk.Admin, desk.Maker}},
		{ID: "ben", Name: "Ben Koh", Users: []string{"ben"}, Roles: []desk.Role{desk.Admin, desk.Checker}},
	}, "first start")
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *broker) propose(d *desk.Service, login uint64) desk.Proposal {
	b.t.Helper()
	out, err := d.Submit(b.t.Context(), desk.Actor{User: "anna", UID: 1001}, desk.Act{
		Kind: desk.Probe, Subject: "mt5/main", Params: map[string]string{"login": strconv.FormatUint(login, 10)},
	}, "our own client")
	if err != nil {
		b.t.Fatal(err)
	}
	return *out.Proposal
}

func (b *broker) permit(d *desk.Service, login uint64) string {
	b.t.Helper()
	p := b.propose(d, login)
	if _, err := d.Confirm(b.t.Context(), desk.Actor{User: "ben", UID: 1002}, p.ID, p.Digest, "agreed"); err != nil {
		b.t.Fatal(err)
	}
	return fmt.Sprint(p.ID)
}

// live probes the login of the live group; each run writes files of its own.
func (b *broker) live(login uint64, out string, arguments ...string) result {
	b.t.Helper()
	return b.run(append([]string{"mt5", "probe", "--login", fmt.Sprint(login), "--operate", "--operations", "1", "--pace", "0s", "--out", filepath.Join(b.dir, out)}, arguments...)...)
}

func TestLiveProbe_RunsOnceOnTheLoginThatTwoPeoplePermitted(t *testing.T) {
	t.Parallel()
	b := newLiveBroker(t)
	wantResult(t, b.live(realLogin, "a", "--permit", "1"), ExitRefused, "no store yet")
	permit, open := "", ""
	b.people(func(d *desk.Service) {
		b.hire(d)
		permit, open = b.permit(d, realLogin), fmt.Sprint(b.propose(d, realLogin).ID)
	})
	wantResult(t, b.live(realLogin, "b"), ExitRefused, "live group", "mt5 permit", "--permit")
	wantResult(t, b.live(realLogin, "c", "--permit", "99"), ExitRefused, "proposal 99 does not exist", "proposals list --all")
	wantResult(t, b.live(realLogin, "d", "--permit", open), ExitRefused, "waits for a second person")
	wantResult(t, b.live(realLogin, "e", "--permit", permit, "--overdraw"), ExitUsage, "--overdraw")
	if n := b.operated(realLogin); n != 0 {
		t.Fatalf("%d operations before a permit was used", n)
	}
	wantResult(t, b.live(realLogin, "f", "--permit", permit), ExitDone, "use the permit of two people", "book 0.01 USD on login 500123", "serve uses it")
	n := b.operated(realLogin)
	if n < 2 {
		t.Errorf("%d operations on the permitted login", n)
	}
	wantResult(t, b.live(realLogin, "g", "--permit", permit), ExitRefused, "was used at")
	if b.operated(realLogin) != n {
		t.Error("a used permit moved money")
	}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	b.people(func(d *desk.Service) {
		log, err := d.Audit(t.Context(), desk.Actor{User: "ben"}, 0, 100)
		if err != nil || log[len(log)-1].Deed != desk.Used || log[len(log)-1].User != me.Username {
			t.Errorf("the audit log ends with %+v, %v", log, err)
		}
	})
	wantResult(t, b.run("verify"), ExitDone, "everything agrees")
}

func TestLiveProbe_TouchesNoOtherLoginAndNoOtherServer(t *testing.T) {
	t.Parallel()
	b := newBroker(t, "", "", func(c *fakemt5.Config) {
		c.World.Accounts = append(c.World.Accounts, fakemt5.Account{Login: 500124, Group: `real\usd`, Balance: 1000})
	})
	permit := ""
	b.people(func(d *desk.Service) { b.hire(d); permit = b.permit(d, realLogin) })
	wantResult(t, b.live(500124, "a", "--permit", permit), ExitRefused, "permits login 500123, not login 500124")
	if n := b.operated(500124) + b.operated(realLogin); n != 0 {
		t.Errorf("%d operations", n)
	}
}

func TestLiveProbe_IsVoidWhenOneOfTheTwoPeopleIsDisabled(t *testing.T) {
	t.Parallel()
	b := newLiveBroker(t)
	permit := ""
	b.people(func(d *desk.Service) {
		b.hire(d)
		two := func(kind desk.Kind, id string, params map[string]string) {
			out, err := d.Submit(t.Context(), desk.Actor{User: "anna"}, desk.Act{Kind: kind, Subject: "person/" + id, Params: params}, "joins")
			if err != nil {
				t.Fatal(err)
			}
			if _, err = d.Confirm(t.Context(), desk.Actor{User: "ben"}, out.Proposal.ID, out.Proposal.Digest, "agreed"); err != nil {
				t.Fatal(err)
			}
		}
		two(desk.AddPerson, "cleo", map[string]string{"name": "Cleo", "users": "cleo", "roles": "admin"})
		permit = b.permit(d, realLogin)
		out, err := d.Submit(t.Context(), desk.Actor{User: "anna"}, desk.Act{Kind: desk.ChangePerson, Subject: "person/ben", Params: map[string]string{"disabled": "true"}}, "left")
		if err != nil {
			t.Fatal(err)
		}
		if _, err = d.Confirm(t.Context(), desk.Actor{User: "cleo"}, out.Proposal.ID, out.Proposal.Digest, "agreed"); err != nil {
			t.Fatal(err)
		}
	})
	wantResult(t, b.live(realLogin, "a", "--permit", permit), ExitRefused, "ben was disabled")
	if n := b.operated(realLogin); n != 0 {
		t.Errorf("%d operations", n)
	}
}

// While the service runs the permit is taken over its socket, by the person who runs the probe.
func TestLiveProbe_WhileTheServiceRunsIsPermittedByIt(t *testing.T) {
	t.Parallel()
	f := newOffice(t, true)
	text, err := os.ReadFile(filepath.Join(f.dir, "config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	f.file("carls.yaml", string(text)+"admin: {socket: carl.sock}\n")
	f.file("doras.yaml", string(text)+"admin: {socket: dora.sock}\n")
	f.file("eves.yaml", string(text)+"admin: {socket: eve.sock}\n")
	probe := func(config, out, permit string) result {
		return runWith(func(p *Process) { p.Now = time.Now }, "mt5", "probe", "--login", fmt.Sprint(desktopLogin), "--operate", "--operations", "1", "--pace", "0s",
			"--config", filepath.Join(f.dir, config), "--out", filepath.Join(f.dir, out), "--permit", permit)
	}
	p := f.propose("anna", "mt5", "permit", "--server", "main", "--login", fmt.Sprint(desktopLogin), "--reason", "our own client")
	wantResult(t, probe("carls.yaml", "a", p.ID), ExitRefused, "waits for a second person")
	said := f.ok("ben", "proposals", "confirm", p.ID, "--hash", p.Digest, "--reason", "agreed")
	if !strings.Contains(said, "creditonce mt5 probe --server main --login 500123 --permit "+p.ID) {
		t.Errorf("the confirmation says %s", said)
	}
	wantResult(t, probe("doras.yaml", "b", p.ID), ExitRefused, "dora may not begin a probe")
	wantResult(t, probe("eves.yaml", "e", p.ID), ExitRefused, "belongs to no person", "run the probe from a person's account, or stop the service first")
	got := probe("carls.yaml", "c", p.ID)
	wantResult(t, got, got.code, "use the permit of two people", "book 0.01 USD on login 500123", "a service has the store open")
	if got.code != ExitDone && got.code != ExitFound {
		t.Errorf("it ended with %d", got.code)
	}
	wantResult(t, probe("carls.yaml", "d", p.ID), ExitRefused, "was used at")
	if shown := f.ok("ben", "proposals", "show", p.ID); !strings.Contains(shown, "permit used by") || !strings.Contains(shown, "carl") {
		t.Errorf("it is shown as %s", shown)
	}
	if log := f.ok("ben", "audit", "list", "--limit", "0"); !strings.Contains(log, "used") {
		t.Errorf("the audit log is %s", log)
	}
}
