package store

import (
	"bytes"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"creditonce/credit"
	"creditonce/recon"
)

// states are the states of statements that one operation has looked at.
type states struct {
	known  map[recon.StatementID]statementState
	listed recon.StatementIDs // where not nil: these count, and no others, whatever became of them since
}

func newStates(listed recon.StatementIDs) states {
	return states{map[recon.StatementID]statementState{}, listed}
}

func (seen states) of(tx *bolt.Tx, id recon.StatementID) (statementState, error) {
	if seen.listed != nil {
		if seen.listed.Has(id) {
			return statementComplete, nil
		}
		return statementImporting, nil
	}
	if state, ok := seen.known[id]; ok {
		return state, nil
	}
	s, err := statements.must(tx, idKey(uint64(id)))
	if err == nil {
		seen.known[id] = s.State
	}
	return s.State, err
}

// supersedingOf reads the line of a finished statement that counts in the place of a line; nil where none does. mine tells that the
// statement under import has one that will.
func (seen states) supersedingOf(tx *bolt.Tx, line uint64, under recon.StatementID) (by *keptLine, mine bool, err error) {
	prefix := idKey(line)
	c := tx.Bucket([]byte(lineSuperseding.bucket)).Cursor()
	for k, _ := c.Seek(prefix); k != nil && bytes.HasPrefix(k, prefix); k, _ = c.Next() {
		l, err := lines.listedRow(tx, lineSuperseding, k)
		if err != nil {
			return nil, false, err
		}
		state, err := seen.of(tx, l.Statement)
		if err != nil {
			return nil, false, err
		}
		if state == statementComplete {
			by = &l
		}
		mine = mine || l.Statement == under
	}
	return by, mine, nil
}

// intoStatement takes lines into a statement in one operation.
type intoStatement struct {
	w      *writer
	s      keptStatement   // with what was taken
	met    map[uint64]bool // earlier lines that this operation has met
	states states
}

func (in *intoStatement) take(l recon.Line) error {
	same, other, err := in.earlier(l)
	if err != nil {
		return err
	}
	im := &in.s.Imported
	position := in.s.lines() + 1
	if at := l.Moment(); at.After(im.Reaches) {
		im.Reaches = at.UTC()
	}
	if same != nil {
		in.met[same.ID] = true
		im.LeansOn = im.LeansOn.With(same.Statement)
		im.Duplicates++
		if same.Contradicts != 0 || !recon.FillsIn(same.Line, l) {
			return repeats.stage(in.w, nil, repeat{im.ID, same.ID, position, l.Row})
		}
		im.Replaced++
		return lines.stage(in.w, nil, keptLine{ID: lines.next(in.w), Statement: im.ID, Position: position, Supersedes: same.ID, Line: l})
	}
	kept := keptLine{ID: lines.next(in.w), Statement: im.ID, Position: position, Line: l}
	im.Stored++
	if other != nil {
		im.LeansOn = im.LeansOn.With(other.Statement)
		kept.Contradicts = other.ID
		in.s.Contradicts++
		im.Contradicting++
		if len(im.Conflicts) < mostConflicts {
			im.Conflicts = append(im.Conflicts[:len(im.Conflicts):len(im.Conflicts)], recon.Conflict{
				Row: l.Row, Earlier: other.Line.Digest, Line: other.Line.Row, Text: recon.OtherFacts(other.Line, l),
			})
		}
	}
	return lines.stage(in.w, nil, kept)
}

// earlier finds the line of a finished statement that says the same about the movement and was not met yet, or, where none says the same,
// one that says something else. Of several that say the same it is one that counts, and best one with the very batch.
func (in *intoStatement) earlier(l recon.Line) (same, other *keptLine, err error) {
	candidates, err := in.candidates(l)
	if err != nil {
		return nil, nil, err
	}
	known := false // a line with the same facts is there, and was met already
	for i := range candidates {
		c := &candidates[i]
		switch equal := recon.OtherFacts(recon.Meant(c.Line, l), recon.Meant(l, c.Line)) == ""; {
		case equal && !c.met:
			if same == nil || nearness(c.keptLine, l) < nearness(*same, l) {
				same = &c.keptLine
			}
		case equal:
			known = true
		case other == nil && !c.met && c.Contradicts == 0:
			other = &c.keptLine
		}
	}
	if same != nil || known {
		other = nil
	}
	return same, other, nil
}

// nearness is lower for the earlier line that is rather meant, of those with the same facts.
func nearness(earlier keptLine, now recon.Line) int {
	switch {
	case earlier.Contradicts != 0:
		return 2
	case earlier.Line.Batch != now.Batch:
		return 1
	default:
		return 0
	}
}

// candidate is a line of a finished statement, and whether the import has met it.
type candidate struct {
	keptLine
	met bool
}

// candidates reads the lines of finished statements that may be of the same movement, without those that others stand for.
func (in *intoStatement) candidates(l recon.Line) (out []candidate, err error) {
	var alike []keptLine
	looked := map[string]bool{}
	for _, form := range l.Alike() {
		k := movementKey(form)
		if k == nil || looked[string(k)] {
			continue
		}
		looked[string(k)] = true
		some, err := lines.list(in.w.tx, lineByMovement, k, mostWalked+1)
		if err != nil {
			return nil, err
		}
		alike = append(alike, some...)
	}
	for i := range alike {
		c := candidate{keptLine: alike[i]}
		state, err := in.states.of(in.w.tx, c.Statement)
		if err != nil {
			return nil, err
		}
		if state != statementComplete || !recon.OneMovement(c.Line, l) {
			continue
		}
		by, mine, err := in.states.supersedingOf(in.w.tx, c.ID, in.s.Imported.ID)
		if err != nil {
			return nil, err
		}
		if by == nil {
			c.met = mine || in.met[c.ID] || in.w.tx.Bucket([]byte(repeats.bucket)).Get(idKey2(uint64(in.s.Imported.ID), c.ID)) != nil
			out = append(out, c)
		}
	}
	if len(out) > mostAlike || len(alike) > mostWalked {
		return nil, fmt.Errorf("more than %d rows name the same movement: what stands for its id is none: %w", mostAlike, credit.ErrInvalid)
	}
	return out, nil
}
