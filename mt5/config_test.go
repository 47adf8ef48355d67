package mt5

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/mt5/fakemt5"
)

func valid() Config {
	return Config{
		Label: "main", Identity: testIdentity, Addresses: []string{"127.0.0.1:1"}, Manager: testManager,
		Password: func() []byte { return nil }, Clock: testClock{fakemt5.NewManualClock(testStart)},
	}
}

func TestNew_EveryFaultIsSaid(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, []byte("not a certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*Config){
		"a label is missing":          func(c *Config) { c.Label = "" },
		"identity is missing":         func(c *Config) { c.Identity = "" },
		"no address":                  func(c *Config) { c.Addresses = nil },
		`address "host"`:              func(c *Config) { c.Addresses = []string{"host"} },
		`address ":443"`:              func(c *Config) { c.Addresses = []string{":443"} },
		"login is missing":            func(c *Config) { c.Manager = 0 },
		"password is missing":         func(c *Config) { c.Password = nil },
		`agent "my agent"`:            func(c *Config) { c.Agent = "my agent" },
		"page limit 101":              func(c *Config) { c.PageLimit = 101 },
		"page limit 1:":               func(c *Config) { c.PageLimit = 1 },
		"no clock":                    func(c *Config) { c.Clock = nil },
		"a duration is negative":      func(c *Config) { c.CallTimeout = -1 },
		"ping every 3m0s":             func(c *Config) { c.PingEvery = 3 * time.Minute },
		"the pin must be 64 hex":      func(c *Config) { c.TLS.PinSHA256 = "abcd" },
		"holds no PEM certificate":    func(c *Config) { c.TLS.CAFile = file },
		"no such file":                func(c *Config) { c.TLS.CAFile = file + ".missing" },
		"a CA file or CA text, not b": func(c *Config) { c.TLS.CAFile, c.TLS.CAPEM = file, []byte("x") },
	} {
		cfg := valid()
		change(&cfg)
		if _, err := New(cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if _, err := New(valid()); err != nil {
		t.Error(err)
	}
}

func TestH26_TrustSaysWhoIsBelieved(t *testing.T) {
	t.Parallel()
	fake, err := fakemt5.Start(t.Context(), fakemt5.Config{World: world(), Clock: fakemt5.NewManualClock(testStart)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = fake.Close() })
	block, _ := pem.Decode(fake.CertPEM())
	sum := sha256.Sum256(block.Bytes)
	pin := hex.EncodeToString(sum[:])
	_, other := certificate(t)
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, fake.CertPEM(), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		trust Trust
		want  string // "" when the session comes up
	}{
		"system roots":        {Trust{}, "unknown authority; name the file of the authority that signed it"},
		"its CA":              {Trust{CAPEM: fake.CertPEM()}, ""},
		"its CA in a file":    {Trust{CAFile: file}, ""},
		"another CA":          {Trust{CAPEM: other}, "unknown authority"},
		"its CA, other name":  {Trust{CAPEM: fake.CertPEM(), ServerName: "mt5.example.com"}, "not mt5.example.com; name what the certificate is for"},
		"pin":                 {Trust{PinSHA256: pin}, ""},
		"pin in capitals":     {Trust{PinSHA256: strings.ToUpper(pin[:2] + ":" + pin[2:])}, ""},
		"pin, whatever name":  {Trust{PinSHA256: pin, ServerName: "mt5.example.com"}, ""},
		"another pin":         {Trust{PinSHA256: strings.Repeat("0", 64)}, errPin.Error()},
		"pin and CA":          {Trust{PinSHA256: pin, CAPEM: fake.CertPEM()}, ""},
		"pin and another CA":  {Trust{PinSHA256: pin, CAPEM: other}, "unknown authority"},
		"another pin, its CA": {Trust{PinSHA256: strings.Repeat("0", 64), CAPEM: fake.CertPEM()}, errPin.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := valid()
			cfg.Addresses, cfg.TLS, cfg.Password = []string{fake.Addr()}, c.trust, func() []byte { return []byte(testPassword) }
			server, err := New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			s := server.Session(0)
			err = s.Ready(t.Context())
			t.Cleanup(func() { s.Drop("end of the test") })
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if err != nil {
				amount, _ := credit.Minor(1, "EUR", 2)
				got := s.Balance(t.Context(), credit.Call{Login: 1, Amount: amount, Reference: reference, Deadline: time.Hour})
				if got.Outcome != credit.OutcomeNotSent {
					t.Errorf("%+v", got)
				}
			}
		})
	}
}

func TestTrust_NeverWithoutACheckAndNeverBelowTLS12(t *testing.T) {
	t.Parallel()
	_, text := certificate(t)
	for _, trust := range []Trust{{}, {CAPEM: text}, {PinSHA256: strings.Repeat("a", 64)}, {PinSHA256: strings.Repeat("a", 64), CAPEM: text}} {
		v, err := newVerifier(trust)
		if err != nil {
			t.Fatal(err)
		}
		c := v.config("host")
		if c.InsecureSkipVerify && (c.VerifyConnection == nil || c.VerifyConnection(tls.ConnectionState{}) == nil) {
			t.Errorf("%+v: any certificate would do", trust)
		}
		if c.MinVersion != tls.VersionTLS12 || len(c.NextProtos) != 0 || c.ClientSessionCache != nil {
			t.Errorf("%+v: config %+v", trust, c)
		}
	}
}

func TestReady_RefusedAndSilentAddressesAreErrors(t *testing.T) {
	t.Parallel()
	for name, dial := range map[string]func(context.Context, string, string) (net.Conn, error){
		"refused": nil,
		"no TLS": func(context.Context, string, string) (net.Conn, error) {
			a, b := net.Pipe()
			_ = b.Close()
			return a, nil
		},
		"silent": func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		},
	} {
		cfg := valid()
		cfg.Addresses, cfg.dial, cfg.ConnectTimeout = []string{refusedAddress(t)}, dial, 50*time.Millisecond
		server, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		s := server.Session(0)
		if err := s.Ready(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "mt5 main: connect: 127.0.0.1:") {
			t.Errorf("%s: error %v", name, err)
		}
		amount, _ := credit.Minor(1, "EUR", 2)
		got := s.Balance(t.Context(), credit.Call{Login: 1, Amount: amount, Reference: reference, Deadline: time.Hour})
		if got.Outcome != credit.OutcomeNotSent || s.dials != 1 {
			t.Errorf("%s: %+v after %d dials", name, got, s.dials)
		}
	}
}

func TestReady_EndsWithItsCaller(t *testing.T) {
	t.Parallel()
	cfg := valid()
	cfg.dial = func(ctx context.Context, _, _ string) (net.Conn, error) { <-ctx.Done(); return nil, ctx.Err() }
	cfg.Addresses = []string{"127.0.0.1:1", "127.0.0.1:2"}
	server, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := server.Sessions(2)[1].Ready(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
