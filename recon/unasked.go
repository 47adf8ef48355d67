package recon

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Unasked are the credits of a provider that were paid before its first statement begins, and are not asked for their line: a statement that
// nobody imported may have it.
type Unasked struct {
	Provider string    `json:"provider"` // label
	From     time.Time `json:"from"`     // UTC; from when on payments are asked for their line
	Days     int       `json:"days"`     // credits of the compared days that were not asked
	All      int       `json:"all"`      // with those of before
}

// unasked counts rows by provider.
type unasked map[string]*Unasked

func (u unasked) count(label string, rules *Rules, rows []*paired) {
	of := u[label]
	if of == nil {
		of = &Unasked{Provider: label, From: rules.LinesFrom[label]}
		u[label] = of
	}
	for _, r := range rows {
		at := r.Row.Moment()
		switch {
		case !at.Before(rules.Until):
			continue
		case !at.Before(rules.From):
			of.Days++
		}
		of.All++
	}
}

func (u unasked) list() (out []Unasked) {
	for _, of := range u {
		if of.All > 0 {
			out = append(out, *of)
		}
	}
	slices.SortFunc(out, func(a, b Unasked) int { return cmp.Compare(a.Provider, b.Provider) })
	return out
}

// tellUnasked puts on the lists of settlements from when on each provider is asked, and how many credits were not.
func tellUnasked(run *Run, from map[string]time.Time) {
	for i := range run.Sources {
		s := &run.Sources[i]
		if s.List != ListSettlements || !s.Complete {
			continue
		}
		s.From = from[s.Entity]
		for _, u := range run.Outcome.Unasked {
			if u.Provider == s.Entity {
				s.Notes = append(s.Notes, fmt.Sprintf("the statements begin at %s; payments of before are not asked for their line: %s of these days, %d in all",
					momentText(u.From), plural(u.Days, "credit", "credits"), u.All))
			}
		}
	}
}

// tellBefore puts on the lists of settlements how many payments were not compared, since the flow of before the cut-over has credited them.
func tellBefore(run *Run) {
	for i := range run.Sources {
		s := &run.Sources[i]
		if n := run.Outcome.Before[s.Entity]; n > 0 && s.List == ListSettlements {
			s.Notes = append(s.Notes, plural(n, "settled payment of before the cut-over is not compared: the flow before credits it", "settled payments of before the cut-over are not compared: the flow before credits them"))
		}
	}
}

// Reach is how far the statements of a provider reach.
type Reach struct {
	Provider string    // label
	At       time.Time // UTC: what was settled before it is there
	Behind   time.Duration
}

// Behind are the providers whose complete list ends before the compared days do, in the order of the sources: what was settled in the last
// hours cannot be in the comparison yet.
func (r Run) Behind() (out []Reach) {
	for _, s := range r.Sources {
		if s.List == ListSettlements && s.Complete && !s.Reaches.IsZero() && s.Reaches.Before(r.Until) {
			out = append(out, Reach{s.Name, s.Reaches, r.Until.Sub(s.Reaches)})
		}
	}
	return out
}
