package recon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"creditonce/credit"
)

// Earlier is an earlier report laid beside what the lists of its days say now: the report of the day before, and the newest one that is
// signed.
type Earlier struct {
	Run      RunID  `json:"run,string"`
	First    Day    `json:"first"`
	Last     Day    `json:"last"`
	SignedBy string `json:"signed_by,omitempty"` // the person's id
	// Changes are what that report counted and what the lists say of it now, where these differ; by provider, currency, list.
	Changes []Change `json:"changes,omitempty"`
	// Carried are the ways from its closing balances to the opening ones, where these differ; only of the report of the day before.
	Carried []CarriedOver `json:"carried,omitempty"`
}

// Change is a sum of an earlier report that is another one now.
type Change struct {
	Provider string        `json:"provider"` // label
	Currency string        `json:"currency"`
	List     ListName      `json:"list"`   // settlements or rows
	Before   time.Time     `json:"before"` // UTC; both sums are of what moved before it
	Then     credit.Amount `json:"then"`
	Now      credit.Amount `json:"now"`
	// Because names statements that explain it, each with what became of it.
	Because []string `json:"because,omitempty"`
	// Expected tells that statements came since that reach further than those of then did, and nothing else is known to have changed: they may
	// well hold rows that are dated before. Of settlements.
	Expected bool `json:"expected,omitempty"`
}

// CarriedOver is closing + changed + came + moved = opening, of one list.
type CarriedOver struct {
	Provider string        `json:"provider"` // label
	Currency string        `json:"currency"`
	List     ListName      `json:"list"`
	Closing  credit.Amount `json:"closing"` // of the earlier report
	Changed  credit.Amount `json:"changed"` // as Changes say
	Came     credit.Amount `json:"came"`    // of the time that the statements of then did not reach
	Moved    credit.Amount `json:"moved"`   // counts at another time, or on another side of the cut, since what belongs to it came or went
	Opening  credit.Amount `json:"opening"` // of this report
}

// Unexpected are the changes that nothing explains which the earlier report announced: it is wrong by them.
func (e Earlier) Unexpected() []Change {
	return slices.DeleteFunc(slices.Clone(e.Changes), func(c Change) bool { return c.Expected })
}

// mark is the moment before which a list of a run was whole: its end, or where the provider's statements ended; zero: it was not.
func (r Run) mark(list ListName, label string) time.Time {
	for _, s := range r.Sources {
		switch {
		case s.List != ListSettlements || s.Entity != label || !s.Complete || s.Reaches.IsZero(): // of a run from before balances were kept too
		case list == ListRows || s.Reaches.After(r.Until):
			return r.Until
		default:
			return s.Reaches
		}
	}
	return time.Time{}
}

// balance is one sum of the run's balances: 0 of the currency where nothing moved, unset where the run has none of the moment.
func (r Run) balance(list ListName, label, currency string, at time.Time) credit.Amount {
	var zero credit.Amount
	for _, b := range r.Outcome.Balances {
		if b.Provider != label || b.Currency != currency || !b.At.Equal(at) {
			continue
		}
		if list == ListRows {
			return b.Ours
		}
		return b.Theirs
	}
	return zero
}

// before is an earlier run while the lists are read, with what became of statements since, by label.
type before struct {
	run   Run
	why   map[string][]string // withdrawn since, or came late
	after map[string][]string // came since and reach further
}

// earlierRuns finds what a run is laid beside: the complete run whose days end the day before, and the newest signed one of no later days.
func (r *Runner) earlierRuns(ctx context.Context, run Run) ([]*before, error) {
	var out []*before
	prev, err := r.Book.RunOfDay(ctx, run.Zone, run.First.Prev())
	switch {
	case errors.Is(err, credit.ErrNotFound):
	case err != nil:
		return nil, err
	case prev.State == RunComplete && prev.Last == run.First.Prev():
		out = append(out, newBefore(prev))
	}
	signed, err := r.newestSigned(ctx, run)
	if err == nil && signed.ID != 0 && (len(out) == 0 || out[0].run.ID != signed.ID) {
		out = append(out, newBefore(signed))
	}
	return out, err
}

func newBefore(run Run) *before {
	return &before{run: run, why: map[string][]string{}, after: map[string][]string{}}
}

// mostRunsBack bounds how far back a signed run is looked for.
const mostRunsBack = 1000

// newestSigned is the signed run of the latest days that are not later than those of the run; of several the newest.
func (r *Runner) newestSigned(ctx context.Context, run Run) (out Run, err error) {
	for below, seen := RunID(0), 0; seen < mostRunsBack; {
		page, err := r.Book.Runs(ctx, below, 100)
		if err != nil {
			return out, err
		}
		for _, old := range page {
			if below = old.ID; old.SignOff != nil && !old.Until.After(run.Until) && old.Until.After(out.Until) {
				out = old
			}
		}
		if seen += len(page); len(page) < 100 {
			break
		}
	}
	return out, nil
}

// saw notes what a statement of the provider explains.
func (b *before) saw(label string, im Imported) {
	for _, s := range b.run.Sources {
		if s.List != ListSettlements || s.Entity != label {
			continue
		}
		known := im.ID <= s.Newest
		switch w := im.Withdrawn; {
		case w != nil && known && !w.At.Before(b.run.Started):
			b.why[label] = append(b.why[label], fmt.Sprintf("%s (statement %d) was withdrawn by %s", im.Statement.Name, im.ID, w.By))
		case w != nil || known || im.Stored == im.Differing():
		case im.Reaches.After(s.Reaches):
			b.after[label] = append(b.after[label], fmt.Sprintf("%s (statement %d) came since", im.Statement.Name, im.ID))
		default:
			b.why[label] = append(b.why[label], fmt.Sprintf("%s (statement %d) came late: that report counted as if it had it", im.Statement.Name, im.ID))
		}
	}
}

// marks are the moments at which this run and the later ones compare balances of a provider.
func (g *gathered) marks(run Run, p Provider) Marked {
	out := Marked{Provider: p}
	for _, b := range append([]*before{{run: run}}, g.before...) {
		if at := b.run.mark(ListSettlements, p.Label); !at.IsZero() {
			out.At = append(out.At, at, b.run.Until)
		}
	}
	return out
}

// besides lays the run beside an earlier one. The lists of both are complete.
func (b *before) besides(run Run) Earlier {
	old := b.run
	out := Earlier{Run: old.ID, First: old.First, Last: old.Last}
	if old.SignOff != nil {
		out.SignedBy = old.SignOff.By
	}
	seen := map[[2]string]bool{}
	for _, of := range slices.Concat(old.Outcome.Balances, run.Outcome.Balances) {
		key := [2]string{of.Provider, of.Currency}
		if seen[key] || old.mark(ListRows, of.Provider).IsZero() || run.mark(ListRows, of.Provider).IsZero() {
			continue
		}
		seen[key] = true
		for _, list := range []ListName{ListSettlements, ListRows} {
			if c, changed := b.change(run, of.Provider, of.Currency, list); changed {
				out.Changes = append(out.Changes, c)
			}
			if c, differs := b.carried(run, of.Provider, of.Currency, list); differs && old.Last.Next() == run.First {
				out.Carried = append(out.Carried, c)
			}
		}
	}
	slices.SortStableFunc(out.Changes, func(a, b Change) int {
		return cmp.Or(strings.Compare(a.Provider, b.Provider), strings.Compare(a.Currency, b.Currency))
	})
	slices.SortStableFunc(out.Carried, func(a, b CarriedOver) int {
		return cmp.Or(strings.Compare(a.Provider, b.Provider), strings.Compare(a.Currency, b.Currency))
	})
	return out
}

// mostBecause bounds the statements that one change names.
const mostBecause = 5

func (b *before) change(run Run, label, currency string, list ListName) (Change, bool) {
	at := b.run.mark(list, label)
	c := Change{Provider: label, Currency: currency, List: list, Before: at}
	then, now := moneyOf(b.run.balance(list, label, currency, at)), moneyOf(run.balance(list, label, currency, at))
	if then.minus(now).sign() == 0 {
		return c, false
	}
	c.Then, c.Now = both(then, now, currency)
	if list == ListSettlements {
		c.Because = slices.Concat(b.why[label], b.after[label])
		c.Expected = len(b.why[label]) == 0 && len(b.after[label]) > 0
		if more := len(c.Because) - mostBecause; more > 0 {
			c.Because = append(c.Because[:mostBecause:mostBecause], plural(more, "more statement", "more statements"))
		}
	}
	return c, true
}

// both are two sums of a currency in one exponent; nothing is 0. A sum that an Amount cannot hold would have failed when it was made.
func both(a, b money, currency string) (credit.Amount, credit.Amount) {
	exponent := max(a.exponent, b.exponent)
	first, _ := whole(a, currency, exponent)
	second, _ := whole(b, currency, exponent)
	return first, second
}

func (b *before) carried(run Run, label, currency string, list ListName) (CarriedOver, bool) {
	out := CarriedOver{Provider: label, Currency: currency, List: list}
	at, until := b.run.mark(list, label), b.run.Until
	closing, opening := b.run.ends(label, currency, list).Closing, run.ends(label, currency, list).Opening
	from, to := moneyOf(closing), moneyOf(opening)
	if from.minus(to).sign() == 0 {
		return out, false
	}
	changed := moneyOf(run.balance(list, label, currency, at)).minus(moneyOf(b.run.balance(list, label, currency, at)))
	// What the statements of then held beyond where they ended was in its closing already.
	came := moneyOf(run.balance(list, label, currency, until)).minus(moneyOf(b.run.balance(list, label, currency, until))).minus(changed)
	moved := to.minus(from).minus(changed).minus(came)
	exponent := max(from.exponent, to.exponent, moved.exponent)
	for _, part := range []struct {
		into *credit.Amount
		from money
	}{{&out.Closing, from}, {&out.Changed, changed}, {&out.Came, came}, {&out.Moved, moved}, {&out.Opening, to}} {
		*part.into, _ = whole(part.from, currency, exponent) // they are sums and differences of amounts that were held
	}
	return out, true
}

// ends are the movements of one list of the provider's side.
func (r Run) ends(label, currency string, list ListName) Movement {
	for _, roll := range r.Outcome.Rolls {
		if roll.Side != SideProvider || roll.Provider != label || roll.Currency != currency {
			continue
		}
		if list == ListRows {
			return roll.Ours
		}
		return roll.Theirs
	}
	return Movement{}
}

// changedTask opens the task about a signed report that does not hold any more, unless people were told of just this before. A complete run
// that finds the newest signed report as it was closes it.
func (r *Runner) changedTask(ctx context.Context, run Run) error {
	if run.State != RunComplete {
		return nil // what it has not read may have stayed as it was
	}
	at := len(run.Earlier) - 1
	for at >= 0 && run.Earlier[at].SignedBy == "" { // the newest signed one is the last
		at--
	}
	key := credit.TaskKey{Kind: credit.TaskReconChanged, Entity: reconEntity}
	if at < 0 || len(run.Earlier[at].Unexpected()) == 0 {
		reason := fmt.Sprintf("run %d of %s finds nothing changed in what was signed", run.ID, daysText(run))
		return r.Book.RunTask(ctx, credit.Task{Kind: key.Kind, Entity: key.Entity}, &credit.TaskClose{Key: key, By: byReconciliation, Reason: reason, At: run.Finished})
	}
	e := run.Earlier[at]
	if told, err := r.toldOf(ctx, e); err != nil || told {
		return err
	}
	t := credit.Task{
		Kind: key.Kind, Entity: key.Entity, OpenedAt: run.Finished,
		Summary: fmt.Sprintf("the report of %s (run %d), which %s has signed, counted what is another sum now", daysText(Run{First: e.First, Last: e.Last}), e.Run, e.SignedBy),
		Next: fmt.Sprintf("find out what changed (the records below; `creditonce recon statements` shows what came late or was withdrawn). Compare %s again, read and sign the new report, "+
			"and correct what was booked by the old one", daysText(Run{First: e.First, Last: e.Last})),
	}
	for _, c := range e.Unexpected() {
		fields := []credit.Field{
			{Name: "currency", Value: c.Currency}, {Name: "before", Value: momentText(c.Before)}, {Name: "then", Value: c.Then.String()}, {Name: "now", Value: c.Now.String()},
		}
		for _, b := range c.Because {
			fields = append(fields, credit.Field{Name: "because", Value: b})
		}
		t.Records = append(t.Records, credit.Record{Source: string(c.List) + " of " + c.Provider, Fields: fields})
	}
	return r.Book.RunTask(ctx, t, nil)
}

// toldOf tells that the newest complete run that laid the same report beside its lists has found the same sums.
func (r *Runner) toldOf(ctx context.Context, e Earlier) (bool, error) {
	runs, err := r.Book.Runs(ctx, 0, 100)
	if err != nil {
		return false, err
	}
	for _, run := range runs {
		for _, old := range run.Earlier {
			if run.State == RunComplete && old.Run == e.Run && old.SignedBy != "" {
				return slices.EqualFunc(old.Unexpected(), e.Unexpected(), sameChange), nil
			}
		}
	}
	return false, nil
}

func sameChange(a, b Change) bool {
	return a.Provider == b.Provider && a.Currency == b.Currency && a.List == b.List && a.Now.Equal(b.Now) && a.Then.Equal(b.Then)
}
