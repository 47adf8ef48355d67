package store

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"

	"creditonce/credit"
	"creditonce/recon"
)

const (
	// dropPiece is how many lines of an unfinished import, or items of an unfinished run, one transaction removes.
	dropPiece = 500
	// mostAdded bounds the lines or items that one transaction takes.
	mostAdded = 2000
	// mostConflicts bounds the conflicts that a statement names.
	mostConflicts = 100
	// mostAlike bounds the lines with one natural key, each of which a further one is compared with.
	mostAlike = 500
)

// BeginImport implements [recon.StatementBook]. Of each merchant account one import is under way at a time: a new one drops whatever another
// left or still does, in pieces of 500 lines, and the other's next call is [credit.ErrConflict]. So a line is compared with whole statements only.
func (db *DB) BeginImport(ctx context.Context, p recon.Provider, digest string) (id recon.StatementID, before recon.Imported, done bool, err error) {
	for again := true; again; {
		if err := ctx.Err(); err != nil {
			return 0, recon.Imported{}, false, err
		}
		err = db.write(ctx, false, func(w *writer) error {
			id, before, done, again = 0, recon.Imported{}, false, false
			known, err := statements.find(w.tx, statementByDigest, digestKey(p, digest))
			if err != nil {
				return err
			}
			if known != nil && known.State == statementComplete {
				id, before, done = known.Imported.ID, known.Imported, true
				return nil
			}
			left, err := statements.list(w.tx, statementUnfinished, providerKey(p), 1)
			if err != nil {
				return err
			}
			if len(left) > 0 {
				again = true
				_, err := dropSome(w, left[0])
				return err
			}
			if err := w.hasRoom(); err != nil {
				return err
			}
			id = recon.StatementID(statements.next(w))
			s := keptStatement{State: statementImporting}
			s.Imported.ID, s.Imported.Statement.Provider, s.Imported.Statement.Digest = id, p, digest
			return statements.stage(w, nil, s)
		})
		if err != nil {
			return 0, recon.Imported{}, false, fmt.Errorf("begin the import of a statement of %s: %w", p.Label, err)
		}
	}
	return id, before, done, nil
}

// dropSome removes a piece of an unfinished import, and in the end the statement, then gone is true. The first piece only marks it, so that it
// takes no more lines.
func dropSome(w *writer, s keptStatement) (gone bool, err error) {
	if s.State == statementImporting {
		after := s
		after.State = statementDropping
		return false, statements.stage(w, &s, after)
	}
	n := 0
	prefix := idKey(uint64(s.Imported.ID))
	c := w.tx.Bucket([]byte(lineByPlace.bucket)).Cursor()
	for k, id := c.Seek(prefix); k != nil && bytes.HasPrefix(k, prefix) && n < dropPiece; k, id = c.Next() {
		l, err := lines.must(w.tx, id)
		if err != nil {
			return false, err
		}
		lines.remove(w, l)
		n++
	}
	c = w.tx.Bucket([]byte(repeats.bucket)).Cursor()
	for k, v := c.Seek(prefix); k != nil && bytes.HasPrefix(k, prefix) && n < dropPiece; k, v = c.Next() {
		r, err := repeats.decode(k, v)
		if err != nil {
			return false, err
		}
		repeats.remove(w, r)
		n++
	}
	if gone = n < dropPiece; gone {
		statements.remove(w, s)
	}
	return gone, nil
}

// underImport reads a statement that takes lines; ErrConflict where it does not (any more).
func underImport(tx *bolt.Tx, id recon.StatementID) (keptStatement, error) {
	s, err := statements.get(tx, idKey(uint64(id)))
	switch {
	case err != nil:
		return keptStatement{}, err
	case s == nil, s.State == statementDropping:
		return keptStatement{}, fmt.Errorf("the import of statement %d was given up, or another import of the account began: %w", id, credit.ErrConflict)
	case s.State != statementImporting:
		return keptStatement{}, fmt.Errorf("statement %d is finished: %w", id, credit.ErrConflict)
	}
	return *s, nil
}

// AddLines implements [recon.StatementBook]. A line is a duplicate where a finished statement has one of the same movement with the same
// facts that this import has not met yet: a movement that one statement names twice stays two. A duplicate that names the batch which the
// earlier line left empty is kept, and counts in its place. One with other facts is kept beside the earlier line, which goes on counting.
func (db *DB) AddLines(ctx context.Context, id recon.StatementID, add []recon.Line) error {
	if len(add) > mostAdded {
		return fmt.Errorf("add lines to statement %d: %d in one piece, at most %d are taken: %w", id, len(add), mostAdded, credit.ErrInvalid)
	}
	err := db.write(ctx, false, func(w *writer) error {
		if err := w.hasRoom(); err != nil {
			return err
		}
		s, err := underImport(w.tx, id)
		if err != nil {
			return err
		}
		in := &intoStatement{w: w, s: s, met: map[uint64]bool{}, states: newStates(nil)}
		for _, l := range add {
			if !s.of(l.Provider) || l.Digest != s.Imported.Statement.Digest {
				return fmt.Errorf("row %d is of another provider or another file: %w", l.Row, credit.ErrInvalid)
			}
			if err := in.take(plainLine(l)); err != nil {
				return fmt.Errorf("row %d: %w", l.Row, err)
			}
		}
		return statements.stage(w, &s, in.s)
	})
	if err != nil {
		return fmt.Errorf("add lines to statement %d: %w", id, err)
	}
	return nil
}

// FinishImport implements [recon.StatementBook]. The lines that were added must be as many as the statement says that it has; else it is
// [credit.ErrConflict], and nothing changes. The task about rows that a person must look at opens with it.
func (db *DB) FinishImport(ctx context.Context, id recon.StatementID, st recon.Statement, by string, at time.Time) (out recon.Imported, err error) {
	err = db.write(ctx, false, func(w *writer) error {
		if err := w.hasRoom(); err != nil {
			return err
		}
		s, err := underImport(w.tx, id)
		if err != nil {
			return err
		}
		if !s.of(st.Provider) || st.Digest != s.Imported.Statement.Digest {
			return fmt.Errorf("it is another statement: %w", credit.ErrInvalid)
		}
		if st.Rows != s.lines() {
			return fmt.Errorf("it has %d lines, %d were added: %w", st.Rows, s.lines(), credit.ErrConflict)
		}
		after := s
		after.State = statementComplete
		after.Imported.Statement, after.Imported.By, after.Imported.At = st, by, instant(at)
		if st.Until.After(after.Imported.Reaches) {
			after.Imported.Reaches = st.Until.UTC()
		}
		if after.Imported.Reaches.After(after.Imported.At) {
			after.Imported.Reaches = after.Imported.At // nothing is settled before it happens: a date of the file is wrong
		}
		out = after.Imported
		if err := statements.stage(w, &s, after); err != nil {
			return err
		}
		if t, asks := recon.StatementTask(out, instant(at)); asks {
			_, err = stageTasks(w, []credit.Task{t}, nil)
		}
		return err
	})
	if err != nil {
		return recon.Imported{}, fmt.Errorf("finish the import of statement %d: %w", id, err)
	}
	return out, nil
}

// DropImport implements [recon.StatementBook]. One that is not there any more is dropped already; a finished one is refused.
func (db *DB) DropImport(ctx context.Context, id recon.StatementID) error {
	for more := true; more; {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := db.write(ctx, false, func(w *writer) error {
			s, err := statements.get(w.tx, idKey(uint64(id)))
			if more = s != nil; err != nil || !more {
				return err
			}
			if s.finished() {
				return credit.Refuse("finished", "statement %d is imported; what was imported is evidence and stays", id)
			}
			_, err = dropSome(w, *s)
			return err
		})
		if err != nil {
			return fmt.Errorf("drop the import of statement %d: %w", id, err)
		}
	}
	return nil
}

// plainLine is a line with texts that JSON can keep.
func plainLine(l recon.Line) recon.Line {
	for _, s := range []*string{&l.Word, &l.Payment, &l.Movement, &l.Code, &l.Batch} {
		*s = plainText(*s)
	}
	return l
}

// plainText is outside text as it is kept: UTF-8, with U+FFFD for each stretch of bytes that is none.
func plainText(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
