package desk_test

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/internal/desk"
	"creditonce/store"
	"creditonce/store/storetest"
)

const login = uint64(1001)

// firm is a small firm with a real store, an MT5 server, a desk and its people.
type firm struct {
	*storetest.World
	t    *testing.T
	db   *store.DB
	svc  *desk.Service
	live *credit.LiveCalls

	mu       sync.Mutex
	noAnswer string // why MT5 gives no answer to the desk; empty: it answers
	missing  bool   // MT5 denies the login
	facts    credit.Facts
	readErr  error
	woken    int
	keys     int
	names    int
	told     int // notices that waited when the subject of a test of the alarms was made
}

// randomness is a source that a test can repeat.
type randomness struct {
	mu sync.Mutex
	r  *rand.ChaCha8
}

func (r *randomness) Read(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.r.Read(b)
}

var _ io.Reader = (*randomness)(nil)

// newFirm opens a store in live mode, long after the cut-over, with a process that has passed its quarantine.
func newFirm(t *testing.T) *firm { return newFirmIn(t, credit.ModeLive) }

func newFirmIn(t *testing.T, mode credit.Mode) *firm {
	t.Helper()
	f := &firm{t: t, live: &credit.LiveCalls{}}
	start := time.Date(2026, 5, 4, 9, 30, 0, 0, time.UTC)
	s := credit.Settings{
		StoreID: "store-1", Environment: "test", Mode: mode, ModeAt: start, CreatedAt: start,
		Pins: []credit.Pin{{Name: "mt5/main", Value: storetest.Identity}, {Name: "provider/psp", Value: "psp " + storetest.Merchant}},
	}
	if mode == credit.ModeLive {
		s.CutoverAt = start.Add(-24 * time.Hour)
	}
	f.World = storetest.NewWorld(t, func(s storetest.Setup) storetest.Backend {
		db, err := store.Open(filepath.Join(t.TempDir(), "store.db"), store.Options{New: s.New, UnsafeNoSync: true})
		if err != nil {
			t.Fatal(err)
		}
		f.db = db
		return db
	}, storetest.Setup{New: s})
	t.Cleanup(f.End)
	f.svc = f.service("process-1")
	f.Clock.Move(11 * time.Minute) // past the quarantine of the process
	return f
}

// service makes a desk of a process that starts now.
func (f *firm) service(process string) *desk.Service { return f.serviceOver(process, f.db) }

func (f *firm) serviceOver(process string, book desk.Book) *desk.Service {
	f.t.Helper()
	svc, err := desk.New(desk.Config{
		Book: book, MT5: (*deskMT5)(f), Reader: (*deskReader)(f), Clock: f.Clock,
		Process: credit.Process{ID: process, Started: f.Clock.Boot()}, Timing: credit.DefaultTiming(), Live: f.live,
		Observer: quiet{}, Rules: f.Rules, Scopes: []string{"accounts:write", "accounts:read", "deposits:write", "deposits:read"},
		Rand:       &randomness{r: rand.NewChaCha8([32]byte([]byte(process + "--------------------------------")[:32]))},
		Wake:       func(string) { f.mu.Lock(); f.woken++; f.mu.Unlock() },
		ConfigKeys: []desk.Key{{Name: "from-config", SHA256: hashOf(0xc0), Scopes: []string{"deposits:read"}}},
		OnKeys:     func() { f.mu.Lock(); f.keys++; f.mu.Unlock() },
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return svc
}

type quiet struct{}

func (quiet) Step(context.Context, credit.Step) {}
func (quiet) Note(context.Context, credit.Note) {}

// deskMT5 answers the desk from the firm's MT5 server.
type deskMT5 firm

func (m *deskMT5) Deal(ctx context.Context, _ string, ticket uint64) (credit.Deal, error) {
	m.mu.Lock()
	reason := m.noAnswer
	m.mu.Unlock()
	if reason != "" {
		return credit.Deal{}, errors.New(reason)
	}
	return m.MT5.Deal(ctx, ticket)
}

func (m *deskMT5) Look(ctx context.Context, _ string, q credit.LookQuery) credit.Sighting {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.noAnswer != "":
		return credit.Sighting{Reason: m.noAnswer}
	case m.missing:
		return credit.Sighting{Reason: "MT5 says that the login does not exist", LoginMissing: true}
	}
	return m.MT5.Look(ctx, q)
}

type deskReader firm

func (r *deskReader) Read(string, map[string]string, []byte) (credit.Facts, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.facts, r.readErr
}

// The firm's people. Each has an account of the same name; "all" has two.
var everybody = map[string][]desk.Role{
	"vera": {desk.Viewer}, "oscar": {desk.Operator}, "mia": {desk.Maker}, "carl": {desk.Checker}, "ada": {desk.Admin}, "abe": {desk.Admin},
	"all": desk.Roles(), "both": desk.Roles(), "dora": desk.Roles(), // dora is disabled
}

func by(user string) desk.Actor { return desk.Actor{User: user, UID: 1000} }

// staff makes the firm's people the way a firm does: root names two admins, and these add the others.
func (f *firm) staff() *firm {
	f.t.Helper()
	two := []desk.Person{
		{ID: "ada", Name: "Ada", Users: []string{"ada"}, Roles: []desk.Role{desk.Admin}},
		{ID: "abe", Name: "Abe", Users: []string{"abe"}, Roles: []desk.Role{desk.Admin}},
	}
	f.Must(f.svc.Bootstrap(f.t.Context(), desk.Actor{User: "root"}, two, "first start"))
	for name, roles := range everybody {
		if name == "ada" || name == "abe" {
			continue
		}
		users, list := name, ""
		if name == "all" {
			users = "all,all2"
		}
		for _, r := range roles {
			list += string(r) + ","
		}
		f.two("ada", "abe", desk.Act{Kind: desk.AddPerson, Subject: "person/" + name, Params: map[string]string{"name": name, "users": users, "roles": list}})
	}
	f.two("ada", "abe", desk.Act{Kind: desk.ChangePerson, Subject: "person/dora", Params: map[string]string{"disabled": "true"}})
	return f
}

// one does an act that one person may do.
func (f *firm) one(who string, act desk.Act) desk.Outcome {
	f.t.Helper()
	out, err := f.svc.Submit(f.t.Context(), by(who), act, "because")
	f.Must(err)
	if !out.Done {
		f.t.Fatalf("%s became a proposal", act.Kind)
	}
	return out
}

// propose proposes an act that takes two.
func (f *firm) propose(who string, act desk.Act) desk.Proposal {
	f.t.Helper()
	out, err := f.svc.Submit(f.t.Context(), by(who), act, "because")
	f.Must(err)
	if out.Done || out.Proposal == nil {
		f.t.Fatalf("%s was done by one person", act.Kind)
	}
	return *out.Proposal
}

// two proposes and confirms.
func (f *firm) two(maker, checker string, act desk.Act) desk.Outcome {
	f.t.Helper()
	p := f.propose(maker, act)
	f.Clock.Move(61 * time.Second) // a close needs its second look
	out, err := f.svc.Confirm(f.t.Context(), by(checker), p.ID, p.Digest, "agreed")
	f.Must(err)
	return out
}

// refused sees that err is a refusal with the code.
func (f *firm) refused(err error, code string) {
	f.t.Helper()
	var r *credit.RefusedError
	if !errors.As(err, &r) || r.Code != code {
		f.t.Fatalf("got %v, want a refusal with the code %q", err, code)
	}
	if r.Detail == "" {
		f.t.Errorf("%s says nothing", code)
	}
}

func (f *firm) name() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.names++
	return strconv.Itoa(f.names)
}

func on(kind desk.Kind, id credit.ID, params ...string) desk.Act {
	a := desk.Act{Kind: kind, Subject: credit.RowEntity(id)}
	for i := 0; i+1 < len(params); i += 2 {
		if a.Params == nil {
			a.Params = map[string]string{}
		}
		a.Params[params[i]] = params[i+1]
	}
	return a
}

func hashOf(n byte) string {
	const digits = "0123456789abcdef"
	b := make([]byte, 64)
	for i := range b {
		b[i] = '0'
	}
	b[62], b[63] = digits[n>>4], digits[n&15]
	return string(b)
}

// records counts the audit records.
func (f *firm) records() int {
	f.t.Helper()
	list, err := f.db.Records(f.t.Context(), 0, 1<<20)
	f.Must(err)
	return len(list)
}
