package config

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var loadTime = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// folder is a firm's configuration folder: the minimal configuration, its secrets, and whatever a test adds.
type folder struct {
	t   *testing.T
	dir string
	env map[string]string
}

func newFolder(t *testing.T) *folder {
	t.Helper()
	f := &folder{t: t, dir: t.TempDir(), env: map[string]string{}}
	text, err := os.ReadFile("testdata/good-minimal.yaml")
	if err != nil {
		t.Fatal(err)
	}
	f.write("config.yaml", string(text), 0o600)
	f.write("webhook", "whsec_planted\n", 0o600)
	f.write("manager", "planted-password\n", 0o600)
	return f
}

func (f *folder) path(name string) string { return filepath.Join(f.dir, name) }

func (f *folder) write(name, text string, mode os.FileMode) {
	f.t.Helper()
	if err := os.RemoveAll(f.path(name)); err != nil {
		f.t.Fatal(err)
	}
	writeMode(f.t, f.path(name), text, mode)
}

// change replaces a part of the configuration that must be there.
func (f *folder) change(old, with string) {
	f.t.Helper()
	text, err := os.ReadFile(f.path("config.yaml"))
	if err != nil {
		f.t.Fatal(err)
	}
	if !strings.Contains(string(text), old) {
		f.t.Fatalf("%q is not in the configuration", old)
	}
	f.write("config.yaml", strings.Replace(string(text), old, with, 1), 0o600)
}

func (f *folder) load() (*Config, error) {
	return Load(f.path("config.yaml"), Env{Getenv: func(name string) string { return f.env[name] }, Now: loadTime})
}

// pair writes a certificate of the given life and its key.
func (f *folder) pair(name string, notBefore, notAfter time.Time) {
	f.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		f.t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
		NotBefore: notBefore, NotAfter: notAfter}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		f.t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		f.t.Fatal(err)
	}
	f.write(name+".pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert})), 0o644)
	f.write(name+".key", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw})), 0o600)
}

func TestLoad_ReadsSecretsAndResolvesPathsFromItsFolder(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	f.change("environment: test", "environment: test\ndata_dir: store")
	c, err := f.load()
	if err != nil {
		t.Fatal(err)
	}
	if got := string(c.Providers["stripe"].Secrets[0].Reveal()); got != "whsec_planted" {
		t.Errorf("webhook secret %q", got)
	}
	if got := string(c.MT5.Servers["main"].Password.Reveal()); got != "planted-password" {
		t.Errorf("manager password %q", got)
	}
	if c.DataDir != f.path("store") {
		t.Errorf("data_dir %s", c.DataDir)
	}
	if len(c.Checked) != 3 || strings.Contains(strings.Join(c.Checked, ""), "planted") {
		t.Errorf("checked %q", c.Checked)
	}
}

func TestLoad_EveryVariantOfTheExampleLoadsWhereItsFilesAre(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	credentials := t.TempDir()
	for _, name := range []string{"stripe_webhook_secret", "mt5_manager_password"} {
		writeMode(t, filepath.Join(credentials, name), "planted", 0o400)
	}
	f.env["CREDENTIALS_DIRECTORY"] = credentials
	for _, dir := range []string{"secrets", "tls"} {
		if err := os.Mkdir(f.path(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	f.write("secrets/stripe-next", "planted", 0o600)
	f.write("secrets/mt5-manager", "planted", 0o600)
	f.write("secrets/stripe-api-key", "rk_test_planted", 0o600)
	writeMode(t, filepath.Join(credentials, "stripe_api_key"), "rk_test_planted", 0o400)
	for _, name := range []string{"secrets/wallet-next", "secrets/alert-webhook", "secrets/mail", "secrets/paypal"} {
		f.write(name, standardKey, 0o600)
	}
	for _, name := range []string{"wallet_webhook_secret", "alert_webhook_secret", "mail_password", "paypal_client_secret"} {
		writeMode(t, filepath.Join(credentials, name), standardKey, 0o400)
	}
	for _, name := range []string{"tls/webhooks", "tls/api", "tls/mt5-roots", "tls/mail-roots", "tls/alert-roots"} {
		f.pair(name, loadTime.AddDate(-1, 0, 0), loadTime.AddDate(1, 0, 0))
	}
	for _, v := range exampleVariants(readExample(t)) {
		f.write("config.yaml", v.text, 0o644)
		if _, err := f.load(); err != nil {
			t.Errorf("with line %d switched on: %v", v.line, err)
		}
	}
}

// TestLoad_FaultsOutsideTheText has one row per thing that is wrong with what the text points to.
func TestLoad_FaultsOutsideTheText(t *testing.T) {
	t.Parallel()
	year := loadTime.AddDate(1, 0, 0)
	for _, test := range []struct {
		name   string
		change func(*folder)
		want   []string
	}{
		{"secret missing", func(f *folder) { _ = os.Remove(f.path("webhook")) },
			[]string{"3:53: providers.stripe.secrets[0]: the secret cannot be read"}},
		{"secret empty", func(f *folder) { f.write("webhook", "\n", 0o600) },
			[]string{"3:53: providers.stripe.secrets[0]: DIR/webhook is empty"}},
		{"secret open to others", func(f *folder) { f.write("manager", "planted", 0o644) },
			[]string{"10:7: mt5.servers.main.password: DIR/manager has mode 0644"}},
		{"both at once, and one in the text", func(f *folder) {
			f.write("webhook", "", 0o600)
			f.write("manager", "planted", 0o640)
			f.change("login: 7", "login: 0")
		}, []string{"3:53: providers.stripe.secrets[0]: ", "9:7: mt5.servers.main.login: ", "10:7: mt5.servers.main.password: "}},
		{"certificate missing", func(f *folder) { f.change("providers:", "api: {tls: {cert_file: a.pem, key_file: a.key}}\nproviders:") },
			[]string{"2:7: api.tls: certificate and key cannot be used together (open DIR/a.pem: no such file"}},
		{"certificate of another key", func(f *folder) {
			f.pair("a", loadTime, year)
			f.pair("b", loadTime, year)
			f.change("providers:", "webhooks: {tls: {cert_file: a.pem, key_file: b.key}}\nproviders:")
		}, []string{"2:12: webhooks.tls: certificate and key cannot be used together (tls: private key does not match"}},
		{"certificate unreadable", func(f *folder) {
			f.pair("a", loadTime, year)
			f.write("a.pem", "no certificate", 0o644)
			f.change("providers:", "webhooks: {tls: {cert_file: a.pem, key_file: a.key}}\nproviders:")
		}, []string{"2:12: webhooks.tls: certificate and key cannot be used together (tls: failed to find any PEM data"}},
		{"key open to others", func(f *folder) {
			f.pair("a", loadTime, year)
			if err := os.Chmod(f.path("a.key"), 0o644); err != nil {
				f.t.Fatal(err)
			}
			f.change("providers:", "webhooks: {tls: {cert_file: a.pem, key_file: a.key}}\nproviders:")
		}, []string{"2:36: webhooks.tls.key_file: DIR/a.key has mode 0644"}},
		{"roots missing", func(f *folder) { f.change("login: 7", "login: 7\n      tls: {ca_file: ca.pem}") },
			[]string{"10:13: mt5.servers.main.tls.ca_file: the roots cannot be read"}},
		{"roots without certificate", func(f *folder) {
			f.write("ca.pem", "-----BEGIN NOTHING-----", 0o644)
			f.change("login: 7", "login: 7\n      tls: {ca_file: ca.pem}")
		}, []string{"10:13: mt5.servers.main.tls.ca_file: DIR/ca.pem holds no certificate"}},
		{"credential without systemd", func(f *folder) { f.change("{file: webhook}", "{credential: hook}") },
			[]string{`3:53: providers.stripe.secrets[0]: credential "hook" cannot be looked up`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f := newFolder(t)
			test.change(f)
			c, err := f.load()
			var faults *Faults
			if !errors.As(err, &faults) || c != nil {
				t.Fatalf("loaded (%v)", err)
			}
			text := strings.ReplaceAll(err.Error(), f.path("config.yaml")+":", "")
			lines := strings.Split(strings.ReplaceAll(text, f.dir, "DIR"), "\n")
			if len(lines) != len(test.want) {
				t.Fatalf("got\n%s", strings.Join(lines, "\n"))
			}
			for i, line := range lines {
				if !strings.HasPrefix(line, test.want[i]) {
					t.Errorf("got  %s\nwant %s...", line, test.want[i])
				}
			}
			if strings.Contains(text, "planted") {
				t.Error("a message shows a secret")
			}
		})
	}
}

func TestLoad_CertificateLifeIsAWarning(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name     string
		from, to time.Time
		says     string
	}{
		{"long valid", loadTime.AddDate(0, 0, -1), loadTime.AddDate(1, 0, 0), ""},
		{"expired", loadTime.AddDate(-1, 0, 0), loadTime.Add(-time.Second), "expired at 2026-11-30 11:59:59 UTC; renew it"},
		{"expires soon", loadTime.AddDate(-1, 0, 0), loadTime.AddDate(0, 0, 13), "expires at 2026-12-13 12:00:00 UTC; renew it"},
		{"not yet valid", loadTime.Add(time.Hour), loadTime.AddDate(1, 0, 0), "valid only from 2026-11-30 13:00:00 UTC; check"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f := newFolder(t)
			f.pair("a", test.from, test.to)
			f.change("providers:", "webhooks: {tls: {cert_file: a.pem, key_file: a.key}}\nproviders:")
			c, err := f.load()
			if err != nil {
				t.Fatal(err)
			}
			about := slices.DeleteFunc(c.Warnings, func(w Fault) bool { return w.Path != "webhooks.tls" })
			if test.says == "" && len(about) != 0 || test.says != "" && (len(about) != 1 || !strings.Contains(about[0].Problem, test.says)) {
				t.Errorf("got %v, want %q", about, test.says)
			}
		})
	}
}

func TestWarnings_NameWhatOthersCanReach(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	f.change("providers:", "webhooks: {listen: \":9001\"}\napi: {listen: \"10.0.0.1:9000\"}\nproviders:")
	c, err := f.load()
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, w := range c.Warnings {
		paths = append(paths, w.Path)
	}
	if want := []string{"webhooks.listen", "api.keys", "api.listen"}; !slices.Equal(paths, want) {
		t.Errorf("got %v, want %v", paths, want)
	}
}

func TestWarnings_NameASecretThatIsNoSigningSecret(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	f.write("webhook", "sk_test_planted\n", 0o600)
	c, err := f.load()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(c.Warnings, func(w Fault) bool { return w.Path == "providers.stripe.secrets[0]" })
	if i < 0 || !strings.Contains(c.Warnings[i].Problem, "whsec_") || strings.Contains(c.Warnings[i].Problem, "planted") {
		t.Errorf("got %v", c.Warnings)
	}
}

func TestDemo_MayBeShorterThanIsSafe(t *testing.T) {
	t.Parallel()
	const short = "\ncredit: {quarantine: 2s, second_look_after: 100ms, looks: [50ms, 51ms], look_every: 200ms, look_every_with_task: 1s, " +
		"lease: 2s, send_deadline: 200ms, reissue_watch: 10s, task_after: 500ms, held_grace: 1ms, deposit_expiry: 5s}\nshutdown_timeout: 2s\n"
	f := newFolder(t)
	f.change("login: 7", "login: 7\n      call_timeout: 500ms")
	f.change("limits:", short+"limits:")
	if c, err := f.load(); err == nil {
		t.Fatalf("without demo: true the short times were accepted: %+v", c.Credit)
	}
	f.change("environment: test", "environment: test\ndemo: true")
	c, err := f.load()
	if err != nil {
		t.Fatal(err)
	}
	if c.Credit.Quarantine != 2*time.Second || len(c.Credit.Looks) != 2 || c.Credit.HeldGrace != time.Millisecond {
		t.Errorf("got %+v", c.Credit)
	}
}

func TestLoad_FileThatIsNoConfiguration(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	f.write("huge.yaml", strings.Repeat("#", maxFile+1), 0o600)
	for name, says := range map[string]string{"absent.yaml": "no such file", "huge.yaml": "larger than 256KiB", ".": "is a directory"} {
		_, err := Load(f.path(name), Env{Getenv: func(string) string { return "" }, Now: loadTime})
		var faults *Faults
		if !errors.As(err, &faults) || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), PathVariable) {
			t.Errorf("%s: got %v, want %q", name, err, says)
		}
	}
}

func TestFind_TheVariableWinsEvenOverAFileThatExists(t *testing.T) {
	t.Parallel()
	got := Find(func(name string) string { return map[string]string{PathVariable: "/nowhere.yaml"}[name] })
	if got != "/nowhere.yaml" {
		t.Errorf("got %q", got)
	}
}

func TestFind_TakesTheWorkingFolderFirst(t *testing.T) { // changes the process's folder, so not parallel
	f := newFolder(t)
	t.Chdir(f.dir)
	if got := Find(func(string) string { return "" }); got != "config.yaml" {
		t.Errorf("got %q", got)
	}
	c, err := Load("config.yaml", Env{Getenv: func(string) string { return "" }, Now: loadTime})
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Providers["stripe"].Secrets[0].File; !filepath.IsAbs(got) {
		t.Errorf("the secret's path %s is not absolute", got)
	}
}

// standardKey is whsec_ and the base64 of 32 bytes.
const standardKey = "whsec_cGxhbnRlZCBwbGFudGVkIHBsYW50ZWQgcGxhbnRlZCE="

func TestLoad_KeysOfAStandardProviderAreLookedAt(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		standardKey: "",
		strings.TrimPrefix(standardKey, "whsec_"): "",
		strings.TrimRight(standardKey, "="):       "",
		"whpk_" + standardKey[6:]:                 "",
		"whsk_" + standardKey[6:]:                 "holds the sender's private key",
		"whpk_" + standardKey[6:20]:               "base64 of a public key of 32 bytes",
		"whsec_planted!":                          "base64 of 24 to 64 bytes",
		"whsec_cGxhbnRlZA==":                      "base64 of 24 to 64 bytes",
		"other_" + standardKey[6:]:                "base64 of 24 to 64 bytes",
	} {
		f := newFolder(t)
		f.change("kind: stripe, account: acct_1", "kind: standard, account: wallet, payload: {type: t, occurred_at: at, livemode: false, amount_is: minor, paid: {types: [a], payment: p, amount: m, currency: c, code: d}}")
		f.write("webhook", key, 0o600)
		_, err := f.load()
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", key, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "cGxh")):
			t.Errorf("%s: %v", key, err)
		}
	}
}

func TestLoad_AlertsAreLookedAt(t *testing.T) {
	t.Parallel()
	const sections = "alerts: {email: {server: \"mail.test:25\", username: u, password: {file: mail}, from: a@b.test, to: [c@d.test], ca_file: roots}, " +
		"webhook: {url: \"https://x.test\", secret: {file: hook}, ca_file: roots}}\nlimits:"
	for name, tc := range map[string]struct{ mail, hook, roots, says string }{
		"no password":  {"", standardKey, "", "alerts.email.password"},
		"short secret": {"planted", "whsec_cGxhbnRlZA==", "", "alerts.webhook.secret: file"},
		"public key":   {"planted", "whpk_" + standardKey[6:], "", "holds a public key, which cannot sign"},
		"no roots":     {"planted", standardKey, "planted", "holds no certificate in PEM form"},
	} {
		f := newFolder(t)
		f.change("limits:", sections)
		f.write("mail", tc.mail, 0o600)
		f.write("hook", tc.hook, 0o600)
		f.write("roots", tc.roots, 0o600)
		if _, err := f.load(); err == nil || !strings.Contains(err.Error(), tc.says) || strings.Contains(err.Error(), "cGxh") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
