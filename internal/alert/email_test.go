package alert_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"creditonce/internal/alert"
)

var sentAt = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func email(t *testing.T, s *mailServer, change func(*alert.EmailConfig)) *alert.Email {
	t.Helper()
	cfg := alert.EmailConfig{
		Server: s.address, Security: alert.StartTLS, Roots: s.roots, Username: "creditonce", Password: "planted-pass",
		From: "creditonce@firm.test", To: "ops@firm.test", Now: func() time.Time { return sentAt },
	}
	change(&cfg)
	e, err := alert.NewEmail(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

var letter = alert.Message{ID: "msg_store_1_2_abc", Subject: "[creditonce live] 2 tasks opened", Text: "Task 1 opened: held\n.\n  what    grüße\n"}

func TestEmail_IsSentProtectedAndWhole(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		server func(*mailServer)
		client func(*alert.EmailConfig)
		secure bool
		login  string
	}{
		"starttls":        {func(*mailServer) {}, func(*alert.EmailConfig) {}, true, "creditonce planted-pass"},
		"implicit":        {func(s *mailServer) { s.implicit = true }, func(c *alert.EmailConfig) { c.Security = alert.Implicit }, true, "creditonce planted-pass"},
		"without a login": {func(*mailServer) {}, func(c *alert.EmailConfig) { c.Username, c.Password = "", "" }, true, ""},
		"on this host":    {func(s *mailServer) { s.noTLS = true }, func(c *alert.EmailConfig) { c.Security = alert.None }, false, "creditonce planted-pass"},
	} {
		s := newMailServer(t, tc.server)
		if err := email(t, s, tc.client).Send(t.Context(), letter); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := s.taken()
		if len(got) != 1 || got[0].secure != tc.secure || got[0].login != tc.login || !strings.HasPrefix(got[0].from, "FROM:<creditonce@firm.test>") ||
			!strings.HasPrefix(got[0].to, "TO:<ops@firm.test>") {
			t.Errorf("%s: taken %+v", name, got)
			continue
		}
		for _, want := range []string{
			"Message-ID: <msg_store_1_2_abc@firm.test>", "Subject: [creditonce live] 2 tasks opened", "Auto-Submitted: auto-generated",
			"Date: Mon, 30 Nov 2026 12:00:00 +0000", "Task 1 opened: held\r\n..\r\n", "gr=C3=BC=C3=9Fe",
		} {
			if !strings.Contains(got[0].data, want) {
				t.Errorf("%s: no %q in\n%s", name, want, got[0].data)
			}
		}
	}
}

func TestEmail_FailuresSayWhyAndHoldNoSecret(t *testing.T) {
	t.Parallel()
	says := func(command, answer string) func(*mailServer) {
		return func(s *mailServer) {
			s.answer = func(c string) string {
				if c == command {
					return answer
				}
				return ""
			}
		}
	}
	for name, tc := range map[string]struct {
		server func(*mailServer)
		client func(*alert.EmailConfig)
		says   string
	}{
		"no STARTTLS":          {func(s *mailServer) { s.noTLS = true }, func(*alert.EmailConfig) {}, "STARTTLS"},
		"unknown certificate":  {func(*mailServer) {}, func(c *alert.EmailConfig) { c.Roots = nil }, "certificate"},
		"login refused":        {says("LOGIN AS creditonce planted-pass", "535 no: planted-pass AGNyZWRpdG9uY2UAcGxhbnRlZC1wYXNz cGxhbnRlZC1wYXNz"), func(*alert.EmailConfig) {}, "535"},
		"recipient refused":    {says("RCPT", "550 no such user"), func(*alert.EmailConfig) {}, `550 "no such user"`},
		"busy":                 {says("MAIL", "451 try later"), func(*alert.EmailConfig) {}, "451"},
		"full":                 {says("END OF DATA", "452 no room"), func(*alert.EmailConfig) {}, "452"},
		"line cut":             {says("RCPT", "drop"), func(*alert.EmailConfig) {}, "send e-mail"},
		"control characters":   {says("RCPT", "550 \x1b[31mno\x07"), func(*alert.EmailConfig) {}, "550"},
		"many words":           {says("RCPT", "550 "+strings.Repeat("x", 900)), func(*alert.EmailConfig) {}, "…"},
		"nobody at the port":   {func(*mailServer) {}, func(c *alert.EmailConfig) { c.Server = "127.0.0.1:1" }, "refused"},
		"implicit to starttls": {func(*mailServer) {}, func(c *alert.EmailConfig) { c.Security = alert.Implicit }, "send e-mail"},
	} {
		s := newMailServer(t, tc.server)
		err := email(t, s, tc.client).Send(t.Context(), letter)
		if err == nil || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if text := err.Error(); strings.Contains(text, "planted") || strings.Contains(text, "cGxhbnRlZC") || strings.Contains(text, "AGNyZWRpdG9uY2UA") ||
			strings.ContainsAny(text, "\x1b\x07\r\n") || len(text) > 400 {
			t.Errorf("%s: the error is not fit to be shown: %q", name, text)
		}
		if len(s.taken()) != 0 {
			t.Errorf("%s: taken all the same", name)
		}
	}
}

func TestEmail_TakenAndNoGoodbyeIsDelivered(t *testing.T) {
	t.Parallel()
	s := newMailServer(t, func(s *mailServer) {
		s.answer = func(c string) string {
			if c == "QUIT" {
				return "drop"
			}
			return ""
		}
	})
	if err := email(t, s, func(*alert.EmailConfig) {}).Send(t.Context(), letter); err != nil || len(s.taken()) != 1 {
		t.Errorf("%v, taken %d", err, len(s.taken()))
	}
}

func TestEmail_EndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	s := newMailServer(t, func(s *mailServer) {
		s.answer = func(c string) string {
			if c == "MAIL" {
				cancel()
				<-ended // nobody is told anything before the sender has given up
				return "250 ok"
			}
			return ""
		}
	})
	begin := time.Now()
	err := email(t, s, func(*alert.EmailConfig) {}).Send(ctx, letter)
	close(ended)
	if err == nil || errors.Is(err, context.DeadlineExceeded) || time.Since(begin) > 10*time.Second {
		t.Errorf("ended with %v after %v", err, time.Since(begin))
	}
}

func TestNewEmail_RefusesWhatCannotWork(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*alert.EmailConfig){
		"server without port": func(c *alert.EmailConfig) { c.Server = "mail.test" },
		"port a word":         func(c *alert.EmailConfig) { c.Server = "mail.test:smtp" },
		"no security":         func(c *alert.EmailConfig) { c.Security = "" },
		"from no address":     func(c *alert.EmailConfig) { c.From = "planted" },
		"to two addresses":    func(c *alert.EmailConfig) { c.To = "a@b.test, c@d.test" },
		"to a header":         func(c *alert.EmailConfig) { c.To = "a@b.test\r\nBcc: c@d.test" },
	} {
		cfg := alert.EmailConfig{Server: "127.0.0.1:25", Security: alert.StartTLS, From: "a@b.test", To: "c@d.test", Now: time.Now}
		change(&cfg)
		if _, err := alert.NewEmail(cfg); err == nil || strings.Contains(err.Error(), "planted") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
