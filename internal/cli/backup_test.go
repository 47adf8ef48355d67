package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"creditonce/internal/admin"
)

// Through the socket an operator takes a copy into the backup folder alone, and it stands in the audit log.
func TestBackup_IsForPeopleIntoOneFolderAndAudited(t *testing.T) {
	t.Parallel()
	f := newOffice(t, true)
	folder := filepath.Join(f.dir, "data-backups")
	f.refused(ExitRefused, "belongs to no person", "root", "backup", "b1.db", "--socket", f.own) // whoever runs the tests is nobody
	f.refused(ExitRefused, "the account root belongs to no person", "root", "backup", "b1.db")
	f.refused(ExitRefused, "it takes the role operator or admin", "dora", "backup", "b1.db")
	for _, path := range []string{filepath.Join(f.dir, "zz.db"), "/etc/cron.d/zz.db", filepath.Join(f.dir, "none", "b.db"), filepath.Join(f.dir, "data", "b.db")} {
		f.refused(ExitRefused, "into "+folder+" alone", "carl", "backup", path)
		if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is there: %v", path, err)
		}
	}
	f.refused(ExitUsage, "no name", "carl", "backup", "")
	f.refused(ExitUsage, "no name", "carl", "backup", ".b1.db")
	var log struct{ Items []admin.AuditEntry }
	taken := func() (out []admin.AuditEntry) {
		f.read(f.ok("ben", "audit", "list", "--limit", "0", "-o", "json"), &log)
		for _, r := range log.Items {
			if r.Kind == "store.backup" {
				out = append(out, r)
			}
		}
		return out
	}
	if got := taken(); len(got) != 0 {
		t.Fatalf("before there was a backup: %+v", got)
	}
	var b admin.Backup
	f.read(f.ok("carl", "backup", "b1.db", "-o", "json"), &b)
	got := taken()
	if len(got) != 1 || got[0].Person != "carl" || got[0].User != "carl" || got[0].Params["path"] != filepath.Join(folder, "b1.db") || got[0].Params["sha256"] != b.SHA256 {
		t.Errorf("the audit log says %+v of %+v", got, b)
	}
	if text := f.ok("ben", "audit", "list", "--limit", "0"); !strings.Contains(text, b.SHA256[:12]) {
		t.Errorf("the list does not show the digest:\n%s", text)
	}
	if info, err := os.Stat(folder); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder: %v, %v", info, err)
	}
	f.refused(ExitNoAnswer, "a store in use and no backup", "root", "backup", "verify", filepath.Join(f.dir, "data", "creditonce.db"))
	f.leftover(b.Path, folder)
	// A folder that cannot be written is a fault of the machine, not a rule's refusal.
	if err := os.Rename(folder, folder+".away"); err != nil {
		t.Fatal(err)
	}
	f.file("data-backups", "a file")
	f.refused(ExitFailed, "store.backup_dir", "carl", "backup", "b3.db")
}

// leftover sees that the next backup removes what a killed one left in the folder.
func (f *office) leftover(whole, folder string) {
	f.t.Helper()
	text, err := os.ReadFile(whole)
	if err != nil {
		f.t.Fatal(err)
	}
	stale := filepath.Join(folder, ".b0.db.123.partial")
	if err := os.WriteFile(stale, text, 0o600); err != nil {
		f.t.Fatal(err)
	}
	f.ok("ben", "backup", "b2.db")
	if _, err := os.Stat(stale); !errors.Is(err, os.ErrNotExist) {
		f.t.Errorf("%s is still there: %v", stale, err)
	}
}
