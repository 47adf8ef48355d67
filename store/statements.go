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
				return dropSome(w, left[0])
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

// dropSome removes a piece of an unfinished import, and in the end the statement. The first piece only marks it, so that it takes no more lines.
func dropSome(w *writer, s keptStatement) error {
	if s.State == statementImporting {
		after := s
		after.State = statementDropping
		return statements.stage(w, &s, after)
	}
	n := 0
	prefix := idKey(uint64(s.Imported.ID))
	c := w.tx.Bucket([]byte(lineByPlace.bucket)).Cursor()
	for k, id := c.Seek(prefix); k != nil && bytes.HasPrefix(k, prefix) && n < dropPiece; k, id = c.Next() {
		l, err := lines.must(w.tx, id)
		if err != nil {
			return err
		}
		lines.remove(w, l)
		n++
	}
	c = w.tx.Bucket([]byte(repeats.bucket)).Cursor()
	for k, v := c.Seek(prefix); k != nil && bytes.HasPrefix(k, prefix) && n < dropPiece; k, v = c.Next() {
		r, err := repeats.decode(k, v)
		if err != nil {
			return err
		}
		repeats.remove(w, r)
		n++
	}
	if n < dropPiece {
		statements.remove(w, s)
	}
	return nil
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

// AddLines implements [recon.StatementBook]. A line is a duplicate where a finished statement has one with the same natural key and the same
// facts that this import has not met yet: a movement that one statement names twice stays two. One with other facts is kept beside the
// earlier line, which goes on counting.
func (db *DB) AddLines(ctx context.Context, id recon.StatementID, add []recon.Line) error {
	if len(add) > mostAdded {
		return fmt.Errorf("add lines to statement %d: %d in one piece, at most %d are taken: %w", id, len(add), mostAdded, credit.ErrInvalid)
	}
	err := db.write(ctx, false, func(w *writer) error {
		s, err := underImport(w.tx, id)
		if err != nil {
			return err
		}
		in := &intoStatement{w: w, s: s, met: map[uint64]bool{}, whole: map[recon.StatementID]bool{}}
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

// intoStatement takes lines into a statement in one operation.
type intoStatement struct {
	w     *writer
	s     keptStatement              // with what was taken
	met   map[uint64]bool            // earlier lines that this operation has met
	whole map[recon.StatementID]bool // statements looked at: whether they are complete
}

func (in *intoStatement) take(l recon.Line) error {
	same, other, err := in.earlier(l)
	if err != nil {
		return err
	}
	s := &in.s
	position := s.lines() + 1
	if at := l.Moment(); at.After(s.Imported.Reaches) {
		s.Imported.Reaches = at.UTC()
	}
	if same != nil {
		in.met[same.ID] = true
		s.Imported.Duplicates++
		return repeats.stage(in.w, nil, repeat{s.Imported.ID, same.ID, position, l.Row})
	}
	kept := keptLine{ID: lines.next(in.w), Statement: s.Imported.ID, Position: position, Line: l}
	s.Imported.Stored++
	if other != nil {
		kept.Contradicts = other.ID
		s.Contradicts++
		if len(s.Imported.Conflicts) < mostConflicts {
			s.Imported.Conflicts = append(s.Imported.Conflicts[:len(s.Imported.Conflicts):len(s.Imported.Conflicts)], recon.Conflict{
				Row: l.Row, Earlier: other.Line.Digest, Line: other.Line.Row, Text: recon.OtherFacts(other.Line, l),
			})
		}
	}
	return lines.stage(in.w, nil, kept)
}

// earlier finds the line of a finished statement that says the same about the movement and was not met yet, or, where none says the same,
// one that says something else.
func (in *intoStatement) earlier(l recon.Line) (same, other *keptLine, err error) {
	k := movementKey(l)
	if k == nil {
		return nil, nil, nil
	}
	candidates, err := lines.list(in.w.tx, lineByMovement, k, mostAlike+1)
	switch {
	case err != nil:
		return nil, nil, err
	case len(candidates) > mostAlike:
		return nil, nil, fmt.Errorf("more than %d rows name the same movement: what stands for its id is none: %w", mostAlike, credit.ErrInvalid)
	}
	known := false // a line with the same facts is there, and was met already
	for i := range candidates {
		c := &candidates[i]
		whole, err := in.isWhole(c.Statement)
		if err != nil {
			return nil, nil, err
		}
		if !whole || c.Line.NaturalKey() != l.NaturalKey() {
			continue
		}
		met := in.met[c.ID] || in.w.tx.Bucket([]byte(repeats.bucket)).Get(idKey2(uint64(in.s.Imported.ID), c.ID)) != nil
		switch equal := recon.OtherFacts(c.Line, l) == ""; {
		case equal && !met:
			return c, nil, nil
		case equal:
			known = true
		case other == nil && !met && c.Contradicts == 0:
			other = c
		}
	}
	if known {
		other = nil
	}
	return nil, other, nil
}

func (in *intoStatement) isWhole(id recon.StatementID) (bool, error) {
	if whole, seen := in.whole[id]; seen {
		return whole, nil
	}
	s, err := statements.must(in.w.tx, idKey(uint64(id)))
	in.whole[id] = s.State == statementComplete
	return in.whole[id], err
}

// FinishImport implements [recon.StatementBook]. The lines that were added must be as many as the statement says that it has; else it is
// [credit.ErrConflict], and nothing changes. The task about rows that a person must look at opens with it.
func (db *DB) FinishImport(ctx context.Context, id recon.StatementID, st recon.Statement, by string, at time.Time) (out recon.Imported, err error) {
	err = db.write(ctx, false, func(w *writer) error {
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
			if s.State == statementComplete {
				return credit.Refuse("finished", "statement %d is imported; what was imported is evidence and stays", id)
			}
			return dropSome(w, *s)
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
