package stage

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// DrawSecret makes 256 random bits as text.
func DrawSecret(random io.Reader) (string, error) {
	var bits [32]byte
	if _, err := io.ReadFull(random, bits[:]); err != nil {
		return "", fmt.Errorf("draw a secret: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(bits[:]), nil
}

// Certify makes an authority and, signed by it, the certificate of a listener at 127.0.0.1: webhooks-ca.pem, webhooks.pem
// and webhooks.key in dir. The authority's key is not kept: nobody can sign a second certificate.
func Certify(dir string, now time.Time) error {
	authority, authorityKey, err := sign(now, &x509.Certificate{
		Subject: pkix.Name{CommonName: "creditonce demo authority"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign,
	}, nil, nil)
	if err != nil {
		return err
	}
	server, key, err := sign(now, &x509.Certificate{
		Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		KeyUsage:    x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}, authority, authorityKey)
	if err != nil {
		return err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	return errors.Join(
		writePEM(filepath.Join(dir, "webhooks-ca.pem"), "CERTIFICATE", authority.Raw, 0o644),
		writePEM(filepath.Join(dir, "webhooks.pem"), "CERTIFICATE", server.Raw, 0o644),
		writePEM(filepath.Join(dir, "webhooks.key"), "PRIVATE KEY", private, 0o600),
	)
}

// sign completes and signs a certificate; without a parent it signs itself.
func sign(now time.Time, t, parent *x509.Certificate, parentKey *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("make a certificate: %w", err)
	}
	if t.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120)); err != nil {
		return nil, nil, fmt.Errorf("make a certificate: %w", err)
	}
	t.NotBefore, t.NotAfter = now.Add(-24*time.Hour), now.AddDate(10, 0, 0)
	if parent == nil {
		parent, parentKey = t, key
	}
	der, err := x509.CreateCertificate(rand.Reader, t, parent, &key.PublicKey, parentKey)
	if err != nil {
		return nil, nil, fmt.Errorf("make a certificate: %w", err)
	}
	signed, err := x509.ParseCertificate(der)
	return signed, key, err
}

func writePEM(path, kind string, der []byte, mode os.FileMode) error {
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), mode)
}
