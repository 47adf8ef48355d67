package recon

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"iter"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"creditonce/credit"
)

// mostShown bounds the notes of one source.
const mostShown = 20

// pageOfRows bounds what one read transaction gives: none is held while a run thinks or waits.
const pageOfRows = 500

// gathered are the three lists of a run, as far as they are complete.
type gathered struct {
	statements StatementBook
	answers    map[string]map[string]LineType // by (kind, account) of providers whose list is complete
	labels     map[string]string              // by (kind, account): what the config calls the provider now
	listed     StatementIDs                   // the statements that were there when they were listed: what is imported or withdrawn later is not in this run
	rows       *shelf[Row]
	deals      []*shelf[Deal]  // of the servers whose lists are complete
	standing   standing        // before the run
	dir        string          // ours, under the runner's
	tickets    map[dealAt]bool // of deals that are on rows
	began      Began
	before     []*before // earlier runs that this one is laid beside
	rules      Rules
}

// begins notes that the statements of a provider have something from a moment on: a payment that was made after the earliest one stands in them
// once it is settled, an older one may stand in a statement that nobody imported.
func (g *gathered) begins(label string, at time.Time) {
	if from, ok := g.rules.LinesFrom[label]; !ok || at.Before(from) {
		g.rules.LinesFrom[label] = at
	}
}

// close gives everything back and removes what lies on the disk.
func (g *gathered) close() {
	if g.rows != nil {
		_ = g.rows.close() // only temporary files: the folder goes with them
	}
	for _, d := range g.deals {
		_ = d.close()
	}
	_ = os.RemoveAll(g.dir)
}

// allDeals gives the deals of every server whose list is complete.
func (g *gathered) allDeals() iter.Seq2[Deal, error] {
	return func(yield func(Deal, error) bool) {
		for _, s := range g.deals {
			for d, err := range s.all() {
				if !yield(d, err) {
					return
				}
			}
		}
	}
}

// gather reads the lists in the order that makes no false difference: rows before deals, since a row that is done has its deal already,
// and a deal of a row that was read as pending is no difference.
func (r *Runner) gather(ctx context.Context, run *Run, progress func(Progress)) (_ *gathered, err error) {
	g := &gathered{
		statements: r.Statements, answers: map[string]map[string]LineType{}, labels: map[string]string{}, tickets: map[dealAt]bool{},
		rules: Rules{From: run.From, Until: run.Until, Delay: map[string]time.Duration{}, DealsFrom: map[string]time.Time{}, LinesFrom: map[string]time.Time{}, Tolerance: r.Tolerance, Rounding: map[string]credit.Amount{}},
	}
	maps.Copy(g.rules.Rounding, r.Rounding)
	if err := os.MkdirAll(r.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of the lists: %w", err)
	}
	if g.dir, err = os.MkdirTemp(r.Dir, "run-"); err != nil {
		return nil, fmt.Errorf("make the folder of the lists: %w", err)
	}
	g.rows = newShelf(ctx, g.dir, (*packer).row, (*unpacker).row)
	defer func() {
		if err != nil {
			g.close()
		}
	}()
	if g.before, err = r.earlierRuns(ctx, *run); err != nil {
		return nil, err
	}
	for _, p := range r.Providers {
		source, err := r.settlements(ctx, p, run, g, progress)
		if err != nil {
			return nil, err
		}
		if source.Complete {
			g.answers[listKey(p.Provider)], g.labels[listKey(p.Provider)] = p.Answers, p.Provider.Label
			g.rules.Delay[p.Provider.Label] = p.Delay
		}
		run.Sources = append(run.Sources, source)
		g.rules.Marks = append(g.rules.Marks, g.marks(*run, p.Provider))
	}
	for _, label := range r.Unlisted {
		run.Sources = append(run.Sources, Source{
			List: ListSettlements, Name: label, Complete: true,
			Notes: []string{"the configuration names no statements of this provider (providers." + label + ".settlement), so nothing of it was compared with a settlement"},
		})
	}
	slices.Sort(g.listed)
	if r.Began != nil {
		if g.began, err = r.Began(ctx); err != nil {
			return nil, err
		}
	}
	g.rules.PaysSince = g.began.CutOver
	source, err := r.readRows(ctx, g, progress)
	if err != nil {
		return nil, err
	}
	run.Sources = append(run.Sources, source)
	if g.standing, err = r.standingNow(ctx); err != nil {
		return nil, err
	}
	for _, s := range r.Servers {
		source, err := r.readDeals(ctx, s, run, g, progress)
		if err != nil {
			return nil, err
		}
		run.Sources = append(run.Sources, source)
	}
	if slices.ContainsFunc(run.Sources, func(s Source) bool { return !s.Complete }) {
		run.State = RunIncomplete
	}
	g.rules.Read = r.Now()
	return g, nil
}

func listKey(p Provider) string { return p.Kind + "\x00" + p.Account }

// settlements pulls where the provider has a list of its own, and sees whether the stored statements reach the last business day.
//
// Where the firm has named no rounding rest of a currency in which a statement states a sum, it is two of its minor units, as for the reader.
func (r *Runner) settlements(ctx context.Context, p ProviderList, run *Run, g *gathered, progress func(Progress)) (Source, error) {
	out := Source{List: ListSettlements, Name: p.Provider.Label, Entity: p.Provider.Label}
	if p.Pull != nil {
		progress(Progress{Step: "pull settlements of " + p.Provider.Label})
		if err := r.pull(ctx, p, run); err != nil {
			if ctx.Err() != nil || errors.Is(err, credit.ErrStopped) {
				return out, err
			}
			out.Reason = fmt.Sprintf("%v; the lines cannot be pulled now: it is tried again every hour", err)
			return out, nil
		}
	}
	sum, reaches := sha256.New(), time.Time{}
	var whole time.Time // how far statements reach that came after the one that is looked at, and have no gap
	gap := ""
	var cover coverage
	for im, err := range r.allStatements(ctx, p.Provider) {
		if err != nil {
			return out, err
		}
		for _, b := range g.before {
			b.saw(p.Provider.Label, im)
		}
		if im.Withdrawn != nil {
			continue
		}
		out.Newest = max(out.Newest, im.ID)
		sum.Write([]byte(im.Statement.Digest))
		out.Rows += im.Stored - im.Differing()
		reaches, out.Reaches = later(reaches, im.Reaches), later(out.Reaches, im.ends())
		out.Notes = append(out.Notes, notesOn(im)...)
		roundingOf(im.Statement, g.rules.Rounding)
		g.listed = append(g.listed, im.ID)
		cover.add(im)
		switch { // newest first: a whole statement that came later and reaches as far takes the place of one with a gap
		case im.Statement.Incomplete == "":
			whole = later(whole, im.Reaches)
		case whole.Before(im.Reaches) && gap == "":
			gap = fmt.Sprintf("%s: %s; import the whole statement", im.Statement.Name, im.Statement.Incomplete)
		}
	}
	out.Digest = hex.EncodeToString(sum.Sum(nil))
	out.Notes = out.Notes[:min(len(out.Notes), mostShown)]
	// A statement that ends within the last business day reaches it; how far it may lag is what the firm knows of its provider.
	if limit := run.Until.Add(-p.Every); reaches.Before(limit) {
		out.Reason = fmt.Sprintf("the statements reach %s, and the business day ends at %s; import the next one with `creditonce recon import FILE --provider %s`",
			momentText(reaches), momentText(run.Until), p.Provider.Label)
		return out, nil
	}
	if gap == "" {
		gap = r.lacks(p, &cover, run)
	}
	out.Reason, out.Complete = gap, gap == ""
	return out, nil
}

// roundingOf adds the usual rest of each currency in which the statement states a sum.
func roundingOf(s Statement, rounding map[string]credit.Amount) {
	for _, t := range s.Totals {
		currency := t.Stated.Currency()
		if _, named := rounding[currency]; named || !t.Stated.IsSet() {
			continue
		}
		places, ok := credit.ISOExponent(currency)
		if !ok {
			places = t.Stated.Exponent()
		}
		if two, err := credit.Minor(2, currency, places); err == nil {
			rounding[currency] = two
		}
	}
}

// dealAt is a deal by its server and ticket.
type dealAt struct {
	identity string
	ticket   uint64
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// pullWindow is the longest window of one pull; a day's lines fit into memory.
const pullWindow = 24 * time.Hour

// pullAgain is how far a pull reaches back before the days that are compared: lists come late, and movements of old payments are new lines.
const pullAgain = 3 * 24 * time.Hour

// pull brings in the provider's own list, window by window, so that an interrupted run goes on where it was.
func (r *Runner) pull(ctx context.Context, p ProviderList, run *Run) error {
	if err := r.pullBetween(ctx, p, run.From.Add(-pullAgain), run.Until); err != nil {
		return err
	}
	return r.fill(ctx, p, run)
}

func (r *Runner) pullBetween(ctx context.Context, p ProviderList, from, end time.Time) error {
	for from.Before(end) {
		until := from.Add(pullWindow)
		if until.After(end) {
			until = end
		}
		_, _, err := r.Importer.Pulled(ctx, p.Provider, func(emit func(Line) error) (Statement, error) { return p.Pull(ctx, from, until, emit) }, BySchedule)
		if err != nil {
			return err
		}
		from = until
	}
	return nil
}

// notesOn tells what a reader of the report should know about a statement although it counts.
func notesOn(im Imported) []string {
	var out []string
	for _, t := range im.Statement.Totals {
		if !t.Agrees() {
			out = append(out, fmt.Sprintf("%s states %s as %s, and its lines sum up to %s", im.Statement.Name, t.Name, t.Stated, t.Summed))
		}
	}
	if n := im.Differing(); n > 0 {
		out = append(out, fmt.Sprintf("%s has %s from an earlier statement", im.Statement.Name, plural(n, "row that differs", "rows that differ")))
	}
	if n := len(im.Statement.Problems); n > 0 {
		out = append(out, fmt.Sprintf("%s has %s an answer", im.Statement.Name, plural(n, "row that needs", "rows that need")))
	}
	return out
}

func momentText(at time.Time) string {
	if at.IsZero() {
		return "nowhere (there is none yet)"
	}
	return at.UTC().Format("2006-01-02 15:04 MST")
}

// compare sorts the lists and matches them; what the rules need to know of the lines is known once these are read.
func (g *gathered) compare(ctx context.Context, emit func(Item) error) (out Outcome, err error) {
	sorted, err := Sort(ctx, g.dir, g.lines(ctx), g.rows.all(), g.allDeals())
	if err != nil {
		return Outcome{}, err
	}
	defer func() { err = errors.Join(err, sorted.Close()) }()
	return Match(ctx, g.rules, sorted, emit)
}

// lines gives the stored lines of the providers whose lists are complete, in pages.
func (g *gathered) lines(ctx context.Context) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		for after := uint64(0); len(g.listed) > 0; {
			page, next, err := g.statements.Lines(ctx, g.listed, after, pageOfRows)
			if err != nil {
				yield(Line{}, fmt.Errorf("read settlement lines: %w", err))
				return
			}
			for _, l := range page {
				label, ok := g.labels[listKey(l.Provider)]
				if !ok {
					continue
				}
				l.Provider.Label = label
				g.begins(label, l.Moment())
				if !yield(Retyped(l, g.answers[listKey(l.Provider)]), nil) {
					return
				}
			}
			if next == 0 {
				return
			}
			after = next
		}
	}
}

func (r *Runner) readRows(ctx context.Context, g *gathered, progress func(Progress)) (Source, error) {
	out := Source{List: ListRows, Name: "store", Complete: true}
	sum := sha256.New()
	for after := credit.ID(0); ; {
		page, err := r.Book.CreditsAfter(ctx, after, pageOfRows)
		if err != nil {
			return out, fmt.Errorf("read credit rows: %w", err)
		}
		for _, c := range page {
			row := RowOf(c)
			if row.Ticket != 0 {
				g.tickets[dealAt{row.Identity, row.Ticket}] = true
			}
			if err := g.rows.add(row); err != nil {
				return out, err
			}
			seal(sum, row)
			out.Rows, after = out.Rows+1, c.ID
		}
		progress(Progress{Step: "read credit rows", Done: out.Rows})
		if len(page) < pageOfRows {
			out.Digest = hex.EncodeToString(sum.Sum(nil))
			return out, nil
		}
	}
}

// seal adds what a comparison reads of a row to the list's digest.
func seal(sum hash.Hash, row Row) {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], uint64(row.ID))
	binary.BigEndian.PutUint64(b[8:], row.Ticket)
	sum.Write(b[:])
	sum.Write([]byte(strings.Join([]string{string(row.State), row.Amount.String(), row.Paid.String(), string(row.Reference)}, "\x00")))
}

// readDeals lists the deals of one server. A list that is not complete is left out altogether: half of it would make differences of what
// is there.
func (r *Runner) readDeals(ctx context.Context, s ServerList, run *Run, g *gathered, progress func(Progress)) (Source, error) {
	out := Source{}
	from := run.From.Add(-r.Lookback)
	mine := newShelf(ctx, g.dir, (*packer).deal, (*unpacker).deal)
	g.deals = append(g.deals, mine)
	begins, before := g.began.Deals, 0
	list, err := s.Deals(ctx, from, progress, func(d Deal) error {
		g.standing.saw(&d)
		if d.At.Before(begins) && !credit.Reference(d.Comment).Valid() && !g.tickets[dealAt{d.Identity, d.Ticket}] {
			before++
			return nil
		}
		return mine.add(d)
	})
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return out, fmt.Errorf("list the deals of server %s: %w", s.Label, err)
	}
	out = list.Source()
	out.Name, out.Entity, out.From = s.Label, s.Identity, from
	if before > 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("%s without a reference of ours, made before %s, when creditonce did not pay yet: they are the flow's of before, and no difference",
			plural(before, "deal", "deals"), momentText(begins)))
	}
	if !list.Complete {
		g.deals = g.deals[:len(g.deals)-1]
		return out, mine.close()
	}
	g.rules.DealsFrom[s.Identity] = from
	if g.rules.Unseen == nil {
		g.rules.Unseen = map[string]map[uint64]bool{}
	}
	g.rules.Unseen[s.Identity] = map[uint64]bool{}
	for _, login := range list.Missing {
		g.rules.Unseen[s.Identity][login] = true
	}
	out.Unseen = g.standing.unseen(s.Identity, list.Missing)
	return out, nil
}
