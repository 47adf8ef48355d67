// Package app wires the parts of the service together, starts them in order and stops them in reverse. It is the one
// place where the domain meets its adapters; it decides nothing about money.
package app

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/rs/zerolog"

	"creditonce/credit"
	"creditonce/internal/alert"
	"creditonce/internal/api"
	"creditonce/internal/config"
	"creditonce/internal/desk"
	"creditonce/mt5"
	"creditonce/store"
)

// storeFile is the name of the store in the data directory.
const storeFile = "creditonce.db"

// Options are what a service is made of.
type Options struct {
	Config *config.Config
	Log    zerolog.Logger
	// Step is called at every named boundary, before the next thing happens; it may block. nil in production.
	Step func(context.Context, credit.Step)
}

// App is a service that was wired and not started, or runs. Make it with New; Run it once.
type App struct {
	cfg      *config.Config
	log      zerolog.Logger
	observer *observer
	clock    credit.Clock
	process  credit.Process
	timing   credit.Timing
	store    *store.DB
	settings credit.Settings

	keeper   *credit.Keeper
	sentinel *sentinel
	stops    *standstill
	lanes    []*credit.Lane
	sessions []*mt5.Session
	live     *credit.LiveCalls
	wakes    map[string][]chan struct{} // by server label, one a lane

	servers map[string]*mt5.Server // by label
	desk    *desk.Service
	keysMu  sync.Mutex // held while the API's keys are read and set
	api     *api.API
	senders []*alert.Sender
	pullers []*credit.Puller
	recon   *reconciliation

	public, portal *listener
	operators      *operators
	teardown       teardown
}

// New opens the store, pins what the configuration says at first use, and wires every part. Nothing listens and
// nothing calls MT5 yet. On an error everything that was opened is closed again.
func New(ctx context.Context, o Options) (*App, error) {
	if o.Step == nil {
		o.Step = builtInStep()
	}
	clock := systemClock{}
	a := &App{
		cfg: o.Config, log: o.Log, clock: clock, live: &credit.LiveCalls{}, wakes: map[string][]chan struct{}{}, servers: map[string]*mt5.Server{},
		observer: &observer{log: o.Log, step: o.Step},
		process:  credit.Process{ID: random(), Started: clock.Boot(), At: clock.Now()},
	}
	if err := a.wire(ctx); err != nil {
		return nil, errors.Join(err, a.teardown.run(context.WithoutCancel(ctx)))
	}
	return a, nil
}

func (a *App) wire(ctx context.Context) (err error) {
	if a.timing, err = timing(a.cfg); err != nil {
		return err
	}
	if err := a.openStore(ctx); err != nil {
		return err
	}
	if err := a.wireAlerts(ctx); err != nil {
		return err
	}
	if err := a.heedLearned(); err != nil {
		return err
	}
	if err := a.wireLanes(); err != nil {
		return err
	}
	rules, err := intakeRules(a.cfg)
	if err != nil {
		return err
	}
	a.keeper = &credit.Keeper{
		Book: a.store, Clock: a.clock, Observer: a.observer, Process: a.process, Timing: a.timing, Servers: servers(a.cfg), Rules: rules, Wake: a.wake,
	}
	a.sentinel, a.stops = a.newSentinel(), newStandstill(a)
	if err := a.wirePublic(); err != nil {
		return err
	}
	if err := a.wireDesk(); err != nil {
		return err
	}
	if err := a.wirePortal(); err != nil {
		return err
	}
	if err := a.wireRecon(); err != nil {
		return err
	}
	if err := a.wireAdmin(); err != nil {
		return err
	}
	return a.useKeys(ctx)
}

// openStore opens or makes the store. A new one starts in observe, where no balance operation is ever called; only
// the demo makes one that is live.
func (a *App) openStore(ctx context.Context) error {
	fresh := credit.Settings{
		StoreID: random(), Environment: string(a.cfg.Environment), Mode: credit.ModeObserve, ModeReason: "a new store",
		ModeAt: a.clock.Now(), CreatedAt: a.clock.Now(), Demo: a.cfg.Demo,
	}
	if a.cfg.Demo {
		fresh.Mode = credit.ModeLive
	}
	if err := os.MkdirAll(a.cfg.DataDir, 0o700); err != nil {
		return fmt.Errorf("make the data directory: %w", err)
	}
	o := storeOptions(a.cfg, fresh)
	o.Guard, o.Raise = guard(a.cfg, a.clock), true
	o.Step = func(name string) { a.observer.Step(ctx, credit.Step{Name: name}) }
	db, err := store.Open(filepath.Join(a.cfg.DataDir, storeFile), o)
	if err != nil {
		return fmt.Errorf("open the store: %w", err)
	}
	a.store = db
	a.sayStanding(db.Standing())
	a.teardown.add("close the store", db.Close)
	unused, err := unused(ctx, db)
	if err != nil {
		return fmt.Errorf("see whether the store has been used: %w", err)
	}
	a.settings, err = db.Settle(ctx, func(s credit.Settings) (credit.Settings, error) {
		if a.cfg.Demo && !s.Demo {
			return s, errors.New("the store was not made by the demo, and the configuration says demo: true: " +
				"its short waits are not safe with real money; take the line out")
		}
		if unused { // nothing refers to a label yet: a slip of the first start can be corrected
			s.Environment, s.Pins = string(a.cfg.Environment), nil
		}
		return pinned(s, string(a.cfg.Environment), pins(a.cfg))
	})
	if err != nil {
		return fmt.Errorf("compare the configuration with the store: %w", err)
	}
	return nil
}

// unused tells that the store holds no event, row, deposit or account yet: its labels were never used.
func unused(ctx context.Context, db *store.DB) (bool, error) {
	counts, err := db.Counts(ctx)
	if err != nil {
		return false, err
	}
	deposits, err := db.Deposits(ctx, credit.DepositQuery{Limit: 1})
	if err != nil {
		return false, err
	}
	accounts, err := db.Accounts(ctx, credit.AccountQuery{Limit: 1})
	if err != nil {
		return false, err
	}
	rows := 0
	for _, n := range counts.Rows {
		rows += n
	}
	return counts.Events+rows+len(deposits.Items)+len(accounts.Items) == 0, nil
}

func storeOptions(c *config.Config, fresh credit.Settings) store.Options {
	return store.Options{
		New: fresh, MaxSize: c.Space.MaxStore,
		StopClaimsBelow: uint64(c.Space.StopClaimsBelow), RefuseIntakeBelow: uint64(c.Space.RefuseIntakeBelow),
	}
}

// wireLanes gives each MT5 session its lane.
func (a *App) wireLanes() error {
	pace, err := pace(a.cfg)
	if err != nil {
		return err
	}
	for _, label := range slices.Sorted(maps.Keys(a.cfg.MT5.Servers)) {
		s := a.cfg.MT5.Servers[label]
		known := a.settings.LearnedOf(label)
		server, err := mt5Server(label, s, known, a.clock, a.observer)
		if err != nil {
			return err
		}
		dealer, measured := dealerOf(s, known)
		a.servers[label] = server
		for i, session := range server.Sessions(s.Sessions) {
			wake := make(chan struct{}, 1)
			a.sessions = append(a.sessions, session)
			a.observer.board.expect(label, i)
			a.wakes[label] = append(a.wakes[label], wake)
			a.lanes = append(a.lanes, &credit.Lane{
				Server: label, Shard: i, Shards: s.Sessions, Book: a.store, Session: session, Clock: a.clock, Observer: a.observer,
				Process: a.process, Timing: a.timing, Live: a.live, Token: random, Wake: wake, Dealer: dealer, DealerMeasured: measured,
				ClaimsFrom: a.claimsFrom(), Pace: pace, Stopped: a.stopped,
			})
		}
	}
	return nil
}

// wake tells the lanes of a server that a row is pending. It never blocks: one token is enough.
func (a *App) wake(server string) {
	for _, w := range a.wakes[server] {
		select {
		case w <- struct{}{}:
		default:
		}
	}
}

// random draws 128 bits as hex: process ids, claim tokens, request ids.
func random() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the process where the system has no randomness
	return hex.EncodeToString(b[:])
}
