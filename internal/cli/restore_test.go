package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"creditonce/internal/admin"
)

// A backup of the running service, verified, and restored where a person agrees, and only there.
func TestBackupAndRestore_FromTheCommandLine(t *testing.T) {
	t.Parallel()
	f := newOffice(t, true)
	f.register()
	id := f.pay(f.deposit("20.00"), 2000)
	f.awaitState(id, "done")
	folder := filepath.Join(f.dir, "data-backups")
	file := filepath.Join(folder, "b1.db")
	var b admin.Backup
	f.read(f.ok("carl", "backup", "b1.db", "-o", "json"), &b)
	if b.Path != file || b.Credits["done"] != 1 || b.Claims != 1 || len(b.SHA256) != 64 {
		t.Errorf("backup %+v", b)
	}
	f.refused(ExitRefused, "never replaces one", "carl", "backup", file)
	var again admin.Backup
	f.read(f.ok("root", "backup", "verify", file, "-o", "json"), &again)
	if again.SHA256 != b.SHA256 || again.Bytes != b.Bytes || again.Events != b.Events {
		t.Errorf("verified %+v, written was %+v", again, b)
	}
	config := filepath.Join(f.dir, "config.yaml")
	f.refused(ExitNoAnswer, "the store is in use", "root", "restore", "--from", file, "--reason", "drill", "--yes", "--config", config)
	f.refused(ExitUsage, "--reason", "root", "restore", "--from", file)

	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	f.file("other.yaml", strings.Replace(string(text), "data_dir: data", "data_dir: other", 1))
	other, store := filepath.Join(f.dir, "other.yaml"), filepath.Join(f.dir, "other", "creditonce.db")
	there := func() bool { _, err := os.Stat(store); return !errors.Is(err, os.ErrNotExist) }
	asked := func(terminal bool, answer string) result {
		return runWith(func(p *Process) {
			p.Now, p.Terminal, p.Stdin = time.Now, terminal, strings.NewReader(answer)
		}, "restore", "--from", file, "--reason", "drill", "--config", other)
	}
	if got := asked(false, ""); got.code != ExitUsage || !strings.Contains(got.stderr, "--yes") || there() {
		t.Errorf("without a terminal: %+v", got)
	}
	if got := asked(true, "yes\n"); got.code != ExitRefused || !strings.Contains(got.stderr, "nothing was replaced") || there() {
		t.Errorf("declined: %+v", got)
	}
	got := asked(true, "restore\n")
	for _, says := range []string{"the backup: newest record", "credits: 1 done", "there is none at", "restored: " + store, "creditonce release"} {
		if got.code != ExitDone || !strings.Contains(got.stdout, says) {
			t.Errorf("restored: %+v, want %q", got, says)
		}
	}
	// Without a service the command reads the store itself.
	second := filepath.Join(f.dir, "b2.db")
	f.read(f.ok("root", "backup", second, "--config", other, "-o", "json"), &b)
	if b.Mode != "hold" || b.Credits["done"] != 1 {
		t.Errorf("backup of the restored store: %+v", b)
	}
	if err := os.Truncate(second, 9000); err != nil {
		t.Fatal(err)
	}
	f.refused(ExitFound, "is no whole backup", "root", "backup", "verify", second)
}
