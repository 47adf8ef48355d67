package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"creditonce/internal/demo"
	"creditonce/mt5/fakemt5"
)

func TestDemo_WrongFlagsAreUsageErrorsAndStartNothing(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		arguments []string
		says      []string
	}{
		{[]string{"--scenario", "earthquake"}, []string{`"earthquake" is not known`, "duplicate-webhook", "busy-login", demo.All}},
		{[]string{"--deposits", "0"}, []string{"--deposits 0: want 1 to"}},
		{[]string{"--deposits", "-3"}, []string{"--deposits -3"}},
		{[]string{"--deposits", "1000000"}, []string{"want 1 to 2000"}},
		{[]string{"--seed", "x"}, []string{"--seed"}},
		{[]string{"now"}, []string{"unknown command", "demo --help"}},
		{[]string{"--loud"}, []string{"unknown flag: --loud"}},
	} {
		got := run(append([]string{"demo"}, test.arguments...)...)
		if got.code != ExitUsage || got.stdout != "" {
			t.Errorf("%q: %+v", test.arguments, got)
		}
		for _, want := range test.says {
			if !strings.Contains(got.stderr, want) {
				t.Errorf("%q: %q is not in %s", test.arguments, want, got.stderr)
			}
		}
	}
}

func TestDemo_RefusesAFolderThatIsNotItsOwn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "letters.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, scenario := range []string{demo.Mixed, demo.All} {
		got := run("demo", "--dir", dir, "--exit", "--json", "--scenario", scenario)
		if got.code != ExitFailed || got.stdout != "" || !strings.Contains(got.stderr, "is no demo folder; name a new folder") {
			t.Errorf("%s: %+v", scenario, got)
		}
	}
}

func TestDemo_HelpListsEveryScenario(t *testing.T) {
	t.Parallel()
	got := run("demo", "--help")
	for _, s := range demo.Scenarios() {
		if !strings.Contains(got.stdout, "  "+s.Name+" ") || !strings.Contains(got.stdout, s.Story) {
			t.Errorf("%s is not in the help", s.Name)
		}
	}
}

func TestVerdict_DecidesTheExitCodeAndIsAloneOnStdout(t *testing.T) {
	t.Parallel()
	for _, ok := range []bool{true, false} {
		var stdout, stderr bytes.Buffer
		p := &Process{Stdout: &stdout, Stderr: &stderr}
		r := demo.Result{Scenario: "mixed", Deposits: 1, States: map[string]int{"done": 1}, Deals: 1, OK: ok, Problems: []string{}}
		want := ExitDone
		if !ok {
			r.Doubled, r.Problems, want = 1, []string{"deposit x was credited 2 times"}, ExitFailed
		}
		if code := codeOf(demoFlags{json: true}.print(p, r)); code != want {
			t.Errorf("code %d, want %d", code, want)
		}
		var back demo.Result
		dec := json.NewDecoder(&stdout)
		if err := dec.Decode(&back); err != nil || back.Doubled != r.Doubled || back.OK != ok {
			t.Errorf("stdout holds %+v, %v", back, err)
		}
		if _, err := dec.Token(); err != io.EOF {
			t.Errorf("more on stdout: %v", err)
		}
		stdout.Reset()
		if code := codeOf(demoFlags{}.print(p, r)); code != want || strings.Contains(stdout.String(), "not as promised: deposit x") == ok {
			t.Errorf("code %d for people:\n%s", code, stdout.String())
		}
		stdout.Reset()
		all := demo.Results{Scenarios: map[string]demo.Result{"paid-twice": r}, OK: ok}
		if code := codeOf(demoFlags{}.printAll(p, all)); code != want || strings.Contains(stdout.String(), "paid-twice: deposit x") == ok {
			t.Errorf("code %d for all:\n%s", code, stdout.String())
		}
	}
}

// running is a command that runs until it is told to stop.
type running struct {
	stop context.CancelFunc
	code <-chan int
	out  *json.Decoder
	errs *bytes.Buffer
}

func start(t *testing.T, stdin io.Reader, environment map[string]string, arguments ...string) running {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	out, stdout := io.Pipe()
	code := make(chan int, 1)
	r := running{stop: stop, code: code, out: json.NewDecoder(out), errs: &bytes.Buffer{}}
	p := &Process{
		Args: arguments, Stdin: stdin, Stdout: stdout, Stderr: r.errs, Now: time.Now, Random: zeros{},
		Getenv: func(name string) string { return environment[name] },
	}
	go func() {
		code <- Main(ctx, p)
		_ = stdout.Close()
	}()
	t.Cleanup(stop)
	return r
}

func secretFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte("Secret-1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFakeMT5_SaysWhereItIsAndStopsInOrder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := start(t, strings.NewReader(""), nil, "fakemt5", "--password-file", secretFile(t), "--identity", "Try-MT5",
		"--journal", filepath.Join(dir, "mt5.jsonl"), "--ca-out", filepath.Join(dir, "ca.pem"), "--zone-minutes", "180", "--dst", "none")
	var ready struct{ Listen, Control, Identity, Fingerprint string }
	if err := r.out.Decode(&ready); err != nil {
		t.Fatal(err, r.errs)
	}
	if ready.Listen == "" || ready.Identity != "Try-MT5" || len(ready.Fingerprint) != 64 {
		t.Errorf("ready with %+v", ready)
	}
	accounts, err := fakemt5.NewControl(ready.Control).Accounts(t.Context())
	if err != nil || len(accounts) != 3 {
		t.Errorf("accounts %+v, %v", accounts, err)
	}
	info, err := fakemt5.NewControl(ready.Control).Info(t.Context())
	if err != nil || info.Fingerprint != ready.Fingerprint || info.ServerTime[11:13] != info.UTC.Add(3*time.Hour).Format("15") {
		t.Errorf("info %+v, %v", info, err)
	}
	r.stop()
	if code := <-r.code; code != ExitDone {
		t.Errorf("code %d: %s", code, r.errs)
	}
	if _, err := os.Stat(filepath.Join(dir, "ca.pem")); err != nil {
		t.Error(err)
	}
}

func TestFakes_EndWithTheDemoThatHoldsTheirStdin(t *testing.T) {
	t.Parallel()
	for name, arguments := range map[string][]string{
		"fakemt5": {"--password-file", secretFile(t)},
		"fakepsp": {"--url", "https://127.0.0.1:1/webhooks/x", "--secret-file", secretFile(t), "--journal", filepath.Join(t.TempDir(), "p.jsonl")},
	} {
		stdin, parent := io.Pipe()
		r := start(t, stdin, map[string]string{demo.ChildVariable: "1"}, append([]string{name}, arguments...)...)
		var ready map[string]string
		if err := r.out.Decode(&ready); err != nil || ready["control"] == "" {
			t.Fatal(name, err, ready, r.errs)
		}
		if err := parent.Close(); err != nil {
			t.Fatal(err)
		}
		if code := <-r.code; code != ExitDone {
			t.Errorf("%s: code %d: %s", name, code, r.errs)
		}
	}
}

func TestFakes_WrongFlagsAreUsageErrors(t *testing.T) {
	t.Parallel()
	secret := secretFile(t)
	for _, test := range []struct {
		arguments []string
		says      string
	}{
		{[]string{"fakemt5"}, "manager 1000 has no password; give --password-file"},
		{[]string{"fakemt5", "--password-file", secret + "x"}, "--password-file"},
		{[]string{"fakemt5", "--password-file", secret, "--dst", "mars"}, `--dst "mars": want none, off, on, eu or us`},
		{[]string{"fakemt5", "--world", secret}, "--world"},
		{[]string{"fakepsp"}, "--url, --secret-file and --journal are needed"},
		{[]string{"fakepsp", "--url", "https://h/", "--journal", "j", "--secret-file", secret + "x"}, "--secret-file"},
	} {
		got := run(test.arguments...)
		if got.code != ExitUsage || !strings.Contains(got.stderr, test.says) {
			t.Errorf("%q: %+v", test.arguments, got)
		}
	}
}
