package mt5

import (
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
)

// Trust says which certificate the server may show. All empty: the system's roots and the host's name. There
// is no way to accept any certificate.
type Trust struct {
	CAFile     string // PEM file of roots that replace the system's
	CAPEM      []byte // the same as text; not both
	PinSHA256  string // SHA-256 of the server's own certificate (DER) in hex, colons allowed
	ServerName string // the name to verify and to send as SNI; the address's host when empty
}

// errPin is the reason of a connection whose certificate is not the pinned one.
var errPin = errors.New("the server's certificate is not the pinned one; when it was renewed, check it and pin the new one")

// trustAdvice says what a person can do about a certificate that was refused; empty for every other fault.
func trustAdvice(err error) string {
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "; name the file of the authority that signed it as tls.ca_file, or pin it with tls.pin_sha256"
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return "; name what the certificate is for as tls.server_name, once you know that the server is yours"
	}
	return ""
}

// verifier is Trust, read and checked.
type verifier struct {
	roots      *x509.CertPool
	pin        []byte
	serverName string
}

func newVerifier(t Trust) (*verifier, error) {
	v := &verifier{serverName: t.ServerName}
	text := t.CAPEM
	if t.CAFile != "" {
		if len(text) > 0 {
			return nil, errors.New("tls: give a CA file or CA text, not both")
		}
		var err error
		if text, err = os.ReadFile(t.CAFile); err != nil {
			return nil, fmt.Errorf("tls: read the CA file: %w", err)
		}
	}
	if t.CAFile != "" || len(text) > 0 {
		v.roots = x509.NewCertPool()
		if !v.roots.AppendCertsFromPEM(text) {
			return nil, errors.New("tls: the CA file holds no PEM certificate")
		}
	}
	if t.PinSHA256 != "" {
		pin, err := hex.DecodeString(strings.ReplaceAll(t.PinSHA256, ":", ""))
		if err != nil || len(pin) != sha256.Size {
			return nil, errors.New("tls: the pin must be 64 hex digits")
		}
		v.pin = pin
	}
	return v, nil
}

// config is the TLS configuration for one connection. No ALPN is offered, so the server speaks HTTP/1.1; no
// session cache is set, so every connection shows its certificate.
func (v *verifier) config(host string) *tls.Config {
	c := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: v.roots, ServerName: host}
	if v.serverName != "" {
		c.ServerName = v.serverName
	}
	if v.pin == nil {
		return c
	}
	// With a pin alone, the fingerprint of the very certificate says more than a chain and a name, and MT5
	// servers often show a self-signed or wrong-name certificate (§1.1). Skipping the chain is safe only
	// because VerifyConnection runs on every handshake and refuses any other certificate.
	c.InsecureSkipVerify = v.roots == nil
	c.VerifyConnection = func(s tls.ConnectionState) error {
		if len(s.PeerCertificates) == 0 {
			return errPin
		}
		sum := sha256.Sum256(s.PeerCertificates[0].Raw)
		if subtle.ConstantTimeCompare(sum[:], v.pin) != 1 {
			return errPin
		}
		return nil
	}
	return c
}
