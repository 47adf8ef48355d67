package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"creditonce/internal/config"
)

// result is what a command left behind.
type result struct {
	code           int
	stdout, stderr string
}

// zeros is a random source that a test can predict.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// runWith runs the command line in a process that adjust may change.
func runWith(adjust func(*Process), arguments ...string) result {
	var stdout, stderr bytes.Buffer
	p := &Process{
		Args:   append([]string{}, arguments...),
		Stdin:  strings.NewReader(""),
		Stdout: &stdout,
		Stderr: &stderr,
		Getenv: func(string) string { return "" },
		Now:    func() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) },
		Random: zeros{},
	}
	adjust(p)
	code := Main(context.Background(), p)
	return result{code, stdout.String(), stderr.String()}
}

func run(arguments ...string) result { return runWith(func(*Process) {}, arguments...) }

func TestBare_OnATerminalOrientsIn12Lines(t *testing.T) {
	t.Parallel()
	got := runWith(func(p *Process) {
		p.Terminal = true
		p.Getenv = func(string) string { return "/etc/elsewhere.yaml" }
	})
	if got.code != ExitDone || strings.Count(got.stdout, "\n") != 12 || got.stderr != "" {
		t.Fatalf("got %+v", got)
	}
	if !strings.Contains(got.stdout, "/etc/elsewhere.yaml") || !strings.Contains(got.stdout, "creditonce check\n") {
		t.Errorf("the configuration that was found does not decide the next step:\n%s", got.stdout)
	}
}

func TestBare_WithoutATerminalIsAUsageError(t *testing.T) {
	t.Parallel()
	got := run()
	if got.code != ExitUsage || got.stdout != "" || !strings.Contains(got.stderr, "Usage:") {
		t.Fatalf("got %+v", got)
	}
}

func TestUsageErrors_SayWhatToDoAndDoNothing(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		arguments []string
		says      string
	}{
		{[]string{"chek"}, "did you mean check?"},
		{[]string{"keys"}, "Usage:"},
		{[]string{"keys", "nwe"}, `"nwe" is not a command of creditonce keys`},
		{[]string{"help", "chek"}, "did you mean check?"},
		{[]string{"help", "keys", "nwe"}, `"nwe" is not a command of creditonce keys`},
		{[]string{"completion", "nosh"}, `"nosh" is not a command of creditonce completion`},
		{[]string{"completion"}, "Usage:"},
		{[]string{"check", "--fast"}, "unknown flag: --fast"},
		{[]string{"check", "a", "b"}, "accepts at most 1 arg"},
		{[]string{"version", "x"}, "unknown command"},
		{[]string{"keys", "new", "--scope", "deposits:read"}, "1 to 32 of a-z"},
		{[]string{"keys", "new", "--name", "Portal", "--scope", "deposits:read"}, "1 to 32 of a-z"},
		{[]string{"keys", "new", "--name", "portal"}, "no --scope"},
		{[]string{"keys", "new", "--name", "portal", "--scope", "deposits"}, `--scope "deposits" is not known`},
		{[]string{"keys", "new", "--name", "portal", "--scope", "deposits:read,deposits:read"}, "given twice"},
		{[]string{"keys", "new", "--name", "portal", "--scope", "deposits:write", "--scope", "accounts:write"}, "make two keys"},
	} {
		got := run(test.arguments...)
		if got.code != ExitUsage || got.stdout != "" || !strings.Contains(got.stderr, test.says) {
			t.Errorf("%q: got %+v, want exit 2 and %q", test.arguments, got, test.says)
		}
	}
}

func TestHelpExitCodes_NamesEveryCode(t *testing.T) {
	t.Parallel()
	got := run("help", "exit-codes")
	for _, code := range []string{" 0 ", " 1 ", " 2 ", " 3 ", " 4 ", " 5 ", " 78 "} {
		if got.code != ExitDone || !strings.Contains(got.stdout, code) {
			t.Errorf("code %s is missing in %+v", code, got)
		}
	}
}

func TestHelp_ShowsTheCommandItIsAskedFor(t *testing.T) {
	t.Parallel()
	for words, says := range map[string]string{"help": "Available Commands:", "help check": "creditonce check [FILE]", "help keys new": "--scope",
		"check --help": "creditonce check [FILE]"} {
		if got := run(strings.Fields(words)...); got.code != ExitDone || !strings.Contains(got.stdout, says) {
			t.Errorf("%s: got %+v", words, got)
		}
	}
}

func TestVersion_IsOneLine(t *testing.T) {
	t.Parallel()
	got := run("version")
	if got.code != ExitDone || !strings.HasPrefix(got.stdout, "creditonce ") || strings.Count(got.stdout, "\n") != 1 {
		t.Fatalf("got %+v", got)
	}
}

func TestCompletion_IsThere(t *testing.T) {
	t.Parallel()
	if got := run("completion", "bash"); got.code != ExitDone || !strings.Contains(got.stdout, "creditonce") {
		t.Fatalf("got code %d", got.code)
	}
}

// firm writes a folder with a configuration that is in order, api being its api section, and returns the file's path.
func firm(t *testing.T, api string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"webhook": "whsec_planted\n",
		"manager": "planted-password\n",
		"config.yaml": `environment: test
data_dir: store
` + api + `
providers:
  stripe: {kind: stripe, account: acct_1, secrets: [{file: webhook}]}
mt5:
  servers:
    main: {identity: Broker-Demo, addresses: ["127.0.0.1:443"], login: 7, password: {file: manager}, currencies: {USD: 2}}
limits: {per_credit: {USD: "100.00"}, per_login_day: {USD: "100.00"}}
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "config.yaml")
}

func TestKeysNew_EntryIsAcceptedByTheConfiguration(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"portal", "1", "-", "null"} {
		got := run("keys", "new", "--name="+name, "--scope", "deposits:write", "--scope", "deposits:read")
		lines := strings.Split(got.stdout, "\n")
		if got.code != ExitDone || len(lines) != 3 || lines[0] != "co_"+strings.Repeat("A", 43) {
			t.Fatalf("got %+v", got)
		}
		c, err := config.Load(firm(t, "api:\n  keys:\n  "+lines[1]), config.Env{Getenv: func(string) string { return "" }})
		if err != nil {
			t.Fatal(err)
		}
		k := c.API.Keys[0]
		if k.Name != name || len(k.Scopes) != 2 || k.SHA256 != sha256.Sum256([]byte(lines[0])) {
			t.Errorf("the entry reads as %+v", k)
		}
	}
}

func TestCheck_GoodConfigurationPrintsOneLinePerThing(t *testing.T) {
	t.Parallel()
	path := firm(t, "")
	got := runWith(func(p *Process) {
		p.Getenv = func(name string) string {
			if name == config.PathVariable {
				return path
			}
			return ""
		}
	}, "check")
	if got.code != ExitDone {
		t.Fatalf("got %+v", got)
	}
	for _, line := range []string{
		"ok  environment: test\n",
		"ok  data_dir: " + filepath.Join(filepath.Dir(path), "store") + "\n",
		"ok  providers.stripe: stripe account acct_1 at /webhooks/stripe\n",
		"ok  providers.stripe.secrets[0]: secret read from file " + filepath.Join(filepath.Dir(path), "webhook") + "\n",
		"ok  mt5.servers.main: 127.0.0.1:443 as manager 7, USD\n",
		"ok  mt5.servers.main.password: secret read",
		"is in order\n",
	} {
		if !strings.Contains(got.stdout, line) {
			t.Errorf("%q is missing in\n%s", line, got.stdout)
		}
	}
	if !strings.Contains(got.stderr, "warning: ") || !strings.Contains(got.stderr, "api.keys: is empty") {
		t.Errorf("no warning about a portal without key: %q", got.stderr)
	}
	if strings.Contains(got.stdout+got.stderr, "planted") {
		t.Error("a secret was printed")
	}
}

func TestCheck_FaultsAreAllListedWithTheirPlaceAndExit78(t *testing.T) {
	t.Parallel()
	path := firm(t, "api: {listen: nowhere}\nlog: {level: loud}\nshutdown_timeout: 5")
	got := run("check", path)
	if got.code != ExitBadConfig || got.stdout != "" {
		t.Fatalf("got %+v", got)
	}
	for _, line := range []string{
		path + ":3:7: api.listen: ",
		path + ":4:7: log.level: ",
		path + ":5:1: shutdown_timeout: ",
		"3 faults in " + path,
	} {
		if !strings.Contains(got.stderr, line) {
			t.Errorf("%q is missing in\n%s", line, got.stderr)
		}
	}
}

func TestCheck_MissingFileSaysSo(t *testing.T) {
	t.Parallel()
	got := run("check", filepath.Join(t.TempDir(), "none.yaml"))
	if got.code != ExitBadConfig || !strings.Contains(got.stderr, "there is no file") {
		t.Fatalf("got %+v", got)
	}
}

func TestCheck_NoFileAnywhereSaysWhereItLookedAndWhatToDo(t *testing.T) {
	t.Parallel()
	if config.Find(func(string) string { return "" }) != "" {
		t.Skip("this machine has a configuration")
	}
	got := run("check")
	if got.code != ExitBadConfig || !strings.Contains(got.stderr, "/etc/creditonce/config.yaml") || !strings.Contains(got.stderr, "creditonce demo") {
		t.Fatalf("got %+v", got)
	}
}
