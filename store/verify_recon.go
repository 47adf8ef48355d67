package store

import (
	bolt "go.etcd.io/bbolt"

	"creditonce/credit"
	"creditonce/recon"
)

// verifyRecon checks what reconciliation stored: the tables and their indexes, and that statements, lines, repeats, runs, items, discrepancies
// and tasks fit together.
func (v *verifier) verifyRecon() error {
	steps := []func() error{
		func() error { return verifyTable(v, statements, v.crossStatement) },
		func() error { return verifyTable(v, lines, v.crossLine) },
		func() error { return verifyTable(v, repeats, v.crossRepeat) },
		func() error { return verifyTable(v, runs, v.crossRun) },
		func() error { return verifyTable(v, runDays, v.crossRunDay) },
		func() error { return verifyTable(v, findings, v.crossFinding) },
		func() error { return verifyTable(v, discrepancies, v.crossDiscrepancy) },
		v.checkStanding,
		func() error {
			return v.snapshot("reconciliation", func(tx *bolt.Tx) error {
				if _, err := reached(tx); err != nil {
					v.fault(bucketMeta, metaRecon, err)
				}
				return nil
			})
		},
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// crossStatement counts a finished statement's lines and repeats.
func (v *verifier) crossStatement(tx *bolt.Tx, s keptStatement) error {
	im := s.Imported
	if (s.State == statementWithdrawn) != (im.Withdrawn != nil) {
		v.find("bucket %q: statement %d is %s, and who has withdrawn it says otherwise", statements.bucket, im.ID, s.State)
	}
	if !s.finished() {
		return nil // being added or removed: the counts are behind
	}
	for _, id := range im.LeansOn {
		if earlier, err := statements.get(tx, idKey(uint64(id))); err == nil && (earlier == nil || id >= im.ID || (earlier.State != statementComplete && s.State == statementComplete)) {
			v.find("bucket %q: statement %d leans on statement %d, which does not count", statements.bucket, im.ID, id)
		}
	}
	prefix := idKey(uint64(s.Imported.ID))
	if n := countKeys(tx, lineByPlace.bucket, prefix); n != im.Stored+im.Replaced {
		v.find("bucket %q: statement %d counts %d lines, there are %d", statements.bucket, im.ID, im.Stored+im.Replaced, n)
	}
	if n := countKeys(tx, repeats.bucket, prefix); n != im.Duplicates-im.Replaced {
		v.find("bucket %q: statement %d counts %d repeated lines, there are %d", statements.bucket, im.ID, im.Duplicates-im.Replaced, n)
	}
	if s.lines() != s.Imported.Statement.Rows || s.Contradicts > s.Imported.Stored || (s.Imported.Contradicting != 0 && s.Imported.Contradicting != s.Contradicts) {
		v.find("bucket %q: statement %d has %d lines, %d of them contradicting, and says that it has %d",
			statements.bucket, s.Imported.ID, s.lines(), s.Contradicts, s.Imported.Statement.Rows)
	}
	return nil
}

// crossLine sees that a line belongs to its statement, and that what it contradicts is there.
func (v *verifier) crossLine(tx *bolt.Tx, l keptLine) error {
	s, err := statements.get(tx, idKey(uint64(l.Statement)))
	if err != nil {
		return nil //nolint:nilerr // the statements' own walk names it
	}
	if s == nil || !s.of(l.Line.Provider) || l.Line.Digest != s.Imported.Statement.Digest || l.Position < 1 || l.Position > s.lines() {
		v.find("bucket %q: line %d is none of statement %d", lines.bucket, l.ID, l.Statement)
		return nil
	}
	for _, about := range []struct {
		id   uint64
		verb string
	}{{l.Contradicts, "contradicts"}, {l.Supersedes, "stands for"}} {
		if about.id == 0 {
			continue
		}
		earlier, err := lines.get(tx, idKey(about.id))
		if err != nil {
			return nil //nolint:nilerr // that line's own turn names it
		}
		if earlier == nil || about.id >= l.ID || !recon.OneMovement(earlier.Line, l.Line) {
			v.find("bucket %q: line %d %s line %d, which is of no such movement", lines.bucket, l.ID, about.verb, about.id)
		} else if !s.Imported.LeansOn.Has(earlier.Statement) {
			v.find("bucket %q: line %d %s line %d, and its statement %d does not lean on statement %d", lines.bucket, l.ID, about.verb, about.id, s.Imported.ID, earlier.Statement)
		}
	}
	return v.crossSuperseded(tx, l)
}

// crossSuperseded sees that at most one line that counts stands for a line.
func (v *verifier) crossSuperseded(tx *bolt.Tx, l keptLine) error {
	by, err := lines.list(tx, lineSuperseding, idKey(l.ID), 0)
	if err != nil {
		return nil //nolint:nilerr // the index's own walk names it
	}
	n, seen := 0, newStates(nil)
	for _, x := range by {
		if state, err := seen.of(tx, x.Statement); err == nil && state == statementComplete {
			n++
		}
	}
	if n > 1 || (n > 0 && l.Contradicts != 0) {
		v.find("bucket %q: line %d has %d lines that count in its place", lines.bucket, l.ID, n)
	}
	return nil
}

// crossRepeat sees that the repeated line is one of an earlier, finished statement.
func (v *verifier) crossRepeat(tx *bolt.Tx, r repeat) error {
	s, err := statements.get(tx, idKey(uint64(r.Statement)))
	if err != nil {
		return nil //nolint:nilerr // the statements' own walk names it
	}
	l, err := lines.get(tx, idKey(r.Line))
	if err != nil {
		return nil //nolint:nilerr // the lines' own walk names it
	}
	if s == nil || l == nil || l.Statement == r.Statement || r.Position < 1 || r.Position > s.lines() {
		v.find("bucket %q: statement %d repeats line %d, and one of them does not exist or they are the same", repeats.bucket, r.Statement, r.Line)
		return nil
	}
	if !s.Imported.LeansOn.Has(l.Statement) {
		v.find("bucket %q: statement %d repeats line %d, and does not lean on its statement %d", repeats.bucket, r.Statement, r.Line, l.Statement)
	}
	if tx.Bucket([]byte(lineByPlace.bucket)).Get(idKey2(uint64(r.Statement), uint64(r.Position))) != nil {
		v.find("bucket %q: position %d of statement %d is both a line of its own and a repeat", repeats.bucket, r.Position, r.Statement)
	}
	return nil
}

// crossRun counts a finished run's items and days.
func (v *verifier) crossRun(tx *bolt.Tx, r keptRun) error {
	if !r.Finished {
		return nil
	}
	if r.Run.Findings != r.Saved {
		v.find("bucket %q: run %d has %d findings, %d were saved", runs.bucket, r.Run.ID, r.Run.Findings, r.Saved)
	}
	if n := countKeys(tx, findings.bucket, idKey(uint64(r.Run.ID))); n != r.Saved && !r.Run.Purged {
		v.find("bucket %q: run %d saved %d findings, there are %d", runs.bucket, r.Run.ID, r.Saved, n)
	}
	for day := range r.Run.First.Through(r.Run.Last) {
		d, err := runDays.get(tx, runDays.key(runDay{Zone: r.Run.Zone, Day: day, Run: r.Run.ID}))
		if err != nil {
			return nil
		}
		if d == nil || d.Complete != (r.Run.State == recon.RunComplete) {
			v.find("bucket %q: run %d (%s) is not listed so under %s", runDays.bucket, r.Run.ID, r.Run.State, day)
		}
	}
	if s := r.Run.SignOff; s != nil && (s.By == "" || r.Run.State != recon.RunComplete) {
		v.find("bucket %q: run %d is signed, and it is incomplete or nobody has signed it", runs.bucket, r.Run.ID)
	}
	return nil
}

func (v *verifier) crossRunDay(tx *bolt.Tx, d runDay) error {
	r, err := runs.get(tx, idKey(uint64(d.Run)))
	if err != nil {
		return nil //nolint:nilerr // the runs' own walk names it
	}
	if r == nil || !r.Finished || d.Zone != r.Run.Zone || d.Day < r.Run.First || d.Day > r.Run.Last {
		v.find("bucket %q: %s (%s) is listed for run %d, which does not cover it", runDays.bucket, d.Day, d.Zone, d.Run)
	}
	return nil
}

func (v *verifier) crossFinding(tx *bolt.Tx, f finding) error {
	r, err := runs.get(tx, idKey(uint64(f.Run)))
	if err != nil {
		return nil //nolint:nilerr // the runs' own walk names it
	}
	if r == nil || f.Position < 1 || f.Position > r.Saved {
		v.find("bucket %q: item %d is none of run %d", findings.bucket, f.Position, f.Run)
	}
	return nil
}

// crossDiscrepancy sees that a discrepancy is open exactly as long as its task is.
func (v *verifier) crossDiscrepancy(tx *bolt.Tx, d recon.Discrepancy) error {
	t, err := tasks.get(tx, idKey(uint64(d.Task)))
	if err != nil {
		return nil //nolint:nilerr // the tasks' own walk names it
	}
	switch {
	case t == nil || t.Key() != recon.TaskKeyOf(d.Key):
		v.find("bucket %q: %s of %s has task %d, which is about something else", discrepancies.bucket, d.Key.Class, d.Key.Entity, d.Task)
	case t.IsOpen() != (d.State == recon.DiscrepancyOpen):
		v.find("bucket %q: %s of %s is %s, and whether its task %d is open says otherwise", discrepancies.bucket, d.Key.Class, d.Key.Entity, d.State, d.Task)
	}
	return nil
}

// checkStanding sees that each open task about a difference belongs to an open discrepancy.
func (v *verifier) checkStanding() error {
	return v.walk(taskOpen.bucket, func(tx *bolt.Tx, _, id []byte) {
		t, err := tasks.get(tx, id)
		if err != nil || t == nil {
			return // the tasks' own walk names it
		}
		v.crossOpenTask(tx, *t)
	})
}

func (v *verifier) crossOpenTask(tx *bolt.Tx, t credit.Task) {
	k, ok := recon.KeyOfTask(t)
	if !ok {
		return
	}
	d, err := discrepancies.get(tx, discrepancyKey(k))
	if err == nil && (d == nil || d.State != recon.DiscrepancyOpen || d.Task != t.ID) {
		v.find("bucket %q: task %d (%s, %s) is open, and no open discrepancy has it", tasks.bucket, t.ID, t.Kind, t.Entity)
	}
}
