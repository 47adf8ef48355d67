package config

import (
	"crypto/x509"
	"fmt"
	"net"
	"net/mail"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// Alerts is where people are told about tasks and mode changes. Both nil: nobody is.
type Alerts struct {
	Email   *AlertEmail
	Webhook *AlertWebhook
}

// AlertEmail is a mail server and who gets its mail.
type AlertEmail struct {
	Server   string // host:port
	TLS      string // "starttls", "implicit", or "none" for a server on this host
	CAFile   string // PEM roots that replace the system's
	Username string // empty: the server asks for no login
	Password Secret
	From     string // a plain address
	To       []string
}

// AlertWebhook is a receiver of signed messages.
type AlertWebhook struct {
	URL    string
	Secret Secret // whsec_ and base64 of 24 to 64 bytes
	CAFile string // PEM roots that replace the system's
}

func (r *reader) alerts(s *section) (a Alerts) {
	if s.has("email") {
		a.Email = r.alertEmail(s.open("email"))
	}
	if s.has("webhook") {
		a.Webhook = r.alertWebhook(s.open("webhook"))
	}
	_, _ = s.lookUp("email")
	_, _ = s.lookUp("webhook")
	s.close()
	return a
}

func (r *reader) alertEmail(s *section) *AlertEmail {
	e := &AlertEmail{TLS: "starttls"}
	s.require("write host:port of your mail server, such as mail.example.com:587", "server")
	s.text("server", &e.Server, mailServer)
	s.text("tls", &e.TLS, oneOf("starttls", "implicit", "none"))
	s.filePath("ca_file", &e.CAFile)
	s.text("username", &e.Username, nil)
	if node := s.value("password"); node != nil {
		e.Password = r.secret(s.child("password"), node)
	}
	if s.has("username") != s.has("password") {
		r.fault(s.path, "names a username or a password without the other; write both, or none for a server that asks for no login")
	}
	s.require("write the address that the mail comes from, such as creditonce@example.com", "from")
	s.text("from", &e.From, mailAddress)
	s.require("list who gets the mail, such as [ops@example.com]", "to")
	e.To = r.recipients(s)
	if host, _, err := net.SplitHostPort(e.Server); err == nil && e.TLS == "none" && !loopback(net.JoinHostPort(host, "0")) {
		r.fault(s.child("tls"), "none would send mail and password in the clear to %s; write starttls or implicit (none is for a mail server on this host)", host)
	}
	s.close()
	return e
}

func (r *reader) recipients(s *section) (to []string) {
	items, paths := s.list("to")
	for i, item := range items {
		value, ok := r.textOf(paths[i], item)
		if !ok {
			continue
		}
		problem := mailAddress(value)
		if problem == "" && slices.Contains(to, value) {
			problem = value + " is written twice; keep one"
		}
		if problem != "" {
			r.fault(paths[i], "%s", problem)
			continue
		}
		to = append(to, value)
	}
	if seq, ok := s.peek("to").(*ast.SequenceNode); ok && len(seq.Values) == 0 {
		r.fault(s.child("to"), "is empty; list at least one address, or delete the section")
	}
	return to
}

func (r *reader) alertWebhook(s *section) *AlertWebhook {
	w := &AlertWebhook{}
	s.require("write the address that takes the messages, such as https://example.com/alerts", "url")
	s.text("url", &w.URL, hookURL)
	s.require("name the file or credential of the secret that signs the messages", "secret")
	if node := s.value("secret"); node != nil {
		w.Secret = r.secret(s.child("secret"), node)
	}
	s.filePath("ca_file", &w.CAFile)
	s.close()
	return w
}

func mailServer(value string) string {
	if problem := remoteAddress(value); problem != "" {
		return fmt.Sprintf("%s is not a mail server's address; write host:port, such as mail.example.com:587", shown(value))
	}
	return ""
}

// mailAddress takes a plain address, without a name around it.
func mailAddress(value string) string {
	a, err := mail.ParseAddress(value)
	if err != nil || a.Address != value || a.Name != "" {
		return fmt.Sprintf("%s is not a plain mail address; write one, such as ops@example.com", shown(value))
	}
	return ""
}

// hookURL is not shown in messages: its query may be a secret.
func hookURL(value string) string {
	u, err := url.Parse(value)
	switch {
	case err != nil || u.Host == "" || u.Fragment != "" || u.Opaque != "":
		return "is not an address; write such as https://example.com/alerts"
	case u.User != nil:
		return "holds a user name or password; take it out, the messages are signed"
	case u.Scheme == "https", u.Scheme == "http" && loopback(net.JoinHostPort(u.Hostname(), "0")):
		return ""
	default:
		return "is not https; write https:// (http:// is for a receiver on this host)"
	}
}

// inspectAlerts reads the secrets and roots of the alerts.
func (r *reader) inspectAlerts(c *Config, credentialsDir string) {
	if e := c.Alerts.Email; e != nil {
		if e.Username != "" {
			r.loadSecret(c, &e.Password, "alerts.email.password", credentialsDir)
		}
		r.inspectRoots(c, "alerts.email.ca_file", e.CAFile)
	}
	if w := c.Alerts.Webhook; w != nil {
		if r.loadSecret(c, &w.Secret, "alerts.webhook.secret", credentialsDir) {
			if strings.HasPrefix(string(w.Secret.Reveal()), "whpk_") {
				r.fault("alerts.webhook.secret", "%s holds a public key, which cannot sign; make a secret with: echo whsec_$(openssl rand -base64 32)", w.Secret.Source())
			} else {
				r.standardKey("alerts.webhook.secret", w.Secret)
			}
		}
		r.inspectRoots(c, "alerts.webhook.ca_file", w.CAFile)
	}
}

func (r *reader) inspectRoots(c *Config, path, file string) {
	if file == "" {
		return
	}
	text, err := os.ReadFile(file)
	switch {
	case err != nil:
		r.fault(path, "the roots cannot be read (%v); correct the path", err)
	case !x509.NewCertPool().AppendCertsFromPEM(text):
		r.fault(path, "%s holds no certificate in PEM form; name the file of the authority that signed the server's certificate", file)
	default:
		c.Checked = append(c.Checked, path+": roots read from "+file)
	}
}
