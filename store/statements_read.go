package store

import (
	"bytes"
	"context"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"creditonce/recon"
)

// Statements implements [recon.StatementBook].
func (db *DB) Statements(ctx context.Context, q recon.StatementQuery) (out []recon.Imported, err error) {
	err = db.read(ctx, func(tx *bolt.Tx) error {
		bucket, prefix := statements.bucket, []byte(nil)
		if q.Provider.Kind != "" {
			bucket, prefix = statementList.bucket, providerKey(q.Provider)
		}
		out = nil
		return down(tx, bucket, prefix, uint64(q.Below), func(id []byte) (bool, error) {
			s, err := statements.must(tx, id)
			if err != nil {
				return false, err
			}
			if s.finished() {
				out = append(out, s.Imported)
			}
			return len(out) < limitOf(q.Limit), nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("list statements: %w", err)
	}
	return out, nil
}

// Lines implements [recon.StatementBook]. A page looks at 2,000 lines at most, so that it never holds a snapshot for long: it may be short,
// even empty, and still have a next. Limit 0 is 100.
func (db *DB) Lines(ctx context.Context, listed recon.StatementIDs, after uint64, limit int) (out []recon.Line, next uint64, err error) {
	kept, last, err := db.keptLines(ctx, listed, recon.LineID(after), limit)
	for _, l := range kept {
		if l.Standing == recon.LineCounts {
			out = append(out, l.Line)
		}
	}
	return out, uint64(last), err
}

// KeptLines lists lines in the order of their numbers, after one, whatever their standing. next is 0 at the end. Limit 0 is 100; a page has
// 2,000 lines at most.
func (db *DB) KeptLines(ctx context.Context, after recon.LineID, limit int) (out []recon.KeptLine, next recon.LineID, err error) {
	return db.keptLines(ctx, nil, after, limit)
}

func (db *DB) keptLines(ctx context.Context, listed recon.StatementIDs, after recon.LineID, limit int) (out []recon.KeptLine, next recon.LineID, err error) {
	limit = min(limitOf(limit), mostWalked)
	err = db.read(ctx, func(tx *bolt.Tx) error {
		page, err := lines.page(tx, idKey(uint64(after)), limit)
		if err != nil {
			return err
		}
		out, next = nil, 0
		if len(page) == limit {
			next = recon.LineID(page[len(page)-1].ID)
		}
		out, err = newStates(listed).standings(tx, page)
		return err
	})
	if err != nil {
		return nil, 0, fmt.Errorf("list settlement lines: %w", err)
	}
	return out, next, nil
}

// LinesOf lists every line of a payment of a provider (by kind and account), by number, whatever its standing.
func (db *DB) LinesOf(ctx context.Context, p recon.Provider, payment string) (out []recon.KeptLine, err error) {
	err = db.read(ctx, func(tx *bolt.Tx) error {
		found, err := linesOfPayment(tx, p.Kind, p.Account, payment)
		if err != nil {
			return err
		}
		out, err = newStates(nil).standings(tx, found)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list settlement lines of a payment: %w", err)
	}
	return out, nil
}

func linesOfPayment(tx *bolt.Tx, kind, account, payment string) ([]keptLine, error) {
	if payment == "" {
		return nil, nil
	}
	var out []keptLine
	prefix := paymentKey(kind, account, payment)
	c := tx.Bucket([]byte(lineByMovement.bucket)).Cursor()
	for k, _ := c.Seek(prefix); k != nil && bytes.HasPrefix(k, prefix) && len(out) < mostWalked; k, _ = c.Next() {
		l, err := lines.listedRow(tx, lineByMovement, k)
		if err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	return out, nil
}

// standings says of lines whether they count.
func (seen states) standings(tx *bolt.Tx, found []keptLine) ([]recon.KeptLine, error) {
	out := make([]recon.KeptLine, 0, len(found))
	for _, l := range found {
		standing, err := seen.standing(tx, l)
		if err != nil {
			return nil, err
		}
		out = append(out, recon.KeptLine{ID: recon.LineID(l.ID), Statement: l.Statement, Standing: standing, Line: l.Line})
	}
	return out, nil
}

func (seen states) standing(tx *bolt.Tx, l keptLine) (recon.LineStanding, error) {
	state, err := seen.of(tx, l.Statement)
	switch {
	case err != nil:
		return "", err
	case state == statementWithdrawn:
		return recon.LineWithdrawn, nil
	case state != statementComplete:
		return recon.LineImporting, nil
	case l.Contradicts != 0:
		return recon.LineContradicts, nil
	}
	by, _, err := seen.supersedingOf(tx, l.ID, 0)
	if err != nil || by != nil {
		return recon.LineSuperseded, err
	}
	return recon.LineCounts, nil
}
