package recon

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"slices"
	"sync"
	"time"

	"creditonce/credit"
)

// BySchedule is who a run or an import is by when no person asked for it.
const BySchedule = "schedule"

// pieceOfItems bounds the items of one transaction.
const pieceOfItems = 300

// Runner does whole runs: it gathers the three lists, compares them, keeps what came out and carries the tasks. One run goes on at a time.
type Runner struct {
	Book       RunBook
	Statements StatementBook
	Importer   *Importer
	Providers  []ProviderList // in the order of a report
	Servers    []ServerList   // in the order of a report
	Unlisted   []string       // labels of providers that have no statements: the report says so

	Since     time.Time      // UTC; when the store was made: nothing is due of the days before
	Zone      *time.Location // of business days
	Lookback  time.Duration  // how far before the first day MT5's deals are read
	Tolerance map[string]credit.Amount
	Rounding  map[string]credit.Amount

	Room    Room   // nil: it is not looked at
	Step    Step   // nil: nobody is told
	Dir     string // where lists are spooled; each run makes a folder there and removes it
	Now     func() time.Time
	Version string
	// Began says since when the firm's deposits are paid by this program. nil: always.
	Began func(ctx context.Context) (Began, error)
	// Halt is told that so many deals are gone at once that the MT5 server itself must be in doubt (protocol-holes.md, H19): nothing may be
	// paid until people have looked. It may be nil.
	Halt func(ctx context.Context, reason string) error

	busy sync.Mutex
}

// Began is where the flow of before ends.
type Began struct {
	CutOver time.Time // UTC; payments of before are the flow's of before. Zero: there was no cut-over
	Deals   time.Time // UTC; so are deals by hand of before
}

// ProviderList is one provider's settlement list.
type ProviderList struct {
	Provider Provider
	Delay    time.Duration // usual time from payment to settlement
	Every    time.Duration // how far its statements may lag behind the last business day
	Answers  map[string]LineType
	Absent   []string // names of statements that seem to be missing, and that the provider never made
	// Pull reads the provider's own list; nil: people import files.
	Pull func(ctx context.Context, from, until time.Time, emit func(Line) error) (Statement, error)
}

// ServerList is the list of balance deals of one MT5 server.
type ServerList struct {
	Label, Identity string
	// Deals lists them from a moment on. An error is one of this program; what MT5 does not answer is in the list.
	Deals func(ctx context.Context, from time.Time, progress func(Progress), emit func(Deal) error) (DealList, error)
	// Ask begins to ask for single deals by ticket, over a session of its own that end closes. credit.ErrNotFound is MT5's word that there is no
	// such deal; every other error is no answer. nil: MT5 cannot be asked, and no task about a deal closes because a list has it no more.
	Ask func() (deal func(ctx context.Context, ticket uint64) (credit.Deal, error), end func())
}

// Run compares the business days from first to last, both included. It returns *credit.RefusedError for days that are not over and for a
// second run at the same time; a list that is not complete makes the run incomplete and is no error.
func (r *Runner) Run(ctx context.Context, first, last Day, by string, progress func(Progress)) (Run, error) {
	if progress == nil {
		progress = func(Progress) {}
	}
	if !r.busy.TryLock() {
		return Run{}, credit.Refuse("busy", "another run is going on; `creditonce recon list` shows it once it is finished: ask again then")
	}
	defer r.busy.Unlock()
	run, err := r.opened(first, last, by)
	if err != nil {
		return Run{}, err
	}
	done, err := r.whole(ctx, run, progress)
	if err != nil {
		return done, r.failed(ctx, run, err)
	}
	return done, nil
}

// whole does a run that was opened.
func (r *Runner) whole(ctx context.Context, run Run, progress func(Progress)) (_ Run, err error) {
	if run.ID, err = r.Book.BeginRun(ctx); err != nil {
		return Run{}, fmt.Errorf("begin a run: %w", err)
	}
	ctx = withRoom(ctx, r.Room)
	g, err := r.gather(ctx, &run, progress)
	if err != nil {
		return Run{}, fmt.Errorf("run %d: %w", run.ID, err)
	}
	defer g.close()
	kept := newKeeping(ctx, r.Book, run, g.standing.gone)
	kept.saved = func() { r.Step.at(ctx, StepFindingsSaved) }
	progress(Progress{Step: "compare the lists"})
	run.Outcome, err = g.compare(ctx, kept.take)
	if err == nil {
		err = kept.flush()
	}
	if err != nil {
		return Run{}, fmt.Errorf("run %d, compare: %w", run.ID, err)
	}
	tellUnseen(&run)
	tellUnasked(&run, g.rules.LinesFrom)
	tellBefore(&run)
	if run.State == RunComplete {
		for _, b := range g.before {
			run.Earlier = append(run.Earlier, b.besides(run))
		}
	}
	run.Findings, run.Digest, run.Finished = kept.items, kept.digest(run), r.Now()
	// Before the tasks: once they are open, these deals are known to be gone, and no later run would stop for them.
	if reason := kept.massMismatch(run.Outcome.Asked); reason != "" && r.Halt != nil {
		if err := r.Halt(ctx, fmt.Sprintf("reconciliation run %d: %s", run.ID, reason)); err != nil {
			return Run{}, fmt.Errorf("run %d: %w", run.ID, err)
		}
	}
	progress(Progress{Step: "carry the tasks", Total: min(run.Differences(), MostCarried)})
	if run.Accepted, err = r.carry(ctx, run, g.standing); err != nil {
		return Run{}, fmt.Errorf("run %d, tasks: %w", run.ID, err)
	}
	if err := r.changedTask(ctx, run); err != nil { // before the run is there: the next one takes what stands in it as told
		return Run{}, fmt.Errorf("run %d, task about signed reports: %w", run.ID, err)
	}
	if err := r.Book.FinishRun(ctx, run); err != nil {
		return Run{}, fmt.Errorf("run %d, finish: %w", run.ID, err)
	}
	r.Step.at(ctx, StepRunFinished)
	if err := errors.Join(r.runTask(ctx, run), r.manyTask(ctx, run)); err != nil {
		return run, fmt.Errorf("run %d is stored: %w", run.ID, err)
	}
	return run, nil
}

// opened checks the days and gives the run that begins.
func (r *Runner) opened(first, last Day, by string) (Run, error) {
	if !first.Valid() || !last.Valid() || last < first {
		return Run{}, fmt.Errorf("business days %q to %q: %w", first, last, credit.ErrInvalid)
	}
	now := r.Now()
	from, _ := first.Bounds(r.Zone)
	_, until := last.Bounds(r.Zone)
	if until.After(now) {
		return Run{}, credit.Refuse("day_open", "the business day %s is not over (it ends at %s); the last one that is over is %s",
			last, until.UTC().Format("2006-01-02 15:04 MST"), LastComplete(now, r.Zone))
	}
	return Run{First: first, Last: last, Zone: r.Zone.String(), From: from, Until: until, Started: now, Version: r.Version, By: by, State: RunComplete}, nil
}

func (r *Runner) runTask(ctx context.Context, run Run) error {
	t := credit.Task{Kind: credit.TaskReconIncomplete, Entity: reconEntity, OpenedAt: run.Finished}
	if run.State == RunComplete {
		for _, kind := range []credit.TaskKind{credit.TaskReconIncomplete, credit.TaskReconOverdue} {
			t.Kind = kind
			closing := credit.TaskClose{Key: t.Key(), By: byReconciliation, Reason: fmt.Sprintf("run %d of %s is complete", run.ID, daysText(run)), At: run.Finished}
			if err := r.Book.RunTask(ctx, t, &closing); err != nil {
				return err
			}
		}
		return nil
	}
	t.Summary = fmt.Sprintf("reconciliation of %s is incomplete", daysText(run))
	t.Next = "do what each reason says; the run is tried again every hour, or now with `creditonce recon run`"
	for _, s := range run.Sources {
		if !s.Complete {
			t.Records = append(t.Records, credit.Record{Source: string(s.List) + " of " + s.Name, Fields: []credit.Field{{Name: "reason", Value: s.Reason}}})
		}
	}
	return r.Book.RunTask(ctx, t, nil)
}

// reconEntity is what tasks about the reconciliation as a whole are about.
const reconEntity = "reconciliation"

// byReconciliation closes what explains itself.
const byReconciliation = "reconciliation"

// longestWithout is the longest time without a complete run (protocol-holes.md, I-L3).
const longestWithout = 26 * time.Hour

// Watch opens the task of an overdue reconciliation: no complete run for 26 hours, by the wall clock. since is when the service could have
// begun to run at all; it counts where no run was ever complete.
func (r *Runner) Watch(ctx context.Context, since time.Time) error {
	newest := since
	runs, err := r.Book.Runs(ctx, 0, 200)
	if err != nil {
		return err
	}
	for _, run := range runs {
		if run.State == RunComplete && run.Finished.After(newest) {
			newest = run.Finished
		}
	}
	if r.Now().Sub(newest) < longestWithout {
		return nil
	}
	return r.Book.RunTask(ctx, credit.Task{
		Kind: credit.TaskReconOverdue, Entity: reconEntity, OpenedAt: r.Now(),
		Summary: fmt.Sprintf("no complete reconciliation since %s", newest.UTC().Format("2006-01-02 15:04 MST")),
		Next:    "see why with `creditonce recon list`, do what the reasons say, then `creditonce recon run`",
	}, nil)
}

// Due are the business days that a scheduled run should compare now: from the day after the last complete one to the last one that ended
// longer than after ago. ok is false when there are none. Before the first complete run they begin when the store was made, or as far back as
// MT5's deals are read.
func (r *Runner) Due(ctx context.Context, after time.Duration) (first, last Day, ok bool, err error) {
	now := r.Now()
	last = LastComplete(now.Add(-after), r.Zone)
	done, err := r.Book.Reached(ctx)
	if err != nil {
		return "", "", false, err
	}
	if first = DayOf(done.Until, r.Zone); done.IsZero() {
		first = DayOf(later(r.Since, now.Add(-r.Lookback)), r.Zone)
	}
	return first, last, first <= last, nil
}

// keeping stores a run's items as they come, counts them and takes their digest.
type keeping struct {
	ctx     context.Context
	book    RunBook
	run     RunID
	piece   []Item
	items   int
	sum     hash.Hash
	known   map[Key]bool   // differences of which people were told before
	missing map[string]int // by MT5 server: done rows whose deal is not there, since this run
	saved   func()         // called after each piece; may be nil
}

func newKeeping(ctx context.Context, book RunBook, run Run, known map[Key]bool) *keeping {
	return &keeping{ctx: ctx, book: book, run: run.ID, sum: sha256.New(), known: known, missing: map[string]int{}}
}

// take keeps everything but what plainly matches.
func (k *keeping) take(i Item) error {
	if i.Key.Class == DoneWithoutDeal && len(i.Rows) > 0 && !k.known[i.Key] {
		k.missing[i.Rows[0].Identity]++
	}
	if i.Key.Class == Matched {
		return nil
	}
	text, err := json.Marshal(i)
	if err != nil {
		return fmt.Errorf("write down %s of %s: %w", i.Key.Class, i.Key.Entity, err)
	}
	k.sum.Write(text)
	k.items++
	if k.piece = append(k.piece, i); len(k.piece) < pieceOfItems {
		return nil
	}
	return k.flush()
}

func (k *keeping) flush() error {
	if len(k.piece) == 0 {
		return nil
	}
	err := k.book.SaveFindings(k.ctx, k.run, k.piece)
	k.piece = k.piece[:0]
	if err == nil && k.saved != nil {
		k.saved()
	}
	return err
}

// digest is the run's, over its days, its sources and its items. What stood before the run is in none of them.
func (k *keeping) digest(run Run) string {
	sources := slices.Clone(run.Sources)
	for i := range sources {
		sources[i].Unseen, sources[i].Newest = nil, 0
	}
	text, err := json.Marshal(struct {
		First, Last Day
		Zone        string
		Sources     []Source
		Items       string
	}{run.First, run.Last, run.Zone, sources, hex.EncodeToString(k.sum.Sum(nil))})
	if err != nil {
		panic(err) // plain values alone
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// A mass mismatch is at least so many rows, and at least a fifth of those whose deal was asked for.
const (
	massAtLeast = 5
	massShare   = 5
)

// massMismatch says which MT5 server has lost so many deals at once that it may have been restored; empty: none.
func (k *keeping) massMismatch(asked map[string]int) string {
	worst, count := "", 0
	for identity, n := range k.missing {
		if n >= massAtLeast && n*massShare >= asked[identity] && (n > count || n == count && identity < worst) {
			worst, count = identity, n
		}
	}
	if worst == "" {
		return ""
	}
	return fmt.Sprintf("%d of %d deals that are credited are not on the MT5 server %s any more: it may have been restored from an older state", count, asked[worst], worst)
}
