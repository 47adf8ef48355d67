package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	bolt "go.etcd.io/bbolt"

	"creditonce/credit"
)

// Content is what a store file holds, in numbers.
type Content struct {
	Schema      int // of the file
	StoreID     string
	Environment string
	Mode        credit.Mode
	Newest      time.Time // of the newest record that is kept in order, UTC
	Claims      uint64    // ever made
	Counts      Counts
}

// BackupReport tells what a backup is.
type BackupReport struct {
	Path   string
	Bytes  int64
	SHA256 string // hex
	Content
}

// ErrFileExists says that a backup never replaces a file.
var ErrFileExists = errors.New("there is a file with this name already; a backup never replaces one")

// ErrFileInUse says that somebody has the file open for writing, so that it cannot be read whole.
var ErrFileInUse = errors.New("another process has it open for writing")

// Backup writes the store as it is at this moment to a new file, while it is in use. The file gets its name only when it is
// whole, on disk and verified; there is never another file under it. step may be nil; it is called with the name of each
// boundary of protocol-holes.md §3.4 that is passed.
func (db *DB) Backup(ctx context.Context, to string, step func(string)) (BackupReport, error) {
	return db.BackupSealed(ctx, to, step, nil)
}

// BackupSealed is [DB.Backup] that calls seal with what the file is, before it has its name: on an error of seal there is no
// backup. seal may write to this store; the backup does not have that.
func (db *DB) BackupSealed(ctx context.Context, to string, step func(string), seal func(BackupReport) error) (BackupReport, error) {
	r, err := db.backup(ctx, to, step, seal)
	if err != nil {
		return BackupReport{}, fmt.Errorf("back up to %s: %w", to, err)
	}
	return r, nil
}

func (db *DB) backup(ctx context.Context, to string, step func(string), seal func(BackupReport) error) (r BackupReport, err error) {
	if _, err := os.Lstat(to); err == nil {
		return r, ErrFileExists
	}
	f, err := os.CreateTemp(filepath.Dir(to), fmt.Sprintf(partialName, filepath.Base(to)))
	if err != nil {
		return r, err
	}
	partial := f.Name()
	defer func() { err = errors.Join(err, removeIfThere(partial), f.Close()) }()
	if err := holdFile(f); err != nil { // so that nobody takes it for one that a killed backup left
		return r, err
	}
	sum := sha256.New()
	err = db.read(ctx, func(tx *bolt.Tx) error {
		n, err := tx.WriteTo(io.MultiWriter(f, sum, untilEnd{ctx}))
		r.Bytes = n
		return err
	})
	if err := errors.Join(err, f.Sync()); err != nil {
		return r, err
	}
	r.Path, r.SHA256 = to, hex.EncodeToString(sum.Sum(nil))
	if r.Content, err = VerifyFile(ctx, partial, nil); err != nil {
		return r, fmt.Errorf("the copy is not whole: %w", err)
	}
	call(step, StepBackedUp)
	if seal != nil {
		if err := seal(r); err != nil {
			return r, err
		}
	}
	call(step, StepSealed)
	// A link fails where the name is taken, which a rename would not.
	if err := os.Link(partial, to); errors.Is(err, fs.ErrExist) {
		return r, ErrFileExists
	} else if err != nil {
		if err := os.Rename(partial, to); err != nil {
			return r, err
		}
	}
	call(step, StepNamed)
	return r, syncFile(filepath.Dir(to))
}

// The boundaries of backup, restore and migration (protocol-holes.md §3.4).
const (
	StepBackedUp = "B22.backup_written"   // the copy is whole, under a name of its own
	StepSealed   = "B22.backup_sealed"    // the audit log has it
	StepNamed    = "B22.backup_named"     // it has its name, and the other one too
	StepMarked   = "B23.restore_marked"   // the copy is marked and moved, and is not in the store's place yet
	StepWarned   = "B23.witness_warned"   // the witness knows what is to come
	StepKept     = "B23.old_store_kept"   // the old store has its second name
	StepReplaced = "B23.store_replaced"   // the marked copy is in the store's place, and nothing has opened it yet
	StepRestored = "B23.restore_finished" // the witness tells of it
	StepOldKept  = "B24.old_schema_kept"  // the file of the older schema has its copy
	StepRaised   = "B24.schema_raised"    // every step is made, in a transaction that is not committed yet
	StepMigrated = "B24.schema_committed" // the file is of this program's schema, and nothing else was done with it
)

func call(step func(string), name string) {
	if step != nil {
		step(name)
	}
}

// untilEnd stops a copy when ctx ends.
type untilEnd struct{ ctx context.Context }

func (u untilEnd) Write(b []byte) (int, error) { return len(b), u.ctx.Err() }

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// FoundError says that a store file does not agree with itself.
type FoundError struct{ Report Report }

// Error implements error.
func (e *FoundError) Error() string {
	n := len(e.Report.Findings) + e.Report.More
	if n == 1 {
		return "1 finding: " + e.Report.Findings[0]
	}
	return fmt.Sprintf("%d findings, the first: %s", n, e.Report.Findings[0])
}

// VerifyFile checks a store file that nobody has open for writing, as [OpenReading] opens it, and changes nothing. A damaged file is an error,
// never a panic; a check that hangs on one ends with ctx. Only without an error every record was read.
func VerifyFile(ctx context.Context, path string, progress func(done, total int)) (Content, error) {
	type answer struct {
		content Content
		err     error
	}
	ended := make(chan answer, 1)
	go func() {
		var c Content
		err := readFile(ctx, path, func(db *DB) (err error) {
			c, err = db.check(ctx, progress)
			return err
		})
		ended <- answer{c, err}
	}()
	select {
	case a := <-ended:
		return a.content, a.err
	case <-ctx.Done():
		return Content{}, fmt.Errorf("the check of %s did not end in time: %w", path, ctx.Err())
	}
}

// private is a DB on a file that nobody else knows: without lock, guard and floors.
func private(path string, b *bolt.DB, file *os.File) (*DB, error) {
	packer, err := newPacker()
	if err != nil {
		return nil, err
	}
	g := &gauge{path: path, bolt: b, pageSize: b.Info().PageSize}
	db := &DB{path: path, bolt: b, disk: file, committer: newCommitter(b, g.measure, defaultQueue, defaultBatch), gauge: g, packer: packer}
	go db.committer.loop()
	return db, nil
}

// check verifies everything and counts.
func (db *DB) check(ctx context.Context, progress func(done, total int)) (c Content, err error) {
	report, err := db.Verify(ctx, progress)
	if err != nil {
		return c, err
	}
	if !report.Clean() {
		return c, &FoundError{report}
	}
	return db.content(ctx)
}

// content counts.
func (db *DB) content(ctx context.Context) (c Content, err error) {
	err = db.read(ctx, func(tx *bolt.Tx) error {
		s, err := readSettings(tx)
		if err != nil {
			return err
		}
		c.Schema = db.Schema()
		c.StoreID, c.Environment, c.Mode = s.StoreID, s.Environment, s.Mode
		if c.Newest, err = newestRecord(tx, s); err != nil {
			return err
		}
		if c.Claims, err = readClaims(tx); err != nil {
			return err
		}
		c.Counts, err = readCounts(tx)
		return err
	})
	return c, err
}
