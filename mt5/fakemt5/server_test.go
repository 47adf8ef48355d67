package fakemt5

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"go/parser"
	"go/token"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestPackage_ImportsTheStandardLibraryOnly(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range f.Imports {
			path := strings.Trim(i.Path.Value, `"`)
			if root, _, _ := strings.Cut(path, "/"); strings.Contains(root, ".") || root == "creditonce" {
				t.Errorf("%s imports %s", name, path)
			}
		}
	}
}

func TestStart_RefusesBadConfig(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for name, change := range map[string]func(*Config){
		"no manager":          func(c *Config) { c.World.Managers = nil },
		"manager 0":           func(c *Config) { c.World.Managers[0].Login = 0 },
		"no password":         func(c *Config) { c.World.Managers[0].Password = "" },
		"negative refusal":    func(c *Config) { c.World.Managers[0].Refuse = -1 },
		"manager twice":       func(c *Config) { c.World.Managers = append(c.World.Managers, c.World.Managers[0]) },
		"unknown group":       func(c *Config) { c.World.Accounts[0].Group = "none" },
		"account twice":       func(c *Config) { c.World.Accounts[1].Login = testLogin },
		"bad zone":            func(c *Config) { c.World.Zone.OffsetMinutes = 9999 },
		"bad wire":            func(c *Config) { c.World.Wire.Scalars = "words" },
		"negative time-out":   func(c *Config) { c.AuthTimeout = -1 },
		"port taken":          func(c *Config) { c.Listen = taken.Addr().String() },
		"control taken":       func(c *Config) { c.Control = taken.Addr().String() },
		"control is public":   func(c *Config) { c.Control = "0.0.0.0:0" },
		"control has no host": func(c *Config) { c.Control = ":0" },
		"journal in a file":   func(c *Config) { c.Journal = filepath.Join("doc.go", "x") },
		"key without cert":    func(c *Config) { c.KeyFile = "key.pem" },
		"empty certificate":   func(c *Config) { c.Certificate = &tls.Certificate{} },
		"unwritable cert":     func(c *Config) { c.CertFile = filepath.Join("doc.go", "x") },
	} {
		cfg := testConfig(NewManualClock(testStart))
		change(&cfg)
		if s, err := Start(t.Context(), cfg); err == nil {
			t.Errorf("%s: started", name)
			_ = s.Close()
		}
	}
}

func TestServer_StopsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s, err := Start(ctx, testConfig(NewManualClock(testStart)))
	if err != nil {
		t.Fatal(err)
	}
	c := login(t, s)
	cancel()
	if !c.dead() {
		t.Error("the connection lives on")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestCertificate_IsWrittenAndReadBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := func(c *Config) {
		c.CertFile, c.KeyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
		c.DNSNames = []string{"mt5.example"}
	}
	s, _, _ := startTest(t, files)
	text, err := os.ReadFile(filepath.Join(dir, "cert.pem"))
	if err != nil || string(text) != string(s.CertPEM()) {
		t.Fatalf("written certificate: %v", err)
	}
	fingerprint := s.Fingerprint()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s, _, _ = startTest(t, files)
	if s.Fingerprint() != fingerprint {
		t.Error("a restart changes the certificate")
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(text)
	for name, ok := range map[string]bool{"localhost": true, "127.0.0.1": true, "mt5.example": true, "other.example": false} {
		conn, err := tls.Dial("tcp", s.Addr(), &tls.Config{RootCAs: roots, ServerName: name, NextProtos: []string{"h2", "http/1.1"}})
		if (err == nil) != ok {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil {
			continue
		}
		state := conn.ConnectionState()
		sum := sha256.Sum256(state.PeerCertificates[0].Raw)
		if hex.EncodeToString(sum[:]) != fingerprint || state.NegotiatedProtocol == "h2" {
			t.Errorf("%s: protocol %q", name, state.NegotiatedProtocol)
		}
		_ = conn.Close()
	}
}

func TestCertificate_CanBeGiven(t *testing.T) {
	t.Parallel()
	cert, err := selfSigned([]string{"given.example"})
	if err != nil {
		t.Fatal(err)
	}
	s, _, _ := startTest(t, func(c *Config) { c.Certificate = &cert })
	if string(s.CertPEM()) != string(certPEM(cert)) {
		t.Error("another certificate is served")
	}
	login(t, s)
}

func TestLoadWorld_ReadsTheAccountsFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "accounts.json")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"server":"File-Live","first_ticket":7,"zone":{"offset_minutes":180,"dst":"eu"},
		"managers":[{"login":1007,"password":"Fund5Bridge!"}],
		"groups":[{"name":"real\\eur","currency":"EUR","digits":2}],
		"accounts":[{"login":500123,"group":"real\\eur","balance":2500,"seed_deals":5}],
		"wire":{"key_case":"lower","empty_page":"13"}}`)
	w, err := LoadWorld(path)
	if err != nil {
		t.Fatal(err)
	}
	s, _, _ := startTest(t, func(c *Config) { c.World = w })
	c := login(t, s)
	if g := c.get("common/get").answer(t); g["name"] != "File-Live" || g["totaldeals"] != "6" {
		t.Errorf("%v", g)
	}
	if e := s.Journal()[0]; e.Ticket != 7 || e.Minor != 25_00 {
		t.Errorf("%+v", e)
	}
	for _, bad := range []string{`{"acounts":[]}`, `{} {}`, ``} {
		write(bad)
		if _, err := LoadWorld(path); err == nil {
			t.Errorf("%q loads", bad)
		}
	}
	if _, err := LoadWorld(path + "x"); err == nil {
		t.Error("a missing file loads")
	}
}

func TestRealClock_ServesToo(t *testing.T) {
	t.Parallel()
	s, err := Start(t.Context(), testConfig(nil))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	login(t, s).deposit("1", "x")
	e := s.Journal()[2]
	if age := time.Since(e.UTC); age < 0 || age > time.Minute {
		t.Errorf("deal at %s", e.UTC)
	}
}
