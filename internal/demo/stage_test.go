package demo

import (
	"crypto/rand"
	"crypto/tls"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"creditonce/internal/config"
	"creditonce/internal/stage"
	"creditonce/mt5/fakemt5"
)

func stageOptions() Options {
	return Options{Now: time.Now, Random: rand.Reader, Executable: "/opt/creditonce", ports: stage.NewPorts(uint64(time.Now().UnixNano()))}
}

func newStage(t *testing.T) *stageFolder {
	t.Helper()
	s, err := openStage(filepath.Join(t.TempDir(), "demo folder"), stageOptions())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStage_SecretsAreForItsOwnerOnly(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for path, mode := range map[string]os.FileMode{
		s.dir: 0o700, s.path("secrets"): 0o700, s.path("tls"): 0o700, s.path("store"): 0o700,
		s.secret("webhook"): 0o600, s.secret("mt5-manager"): 0o600, s.secret("api-accounts"): 0o600, s.secret("api-deposits"): 0o600,
		s.path("tls", "webhooks.key"): 0o600, s.config(): 0o600, s.path("world.json"): 0o600,
	} {
		about, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if about.Mode().Perm() != mode {
			t.Errorf("%s has mode %04o, want %04o", path, about.Mode().Perm(), mode)
		}
	}
}

// The configuration must be one that `check` and `serve` take, warnings aside, and hold nothing that is secret.
func TestStage_ConfigurationIsInOrder(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	if err := os.WriteFile(s.path("tls", "mt5-ca.pem"), mustRead(t, s.path("tls", "webhooks-ca.pem")), 0o600); err != nil {
		t.Fatal(err) // fakemt5 writes it at its start
	}
	c, err := config.Load(s.config(), config.Env{Getenv: func(string) string { return "" }, Now: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	if !c.Demo || c.Environment != config.Test || c.Credit.Quarantine != quarantine || c.MT5.Servers[serverLabel].CallTimeout != callTimeout {
		t.Errorf("read back as %+v", c)
	}
	if len(c.Warnings) != 0 {
		t.Errorf("warnings: %v", c.Warnings)
	}
	text := string(mustRead(t, s.config()))
	for _, name := range []string{"webhook", "mt5-manager", "api-accounts", "api-deposits"} {
		if secret := strings.TrimSpace(string(mustRead(t, s.secret(name)))); len(secret) < 40 || strings.Contains(text, secret) {
			t.Errorf("secret %s is short, or stands in config.yaml", name)
		}
	}
	if _, err := tls.LoadX509KeyPair(s.path("tls", "webhooks.pem"), s.path("tls", "webhooks.key")); err != nil {
		t.Error(err)
	}
	if _, err := fakemt5.LoadWorld(s.path("world.json")); err != nil {
		t.Error(err)
	}
}

func TestStage_ForeignFolderIsRefusedAndNotTouched(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "letters.txt"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := openStage(dir, stageOptions()); !errors.Is(err, errNotDemo) {
		t.Errorf("got %v", err)
	}
	if err := checkTop(dir); !errors.Is(err, errNotDemo) {
		t.Errorf("for all scenarios: %v", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 {
		t.Errorf("the folder now holds %v", entries)
	}
}

func TestStage_IsFoundAgainAsItWas(t *testing.T) {
	t.Parallel()
	first := newStage(t)
	text := mustRead(t, first.config())
	again, err := openStage(first.dir, stageOptions())
	if err != nil {
		t.Fatal(err)
	}
	if !again.reused || again.keys != first.keys || again.ports != first.ports || string(mustRead(t, again.config())) != string(text) {
		t.Errorf("got %+v, want %+v", again, first)
	}
	if err := os.WriteFile(first.path(markerName), []byte(`{"form":99}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := openStage(first.dir, stageOptions()); !errors.Is(err, errNotDemo) {
		t.Errorf("a folder of another version: %v", err)
	}
}

func TestScripts_SurviveSpacesInPaths(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for _, script := range []string{s.depositScript(), s.payScript("/opt/my tools/creditonce")} {
		if strings.Contains(script, s.dir) && !strings.Contains(script, "'"+s.dir) {
			t.Errorf("a path with a space is not quoted:\n%s", script)
		}
	}
	if got, want := shellWords([]string{"a b", "it's", "plain", ""}), `'a b' 'it'\''s' plain ''`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func mustRead(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestGuide_NamesAProgramThatStays(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	if text := s.readme("/opt/creditonce"); !strings.Contains(text, "/opt/creditonce serve") || strings.Contains(text, "go install") {
		t.Errorf("an installed program:\n%s", text)
	}
	for _, program := range []string{"/var/x/go-build123/b001/exe/creditonce", "/home/ann/.cache/go-build/57/57ba-d/creditonce"} {
		text := s.readme(program)
		if strings.Contains(text, program) || !strings.Contains(text, "go install .") || !strings.Contains(text, "  creditonce serve") {
			t.Errorf("a program of go run:\n%s", text)
		}
		if pay := s.payScript(program); !strings.Contains(pay, program) || !strings.Contains(pay, "|| program=creditonce\n") {
			t.Errorf("a program of go run:\n%s", pay)
		}
	}
}

func TestGuide_IsWrittenAnewForThisProgram(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	o := stageOptions()
	o.Executable = "/opt/next/creditonce"
	if _, err := openStage(s.dir, o); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"pay.sh", "README.txt"} {
		if text := string(mustRead(t, s.path(name))); !strings.Contains(text, o.Executable) {
			t.Errorf("%s names another program:\n%s", name, text)
		}
	}
}
