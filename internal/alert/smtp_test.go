package alert_test

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"fmt"
	"math/big"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// delivered is one message as the mail server took it.
type delivered struct {
	secure         bool
	login          string // user and password that were given
	from, to, data string
}

// mailServer is a mail server of the test's own, with faults by command.
type mailServer struct {
	address string
	roots   *x509.CertPool

	implicit bool
	config   *tls.Config
	answer   func(command string) string // other than the usual answer; "drop" cuts the line; "" is the usual one
	noTLS    bool                        // offers no STARTTLS

	mu   sync.Mutex
	mail []delivered
}

// newMailServer starts a server on a port of its own; change may set its switches before.
func newMailServer(t *testing.T, change func(*mailServer)) *mailServer {
	t.Helper()
	s := &mailServer{answer: func(string) string { return "" }}
	s.config, s.roots = certificate(t)
	change(s)
	socket, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.address = socket.Addr().String()
	var open sync.WaitGroup
	open.Go(func() {
		for {
			conn, err := socket.Accept()
			if err != nil {
				return
			}
			open.Go(func() { s.serve(conn) })
		}
	})
	t.Cleanup(func() { _ = socket.Close(); open.Wait() })
	return s
}

// certificate makes a certificate of 127.0.0.1 that signs itself.
func certificate(t *testing.T) (*tls.Config, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "mail"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(leaf)
	return &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}, roots
}

func (s *mailServer) taken() []delivered {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]delivered(nil), s.mail...)
}

// serve speaks as much of SMTP as a sender needs (RFC 5321, 3207, 4954).
func (s *mailServer) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	var d delivered
	if s.implicit {
		conn, d.secure = tls.Server(conn, s.config), true
	}
	in := bufio.NewReader(conn)
	say := func(text string) { _, _ = fmt.Fprintf(conn, "%s\r\n", text) }
	say("220 mail.test ESMTP")
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimRight(line, "\r\n")
		command, argument, _ := strings.Cut(line, " ")
		command = strings.ToUpper(command)
		if other := s.answer(command); other == "drop" {
			return
		} else if other != "" {
			say(other)
			continue
		}
		switch command {
		case "EHLO", "HELO":
			say("250-mail.test")
			if !d.secure && !s.noTLS {
				say("250-STARTTLS")
			}
			say("250 AUTH PLAIN LOGIN")
		case "STARTTLS":
			say("220 go on")
			conn, d.secure = tls.Server(conn, s.config), true
			in = bufio.NewReader(conn)
		case "AUTH":
			_, text, _ := strings.Cut(argument, " ")
			raw, _ := base64.StdEncoding.DecodeString(text)
			d.login = strings.Trim(strings.ReplaceAll(string(raw), "\x00", " "), " ")
			if refusal := s.answer("LOGIN AS " + d.login); refusal != "" {
				say(refusal)
				continue
			}
			say("235 welcome")
		case "MAIL":
			d.from = argument
			say("250 ok")
		case "RCPT":
			d.to = argument
			say("250 ok")
		case "DATA":
			say("354 go on")
			d.data = ""
			for {
				line, err := in.ReadString('\n')
				if err != nil {
					return
				}
				if line == ".\r\n" {
					break
				}
				d.data += line
			}
			switch after := s.answer("END OF DATA"); after {
			case "":
				s.keep(d)
				say("250 taken")
			case "drop after taking":
				s.keep(d)
				return
			default:
				say(after)
			}
		case "QUIT":
			say("221 bye")
			return
		default:
			say("250 ok")
		}
	}
}

func (s *mailServer) keep(d delivered) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mail = append(s.mail, d)
}
