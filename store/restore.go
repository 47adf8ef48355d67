package store

import (
	"context"
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

// RestoreOptions say what is restored, where, and by whom.
type RestoreOptions struct {
	From     string // the backup
	Guard    Guard  // of this machine; Now is the moment of the restore
	Instance string // fresh random text
	By       string // who does it
	Reason   string
	Step     func(string)              // see [DB.Backup]; nil: nobody is told
	Progress func(done, total int)     // of the verification; nil: nobody is told
	Confirm  func(RestoreReport) error // asked once the backup is known to be whole, before anything is replaced; nil: go on
}

// RestoreReport tells what was done.
type RestoreReport struct {
	Backup  Content
	Present *Content             // of the store that is replaced; nil: there is none, or it cannot be read
	Moved   map[credit.State]int // rows that were moved or marked, by their state before
	Kept    string               // where the store of before is now; empty: there was none
}

// restoring is the name beside the store under which a restore prepares the copy.
const restoring = ".restoring"

// Restore puts a backup in the place of the store at path, which no service may have open. The copy is verified, marked and
// its rows are moved before it gets the store's name in one rename: a crash leaves either the old store, untouched, or the
// marked one. The old store is kept under a dated name. What it means for claims is credit.BeginRestore's to say.
func Restore(ctx context.Context, path string, o RestoreOptions) (r RestoreReport, err error) {
	held, err := lock(path)
	if err != nil {
		return r, fmt.Errorf("restore to %s: %w", path, err)
	}
	defer func() { err = errors.Join(err, unlock(held)) }()
	if r, err = restore(ctx, path, o); err != nil {
		return r, fmt.Errorf("restore %s to %s: %w", o.From, path, err)
	}
	return r, nil
}

func restore(ctx context.Context, path string, o RestoreOptions) (r RestoreReport, err error) {
	fresh := path + restoring
	if err := removeIfThere(fresh); err != nil {
		return r, fmt.Errorf("remove what an earlier restore left: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, removeIfThere(fresh))
		}
	}()
	if err := copyBackup(o.From, path, fresh); err != nil {
		return r, err
	}
	var today *roster
	var room *RoomError
	if r.Present, today, err = readPresent(ctx, path); errors.As(err, &room) { // what else it is cannot be read for will not pass
		return r, fmt.Errorf("read the present store: %w", err)
	}
	claims, id, err := prepare(ctx, fresh, o, today, &r)
	if err != nil {
		return r, err
	}
	call(o.Step, StepMarked)
	next := testimony{Store: id, Instance: o.Instance, From: claims, To: claims}
	if err := warnWitness(o.Guard.Witness, next); err != nil {
		return r, err
	}
	call(o.Step, StepWarned)
	if r.Kept, err = keepAside(path, o.Guard.Now); err != nil {
		return r, fmt.Errorf("keep the present store: %w", err)
	}
	call(o.Step, StepKept)
	if err := os.Rename(fresh, path); err != nil {
		return r, err
	}
	if err := syncFile(filepath.Dir(path)); err != nil {
		return r, err
	}
	call(o.Step, StepReplaced)
	if err := bearWitness(o.Guard.Witness, next); err != nil {
		return r, fmt.Errorf("the store is restored, but %w", err)
	}
	call(o.Step, StepRestored)
	return r, nil
}

// copyBackup copies the backup beside the store, and on disk. A file that somebody has open for writing is no backup.
func copyBackup(from, path, fresh string) (err error) {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return ErrNoFile
	}
	if present, err := os.Stat(path); err == nil && os.SameFile(info, present) {
		return errors.New("that is the store itself: name a file that creditonce backup wrote")
	}
	if err := whole(from, info.Size()); err != nil {
		return err
	}
	b, err := bolt.Open(from, 0o600, &bolt.Options{Timeout: boltLockTimeout, ReadOnly: true}) // shared lock while we copy
	if err != nil {
		return fmt.Errorf("read the backup: %w; a store that a service has open is no backup: take one with creditonce backup", err)
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	return copyFile(from, fresh)
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return errors.Join(err, in.Close())
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close(), in.Close())
}

// prepare verifies the copy, marks it as restored, gives it today's people and keys, and moves its rows.
func prepare(ctx context.Context, fresh string, o RestoreOptions, today *roster, r *RestoreReport) (claims uint64, id string, err error) {
	b, file, err := openBolt(fresh, Options{UnsafeNoSync: true}) // synced once, below: until then the copy is nothing
	if err != nil {
		return 0, "", err
	}
	if err := migrate("", b, Options{Raise: true, Step: o.Step}); err != nil { // the backup itself is the copy of the older schema
		return 0, "", errors.Join(err, b.Close())
	}
	db, err := private(fresh, b, file)
	if err != nil {
		return 0, "", errors.Join(err, b.Close())
	}
	defer func() {
		err = errors.Join(err, b.Sync(), db.Close(context.WithoutCancel(ctx)))
	}()
	if r.Backup, err = db.check(ctx, o.Progress); err != nil {
		return 0, "", fmt.Errorf("the backup is not whole: %w", err)
	}
	if r.Present != nil && r.Present.StoreID != r.Backup.StoreID {
		return 0, "", fmt.Errorf("the backup is of store %s, and the present store is %s: restore it into a data directory of its own", r.Backup.StoreID, r.Present.StoreID)
	}
	if o.Confirm != nil {
		if err := o.Confirm(*r); err != nil {
			return 0, "", err
		}
	}
	on, err := idOfOpen(file)
	if err != nil {
		return 0, "", err
	}
	place := credit.Place{Machine: o.Guard.Machine, Booted: instant(o.Guard.Booted), Device: on.device, Inode: on.inode}
	if err := db.mark(ctx, o, r.Backup, &place); err != nil {
		return 0, "", err
	}
	if err := db.carry(ctx, today, o.Guard.Now); err != nil {
		return 0, "", fmt.Errorf("keep today's people and keys: %w", err)
	}
	if r.Moved, err = db.moveAll(ctx, o.Guard.Now); err != nil {
		return 0, "", err
	}
	report, err := db.Verify(ctx, nil)
	if err == nil && !report.Clean() {
		err = &FoundError{report}
	}
	if err != nil {
		return 0, "", fmt.Errorf("after the rows were moved: %w", err)
	}
	return r.Backup.Claims, r.Backup.StoreID, nil
}

// mark writes the restore's record.
func (db *DB) mark(ctx context.Context, o RestoreOptions, c Content, place *credit.Place) error {
	return db.write(ctx, false, func(w *writer) error {
		s, err := readSettings(w.tx)
		if err != nil {
			return err
		}
		change := credit.BeginRestore(s, credit.Restore{
			Kind: credit.FromBackup, At: o.Guard.Now, Mark: credit.Mark{Process: "restore " + o.Instance}, Since: c.Newest, Claims: c.Claims,
			By: o.By, Reason: o.Reason,
		}, o.Instance, place)
		if err := stageSettings(w, change.Settings); err != nil {
			return err
		}
		_, err = stageTasks(w, change.Open, change.Close)
		return err
	})
}

// restorer is the actor of the moves.
const restorer = "restore"

// moveAll moves or marks every row that the restore found.
func (db *DB) moveAll(ctx context.Context, at time.Time) (map[credit.State]int, error) {
	moved := map[credit.State]int{}
	for _, state := range credit.States() {
		var after credit.ID
		for {
			rows, err := db.Rows(ctx, credit.RowQuery{State: state, After: after, Limit: piece})
			if err != nil {
				return nil, err
			}
			if len(rows) == 0 {
				break
			}
			for _, row := range rows {
				after = row.ID
				res, err := db.Advance(ctx, row.ID, func(d credit.Dossier) (credit.Decision, error) {
					return credit.MoveRow(d, restorer, at, at), nil
				})
				if err != nil {
					return nil, err
				}
				if len(res.Entries) > 0 {
					moved[state]++
				}
			}
		}
	}
	_, err := db.Settle(ctx, func(s credit.Settings) (credit.Settings, error) {
		return credit.RowsMoved(s, s.Restore.Number, at)
	})
	return moved, err
}

// warnWitness adds to the witness what the store will be, so that it fits before the rename and after it. Where there is
// none yet, none is made: a store without its witness claims nothing before the quarantine, which is right for both.
func warnWitness(path string, to testimony) error {
	if path == "" {
		return nil
	}
	now, err := readWitness(path)
	var damaged *WitnessError
	switch {
	case errors.As(err, &damaged):
		return fmt.Errorf("%w; remove it, and restore again", err)
	case err != nil || now == nil:
		return err
	}
	t := *now
	t.Next = &next{Instance: to.Instance, Claims: to.To}
	return (&witness{path: path, last: now}).write(t)
}

// bearWitness makes the witness tell of the restored store alone.
func bearWitness(path string, t testimony) error {
	if path == "" {
		return nil
	}
	now, err := readWitness(path)
	if err != nil {
		return err
	}
	return (&witness{path: path, last: now}).write(t)
}

// keepAside gives the present store a second name, so that its own name never leads to nothing.
func keepAside(path string, at time.Time) (string, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	base := path + ".before-restore-" + at.UTC().Format("20060102T150405Z")
	for n := 1; ; n++ {
		kept := base
		if n > 1 {
			kept = fmt.Sprintf("%s-%d", base, n)
		}
		err := os.Link(path, kept)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			err = copyFile(path, kept) // a file system without links
		}
		switch {
		case err == nil:
			return kept, nil
		case !errors.Is(err, fs.ErrExist) || n > 1000:
			return "", err
		}
	}
}
