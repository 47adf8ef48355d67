package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/user"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/internal/desk"
)

// asked is a desk that answers every question with one error, or nothing, and remembers who asked.
type asked struct {
	Desk // nil: a route that calls what is not below fails the test by a panic that the server turns into a lost connection
	mu   sync.Mutex
	who  []desk.Actor
	acts []desk.Act
	err  error
}

func (d *asked) note(a desk.Actor) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.who = append(d.who, a)
}

func (d *asked) Who(_ context.Context, a desk.Actor) (desk.Person, error) {
	d.note(a)
	return desk.Person{ID: desk.PersonID(a.User), Roles: []desk.Role{desk.Viewer}}, d.err
}

func (d *asked) Submit(_ context.Context, a desk.Actor, act desk.Act, _ string) (desk.Outcome, error) {
	d.note(a)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.acts = append(d.acts, act)
	return desk.Outcome{Done: true, Act: act}, d.err
}

// heard collects reports.
type heard struct {
	mu      sync.Mutex
	reports []Report
}

func (h *heard) Administered(_ context.Context, r Report) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reports = append(h.reports, r)
}

// serve starts a server for callers of the uid and returns its socket.
func serve(t *testing.T, d Desk, o Observer, peer func(*net.UnixConn) (Peer, error), name func(uint32) (string, error)) string {
	t.Helper()
	s, err := New(Config{Desk: d, Service: func() Service { return Service{} }, Now: time.Now, Observer: o, Peer: peer, UserName: name})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder(t), "a.sock")
	l, err := Listen(t.Context(), path, "")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	t.Cleanup(func() {
		if err := errors.Join(s.Shutdown(context.Background()), <-done); err != nil {
			t.Error(err)
		}
	})
	return path
}

func uid(n uint32) func(*net.UnixConn) (Peer, error) {
	return func(*net.UnixConn) (Peer, error) { return Peer{UID: n}, nil }
}

func named(name string) func(uint32) (string, error) {
	return func(uint32) (string, error) { return name, nil }
}

func TestBootstrap_RefusesAnAccountThatTheMachineHasNot(t *testing.T) {
	t.Parallel()
	own, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	d := &asked{}
	c := NewClient(serve(t, d, &heard{}, uid(0), named("root")))
	for _, users := range [][]string{{"no-such-account-here"}, {own.Username, "no-such-account-here"}} {
		people := []Person{{ID: "anna", Name: "Anna Lim", Users: []string{own.Username}, Roles: []string{"admin"}}, {ID: "ben", Name: "Ben Koh", Users: users, Roles: []string{"admin"}}}
		var p *Problem
		if _, err := c.Bootstrap(t.Context(), Bootstrap{People: people, Reason: "first start"}); !errors.As(err, &p) || p.Code != "no_account" || !strings.Contains(p.Detail, `"no-such-account-here"`) {
			t.Errorf("%v: %v", users, err)
		}
	}
	if len(d.who) != 0 {
		t.Errorf("the desk was asked all the same: %+v", d.who)
	}
}

func TestClient_WhatMakesAnotherPathIsNoID(t *testing.T) {
	t.Parallel()
	d := &asked{}
	c := NewClient(serve(t, d, &heard{}, uid(1007), named("anna")))
	for _, id := range []string{"", ".", ".."} {
		var p *Problem
		if _, err := c.Credit(t.Context(), id); !errors.As(err, &p) || p.Status != statusInvalid || !strings.Contains(p.Detail, "is no id of a record") {
			t.Errorf("%q: %v", id, err)
		}
		if _, err := c.Confirm(t.Context(), id, Verdict{Digest: "x", Reason: "r"}); !errors.As(err, &p) || p.Status != statusInvalid {
			t.Errorf("confirm %q: %v", id, err)
		}
	}
	if len(d.who) != 0 {
		t.Errorf("the desk was asked all the same: %+v", d.who)
	}
}

func TestCaller_IsWhoTheKernelNamesWhateverTheRequestSays(t *testing.T) {
	t.Parallel()
	d := &asked{}
	path := serve(t, d, &heard{}, uid(1007), named("anna"))
	c := NewClient(path)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://root@creditonce/v1/who?user=root", nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"X-User": "root", "X-Forwarded-User": "root", "Authorization": "Bearer co_root"} {
		r.Header.Set(name, value)
	}
	res, err := c.http.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if len(d.who) != 1 || d.who[0] != (desk.Actor{User: "anna", UID: 1007}) {
		t.Fatalf("the desk was asked as %+v", d.who)
	}
}

func TestCaller_WithoutANameIsRefusedAndTheDeskIsNotAsked(t *testing.T) {
	t.Parallel()
	for what, path := range map[string]string{
		"no credentials": serve(t, &asked{}, &heard{}, func(*net.UnixConn) (Peer, error) { return Peer{}, errors.New("not told") }, named("anna")),
		"no such user":   serve(t, &asked{}, &heard{}, uid(4242), func(uint32) (string, error) { return "", errors.New("unknown uid") }),
	} {
		_, err := NewClient(path).Submit(t.Context(), Act{Kind: "mode.hold", Subject: "mode", Reason: "r"})
		var p *Problem
		if !errors.As(err, &p) || p.Status != http.StatusForbidden || p.Code != "nobody" {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestErrors_HaveAStatusACodeAndASentence(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err    error
		status int
		code   string
	}{
		{credit.Refuse("own_proposal", "you proposed it"), 403, "own_proposal"},
		{fmt.Errorf("confirm: %w", credit.Refuse("moved", "it moved")), 403, "moved"},
		{fmt.Errorf("ticket: %w", credit.ErrInvalid), 400, "invalid"},
		{fmt.Errorf("credit 9: %w", credit.ErrNotFound), 404, "not_found"},
		{credit.ErrConflict, 409, "conflict"},
		{credit.ErrDuplicate, 409, "already_taken"},
		{&desk.NoAnswerError{Server: "main", Reason: "timeout"}, 504, "no_answer"},
		{credit.ErrBusy, 503, "busy"},
		{credit.ErrStopped, 503, "stopped"},
		{context.DeadlineExceeded, 503, "busy"},
		{errors.New("disk on fire"), 500, "internal"},
	} {
		o := &heard{}
		_, err := NewClient(serve(t, &asked{err: tt.err}, o, uid(1), named("anna"))).Who(t.Context())
		var p *Problem
		if !errors.As(err, &p) || p.Status != tt.status || p.Code != tt.code || p.Detail == "" || p.Title == "" {
			t.Errorf("%v: got %+v", tt.err, err)
		}
		o.mu.Lock()
		if r := o.reports[0]; r.Status != tt.status || r.User != "anna" || r.Route != "GET /v1/who" || (r.Err != nil) != (tt.status >= 500) {
			t.Errorf("%v: reported %+v", tt.err, r)
		}
		o.mu.Unlock()
	}
}

func TestBodies_AreReadStrictly(t *testing.T) {
	t.Parallel()
	d := &asked{}
	path := serve(t, d, &heard{}, uid(1), named("anna"))
	c := NewClient(path)
	post := func(kind, body string) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://creditonce/v1/acts", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", kind)
		res, err := c.http.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(res.Body)
		if err := errors.Join(err, res.Body.Close()); err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(text)
	}
	good := `{"kind":"mode.hold","subject":"mode","reason":"r"}`
	for _, tt := range []struct {
		kind, body string
		status     int
	}{
		{"text/plain", good, 415},
		{"application/json", good + good, 400},
		{"application/json", `{"kind":"mode.hold","subject":"mode","reason":"r","uid":0}`, 400},
		{"application/json", `{"kind":1}`, 400},
		{"application/json", ``, 400},
		{"application/json", `[]`, 400},
		{"application/json", `{"reason":"` + strings.Repeat("x", maxBody) + `"}`, 413},
	} {
		if status, text := post(tt.kind, tt.body); status != tt.status || !strings.Contains(text, "\"detail\"") {
			t.Errorf("%.60s: %d %s", tt.body, status, text)
		}
	}
	if len(d.acts) != 0 {
		t.Fatalf("acts reached the desk: %+v", d.acts)
	}
	if status, _ := post("application/json", good); status != 200 || len(d.acts) != 1 || d.acts[0].Kind != desk.HoldMode {
		t.Fatalf("the good one: %d %+v", status, d.acts)
	}
}

func TestLists_RefuseWhatTheyDoNotKnow(t *testing.T) {
	t.Parallel()
	c := NewClient(serve(t, &asked{}, &heard{}, uid(1), named("anna")))
	for _, target := range []string{
		"/v1/credits?colour=red", "/v1/credits?state=paid", "/v1/credits?state=held&state=done", "/v1/credits?login=5", "/v1/credits?server=main&login=x",
		"/v1/credits?since=yesterday", "/v1/credits?after=*", "/v1/credits?limit=-1", "/v1/deposits?state=held", "/v1/tasks?all=yes", "/v1/events?after=x",
		"/v1/find", "/v1/credits/0", "/v1/credits/x", "/v1/events/-1", "/v1/proposals/1e3",
	} {
		_, err := do[Status](t.Context(), c, http.MethodGet, "http://creditonce"+target, nil)
		var p *Problem
		if !errors.As(err, &p) || p.Status != http.StatusBadRequest {
			t.Errorf("%s: %v", target, err)
		}
	}
	_, err := do[Status](t.Context(), c, http.MethodGet, "http://creditonce/v1/nothing", nil)
	var p *Problem
	if !errors.As(err, &p) || p.Status != http.StatusNotFound || !strings.Contains(p.Detail, "one version") {
		t.Errorf("unknown address: %v", err)
	}
}

func TestUnreachable_SaysWhichSocketAndWhatToDo(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	dead := filepath.Join(dir, "dead.sock")
	abandoned(t, dead)
	for path, says := range map[string]string{filepath.Join(dir, "none.sock"): "there is no socket", dead: "has ended"} {
		_, err := NewClient(path).Status(t.Context())
		var away *UnreachableError
		if !errors.As(err, &away) || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "creditonce serve") || away.Denied() {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestNew_RefusesWhatLacksAPart(t *testing.T) {
	t.Parallel()
	if _, err := New(Config{}); err == nil {
		t.Error("made of nothing")
	}
}
