package cli

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"creditonce/internal/admin"
	"creditonce/mt5/fakemt5"
)

// olderStore is a broker whose store is one that a program of the first schema left: two events, two done credits.
func olderStore(t *testing.T) (b *broker, path string, file []byte) {
	t.Helper()
	b = newBroker(t, "", "", func(c *fakemt5.Config) { c.World.Server = "ExampleBroker-Demo" })
	text, err := os.ReadFile(b.config)
	if err != nil {
		t.Fatal(err)
	}
	b.write("wallet", "whsec_"+"cGxhbnRlZC1wbGFudGVkLXBsYW50ZWQtcGxhbnRlZA=="+"\n")
	b.write("config.yaml", strings.NewReplacer("Broker-Demo", "ExampleBroker-Demo",
		"environment: test\n", "environment: test\ndemo: true\n",
		"  stripe: {kind: stripe, account: acct_1, secrets: [{file: webhook}]}", `  wallet:
    kind: standard
    account: wallet-eu
    secrets: [{file: wallet}]
    payload:
      type: type
      occurred_at: timestamp
      livemode: false
      amount_is: decimal
      paid: {types: [payment.paid], payment: data.id, amount: data.amount, currency: data.currency, code: data.reference}
      refund: {types: [payment.refunded], payment: data.payment, movement: data.id}`).Replace(string(text)))
	packed, err := os.ReadFile(filepath.Join("..", "..", "store", "testdata", "schema-1.db.gz"))
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	if file, err = io.ReadAll(z); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(b.dir, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	b.write("data/creditonce.db", string(file))
	return b, filepath.Join(b.dir, "data", "creditonce.db"), file
}

// What says that it changes nothing reads the store of an older version, tells of it, and leaves it to the program that wrote it.
func TestOlderStore_IsReadAndNotTouched(t *testing.T) {
	t.Parallel()
	b, path, file := olderStore(t)
	for _, c := range []struct {
		code int
		says []string
		line []string
	}{
		{ExitDone, []string{"version 1, read in a private copy raised to 3; the file itself was not changed", "rows     2  done 2", "everything agrees"}, []string{"verify"}},
		{ExitDone, []string{`"schema": 1`, `"raised_to": 3`, `"done": 2`}, []string{"verify", "-o", "json"}},
		{ExitFound, []string{"everything agrees; it has schema version 1, which serve raises to 3"}, []string{"doctor"}},
		{ExitDone, nil, []string{"check", b.config}},
		{ExitFailed, []string{"schema version 1", "Nothing was changed", "creditonce serve raises it"}, []string{"backup", filepath.Join(b.dir, "b.db")}},
		{ExitNoAnswer, []string{"schema version 1", "Nothing was changed"}, []string{"mt5", "probe", "--login", "50001", "--group", `test\*`}},
		{ExitNoAnswer, nil, []string{"credits", "list"}},
		{ExitNoAnswer, nil, []string{"recon", "import", b.config, "--provider", "wallet", "--dry-run"}},
	} {
		got := b.run(c.line...)
		if c.line[0] == "check" {
			got = runWith(func(*Process) {}, c.line...)
		}
		wantResult(t, got, c.code, c.says...)
		now, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(now, file) {
			t.Fatalf("%v changed the store (%v)", c.line, err)
		}
		names, err := filepath.Glob(filepath.Join(b.dir, "data", "*"))
		if err != nil {
			t.Fatal(err)
		}
		names = slices.DeleteFunc(names, func(n string) bool { return n == path || filepath.Base(n) == "LOCK" })
		if len(names) > 0 {
			t.Errorf("%v left %v", c.line, names)
		}
	}
}

// A backup of an older version is read whole, and a damaged one is none; only what this program cannot read is left open.
func TestBackupVerify_ReadsWhatAnOlderVersionMade(t *testing.T) {
	t.Parallel()
	b, path, file := olderStore(t)
	got := runWith(func(*Process) {}, "backup", "verify", path, "-o", "json")
	var told admin.Backup
	if err := json.Unmarshal([]byte(got.stdout), &told); err != nil || got.code != ExitDone {
		t.Fatalf("%+v, %v", got, err)
	}
	if told.Schema != 1 || told.RaisedTo != 3 || told.Credits["done"] != 2 || told.Claims != 2 || told.Events != 2 || told.Store == "" || told.Mode != "live" || told.Newest.IsZero() {
		t.Errorf("told %+v", told)
	}
	wantResult(t, runWith(func(*Process) {}, "backup", "verify", path), ExitDone, "version 1, read in a private copy raised to 3", "2 done")
	for name, change := range map[string]func([]byte) []byte{
		"references": func(f []byte) []byte { return bytes.ReplaceAll(f, []byte("dep:0E"), []byte("dep:1E")) },
		"cut":        func(f []byte) []byte { return f[:len(f)/2] },
		"page":       func(f []byte) []byte { clear(f[5*os.Getpagesize() : 5*os.Getpagesize()+64]); return f },
		"all pages":  func(f []byte) []byte { clear(f[3*os.Getpagesize():]); return f },
	} {
		b.write(name, string(change(bytes.Clone(file))))
		wantResult(t, runWith(func(*Process) {}, "backup", "verify", filepath.Join(b.dir, name)), ExitFound, "is no whole backup")
		b.write("data/creditonce.db", string(change(bytes.Clone(file))))
		if got := b.run("verify"); got.code != ExitFound && (name != "cut" || got.code != ExitFailed) {
			t.Errorf("verify of %s: %+v", name, got)
		}
	}
	wantResult(t, runWith(func(*Process) {}, "backup", "verify", filepath.Join(b.dir, "none")), ExitFailed, "was not verified", "no such file")
}

// What is no file is not read: a device would never end, a pipe would wait for ever, and a folder is no damaged backup.
func TestBackupVerify_OfWhatIsNoFileIsAMistakeOfUsage(t *testing.T) {
	t.Parallel()
	b, _, _ := olderStore(t)
	for _, name := range []string{b.dir, "/dev/zero", os.DevNull} {
		wantResult(t, runWith(func(*Process) {}, "backup", "verify", name), ExitUsage, name+" is no file")
		wantResult(t, b.run("restore", "--from", name, "--reason", "r", "--yes"), ExitUsage, name+" is no file")
	}
}
