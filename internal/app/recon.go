package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"creditonce/credit"
	"creditonce/internal/admin"
	"creditonce/internal/config"
	"creditonce/internal/desk"
	"creditonce/recon"
)

// reconSession is the number that the sessions of the reconciliation have in messages; lanes count from 0.
const reconSession = -3

// reconPause is the time between two logins of a listing: the trade server has traders to serve.
const reconPause = 20 * time.Millisecond

// reconciliation is the daily comparison on the live parts of this process. It is safe for concurrent use.
type reconciliation struct {
	app    *App
	runner *recon.Runner
	after  time.Duration

	importing sync.Mutex // one import at a time: two of one account would end each other

	mu       sync.Mutex
	progress *recon.Progress // of the run or import under way
}

var _ admin.Reconciliation = (*reconciliation)(nil)

// Reconciliation is the daily comparison of the three lists, on the live parts of this process.
func (a *App) Reconciliation() admin.Reconciliation { return a.recon }

// wireRecon builds the comparison over the store, the providers' statements and MT5.
func (a *App) wireRecon() error {
	zone, err := time.LoadLocation(a.cfg.Reconcile.TimeZone)
	if err != nil {
		return fmt.Errorf("reconcile.time_zone: %w", err)
	}
	tolerance, err := amountsOf(a.cfg.Reconcile.Tolerance)
	if err != nil {
		return fmt.Errorf("reconcile.tolerance: %w", err)
	}
	rounding, err := amountsOf(a.cfg.Reconcile.Rounding)
	if err != nil {
		return fmt.Errorf("reconcile.rounding: %w", err)
	}
	r := &recon.Runner{
		Book: a.store, Statements: a.store, Importer: &recon.Importer{Book: a.store, Now: a.clock.Now, Room: a.store, Step: a.observer.namedStep}, Room: a.store,
		Step:  a.observer.namedStep,
		Since: a.settings.CreatedAt, Zone: zone, Lookback: a.cfg.Reconcile.Lookback, Tolerance: tolerance, Rounding: rounding,
		Dir: filepath.Join(a.cfg.DataDir, "recon"), Now: a.clock.Now, Version: Version(), Halt: a.halt, Began: a.began,
	}
	a.recon = &reconciliation{app: a, runner: r, after: a.cfg.Reconcile.After}
	if err := clearLists(r.Dir); err != nil {
		return err
	}
	for _, label := range slices.Sorted(maps.Keys(a.cfg.Providers)) {
		list, has, err := a.providerList(label)
		if err != nil {
			return err
		}
		if has {
			r.Providers = append(r.Providers, list)
		} else {
			r.Unlisted = append(r.Unlisted, label)
		}
	}
	for _, label := range slices.Sorted(maps.Keys(a.cfg.MT5.Servers)) {
		list, err := a.serverList(label)
		if err != nil {
			return err
		}
		r.Servers = append(r.Servers, list)
	}
	return nil
}

// clearLists removes what a process that was killed left in the folder of the lists: statements as they were sent, and spools. Nobody else writes there.
func clearLists(dir string) error {
	for _, mask := range []string{"import-*", "run-*"} {
		left, err := filepath.Glob(filepath.Join(dir, mask))
		if err != nil {
			return err
		}
		for _, path := range left {
			if err := os.RemoveAll(path); err != nil {
				return fmt.Errorf("remove what a killed process left: %w", err)
			}
		}
	}
	return nil
}

// began is where the flow of before ends: at the cut-over; without one, deals by hand are its own as long as the store only observes, and before
// it was made.
func (a *App) began(ctx context.Context) (recon.Began, error) {
	s, err := a.store.Settings(ctx)
	switch {
	case err != nil:
		return recon.Began{}, err
	case !s.CutoverAt.IsZero():
		return recon.Began{CutOver: s.CutoverAt, Deals: s.CutoverAt}, nil
	case s.Mode == credit.ModeObserve:
		return recon.Began{Deals: a.clock.Now()}, nil
	}
	return recon.Began{Deals: s.CreatedAt.Add(-time.Minute)}, nil // the server's clock has whole seconds, and differs a little
}

// amountsOf reads the amounts of the configuration, each with the places that it is written with.
func amountsOf(from map[string]string) (map[string]credit.Amount, error) {
	out := map[string]credit.Amount{}
	for currency, text := range from {
		_, fraction, _ := strings.Cut(text, ".")
		amount, err := credit.ParseAmount(text, currency, len(fraction))
		if err != nil {
			return nil, err
		}
		out[currency] = amount
	}
	return out, nil
}

// serverList reads the deals of one MT5 server over a session that nothing else uses.
func (a *App) serverList(label string) (recon.ServerList, error) {
	s := a.cfg.MT5.Servers[label]
	rule, err := clockRule(s.Clock)
	if err != nil {
		return recon.ServerList{}, fmt.Errorf("mt5.servers.%s.clock: %w", label, err)
	}
	deals := func(ctx context.Context, from time.Time, progress func(recon.Progress), emit func(recon.Deal) error) (recon.DealList, error) {
		known, err := a.knownLogins(ctx, label, s.Identity)
		if err != nil {
			return recon.DealList{}, err
		}
		session := a.servers[label].Session(reconSession)
		defer func() { _ = session.Close() }() // it is only a goodbye; the list is read
		return recon.ReadDeals(ctx, session, recon.DealQuery{
			Server: label, Identity: s.Identity, From: from, Known: known, Groups: s.ReconcileGroups, Rule: rule, Clock: a.clock, Pause: reconPause,
			Progress: func(done, total int) {
				progress(recon.Progress{Step: "read the deals of MT5 server " + label + ", login by login", Done: done, Total: total})
			},
		}, emit)
	}
	return recon.ServerList{Label: label, Identity: s.Identity, Deals: deals, Ask: a.dealAsker(label)}, nil
}

// dealAsker asks one MT5 server for single deals, over a session as that of a listing.
func (a *App) dealAsker(label string) func() (func(context.Context, uint64) (credit.Deal, error), func()) {
	return func() (func(context.Context, uint64) (credit.Deal, error), func()) {
		session := a.servers[label].Session(reconSession)
		deal := func(ctx context.Context, ticket uint64) (credit.Deal, error) {
			if err := a.clock.Wait(ctx, a.clock.Boot()+reconPause, nil); err != nil {
				return credit.Deal{}, err
			}
			if err := session.Ready(ctx); err != nil {
				return credit.Deal{}, err
			}
			d, err := session.Deal(ctx, ticket)
			if err != nil && !errors.Is(err, credit.ErrNotFound) {
				session.Drop("a deal could not be read")
			}
			return d, err
		}
		return deal, func() { _ = session.Close() } // it is only a goodbye
	}
}

// Standing implements admin.Reconciliation.
func (r *reconciliation) Standing(ctx context.Context) (admin.ReconStanding, error) {
	out := admin.ReconStanding{Since: r.runner.Since, Zone: r.runner.Zone.String()}
	done, err := r.app.store.Reached(ctx)
	if err != nil {
		return out, err
	}
	if !done.IsZero() {
		out.Through, out.Zone = done.Day, done.Zone
	}
	runs, err := r.app.store.Runs(ctx, 0, 1)
	if err != nil || len(runs) == 0 {
		return out, err
	}
	out.Newest = admin.GistOf(runs[0])
	return out, nil
}

// Progress implements admin.Reconciliation.
func (r *reconciliation) Progress() (recon.Progress, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.progress == nil {
		return recon.Progress{}, false
	}
	return *r.progress, true
}

// follow remembers how far the work is, until end is called.
func (r *reconciliation) follow() (step func(recon.Progress), end func()) {
	set := func(p *recon.Progress) {
		r.mu.Lock()
		r.progress = p
		r.mu.Unlock()
	}
	return func(p recon.Progress) { set(&p) }, func() { set(nil) }
}

// Reconcile implements admin.Reconciliation. The audit log has who asked before anything is read.
func (r *reconciliation) Reconcile(ctx context.Context, who desk.Actor, first, last recon.Day) (recon.Run, error) {
	person, err := r.app.desk.MayReconcile(ctx, who, desk.ReconRun)
	if err != nil {
		return recon.Run{}, err
	}
	if first == "" {
		var due bool
		if first, last, due, err = r.runner.Due(ctx, 0); err != nil {
			return recon.Run{}, err
		}
		if !due {
			last = recon.LastComplete(r.app.clock.Now(), r.runner.Zone)
			first = last
		}
	}
	act := desk.Act{Kind: desk.ReconRun, Subject: "recon", Params: map[string]string{"first": string(first), "last": string(last)}}
	if err := r.app.desk.RecordReconciliation(ctx, who, act); err != nil {
		return recon.Run{}, err
	}
	return r.run(ctx, first, last, string(person.ID))
}

func (r *reconciliation) run(ctx context.Context, first, last recon.Day, by string) (recon.Run, error) {
	step, end := r.follow()
	defer end()
	run, err := r.runner.Run(ctx, first, last, by, step)
	if err != nil {
		return run, err
	}
	note := r.app.log.Info()
	if run.State != recon.RunComplete {
		note = r.app.log.Warn().Strs("reasons", run.Reasons())
	}
	note.Uint64("run", uint64(run.ID)).Str("first", string(run.First)).Str("last", string(run.Last)).Str("state", string(run.State)).
		Int("differences", run.Differences()).Int("rows", run.Outcome.Rows).Int("lines", run.Outcome.Lines).Int("deals", run.Outcome.Deals).Msg("reconciled")
	return run, nil
}

// daily does what is due: the business days since the last complete run. It is asked every hour, so that a run that was missed or incomplete is
// made up, and a doubled firing finds nothing to do.
func (r *reconciliation) daily(ctx context.Context) error {
	first, last, due, err := r.runner.Due(ctx, r.after)
	if err != nil {
		return err
	}
	if due {
		if _, err = r.run(ctx, first, last, recon.BySchedule); refusedAs(err, "busy") {
			err = nil // somebody's own run is going on; the next hour looks again
		}
	}
	return errors.Join(err, r.runner.Watch(ctx, r.app.settings.CreatedAt), r.purge(ctx))
}

// runsKept is how many of the newest runs keep their items whatever came after them.
const runsKept = 60

// purge removes the items of old runs that nobody signed and that newer complete runs stand for, in small pieces.
func (r *reconciliation) purge(ctx context.Context) error {
	newest, err := r.app.store.Runs(ctx, 0, 1)
	if err != nil || len(newest) == 0 || newest[0].ID <= runsKept {
		return err
	}
	for n := 1; n > 0 && ctx.Err() == nil; {
		if n, err = r.app.store.PurgeRuns(ctx, newest[0].ID-runsKept); err != nil {
			return err
		}
	}
	return nil
}

func refusedAs(err error, code string) bool {
	var refused *credit.RefusedError
	return errors.As(err, &refused) && refused.Code == code
}

// Import implements admin.Reconciliation. What comes is kept in a file first: it is read twice, and whoever sends it may go away.
func (r *reconciliation) Import(ctx context.Context, who desk.Actor, w admin.ImportWish, body io.Reader) (admin.ImportAnswer, error) {
	person, err := r.app.desk.MayReconcile(ctx, who, desk.ReconImport)
	if err != nil {
		return admin.ImportAnswer{}, err
	}
	p, ok := r.app.cfg.Providers[w.Provider]
	switch {
	case !ok:
		return admin.ImportAnswer{}, fmt.Errorf("the configuration has no provider %q; it has %s: %w", w.Provider, strings.Join(slices.Sorted(maps.Keys(r.app.cfg.Providers)), ", "), credit.ErrInvalid)
	case p.Settlement.Format == "":
		return admin.ImportAnswer{}, fmt.Errorf("the configuration does not say how statements of %s look; write providers.%s.settlement.format: %w", w.Provider, w.Provider, credit.ErrInvalid)
	}
	if !r.importing.TryLock() {
		return admin.ImportAnswer{}, credit.Refuse("busy", "another statement is being imported; wait until it is done (`creditonce recon statements` shows it then) and import this one again")
	}
	defer r.importing.Unlock()
	step, end := r.follow()
	defer end()
	step(recon.Progress{Step: "receive the file"})
	file, err := r.received(body)
	if err != nil {
		return admin.ImportAnswer{}, err
	}
	defer func() { _ = errors.Join(file.Close(), os.Remove(file.Name())) }() // a copy
	wish := recon.FileWish{
		Provider: providerOf(w.Provider, p), Name: w.Name, By: string(person.ID), Incomplete: w.Incomplete,
		Reader: func() (recon.Reader, error) { return r.app.statementReader(w.Provider, w.Name, p) },
	}
	if w.Dry {
		checked, err := r.runner.Importer.Check(ctx, wish, file, step)
		return admin.ImportAnswer{Statement: recon.Imported{Statement: checked.Statement}, Checked: &checked}, err
	}
	im, done, err := r.runner.Importer.File(ctx, wish, file, step)
	if err != nil || done {
		return admin.ImportAnswer{Statement: im, Before: done}, err
	}
	act := desk.Act{Kind: desk.ReconImport, Subject: "recon", Params: map[string]string{"provider": w.Provider, "file": w.Name, "sha256": im.Statement.Digest}}
	return admin.ImportAnswer{Statement: im}, r.app.desk.RecordReconciliation(ctx, who, act)
}

// Statements implements admin.Reconciliation.
func (r *reconciliation) Statements(ctx context.Context, who desk.Actor, label string, below recon.StatementID, limit int) ([]recon.Imported, error) {
	if err := r.app.desk.MayLook(ctx, who); err != nil {
		return nil, err
	}
	q := recon.StatementQuery{Below: below, Limit: limit}
	if label != "" {
		p, ok := r.app.cfg.Providers[label]
		if !ok {
			return nil, fmt.Errorf("the configuration has no provider %q: %w", label, credit.ErrInvalid)
		}
		q.Provider = providerOf(label, p)
	}
	return r.app.store.Statements(ctx, q)
}

// Runs implements admin.Reconciliation.
func (r *reconciliation) Runs(ctx context.Context, who desk.Actor, below recon.RunID, limit int) ([]recon.Run, error) {
	if err := r.app.desk.MayLook(ctx, who); err != nil {
		return nil, err
	}
	return r.app.store.Runs(ctx, below, limit)
}

// Sign implements admin.Reconciliation.
func (r *reconciliation) Sign(ctx context.Context, who desk.Actor, id recon.RunID, note string) (admin.SignedRun, error) {
	if _, err := r.app.desk.MayReconcile(ctx, who, desk.ReconSign); err != nil {
		return admin.SignedRun{}, err
	}
	run, err := r.newestOfItsDays(ctx, id)
	if err != nil {
		return admin.SignedRun{}, err
	}
	newer, err := r.app.store.NewerRuns(ctx, run)
	if err != nil {
		return admin.SignedRun{}, err
	}
	if err := r.app.desk.SignRun(ctx, who, uint64(id), run.Digest, note); err != nil {
		return admin.SignedRun{}, err
	}
	run, err = r.app.store.Run(ctx, id)
	return admin.SignedRun{ReconRun: run, Newer: admin.RunNumbers(newer.Numbers), Again: admin.RunNumbers(newer.Again())}, err
}

// newestOfItsDays reads a run and refuses one that a newer complete one stands for: what is signed must be what is known.
func (r *reconciliation) newestOfItsDays(ctx context.Context, id recon.RunID) (recon.Run, error) {
	run, err := r.app.store.Run(ctx, id)
	if err != nil {
		return recon.Run{}, err
	}
	newest, err := r.app.store.RunOfDay(ctx, run.Zone, run.Last)
	if err == nil && newest.ID > id && newest.State == recon.RunComplete && newest.First <= run.First {
		return recon.Run{}, credit.Refuse("superseded", "run %d has compared these business days since, with lists that may be newer; read and sign that one", newest.ID)
	}
	return run, err
}

func providerOf(label string, p config.Provider) recon.Provider {
	return recon.Provider{Label: label, Kind: p.Kind, Account: p.Account}
}
