package app

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"creditonce/credit"
	"creditonce/internal/config"
)

func TestBackupPath_TheServiceWritesIntoItsBackupFolderAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := &config.Config{DataDir: filepath.Join(dir, "data")}
	c.Store.BackupDir = filepath.Join(dir, "backups")
	if err := os.MkdirAll(filepath.Join(c.DataDir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(c.DataDir, "sub"), filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	in := filepath.Join(c.Store.BackupDir, "b.db")
	const invalid = "invalid"
	for wish, want := range map[string]struct{ service, alone string }{
		"b.db": {}, in: {},
		filepath.Join(dir, "b.db"):              {service: "backup_place"},
		"/etc/cron.d/zz.db":                     {service: "backup_place"},
		filepath.Join(c.DataDir, "b.db"):        {"backup_place", "backup_place"},
		filepath.Join(c.DataDir, "sub", "b.db"): {"backup_place", "backup_place"},
		filepath.Join(dir, "link", "b.db"):      {"backup_place", "backup_place"},
		c.Store.BackupDir + "/../backups/b.db":  {invalid, invalid},
		c.Store.BackupDir + "/sub/b.db":         {service: "backup_place"},
		"sub/b.db":                              {invalid, invalid},
		"":                                      {invalid, invalid}, ".": {invalid, invalid}, "..": {invalid, invalid}, ".hidden": {invalid, invalid}, "a\nb": {invalid, invalid},
	} {
		for service, want := range map[bool]string{true: want.service, false: want.alone} {
			path, err := backupPath(c, wish, service)
			code := ""
			var refused *credit.RefusedError
			switch {
			case errors.As(err, &refused):
				code = refused.Code
			case errors.Is(err, credit.ErrInvalid):
				code = invalid
			case err != nil:
				code = err.Error()
			}
			if code != want || (err == nil && path != in && path != wish) {
				t.Errorf("%q, service %v: %q, %v; want %q", wish, service, path, err, want)
			}
		}
	}
	if info, err := os.Stat(c.Store.BackupDir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder: %v, %v", info, err)
	}
	// A backup folder that leads into the data directory is none.
	c.Store.BackupDir = filepath.Join(dir, "link")
	if path, err := backupPath(c, "b.db", true); err == nil {
		t.Errorf("through a link into the data directory: %s", path)
	}
}
