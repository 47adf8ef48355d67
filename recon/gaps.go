package recon

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"time"
)

// Batches are numbers of batches that follow each other, both included.
type Batches struct {
	First uint64 `json:"first,string"`
	Last  uint64 `json:"last,string"`
}

// BatchesOf makes stretches of batch numbers, which may be in any order and there twice.
func BatchesOf(numbers []uint64) []Batches {
	var out []Batches
	for _, n := range numbersOf(numbers) {
		if last := len(out) - 1; last >= 0 && out[last].Last+1 == n {
			out[last].Last = n
			continue
		}
		out = append(out, Batches{n, n})
	}
	return out
}

// slack is what two periods may lie apart and still follow each other: a file may name the last second of its period or the first of the next.
const slack = time.Minute

// coverage is what statements of one provider say of their place among the others: batches that the provider counts through, and periods.
type coverage struct {
	batches []held[uint64]    // both ends included
	periods []held[time.Time] // half open
}

// held is a stretch that a statement has.
type held[T any] struct {
	from, until T
	reaches     time.Time // of its statement
}

func (c *coverage) add(im Imported) {
	for _, b := range im.Statement.Batches {
		c.batches = append(c.batches, held[uint64]{b.First, b.Last, im.Reaches})
	}
	if s := im.Statement; s.Consecutive && s.From.Before(s.Until) {
		c.periods = append(c.periods, held[time.Time]{s.From, s.Until, im.Reaches})
	}
}

// hole is what no statement has, between two that are there.
type hole struct {
	name        string
	from, until time.Time // of a period
}

// holes are the missing ones in the middle that concern the time from since until before.
func (c *coverage) holes(since, before time.Time) (out []hole) {
	slices.SortFunc(c.batches, func(a, b held[uint64]) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.until, b.until)) })
	for i := 1; i < len(c.batches); i++ {
		a, b := &c.batches[i-1], &c.batches[i]
		if b.from <= a.until { // it overlaps, or lies within
			if b.until <= a.until {
				*b = *a
			}
			continue
		}
		if b.from == a.until+1 || !b.reaches.After(since) || !a.reaches.Before(before) {
			continue
		}
		name := fmt.Sprintf("batch %d", a.until+1)
		if b.from-a.until > 2 {
			name = fmt.Sprintf("batches %d to %d", a.until+1, b.from-1)
		}
		out = append(out, hole{name: name})
	}
	slices.SortFunc(c.periods, func(a, b held[time.Time]) int { return a.from.Compare(b.from) })
	for i := 1; i < len(c.periods); i++ {
		a, b := &c.periods[i-1], &c.periods[i]
		if from, until := a.until, b.from; until.After(from.Add(slack)) && until.After(since) && from.Before(before) {
			out = append(out, hole{name: momentText(from) + " to " + momentText(until), from: from, until: until})
		}
		b.until = later(a.until, b.until)
	}
	return out
}

// without leaves out the holes of which the firm says that the provider never made what would fill them.
func without(holes []hole, absent []string) []hole {
	return slices.DeleteFunc(holes, func(h hole) bool { return slices.Contains(absent, h.name) })
}

// lacks says which statements are missing in the middle; empty: none.
func (r *Runner) lacks(p ProviderList, c *coverage, run *Run) string {
	holes := without(c.holes(run.From.Add(-r.Lookback), run.Until), p.Absent)
	if len(holes) == 0 {
		return ""
	}
	names := holes[0].name
	for _, h := range holes[1:min(len(holes), mostNamedHoles)] {
		names += ", " + h.name
	}
	if more := len(holes) - mostNamedHoles; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("%s: missing between statements that are there; import it with `creditonce recon import FILE --provider %s`, withdraw the statement that does not belong here, "+
		"or, if the provider never made it, write the name into providers.%s.settlement.absent", names, p.Provider.Label, p.Provider.Label)
}

// mostNamedHoles bounds the names in one reason.
const mostNamedHoles = 5

// counting gives the statements of a provider that count, newest first.
func (r *Runner) counting(ctx context.Context, p Provider) iter.Seq2[Imported, error] {
	return func(yield func(Imported, error) bool) {
		for im, err := range r.allStatements(ctx, p) {
			if (err != nil || im.Withdrawn == nil) && !yield(im, err) {
				return
			}
		}
	}
}

// allStatements gives withdrawn ones too.
func (r *Runner) allStatements(ctx context.Context, p Provider) iter.Seq2[Imported, error] {
	return func(yield func(Imported, error) bool) {
		for below := StatementID(0); ; {
			page, err := r.Statements.Statements(ctx, StatementQuery{Provider: p, Below: below, Limit: pageOfRows})
			if err != nil {
				yield(Imported{}, err)
				return
			}
			for _, im := range page {
				if below = im.ID; !yield(im, nil) {
					return
				}
			}
			if len(page) < pageOfRows {
				return
			}
		}
	}
}

// fill pulls what lies between the windows of earlier pulls: of days that no run has compared.
func (r *Runner) fill(ctx context.Context, p ProviderList, run *Run) error {
	var c coverage
	for im, err := range r.counting(ctx, p.Provider) {
		if err != nil {
			return err
		}
		c.add(im)
	}
	for _, h := range without(c.holes(run.From.Add(-r.Lookback), run.Until), p.Absent) {
		if err := r.pullBetween(ctx, p, h.from, h.until); err != nil {
			return err
		}
	}
	return nil
}
