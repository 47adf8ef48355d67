package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBadFiles_EachMistakeIsNamedAtItsPlace walks testdata/bad-*.yaml. The comment lines at the top of each file that
// start with "# want: " are, in order, all that Parse says about it, without the file's name.
func TestBadFiles_EachMistakeIsNamedAtItsPlace(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/bad-*.yaml")
	if err != nil || len(files) < 100 {
		t.Fatalf("found %d files (%v)", len(files), err)
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			for line := range strings.Lines(string(text)) {
				says, ok := strings.CutPrefix(line, "# want: ")
				if !ok {
					break
				}
				want = append(want, strings.TrimSuffix(says, "\n"))
			}
			c, err := Parse("f", text)
			var faults *Faults
			if !errors.As(err, &faults) || c != nil {
				t.Fatalf("accepted, want %q", want)
			}
			got := strings.ReplaceAll("\n"+err.Error(), "\nf:", "\n")[1:]
			if got != strings.Join(want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
			}
			if strings.Contains(got, "planted") {
				t.Error("a message shows a secret")
			}
			for _, f := range faults.List {
				if !strings.ContainsAny(f.Problem, ";,") {
					t.Errorf("says what is wrong but not what to do: %s", f)
				}
			}
		})
	}
}

func TestGoodMinimal_HasTheDefaults(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/good-minimal.yaml")
	if err != nil {
		t.Fatal(err)
	}
	c, err := Parse("/etc/creditonce/config.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.File, want.Environment = "/etc/creditonce/config.yaml", Test
	provider, server := DefaultProvider("stripe"), DefaultMT5Server()
	provider.Account = "acct_1"
	provider.Secrets = []Secret{{File: "/etc/creditonce/webhook"}}
	want.Providers = map[string]Provider{"stripe": provider}
	server.Identity, server.Addresses, server.Login = "Broker-Demo", []string{"127.0.0.1:443"}, 7
	server.Password = Secret{File: "/etc/creditonce/manager"}
	server.Currencies = map[string]int{"USD": 2}
	want.MT5.Servers = map[string]MT5Server{"main": server}
	want.Limits = Limits{PerCredit: map[string]string{"USD": "100.00"}, PerLoginDay: map[string]string{"USD": "100.00"}}
	want.Rates.Bands = map[Pair]Band{}
	want.Admin.Socket, want.Store.Witness = "/var/lib/creditonce/admin.sock", "/var/lib/creditonce-witness/claims"
	want.Store.BackupDir = "/var/lib/creditonce-backups"
	if a, b := printed(&want), printed(c); a != b {
		t.Errorf("got\n%s\nwant\n%s", b, a)
	}
	if s := c.Providers["stripe"].Secrets[0]; s.File != "/etc/creditonce/webhook" || s.Reveal() != nil {
		t.Errorf("the secret is %s", s.Source())
	}
}
