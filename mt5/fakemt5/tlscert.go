package fakemt5

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"time"
)

// selfSigned makes a certificate that is its own authority for loopback and the given
// names. It is valid for a century, so that neither side's test clock matters.
func selfSigned(names []string) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("make certificate key: %w", err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("make certificate serial: %w", err)
	}
	t := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "localhost"},
		NotBefore: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true, IsCA: true,
		DNSNames: append([]string{"localhost"}, names...), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	der, err := x509.CreateCertificate(rand.Reader, t, t, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("make certificate: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

// certificate takes the configured certificate, reads back the one of an earlier run,
// or makes one; and writes out what the config asks for.
func (c Config) certificate() (tls.Certificate, error) {
	if c.Certificate != nil {
		if len(c.Certificate.Certificate) == 0 {
			return tls.Certificate{}, errors.New("certificate is empty")
		}
		return *c.Certificate, c.writeCert(*c.Certificate)
	}
	if c.KeyFile != "" && c.CertFile == "" {
		return tls.Certificate{}, errors.New("a key file needs a certificate file")
	}
	if c.KeyFile != "" {
		cert, err := tls.LoadX509KeyPair(c.CertFile, c.KeyFile)
		if err == nil {
			return cert, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return cert, fmt.Errorf("read certificate back: %w", err)
		}
	}
	cert, err := selfSigned(c.DNSNames)
	if err != nil {
		return cert, err
	}
	return cert, errors.Join(c.writeCert(cert), c.writeKey(cert))
}

func (c Config) writeCert(cert tls.Certificate) error {
	if c.CertFile == "" {
		return nil
	}
	if err := os.WriteFile(c.CertFile, certPEM(cert), 0o644); err != nil {
		return fmt.Errorf("write certificate: %w", err)
	}
	return nil
}

func (c Config) writeKey(cert tls.Certificate) error {
	if c.KeyFile == "" {
		return nil
	}
	der, err := x509.MarshalPKCS8PrivateKey(cert.PrivateKey)
	if err == nil {
		err = os.WriteFile(c.KeyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600)
	}
	if err != nil {
		return fmt.Errorf("write certificate key: %w", err)
	}
	return nil
}

func certPEM(cert tls.Certificate) []byte {
	var out []byte
	for _, der := range cert.Certificate {
		out = append(out, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})...)
	}
	return out
}

// CertPEM is the server's certificate chain as PEM, for a client's CA file.
func (s *Server) CertPEM() []byte { return certPEM(s.cert) }

// Fingerprint is the SHA-256 of the server's certificate in lower-case hex.
func (s *Server) Fingerprint() string {
	sum := sha256.Sum256(s.cert.Certificate[0])
	return hex.EncodeToString(sum[:])
}
