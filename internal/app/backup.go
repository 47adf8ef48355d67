package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"creditonce/credit"
	"creditonce/internal/admin"
	"creditonce/internal/config"
	"creditonce/internal/desk"
	"creditonce/store"
)

// BackUp writes the running store to a new file of the backup folder, for somebody who may. The audit log has the copy before
// the file has its name. What a rule forbids is a *credit.RefusedError, what the machine does an *admin.Problem.
func (a *App) BackUp(ctx context.Context, who desk.Actor, wish string) (admin.Backup, error) {
	if err := a.desk.MayBackUp(ctx, who); err != nil {
		return admin.Backup{}, err
	}
	path, err := backupPath(a.cfg, wish, true)
	if err != nil {
		return admin.Backup{}, err
	}
	a.removeLeftovers()
	r, err := a.store.BackupSealed(ctx, path, func(name string) { a.observer.Step(ctx, credit.Step{Name: name}) }, func(r store.BackupReport) error {
		return a.desk.RecordBackup(ctx, who, copyOf(r))
	})
	switch {
	case errors.Is(err, os.ErrPermission), errors.Is(err, os.ErrNotExist):
		return admin.Backup{}, badFolder(err)
	case errors.Is(err, store.ErrFileExists):
		return admin.Backup{}, credit.Refuse("backup", "%v; give it a name of its own, such as one with the time in it", err)
	case err != nil:
		return admin.Backup{}, err
	}
	a.log.Info().Str("file", path).Int64("bytes", r.Bytes).Str("sha256", r.SHA256).Uint64("claims", r.Claims).Msg("store backed up and verified")
	return backupOf(r), nil
}

// backupPath is where a backup goes: a bare name stands for a file of the backup folder, which is made when it is missing. The
// service writes into that folder alone; else whoever asks could have it write anywhere.
func backupPath(c *config.Config, wish string, service bool) (string, error) {
	folder, name := c.Store.BackupDir, filepath.Base(wish)
	bare := name == wish
	switch {
	case wish == "", name == ".", name == "..", strings.HasPrefix(name, "."), strings.ContainsFunc(wish, unicode.IsControl):
		return "", fmt.Errorf("%q is no name of a backup; give one such as 2026-11-30.db: %w", wish, credit.ErrInvalid)
	case !bare && (!filepath.IsAbs(wish) || filepath.Clean(wish) != wish):
		return "", fmt.Errorf("%q is neither a bare name nor a whole path: %w", wish, credit.ErrInvalid)
	case !bare && service && filepath.Dir(wish) != filepath.Clean(folder):
		return "", credit.Refuse("backup_place", "the service writes backups into %s alone (store.backup_dir), and %s is elsewhere; give the bare name %s, and copy the file from there",
			folder, wish, name)
	}
	path := wish
	if bare {
		path = filepath.Join(folder, name)
	}
	if filepath.Dir(path) == filepath.Clean(folder) {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return "", badFolder(err)
		}
	}
	if liesIn(c.DataDir, filepath.Dir(path)) {
		return "", credit.Refuse("backup_place", "%s lies in the data directory, so the backup would be lost together with the store; name a folder outside", path)
	}
	return path, nil
}

// liesIn tells whether a folder is the data directory or below it, whatever links lead there. What is not there lies nowhere:
// opening the store, or writing the file, says why.
func liesIn(dataDir, folder string) bool {
	top, err := os.Stat(dataDir)
	if err != nil {
		return false
	}
	if folder, err = filepath.EvalSymlinks(folder); err != nil {
		return false
	}
	for {
		if info, err := os.Stat(folder); err == nil && os.SameFile(top, info) {
			return true
		}
		up := filepath.Dir(folder)
		if up == folder {
			return false
		}
		folder = up
	}
}

// badFolder says that the service cannot write where backups go: a fault of the machine, no refusal of a rule.
func badFolder(err error) error {
	return &admin.Problem{
		Title: "Cannot write the backup", Status: http.StatusInternalServerError, Code: "backup_folder",
		Detail: fmt.Sprintf("%v; the service writes backups as its own user: make the folder of store.backup_dir, and give it to that user alone (mode 0700)", err),
	}
}

func copyOf(r store.BackupReport) desk.Copy {
	return desk.Copy{Path: r.Path, SHA256: r.SHA256, Bytes: r.Bytes}
}

// removeLeftovers removes what killed backups left in the backup folder: each is a copy of clients' data.
func (a *App) removeLeftovers() {
	gone, err := store.RemoveLeftovers(a.cfg.Store.BackupDir)
	if len(gone) > 0 {
		a.log.Warn().Strs("files", gone).Msg("removed what a killed backup left")
	}
	if err != nil {
		a.log.Error().Err(err).Msg("what killed backups left could not be removed")
	}
}

// Backup writes the store of a configuration, which no service may have open, to a new file: a bare name goes into the backup
// folder, a path anywhere outside the data directory. The audit log tells whose account it was.
func Backup(ctx context.Context, c *config.Config, wish string) (_ admin.Backup, err error) {
	who, err := account()
	if err != nil {
		return admin.Backup{}, err
	}
	path, err := backupPath(c, wish, false)
	if err != nil {
		return admin.Backup{}, admin.Refusal(err)
	}
	db, err := store.Open(StorePath(c.DataDir), store.Options{})
	if err != nil {
		return admin.Backup{}, fmt.Errorf("open the store: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close(context.WithoutCancel(ctx))) }()
	if _, err := store.RemoveLeftovers(filepath.Dir(path)); err != nil {
		return admin.Backup{}, err
	}
	r, err := db.BackupSealed(ctx, path, aloneStep(ctx), func(r store.BackupReport) error {
		return desk.RecordBackupAlone(ctx, db, systemClock{}.Now(), who, copyOf(r))
	})
	return backupOf(r), admin.Refusal(err)
}

// aloneStep is the hook of a command that works on the store itself; nil in the program that is shipped.
func aloneStep(ctx context.Context) func(string) {
	built := builtInStep()
	if built == nil {
		return nil
	}
	return func(name string) { built(ctx, credit.Step{Name: name}) }
}

// VerifyBackup reads a whole backup, and tells what it holds. See [IsNoFile], [IsInUse] and [IsUnread] for errors that say nothing of a backup.
func VerifyBackup(ctx context.Context, path string, progress func(done, total int)) (admin.Backup, error) {
	bytes, sum, err := digestOf(path)
	if err != nil {
		return admin.Backup{}, err
	}
	c, err := store.VerifyFile(ctx, path, progress)
	b := backupOf(store.BackupReport{Path: path, Bytes: bytes, SHA256: sum, Content: c})
	if err == nil && c.Schema < store.SchemaVersion {
		b.RaisedTo = store.SchemaVersion
	}
	return b, err
}

func digestOf(path string) (int64, string, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return 0, "", store.ErrNoFile
	}
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
		Path: r.Path, Bytes: r.Bytes, SHA256: r.SHA256, Schema: r.Schema, Store: r.StoreID, Newest: r.Newest, Mode: string(r.Mode), Claims: r.Claims,
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
	r, err := store.Restore(ctx, path, store.RestoreOptions{
		From: from, Guard: *guard(c, clock), Instance: random(), By: wish.By, Reason: wish.Reason, Step: aloneStep(ctx), Progress: wish.Progress,
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
