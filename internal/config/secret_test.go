package config

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

func TestSecret_NoPrintedFormShowsIt(t *testing.T) {
	t.Parallel()
	secret := NewSecret([]byte("planted"))
	holder := struct {
		Secret Secret
		Behind *Secret
		Many   []Secret
		hidden Secret // fmt asks no method of an unexported field
	}{secret, &secret, []Secret{secret}, secret}
	var forms []string
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T %v", "%10.2s", "%c", "%p"} {
		forms = append(forms, fmt.Sprintf(verb, secret), fmt.Sprintf(verb, holder), fmt.Sprintf(verb, &secret))
	}
	for _, encode := range []func(any) ([]byte, error){json.Marshal, yaml.Marshal} {
		text, err := encode(holder)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), redacted) {
			t.Errorf("encoded as %s", text)
		}
		forms = append(forms, string(text))
	}
	text, err := secret.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	forms = append(forms, string(text), secret.String(), secret.GoString())
	for _, form := range forms {
		for _, leak := range []string{"planted", fmt.Sprintf("%x", "planted"), fmt.Sprintf("%X", "planted"), "112 108 97", "cGxhbnRlZA"} {
			if strings.Contains(form, leak) {
				t.Errorf("a printed form shows the secret: %s", form)
			}
		}
	}
	if string(secret.Reveal()) != "planted" {
		t.Errorf("Reveal gives %q", secret.Reveal())
	}
}

func TestSecret_RevealGivesACopy(t *testing.T) {
	t.Parallel()
	secret := NewSecret([]byte("planted"))
	clear(secret.Reveal())
	if string(secret.Reveal()) != "planted" {
		t.Error("a caller can change the secret")
	}
}

func TestSecretFile_EveryDoubtIsAFault(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, test := range []struct {
		name, text string
		mode       os.FileMode
		value      string
		says       string
	}{
		{"plain", "s3cret", 0o600, "s3cret", ""},
		{"one-newline", "s3cret\n", 0o400, "s3cret", ""},
		{"inner-space", "s3 cret\n", 0o600, "s3 cret", ""},
		{"two-newlines", "s3cret\n\n", 0o600, "", "second line break"},
		{"carriage-return", "s3cret\r\n", 0o600, "", "white space"},
		{"leading-space", " s3cret", 0o600, "", "white space"},
		{"empty", "", 0o600, "", "is empty"},
		{"only-newline", "\n", 0o600, "", "is empty"},
		{"group-reads", "s3cret", 0o640, "", "mode 0640"},
		{"others-read", "s3cret", 0o604, "", "chmod 600"},
		{"group-executes", "s3cret", 0o610, "", "mode 0610"},
		{"huge", strings.Repeat("x", maxSecretFile+1), 0o600, "", "larger than"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(dir, test.name)
			writeMode(t, path, test.text, test.mode)
			secret := Secret{File: path}
			problem := secret.load("")
			if (test.says == "") != (problem == "") || !strings.Contains(problem, test.says) {
				t.Fatalf("got %q, want %q", problem, test.says)
			}
			if got := string(secret.Reveal()); got != test.value {
				t.Errorf("holds %q, want %q", got, test.value)
			}
			if strings.Contains(problem, "s3cret") {
				t.Errorf("the message shows the secret: %s", problem)
			}
		})
	}
	for _, wrong := range []Secret{{File: filepath.Join(dir, "absent")}, {File: dir}} {
		if problem := wrong.load(""); problem == "" || len(wrong.Reveal()) != 0 {
			t.Errorf("%s: got %q", wrong.Source(), problem)
		}
	}
}

func TestSecretCredential_IsReadFromTheFolderThatSystemdNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeMode(t, filepath.Join(dir, "hook"), "s3cret", 0o440) // systemd's access list shows as group-readable
	writeMode(t, filepath.Join(dir, "open"), "s3cret", 0o444)
	good := Secret{Credential: "hook"}
	if problem := good.load(dir); problem != "" || string(good.Reveal()) != "s3cret" {
		t.Errorf("got %q and %q", problem, good.Reveal())
	}
	for name, says := range map[string]string{"open": "mode 0444", "absent": "cannot be read"} {
		secret := Secret{Credential: name}
		if problem := secret.load(dir); !strings.Contains(problem, says) {
			t.Errorf("%s: got %q, want %q", name, problem, says)
		}
	}
	if problem := good.load(""); !strings.Contains(problem, "LoadCredential=hook:PATH") {
		t.Errorf("without systemd: got %q", problem)
	}
}

// writeMode writes a file with exactly these permissions, whatever the umask.
func writeMode(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}
