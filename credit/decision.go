package credit

import (
	"fmt"
	"slices"
	"time"
)

// Changes turns a decision into what the store writes: the row with its history and the tasks that follow from
// its move. An engine calls it inside the transaction, with the row it read there, and writes the result; it
// adds no rule of its own. Decision.Anchor is the engine's to keep where its ticket is newer.
func (dec Decision) Changes(row Credit) (Changes, error) {
	out := Changes{Open: plainTasks(dec.Open), Close: slices.Clone(dec.Close)}
	if dec.Move == nil {
		return out, nil
	}
	change := RowChange{Before: &row, After: row}
	var last Transition
	for _, t := range []*Transition{dec.Move, dec.Then} {
		if t == nil {
			continue
		}
		after, entry, err := Apply(change.After, *t)
		if err != nil {
			return Changes{}, err
		}
		open, closing := rowTasks(change.After, after, entry)
		out.Open, out.Close = append(out.Open, open...), append(out.Close, closing...)
		change.After, change.Entries, last = after, append(change.Entries, entry), *t
	}
	if last.name == "" {
		return Changes{}, fmt.Errorf("credit %d: a decision without a move: %w", row.ID, ErrInvalid)
	}
	out.Rows = []RowChange{change}
	return out, nil
}

// task builds a task about a row.
func task(kind TaskKind, c Credit, at time.Time, summary, next string, records ...Record) Task {
	return Task{
		Kind: kind, Entity: RowEntity(c.ID), OpenedAt: instant(at), Summary: summary, Next: next,
		Records: append([]Record{rowRecord(c)}, records...),
	}.stopping(c)
}
