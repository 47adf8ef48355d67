package store

import (
	"context"
	"fmt"
	"time"
)

// purgePiece is how many answers one operation removes: large transactions leave many free pages behind, which
// every later commit writes out again.
const purgePiece = 200

// PurgeAnswers removes kept answers that were stored before the time (cut to microseconds, as stored times are), oldest first, at most limit, in pieces
// that let other work through. It returns how many are gone, also beside an error. A key whose answer is gone
// counts as new.
func (db *DB) PurgeAnswers(ctx context.Context, before time.Time, limit int) (int, error) {
	before = instant(before)
	gone := 0
	for gone < limit {
		n, err := db.purge(ctx, before, min(purgePiece, limit-gone))
		gone += n
		if err != nil {
			return gone, fmt.Errorf("purge answers: %w", err)
		}
		if n == 0 {
			break
		}
	}
	return gone, nil
}

func (db *DB) purge(ctx context.Context, before time.Time, limit int) (int, error) {
	removed := 0
	err := db.write(ctx, false, func(w *writer) error {
		removed = 0
		old, err := answers.list(w.tx, answerByTime, nil, limit)
		if err != nil {
			return err
		}
		for _, a := range old {
			if !a.StoredAt.Before(before) {
				break
			}
			answers.remove(w, a)
			removed++
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return removed, nil
}
