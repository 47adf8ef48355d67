package cli

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"creditonce/internal/admin"
	"creditonce/webhook/standard"
)

// postbox is a mail server on this host, without TLS. It refuses every recipient named nobody@.
type postbox struct {
	address string
	mu      sync.Mutex
	mail    []string // recipient and text
	arrived chan string
}

func newPostbox(t *testing.T) *postbox {
	t.Helper()
	socket, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &postbox{address: socket.Addr().String(), arrived: make(chan string, 100)}
	var open sync.WaitGroup
	open.Go(func() {
		for {
			conn, err := socket.Accept()
			if err != nil {
				return
			}
			open.Go(func() { b.serve(conn) })
		}
	})
	t.Cleanup(func() { _ = socket.Close(); open.Wait() })
	return b
}

// serve speaks as much of SMTP (RFC 5321) as a sender without a login needs.
func (b *postbox) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	in, to := bufio.NewReader(conn), ""
	say := func(text string) { _, _ = fmt.Fprintf(conn, "%s\r\n", text) }
	say("220 mail.test ESMTP")
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		command, argument, _ := strings.Cut(strings.TrimRight(line, "\r\n"), " ")
		switch {
		case command == "QUIT":
			say("221 bye")
			return
		case command == "RCPT" && strings.Contains(argument, "nobody@"):
			say("550 5.1.1 no such mailbox here")
		case command == "RCPT":
			to = argument
			say("250 ok")
		case command == "DATA":
			say("354 go on")
			var text strings.Builder
			for line != ".\r\n" {
				if line, err = in.ReadString('\n'); err != nil {
					return
				}
				text.WriteString(line)
			}
			b.keep(to + "\n" + text.String())
			say("250 taken")
		default:
			say("250 ok")
		}
	}
}

func (b *postbox) keep(mail string) {
	b.mu.Lock()
	b.mail = append(b.mail, mail)
	b.mu.Unlock()
	b.arrived <- mail
}

func (b *postbox) all() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string{}, b.mail...)
}

// hookSecret is 32 bytes, as both sides write it.
var hookSecret = "whsec_" + base64.StdEncoding.EncodeToString([]byte("an alert webhook's secret, 32 b."))

// newHook takes signed webhooks and keeps the bodies of those whose signature holds.
func newHook(t *testing.T) (url string, bodies chan []byte) {
	t.Helper()
	verifier, err := standard.NewVerifier(standard.Signing{Secrets: [][]byte{[]byte(hookSecret)}})
	if err != nil {
		t.Fatal(err)
	}
	bodies = make(chan []byte, 100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || verifier.Verify(r.Header, body, time.Now()) != nil {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		bodies <- body
	}))
	t.Cleanup(s.Close)
	return s.URL, bodies
}

func TestAlertsTest_ArrivesAtEveryPlaceAndSaysWhichDidNot(t *testing.T) {
	t.Parallel()
	box := newPostbox(t)
	hook, bodies := newHook(t)
	f := newOfficeWith(t, true, fmt.Sprintf(`alerts:
  email: {server: "%s", tls: none, from: creditonce@firm.example, to: [ops@firm.example, nobody@firm.example]}
  webhook: {url: "%s", secret: {file: hook}}
`, box.address, hook), map[string]string{"hook": hookSecret + "\n"})
	f.refused(ExitRefused, "operator or admin", "dora", "alerts", "test")
	f.refused(ExitUsage, "above 0", "carl", "alerts", "test", "--wait", "0s")

	got := f.as("carl", "alerts", "test", "-o", "json")
	var out struct{ Items []trial }
	f.read(got.stdout, &out)
	results := map[string]trial{}
	for _, r := range out.Items {
		results[r.Name] = r
	}
	if got.code != ExitFound || len(results) != 3 || results["email ops@firm.example"].Result != trialDelivered || results["webhook"].Result != trialDelivered ||
		results["webhook"].DeliveredAt.IsZero() {
		t.Fatalf("%+v", got)
	}
	if r := results["email nobody@firm.example"]; r.Result != trialFailed || !strings.Contains(r.Why, "no such mailbox") {
		t.Errorf("the refused address: %+v", r)
	}
	mail := box.all()
	if len(mail) != 1 || !strings.Contains(mail[0], "<ops@firm.example>") || !strings.Contains(mail[0], "Subject: [creditonce test] test message") ||
		!strings.Contains(mail[0], "nothing has happened") || !strings.Contains(mail[0], "carl") {
		t.Errorf("mail: %q", mail)
	}
	var told struct {
		Data struct{ Notices []struct{ Kind, By string } }
	}
	if err := json.Unmarshal(<-bodies, &told); err != nil || len(told.Data.Notices) != 1 || told.Data.Notices[0].Kind != "test" || told.Data.Notices[0].By != "carl" {
		t.Errorf("webhook: %+v, %v", told, err)
	}
	// The list says the same to somebody who may only look, and the record who tried it.
	if text := f.ok("dora", "alerts", "list"); !strings.Contains(text, "no such mailbox") || !strings.Contains(text, "webhook") {
		t.Errorf("list:\n%s", text)
	}
	if text := f.ok("carl", "audit", "list", "-o", "csv"); !strings.Contains(text, "alerts.test") {
		t.Errorf("audit:\n%s", text)
	}
}

func TestAlertsTest_WithoutAPlaceSaysHowToNameOne(t *testing.T) {
	t.Parallel()
	f := newOffice(t, true)
	f.refused(ExitRefused, "no section alerts", "carl", "alerts", "test")
	if got := f.as("carl", "alerts", "list"); got.code != ExitDone || !strings.Contains(got.stderr, "nothing to list") {
		t.Errorf("%+v", got)
	}
}

func TestTaskOfTheRunningService_ArrivesByMailOnce(t *testing.T) {
	t.Parallel()
	box := newPostbox(t)
	f := newOfficeWith(t, true, fmt.Sprintf("alerts:\n  email: {server: \"%s\", tls: none, from: creditonce@firm.example, to: [ops@firm.example]}\n", box.address), nil)
	id := f.pay("nobody-knows-this-code-0001", 1200) // held, with a task: no deposit record
	f.awaitState(id, "held")
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for { // the changes of the mode of a demo's start may come in a message before
		select {
		case mail := <-box.arrived:
			if !strings.Contains(mail, "task opened (held)") {
				continue
			}
		case <-ctx.Done():
			t.Fatalf("no mail about the task; the log:\n%s", f.log())
		}
		break
	}
	// A test message goes after everything else: when it is there, nothing more of the task is to come.
	f.ok("carl", "alerts", "test")
	told := 0
	for _, mail := range box.all() {
		if strings.Contains(mail, "credit/"+id) {
			told++
		}
	}
	if told != 1 {
		t.Errorf("told %d times:\n%s", told, strings.Join(box.all(), "\n---\n"))
	}
	var s admin.Status
	f.read(f.ok("carl", "status", "-o", "json"), &s)
	if s.OpenTasks != 1 {
		t.Errorf("status %+v", s)
	}
}

func TestTrialOf_JudgesByTheNumberOfTheMessage(t *testing.T) {
	t.Parallel()
	type c = admin.Channel
	failing := c{Delivered: 3, Sending: 5, Attempts: 2, Failure: "mailbox full"}
	for name, test := range map[string]struct {
		now, before c
		want        string
	}{
		"delivered":                              {c{Delivered: 7}, c{Delivered: 3}, trialDelivered},
		"delivered with later ones":              {c{Delivered: 9}, c{Delivered: 3}, trialDelivered},
		"not looked at yet":                      {c{Delivered: 6}, c{Delivered: 6}, trialWaiting},
		"being sent for the first time":          {c{Delivered: 6, Sending: 7}, c{Delivered: 6}, trialWaiting},
		"an attempt of it failed":                {c{Delivered: 6, Sending: 7, Attempts: 1, Failure: "no"}, c{Delivered: 6}, trialFailed},
		"an older message fails again and again": {failing, failing, trialBehind},
		"an older message is still under way":    {c{Delivered: 3, Sending: 5}, c{Delivered: 3, Sending: 5}, trialWaiting},
	} {
		if got := trialOf(test.now, test.before, 7); got.Result != test.want {
			t.Errorf("%s: %+v, want %s", name, got, test.want)
		}
	}
	behind := trialOf(failing, failing, 7)
	if !strings.Contains(behind.Why, "older messages") || !strings.Contains(behind.Why, "mailbox full") {
		t.Errorf("%+v", behind)
	}
	if err := judged([]trial{{Name: "a", Result: trialWaiting}}, time.Minute); codeOf(err) != ExitNoAnswer || !strings.Contains(err.Error(), "still under way to a") {
		t.Errorf("waiting: %v", err)
	}
	if err := judged([]trial{{Name: "a", Result: trialWaiting}, {Name: "b", Result: trialBehind, Why: "w\x1b"}}, time.Minute); codeOf(err) != ExitFound || strings.Contains(err.Error(), "\x1b") {
		t.Errorf("behind: %v", err)
	}
}
