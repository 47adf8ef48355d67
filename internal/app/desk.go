package app

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/http"

	"creditonce/credit"
	"creditonce/internal/api"
	"creditonce/internal/config"
	"creditonce/internal/desk"
	"creditonce/mt5"
	"creditonce/webhook"
)

// Desk is what people decide, on the live parts of this process.
func (a *App) Desk() *desk.Service { return a.desk }

// wireDesk builds the desk over the store, with MT5 sessions and a reader of stored bodies of its own.
func (a *App) wireDesk() error {
	rules, err := depositRules(a.cfg)
	if err != nil {
		return err
	}
	points, err := endpoints(a.cfg)
	if err != nil {
		return err
	}
	var place *credit.Place
	if at := a.store.Standing().Place; at.Inode != 0 {
		place = &at
	}
	a.desk, err = desk.New(desk.Config{
		Place: place,
		Book:  a.store, MT5: newQuestions(a.servers), Reader: reader(points), Clock: a.clock, Process: a.process, Timing: a.timing,
		Live: a.live, Observer: a.observer, Rules: rules, Scopes: config.Scopes(), Rand: rand.Reader, Wake: a.wake,
		ConfigKeys: configKeys(a.cfg.API.Keys), OnKeys: a.freshenKeys,
	})
	return err
}

// useKeys gives the portal's API the keys of the configuration and the store.
func (a *App) useKeys(ctx context.Context) error {
	a.keysMu.Lock() // what was read first must not be set last
	defer a.keysMu.Unlock()
	live, err := a.desk.LiveKeys(ctx)
	if err != nil {
		return fmt.Errorf("read the keys of the API: %w", err)
	}
	var out []api.Key
	for _, k := range live {
		key := api.Key{Name: k.Name, Scopes: k.Scopes}
		if n, err := hex.Decode(key.SHA256[:], []byte(k.SHA256)); err != nil || n != len(key.SHA256) {
			return fmt.Errorf("key %s: its hash cannot be read", k.Name)
		}
		out = append(out, key)
	}
	return a.api.SetKeys(out)
}

// freshenKeys makes a change of keys count at once. When the keys cannot be read, none of them counts until they can:
// a revoked key must not go on.
func (a *App) freshenKeys() {
	if err := a.useKeys(context.Background()); err != nil {
		a.log.Error().Err(err).Msg("the API refuses every key until the service starts again")
		_ = a.api.SetKeys(nil) // no keys are always a whole set
	}
}

func configKeys(from []config.APIKey) []desk.Key {
	var out []desk.Key
	for _, k := range from {
		out = append(out, desk.Key{Name: k.Name, SHA256: hex.EncodeToString(k.SHA256[:]), Scopes: k.Scopes, Source: desk.FromConfig})
	}
	return out
}

// questionSession is the number that the desk's sessions have in messages; lanes count from 0.
const questionSession = -2

// questions asks MT5 for people. Each question has a session of its own, for as long as it takes: it never waits behind a
// balance call or makes one wait, and what goes wrong on it costs no lane its connection. One question a server at a
// time, since an MT5 server allows a manager only so many sessions.
type questions struct {
	servers map[string]*mt5.Server
	slots   map[string]chan struct{}
}

var _ desk.MT5 = (*questions)(nil)

func newQuestions(servers map[string]*mt5.Server) *questions {
	q := &questions{servers: servers, slots: map[string]chan struct{}{}}
	for label := range servers {
		q.slots[label] = make(chan struct{}, 1)
	}
	return q
}

func (q *questions) ask(ctx context.Context, label string, do func(*mt5.Session) error) error {
	server, ok := q.servers[label]
	if !ok {
		return fmt.Errorf("the configuration has no MT5 server %q", label)
	}
	select {
	case q.slots[label] <- struct{}{}:
		defer func() { <-q.slots[label] }()
	case <-ctx.Done():
		return ctx.Err()
	}
	session := server.Session(questionSession)
	if err := session.Ready(ctx); err != nil {
		return err
	}
	defer func() { _ = session.Close() }() // it is only a goodbye; the answer is there
	return do(session)
}

// Deal implements desk.MT5.
func (q *questions) Deal(ctx context.Context, label string, ticket uint64) (credit.Deal, error) {
	var deal credit.Deal
	err := q.ask(ctx, label, func(s *mt5.Session) (err error) {
		deal, err = s.Deal(ctx, ticket)
		return err
	})
	return deal, err
}

// Look implements desk.MT5.
func (q *questions) Look(ctx context.Context, label string, query credit.LookQuery) credit.Sighting {
	var seen credit.Sighting
	err := q.ask(ctx, label, func(s *mt5.Session) error {
		seen = s.Look(ctx, query)
		return nil
	})
	if err != nil {
		return credit.Sighting{Reason: "MT5 cannot be asked: " + err.Error()}
	}
	return seen
}

// reader reads stored bodies with the providers of the webhook listener.
type reader []webhook.Endpoint

// Read implements desk.Reader.
func (r reader) Read(provider string, headers map[string]string, body []byte) (credit.Facts, error) {
	for _, e := range r {
		if e.Name != provider {
			continue
		}
		h := http.Header{}
		for name, value := range headers {
			h.Set(name, value)
		}
		mapped, err := e.Provider.Map(h, body)
		return mapped.Facts, err
	}
	return credit.Facts{}, fmt.Errorf("the configuration has no provider %q", provider)
}
