package config

import (
	"bytes"
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
)

const (
	// renewWithin is when an expiry is worth a warning.
	renewWithin = 14 * day
	// othersMayReadTLSKey leaves out the group: certificate tools keep keys for a group of their own.
	othersMayReadTLSKey = 0o037
)

// inspect looks at everything the text points to: it fills in the secrets' values and checks that certificates can be
// used. What is in order goes to c.Checked.
func (r *reader) inspect(c *Config, credentialsDir string, now time.Time) {
	for _, name := range slices.Sorted(maps.Keys(c.Providers)) {
		p := c.Providers[name]
		if path := "providers." + name + ".api_key"; p.List.Key.IsSet() && r.loadSecret(c, &p.List.Key, path, credentialsDir) {
			r.stripeKey(path, p.List.Key, c.Environment)
		}
		if path := "providers." + name + ".settlement.client_secret"; p.Settlement.PayPal.Secret.IsSet() {
			r.loadSecret(c, &p.Settlement.PayPal.Secret, path, credentialsDir)
		}
		c.Providers[name] = p
		for i := range p.Secrets {
			path := fmt.Sprintf("providers.%s.secrets[%d]", name, i)
			if !r.loadSecret(c, &p.Secrets[i], path, credentialsDir) {
				continue
			}
			switch value := p.Secrets[i].Reveal(); {
			case p.Kind == KindStandard:
				r.standardKey(path, p.Secrets[i])
			case p.Kind == KindStripe && !bytes.HasPrefix(value, []byte("whsec_")):
				r.warn(path, "does not begin with whsec_, as every signing secret of a Stripe endpoint does; an API key (sk_…) verifies nothing")
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.MT5.Servers)) {
		m := c.MT5.Servers[name]
		path := "mt5.servers." + name
		r.loadSecret(c, &m.Password, path+".password", credentialsDir)
		c.MT5.Servers[name] = m
		r.inspectMT5TLS(c, path+".tls", m.TLS)
	}
	r.inspectAlerts(c, credentialsDir)
	r.sharedSecrets(c)
	r.inspectPair(c, "webhooks.tls", c.Webhooks.TLS, now)
	r.inspectPair(c, "api.tls", c.API.TLS, now)
}

// loadSecret reads the value and reports whether it is there.
func (r *reader) loadSecret(c *Config, s *Secret, path, credentialsDir string) bool {
	if s.File == "" && s.Credential == "" {
		return false // reported where it was read
	}
	if problem := s.load(credentialsDir); problem != "" {
		r.fault(path, "%s", problem)
		return false
	}
	c.Checked = append(c.Checked, path+": secret read from "+s.Source())
	return true
}

// apiKeyForm is what goes into a header.
var apiKeyForm = regexp.MustCompile(`^[A-Za-z0-9_-]{8,512}$`)

// stripeKey looks whether a secret can read this environment's events; the prefixes are docs.stripe.com/keys.
func (r *reader) stripeKey(path string, s Secret, e Environment) {
	text := string(s.Reveal())
	kind, rest, _ := strings.Cut(text, "_")
	of, _, _ := strings.Cut(rest, "_")
	switch {
	case !apiKeyForm.MatchString(text):
		r.fault(path, "%s does not hold an API key; copy the whole key, rk_... or sk_..., alone on one line", s.Source())
	case kind == "whsec":
		r.fault(path, "%s holds a signing secret (whsec_...), which belongs under secrets; put an API key there, best a restricted one (rk_...)", s.Source())
	case kind == "pk":
		r.fault(path, "%s holds a publishable key (pk_...), which reads no events; put a restricted key there (rk_...)", s.Source())
	case of == "live" && e == Test, of == "test" && e == Live:
		r.fault(path, "%s holds a key of the %s environment, and this file is about %s; put a key of the same environment there", s.Source(), of, e)
	case kind == "sk":
		r.warn(path, "is a secret key, which can move money; a restricted key (rk_...) that may read Events is enough")
	case kind != "rk":
		r.warn(path, "does not begin with rk_, as restricted keys of Stripe do; see whether it is the right key")
	}
}

// standardKey looks whether a secret can verify by Standard Webhooks (providers.md §2.14).
func (r *reader) standardKey(path string, s Secret) {
	kind, text, prefixed := strings.Cut(string(s.Reveal()), "_")
	if !prefixed {
		kind, text = "whsec", kind
	}
	key, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
	switch {
	case kind == "whsk":
		r.fault(path, "%s holds the sender's private key (whsk_...); put the public one (whpk_...) there, and leave the private one with the sender", s.Source())
	case kind == "whpk" && (err != nil || len(key) != ed25519.PublicKeySize):
		r.fault(path, "%s does not hold whpk_ and the base64 of a public key of 32 bytes; copy the whole key", s.Source())
	case kind != "whpk" && (kind != "whsec" || err != nil || len(key) < 24 || len(key) > 64):
		r.fault(path, "%s does not hold whsec_ and the base64 of 24 to 64 bytes; make one with: echo whsec_$(openssl rand -base64 32)", s.Source())
	}
}

// inspectPair loads a listener's certificate and key as the listener will.
func (r *reader) inspectPair(c *Config, path string, pair *TLSPair, now time.Time) {
	if pair == nil {
		return
	}
	loaded, err := tls.LoadX509KeyPair(pair.CertFile, pair.KeyFile)
	if err != nil {
		r.fault(path, "certificate and key cannot be used together (%v); name a PEM chain and its key, readable by the service's user", err)
		return
	}
	if about, err := os.Stat(pair.KeyFile); err == nil && about.Mode().Perm()&othersMayReadTLSKey != 0 {
		r.fault(path+".key_file", "%s has mode %04o, so other users may read the key; run: chmod 600 %s",
			pair.KeyFile, about.Mode().Perm(), pair.KeyFile)
		return
	}
	leaf := loaded.Leaf
	expiry := leaf.NotAfter.UTC().Format(time.DateTime) + " UTC"
	switch {
	case now.After(leaf.NotAfter):
		r.warn(path, "the certificate expired at %s; renew it, clients refuse it", expiry)
	case now.Before(leaf.NotBefore):
		r.warn(path, "the certificate is valid only from %s UTC; check this machine's clock", leaf.NotBefore.UTC().Format(time.DateTime))
	case leaf.NotAfter.Sub(now) < renewWithin:
		r.warn(path, "the certificate expires at %s; renew it", expiry)
	}
	c.Checked = append(c.Checked, fmt.Sprintf("%s: certificate and key belong together, valid until %s", path, expiry))
}

func (r *reader) inspectMT5TLS(c *Config, path string, t MT5TLS) {
	switch {
	case t.PinSHA256 != nil:
		c.Checked = append(c.Checked, path+": server certificate pinned to "+hex.EncodeToString(t.PinSHA256[:4])+"...")
	case t.CAFile == "":
		c.Checked = append(c.Checked, path+": server certificate checked against the system's roots")
	default:
		text, err := os.ReadFile(t.CAFile)
		if err != nil {
			r.fault(path+".ca_file", "the roots cannot be read (%v); correct the path", err)
			return
		}
		if !x509.NewCertPool().AppendCertsFromPEM(text) {
			r.fault(path+".ca_file", "%s holds no certificate in PEM form; name the file of the authority that signed the server's certificate", t.CAFile)
			return
		}
		c.Checked = append(c.Checked, path+": server certificate checked against "+t.CAFile)
	}
}
