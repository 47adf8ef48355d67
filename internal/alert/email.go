package alert

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/wneessen/go-mail"
)

// Security is how the connection to a mail server is protected.
type Security string

// The ways to protect it. There is no "if the server can": that would be none, whenever somebody in between wishes.
const (
	StartTLS Security = "starttls"
	Implicit Security = "implicit"
	None     Security = "none" // for a mail server on this very host
)

// EmailConfig is what an Email is made of. Username and Password are empty for a server that asks for none.
type EmailConfig struct {
	Server             string // host:port
	Security           Security
	Roots              *x509.CertPool // nil: the system's
	Username, Password string
	From, To           string // one plain address each
	Now                func() time.Time
}

// Email sends messages to one recipient: a server may refuse one of several, and then the others must neither wait nor
// get it twice. It is safe for concurrent use.
type Email struct {
	cfg  EmailConfig
	host string
	port int
}

// NewEmail returns the transport, or an error that shows no secret.
func NewEmail(cfg EmailConfig) (*Email, error) {
	host, portText, err := net.SplitHostPort(cfg.Server)
	if err != nil {
		return nil, errors.New("make e-mail for alerts: the server is not host:port")
	}
	port, err := strconv.ParseUint(portText, 10, 16)
	if err != nil {
		return nil, errors.New("make e-mail for alerts: the server's port is no number")
	}
	e := &Email{cfg: cfg, host: host, port: int(port)}
	if _, err := e.message(Message{}); err != nil {
		return nil, fmt.Errorf("make e-mail for alerts: %w", err)
	}
	if _, err := e.client(nil); err != nil {
		return nil, failure("make e-mail for alerts", err, cfg.Password)
	}
	return e, nil
}

// Send hands the message to the mail server, over a connection of its own.
func (e *Email) Send(ctx context.Context, m Message) error {
	msg, err := e.message(m)
	if err != nil {
		return err
	}
	line := &connection{ctx: ctx, email: e}
	defer line.end()
	client, err := e.client(line.dial)
	if err != nil {
		return failure("send e-mail", err, e.secrets()...)
	}
	if err := client.DialAndSendWithContext(ctx, msg); err != nil {
		// A server that took the message and then fails to say goodbye has taken it.
		if msg.IsDelivered() {
			return nil
		}
		return failure("send e-mail by "+e.cfg.Server, err, e.secrets()...)
	}
	return nil
}

// secrets are the password and the forms in which the protocol carries it.
func (e *Email) secrets() []string {
	if e.cfg.Password == "" {
		return nil
	}
	return []string{"\x00" + e.cfg.Username + "\x00" + e.cfg.Password, e.cfg.Password}
}

func (e *Email) message(m Message) (*mail.Msg, error) {
	msg := mail.NewMsg(mail.WithNoDefaultUserAgent())
	if err := msg.From(e.cfg.From); err != nil {
		return nil, errors.New("the sender's address is not one")
	}
	if err := msg.To(e.cfg.To); err != nil {
		return nil, errors.New("the recipient's address is not one")
	}
	_, domain, _ := strings.Cut(e.cfg.From, "@")
	msg.SetMessageIDWithValue(m.ID + "@" + domain)
	msg.SetDateWithValue(e.cfg.Now())
	msg.SetGenHeader(mail.HeaderXMailer, "creditonce")
	// Says to other programs that nobody waits for an answer (RFC 3834).
	msg.SetGenHeader("Auto-Submitted", "auto-generated")
	msg.Subject(oneLine(m.Subject))
	msg.SetBodyString(mail.TypeTextPlain, m.Text)
	return msg, nil
}

// client builds the client of one message; dial nil: never to be used.
func (e *Email) client(dial mail.DialContextFunc) (*mail.Client, error) {
	options := []mail.Option{
		mail.WithPort(e.port), mail.WithTimeout(sendWithin), mail.WithoutNoop(), mail.WithTLSConfig(e.tls()),
	}
	if dial != nil {
		options = append(options, mail.WithDialContextFunc(dial))
	}
	switch e.cfg.Security {
	case StartTLS:
		options = append(options, mail.WithTLSPolicy(mail.TLSMandatory))
	case Implicit:
		options = append(options, mail.WithSSL())
	case None:
		options = append(options, mail.WithTLSPolicy(mail.NoTLS))
	default:
		return nil, fmt.Errorf("security %q is not known", e.cfg.Security)
	}
	if e.cfg.Username != "" {
		options = append(options, mail.WithUsername(e.cfg.Username), mail.WithPassword(e.cfg.Password),
			mail.WithOpportunisticSMTPAuth(mail.SMTPAuthSCRAMSHA256, mail.SMTPAuthPlain, mail.SMTPAuthLogin))
	}
	return mail.NewClient(e.host, options...)
}

func (e *Email) tls() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: e.cfg.Roots, ServerName: e.host}
}

// connection is the one connection of one attempt. It is cut when the attempt's context ends: the client itself heeds
// the context only while it dials.
type connection struct {
	ctx   context.Context
	email *Email
	conn  net.Conn
	stop  func() bool
}

func (c *connection) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	c.end()
	c.conn, c.stop = conn, context.AfterFunc(c.ctx, func() { _ = conn.Close() })
	if c.email.cfg.Security != Implicit {
		return conn, nil
	}
	secure := tls.Client(conn, c.email.tls())
	if err := secure.HandshakeContext(ctx); err != nil {
		return nil, err
	}
	return secure, nil
}

// end closes the connection: the client leaves it open where a greeting or a login fails.
func (c *connection) end() {
	if c.conn != nil {
		c.stop()
		_ = c.conn.Close()
	}
}
