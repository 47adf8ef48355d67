package store

import (
	"crypto/sha256"

	"creditonce/recon"
)

// The tables of reconciliation, since version 3. Like schema.go, this file names buckets, and no other file does.

// statementState says whether the lines of a statement count.
type statementState string

const (
	statementImporting statementState = "importing" // its lines count nowhere
	statementComplete  statementState = "complete"
	statementDropping  statementState = "dropping"  // given up: it goes in pieces, and takes no lines
	statementWithdrawn statementState = "withdrawn" // it was complete; its lines are kept and count nowhere
)

// keptStatement is an import, whole or under way.
type keptStatement struct {
	Imported    recon.Imported `json:"imported"`
	State       statementState `json:"state"`
	Contradicts int            `json:"contradicts,omitempty"` // lines kept beside an earlier one with other facts
}

// lines is how many lines of the statement were taken.
func (s keptStatement) lines() int { return s.Imported.Stored + s.Imported.Duplicates }

// finished tells that it was imported whole, whether or not it was withdrawn since.
func (s keptStatement) finished() bool {
	return s.State == statementComplete || s.State == statementWithdrawn
}

func (s keptStatement) of(p recon.Provider) bool {
	mine := s.Imported.Statement.Provider
	return mine.Kind == p.Kind && mine.Account == p.Account
}

// statements: number -> statement.
var (
	// provider kind, merchant account, digest; not of withdrawn ones: the same file may come again
	statementByDigest = &unique[keptStatement]{"statement by digest", func(s keptStatement) []byte {
		if s.State == statementWithdrawn {
			return nil
		}
		return digestKey(s.Imported.Statement.Provider, s.Imported.Statement.Digest)
	}}
	// provider kind, merchant account; finished ones, by number
	statementList = &ordered[keptStatement]{bucket: "statement by provider", key: func(s keptStatement) []byte {
		if !s.finished() {
			return nil
		}
		return providerKey(s.Imported.Statement.Provider)
	}}
	// provider kind, merchant account; those under way or given up
	statementUnfinished = &ordered[keptStatement]{bucket: "statement unfinished", key: func(s keptStatement) []byte {
		if s.finished() {
			return nil
		}
		return providerKey(s.Imported.Statement.Provider)
	}}
	statements = &table[keptStatement]{
		bucket: "statements", numbered: true,
		key:     func(s keptStatement) []byte { return idKey(uint64(s.Imported.ID)) },
		unique:  []*unique[keptStatement]{statementByDigest},
		ordered: []*ordered[keptStatement]{statementList, statementUnfinished},
	}
)

// keptLine is a line of a statement.
type keptLine struct {
	ID          uint64            `json:"id"`
	Statement   recon.StatementID `json:"statement"`
	Position    int               `json:"position"`              // of the statement's lines, from 1
	Contradicts uint64            `json:"contradicts,omitempty"` // the earlier line of the same movement, which goes on counting
	Supersedes  uint64            `json:"supersedes,omitempty"`  // the earlier line of the same movement, in whose place this one counts
	Line        recon.Line        `json:"line"`
}

// lines: number -> line of a statement. Never changed; removed only with an import that was not finished.
var (
	// statement, position. Both grow: one bucket more, and no page of it is written twice.
	lineByPlace = &unique[keptLine]{"line by place", func(l keptLine) []byte {
		return idKey2(uint64(l.Statement), uint64(l.Position))
	}}
	// provider kind, merchant account, payment, 16 bytes of the SHA-256 of the natural key. The first three are a prefix: this index also
	// lists the lines of a payment. Several lines may have a natural key: those of unfinished and contradicting statements, and a
	// movement that one statement names twice.
	lineByMovement = &ordered[keptLine]{bucket: "line by movement", key: func(l keptLine) []byte { return movementKey(l.Line) }}
	// the superseded line. One line may have several of which at most one counts: those of statements that are not whole, or are withdrawn.
	lineSuperseding = &ordered[keptLine]{bucket: "line superseding", key: func(l keptLine) []byte {
		if l.Supersedes == 0 {
			return nil
		}
		return idKey(l.Supersedes)
	}}
	lines = &table[keptLine]{
		bucket: "settlement lines", numbered: true,
		key:     func(l keptLine) []byte { return idKey(l.ID) },
		unique:  []*unique[keptLine]{lineByPlace},
		ordered: []*ordered[keptLine]{lineByMovement, lineSuperseding},
	}
)

// repeat notes that a line of a statement is one that an earlier statement had.
type repeat struct {
	Statement recon.StatementID `json:"statement"`
	Line      uint64            `json:"line"`     // the earlier one
	Position  int               `json:"position"` // of the statement's lines, from 1
	Row       int               `json:"row"`      // of the statement's file
}

// repeats: statement, line -> repeat. A statement repeats a line at most once.
var repeats = &table[repeat]{
	bucket: "line repeats",
	key:    func(r repeat) []byte { return idKey2(uint64(r.Statement), r.Line) },
}

// keptRun is a run, finished or not. What is not finished is invisible.
type keptRun struct {
	Run      recon.Run `json:"run"`
	Saved    int       `json:"saved"` // findings that were written
	Finished bool      `json:"finished"`
}

// runs: number -> run.
var (
	// runs that are not finished, by number
	runUnfinished = &ordered[keptRun]{bucket: "run unfinished", key: func(r keptRun) []byte {
		if r.Finished {
			return nil
		}
		return []byte{}
	}}
	runs = &table[keptRun]{
		bucket: "runs", numbered: true,
		key:     func(r keptRun) []byte { return idKey(uint64(r.Run.ID)) },
		ordered: []*ordered[keptRun]{runUnfinished},
	}
)

// runDay says that a finished run covers a business day of a zone: the same date in another zone is another day.
type runDay struct {
	Zone     string      `json:"zone"`
	Day      recon.Day   `json:"day"`
	Run      recon.RunID `json:"run"`
	Complete bool        `json:"complete"`
}

// runDays: zone, day, run -> whether it was complete.
var runDays = &table[runDay]{
	bucket: "run days",
	key:    func(d runDay) []byte { return key(dayTextKey(d.Zone, d.Day)).number(uint64(d.Run)) },
}

// finding is an item of a run.
type finding struct {
	Run      recon.RunID `json:"run"`
	Position int         `json:"position"` // from 1, in the order of the comparison
	Item     recon.Item  `json:"item"`
}

// findings: run, position -> item.
var findings = &table[finding]{
	bucket: "findings",
	key:    func(f finding) []byte { return idKey2(uint64(f.Run), uint64(f.Position)) },
}

// discrepancies: class, entity -> discrepancy. At most one task belongs to each.
var (
	// those that a run may explain: open ones and those that people accepted; beside it the row's key
	discrepancyStanding = &ordered[recon.Discrepancy]{
		bucket: "discrepancy standing",
		key: func(d recon.Discrepancy) []byte {
			if d.State == recon.DiscrepancyExplained {
				return nil
			}
			return []byte{}
		},
		value: func(d recon.Discrepancy) []byte { return discrepancyKey(d.Key) },
	}
	discrepancies = &table[recon.Discrepancy]{
		bucket:  "discrepancies",
		key:     func(d recon.Discrepancy) []byte { return discrepancyKey(d.Key) },
		ordered: []*ordered[recon.Discrepancy]{discrepancyStanding},
	}
)

// reconBuckets lists the buckets of this file.
func reconBuckets() (names []string) {
	for _, t := range []interface{ buckets() []string }{statements, lines, repeats, runs, runDays, findings, discrepancies} {
		names = append(names, t.buckets()...)
	}
	return names
}

func providerKey(p recon.Provider) []byte { return key(nil).text(p.Kind).text(p.Account) }

func digestKey(p recon.Provider, digest string) []byte { return key(providerKey(p)).text(digest) }

// movementKey is nil for a line that nothing names.
func movementKey(l recon.Line) []byte {
	name := l.NaturalKey()
	if name == "" {
		return nil
	}
	sum := sha256.Sum256([]byte(name))
	return append(paymentKey(l.Provider.Kind, l.Provider.Account, l.Payment), sum[:16]...)
}

func dayTextKey(zone string, d recon.Day) []byte { return key(nil).text(zone).text(string(d)) }

func discrepancyKey(k recon.Key) []byte { return key(nil).text(string(k.Class)).text(k.Entity) }

// idKey2 is the key of the second number within the first.
func idKey2(first, second uint64) []byte { return key(nil).number(first).number(second) }

// reconciler implements what reconciliation asks of a store.
var (
	_ recon.StatementBook = (*DB)(nil)
	_ recon.RunBook       = (*DB)(nil)
)
