package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"creditonce/credit"
	"creditonce/internal/admin"
	"creditonce/internal/config"
	"creditonce/store"
)

// backup writes the running store to a new file.
func (a *App) backup(ctx context.Context, path string) (admin.Backup, error) {
	r, err := a.store.Backup(ctx, path, func(name string) { a.observer.Step(ctx, credit.Step{Name: name}) })
	switch {
	case errors.Is(err, os.ErrPermission), errors.Is(err, os.ErrNotExist):
		return admin.Backup{}, credit.Refuse("backup", "%v: the service writes the file as its own user; name a folder that is there and that it may write", err)
	case errors.Is(err, store.ErrFileExists):
		return admin.Backup{}, credit.Refuse("backup", "%v; give it a name of its own, such as one with the time in it", err)
	case err != nil:
		return admin.Backup{}, err
	}
	a.log.Info().Str("file", path).Int64("bytes", r.Bytes).Str("sha256", r.SHA256).Uint64("claims", r.Claims).Msg("store backed up and verified")
	return backupOf(r), nil
}

// Backup writes the store of a configuration, which no service may have open, to a new file.
func Backup(ctx context.Context, c *config.Config, path string) (_ admin.Backup, err error) {
	db, err := store.Open(StorePath(c.DataDir), store.Options{})
	if err != nil {
		return admin.Backup{}, fmt.Errorf("open the store: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close(context.WithoutCancel(ctx))) }()
	r, err := db.Backup(ctx, path, nil)
	return backupOf(r), err
}

// VerifyBackup reads a whole backup, and tells what it holds.
func VerifyBackup(ctx context.Context, path string, progress func(done, total int)) (admin.Backup, error) {
	bytes, sum, err := digestOf(path)
	if err != nil {
		return admin.Backup{}, err
	}
	c, err := store.VerifyFile(ctx, path, progress)
	return backupOf(store.BackupReport{Path: path, Bytes: bytes, SHA256: sum, Content: c}), err
}

func digestOf(path string) (int64, string, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, "", err
	}
	sum := sha256.New()
	n, err := io.Copy(sum, f)
	return n, hex.EncodeToString(sum.Sum(nil)), errors.Join(err, f.Close())
}

func backupOf(r store.BackupReport) admin.Backup {
	out := admin.Backup{
		Path: r.Path, Bytes: r.Bytes, SHA256: r.SHA256, Store: r.StoreID, Newest: r.Newest, Mode: string(r.Mode), Claims: r.Claims,
		Events: r.Counts.Events, OpenTasks: r.Counts.OpenTasks, Credits: map[string]int{},
	}
	for state, n := range r.Counts.Rows {
		out.Credits[string(state)] = n
	}
	return out
}

// RestoreWish says what to restore, and who does it.
type RestoreWish struct {
	From, By, Reason string
	Confirm          func(Restored) error // asked once the backup is known to be whole; nil: go on
	Progress         func(done, total int)
}

// Restored tells what a restore puts in the store's place, and what it did.
type Restored struct {
	Path    string // of the store
	Backup  admin.Backup
	Present *admin.Backup  // the store that it replaces; nil: there is none, or it cannot be read
	Moved   map[string]int // credits that were moved or marked, by their state before
	Kept    string         // where the store of before is
}

// Restore puts a backup in the place of a configuration's store, which no service may have open (docs/operations.md).
func Restore(ctx context.Context, c *config.Config, wish RestoreWish) (Restored, error) {
	clock := systemClock{}
	path := StorePath(c.DataDir)
	if err := os.MkdirAll(c.DataDir, 0o700); err != nil {
		return Restored{}, fmt.Errorf("make the data directory: %w", err)
	}
	from, err := filepath.Abs(wish.From)
	if err != nil {
		return Restored{}, err
	}
	var step func(string)
	if built := builtInStep(); built != nil {
		step = func(name string) { built(ctx, credit.Step{Name: name}) }
	}
	r, err := store.Restore(ctx, path, store.RestoreOptions{
		From: from, Guard: *guard(c, clock), Instance: random(), By: wish.By, Reason: wish.Reason, Step: step, Progress: wish.Progress,
		Confirm: func(r store.RestoreReport) error {
			if r.Backup.Environment != string(c.Environment) {
				return fmt.Errorf("the backup is of a store for %s money, and the configuration says %s", r.Backup.Environment, c.Environment)
			}
			if wish.Confirm == nil {
				return nil
			}
			return wish.Confirm(restoredOf(path, r))
		},
	})
	return restoredOf(path, r), err
}

func restoredOf(path string, r store.RestoreReport) Restored {
	out := Restored{Path: path, Backup: backupOf(store.BackupReport{Content: r.Backup}), Moved: map[string]int{}, Kept: r.Kept}
	if r.Present != nil {
		present := backupOf(store.BackupReport{Path: path, Content: *r.Present})
		out.Present = &present
	}
	for state, n := range r.Moved {
		out.Moved[string(state)] = n
	}
	return out
}
