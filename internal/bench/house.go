package bench

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"creditonce/mt5/fakemt5"
)

// The world of a measurement: one provider, one MT5 server with many accounts, so that rows of one login seldom wait
// for each other.
const (
	providerLabel = "stripe"
	serverLabel   = "main"
	mt5Identity   = "Bench-MT5"
	managerLogin  = 1000
	firstLogin    = 700_001
	wireAccounts  = 256
	sessions      = 4
	minor         = 12_345
)

// house is a folder with a configuration, its secrets and a store of its own.
type house struct {
	dir    string
	secret string // of the webhook
	key    string // of the portal's API, with every scope that is needed here
	caFile string // of the webhook listener; empty: plain HTTP
	filled bool   // a store was there before
}

func newHouse(dir string, mt5 *mt5Part, secure bool) (*house, error) {
	h := &house{dir: dir, secret: "whsec_" + rand.Text(), key: "co_" + rand.Text()}
	_, err := os.Stat(filepath.Join(dir, "data"))
	h.filled = err == nil
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	listen := `{listen: "127.0.0.1:0"}`
	if secure {
		h.caFile = filepath.Join(dir, "webhooks.pem")
		listen = `{listen: "127.0.0.1:0", tls: {cert_file: webhooks.pem, key_file: webhooks.key}}`
		if err := writeCertificate(h.caFile, filepath.Join(dir, "webhooks.key")); err != nil {
			return nil, err
		}
	}
	return h, errors.Join(
		os.WriteFile(filepath.Join(dir, "webhook"), []byte(h.secret+"\n"), 0o600),
		os.WriteFile(h.config(), []byte(h.text(listen, mt5)), 0o600),
	)
}

func (h *house) config() string { return filepath.Join(h.dir, "config.yaml") }

// text is a configuration with the waits and limits of production. It is one of a demo, since only such a store is live
// from the start, and its money is as little real.
func (h *house) text(listen string, mt5 *mt5Part) string {
	return fmt.Sprintf(`environment: test
demo: true
data_dir: data
webhooks: %s
api:
  listen: 127.0.0.1:0
  keys:
    - {name: bench-accounts, sha256: "%x", scopes: ["accounts:write"]}
    - {name: bench, sha256: "%x", scopes: ["deposits:write", "deposits:read"]}
providers:
  %s: {kind: stripe, account: acct_bench, secrets: [{file: webhook}]}
mt5:
  servers:
    %s:
      identity: %s
      addresses: ["%s"]
      login: %d
      password: {file: %q}
      tls: {ca_file: %q}
      sessions: %d
      currencies: {USD: 2}
credit: {held_grace: 23h}
limits:
  per_credit: {USD: "10000.00"}
  per_login_day: {USD: "100000000.00"}
space: {stop_claims_below: 64MiB, refuse_intake_below: 32MiB}
`, listen, sha256.Sum256([]byte(h.accountsKey())), sha256.Sum256([]byte(h.key)), providerLabel, serverLabel, mt5Identity,
		mt5.addr, managerLogin, mt5.password, mt5.caFile, sessions)
}

// accountsKey is a second key: one must not have the scopes of both.
func (h *house) accountsKey() string { return h.key + "_accounts" }

// writeCertificate makes a certificate for 127.0.0.1 that is its own authority.
func writeCertificate(certFile, keyFile string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("make a certificate: %w", err)
	}
	now := time.Now()
	cert := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: "creditonce bench"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(48 * time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, &key.PublicKey, key)
	if err != nil {
		return fmt.Errorf("make a certificate: %w", err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return fmt.Errorf("make a certificate: %w", err)
	}
	return errors.Join(
		os.WriteFile(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600),
		os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600),
	)
}

// mt5Part is the fake MT5 server, in a process of its own, with its journal in memory: what is measured is this
// program's disk, not that of a trade server.
type mt5Part struct {
	*part
	addr, caFile, password string
}

func (p Programs) startMT5(dir string) (*mt5Part, error) {
	m := &mt5Part{caFile: filepath.Join(dir, "mt5-ca.pem"), password: filepath.Join(dir, "mt5-manager")}
	w := fakemt5.World{
		Server: mt5Identity, Zone: fakemt5.Zone{OffsetMinutes: 120, DST: fakemt5.DSTEU},
		Managers: []fakemt5.Manager{{Login: managerLogin}},
		Groups:   []fakemt5.Group{{Name: `bench\usd`, Currency: "USD", Digits: 2}},
	}
	for i := range uint64(wireAccounts) {
		w.Accounts = append(w.Accounts, fakemt5.Account{
			Login: firstLogin + i, Group: `bench\usd`, Balance: 100_000, SeedDeals: 20, SeedNumber: i + 1,
		})
	}
	text, err := json.Marshal(w)
	if err != nil {
		return nil, err
	}
	world := filepath.Join(dir, "world.json")
	if err := errors.Join(os.WriteFile(world, text, 0o600), os.WriteFile(m.password, []byte(rand.Text()+"\n"), 0o600)); err != nil {
		return nil, err
	}
	if m.part, err = p.start("fakemt5", dir, nil, "fakemt5", "--world", world, "--password-file", m.password, "--ca-out", m.caFile); err != nil {
		return nil, err
	}
	line, err := m.stdout.ReadBytes('\n')
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the fake MT5 server does not start: %s", m.lastWords()), m.stop())
	}
	var ready struct{ Listen string }
	if err := json.Unmarshal(line, &ready); err != nil {
		return nil, errors.Join(err, m.stop())
	}
	m.addr = ready.Listen
	return m, nil
}
