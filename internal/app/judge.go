package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"creditonce/credit"
	"creditonce/internal/invariant"
	"creditonce/store"
)

// excerpts is what a judge of the store reads.
type excerpts interface {
	Excerpt(ctx context.Context, q store.ExcerptQuery) (store.Excerpt, error)
	Rows(ctx context.Context, q credit.RowQuery) ([]credit.Credit, error)
}

// judged is what a look at a part of the store gave.
type judged struct {
	violations []invariant.Violation
	excerpt    store.Excerpt // empty where it could not be read
}

// breaches are the violations as the store keeps them.
func (j judged) breaches() (out []credit.Breach) {
	for _, v := range j.violations {
		out = append(out, breachOf(v))
	}
	return out
}

// judge checks a part of the store, in one short snapshot, by the invariants that a store alone can be checked by. What cannot
// be read because it is damaged is a breach too; the parts of it that can are judged.
func judge(ctx context.Context, book excerpts, known invariant.World, q store.ExcerptQuery) (judged, error) {
	x, err := book.Excerpt(ctx, q)
	switch {
	case errors.Is(err, credit.ErrImpossible):
		return judgeDamaged(ctx, book, known, q, err)
	case err != nil:
		return judged{}, err
	}
	w := known
	w.Missing, w.Part = invariant.NoJournals, true
	w.Settings, w.Environment, w.Events, w.Deposits, w.Tasks = x.Settings, x.Settings.Environment, x.Events, x.Deposits, x.Tasks
	w.Rows = make([]invariant.Row, len(x.Rows))
	for i, row := range x.Rows {
		w.Rows[i] = invariant.Row{Credit: row, History: x.Histories[i]}
	}
	return judged{invariant.Check(w), x}, nil
}

// judgeDamaged goes on row by row where a piece cannot be read.
func judgeDamaged(ctx context.Context, book excerpts, known invariant.World, q store.ExcerptQuery, damage error) (judged, error) {
	out := judged{violations: []invariant.Violation{{Invariant: "I-S3", Text: damaged(damage).Text}}}
	if len(q.Rows) < 2 {
		return out, nil
	}
	out.violations = nil // each row tells its own
	for _, id := range q.Rows {
		one, err := judge(ctx, book, known, store.ExcerptQuery{Rows: []credit.ID{id}})
		if err != nil {
			return out, err
		}
		out.violations = append(out.violations, one.violations...)
	}
	return out, nil
}

// breachOf names a violation by what stays the same however often it is found.
func breachOf(v invariant.Violation) credit.Breach {
	key := v.Invariant
	for _, id := range v.Rows {
		key += fmt.Sprintf(" %d", id)
	}
	if len(v.Rows) == 0 {
		key += " " + short(v.Text)
	}
	return credit.Breach{Key: key, Name: v.Invariant, Text: v.Text}
}

// damaged is the breach of a record or decision that cannot be. A damaged record is one breach, whoever meets it.
func damaged(err error) credit.Breach {
	var damage *store.DamageError
	if errors.As(err, &damage) {
		return finding(damage.Error())
	}
	return finding(err.Error())
}

// finding is the breach that the store's own verification, or an impossible decision, tells of.
func finding(text string) credit.Breach {
	return credit.Breach{Key: "I-S3 " + short(text), Name: "I-S3", Text: text}
}

func short(text string) string {
	sum := sha256.Sum256([]byte(strings.ToValidUTF8(text, "?")))
	return hex.EncodeToString(sum[:8])
}
