package alert

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"creditonce/credit"
)

// Message is one message as every transport sends it. Sent again, it is the same byte for byte.
type Message struct {
	ID      string // stable and unique: letters, digits, _ and -
	At      time.Time
	Subject string
	Text    string // plain text, lines of people's words
	JSON    []byte // the body of the webhook
}

// mostText bounds each text that a message repeats, in runes: some come from outside.
const mostText = 400

// compose builds the message of the notices; there is at least one. Records of tasks are left out: a mail box or a chat
// is a third party's, and the task itself is one command away.
func compose(out credit.Outgoing) (Message, error) {
	first, last := out.Notices[0].Notice, out.Notices[len(out.Notices)-1].Notice
	m := Message{
		// The numbers alone would come again after a backup was restored; the time tells them apart.
		ID: fmt.Sprintf("msg_%s_%d_%d_%x", short(out.Settings.StoreID), first.ID, last.ID, last.At.UnixMicro()),
		At: last.At, Subject: subject(out),
	}
	var text strings.Builder
	p := payload{Type: "creditonce.notices", Timestamp: last.At.UTC().Format(time.RFC3339Nano)}
	p.Data = data{ID: m.ID, Environment: out.Settings.Environment, Store: short(out.Settings.StoreID)}
	for _, of := range out.Notices {
		write(&text, of)
		p.Data.Notices = append(p.Data.Notices, noticeJSON(of))
	}
	fmt.Fprintf(&text, "Times are UTC. Environment %s, store %s, message %s.\n", out.Settings.Environment, short(out.Settings.StoreID), m.ID)
	m.Text = text.String()
	var err error
	m.JSON, err = json.Marshal(p)
	return m, err
}

// short is the part of a store's id that messages show.
func short(id string) string {
	clean := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return -1
	}, id)
	return clean[:min(len(clean), 12)]
}

// subject says the gravest first: a mode, then what opened, then what closed.
func subject(out credit.Outgoing) string {
	var mode string
	var kind credit.TaskKind
	opened, closed := 0, 0
	for _, of := range out.Notices {
		switch of.Notice.Kind {
		case credit.NoticeModeChanged:
			mode = "mode is " + string(of.Notice.To)
		case credit.NoticeTaskOpened:
			opened++
			if of.Task != nil {
				kind = of.Task.Kind
			}
		case credit.NoticeTaskClosed:
			closed++
		case credit.NoticeTest: // is a message of its own
		}
	}
	var parts []string
	if mode != "" {
		parts = append(parts, mode)
	}
	switch {
	case opened == 1:
		parts = append(parts, fmt.Sprintf("task opened (%s)", kind))
	case opened > 1:
		parts = append(parts, fmt.Sprintf("%d tasks opened", opened))
	}
	switch {
	case closed == 1:
		parts = append(parts, "task closed")
	case closed > 1:
		parts = append(parts, fmt.Sprintf("%d tasks closed", closed))
	}
	if slices.ContainsFunc(out.Notices, isTest) {
		parts = append(parts, "test message")
	}
	return "[creditonce " + out.Settings.Environment + "] " + strings.Join(parts, ", ")
}

func write(text *strings.Builder, of credit.NoticeOf) {
	n := of.Notice
	fmt.Fprintf(text, "%s  ", n.At.UTC().Format(time.DateTime))
	t := of.Task
	switch {
	case n.Kind == credit.NoticeModeChanged:
		fmt.Fprintf(text, "Mode changed from %s to %s\n", n.From, n.To)
		line(text, "reason", n.Reason)
		line(text, "by", n.By)
	case n.Kind == credit.NoticeTest:
		text.WriteString("Test message: nothing has happened. Alarms of this service arrive here.\n")
		line(text, "by", n.By)
	case t == nil:
		fmt.Fprintf(text, "%s\n", n.Kind)
	case n.Kind == credit.NoticeTaskOpened:
		fmt.Fprintf(text, "Task %d opened: %s\n", t.ID, t.Kind)
		line(text, "what", t.Summary)
		line(text, "next", t.Next)
		line(text, "about", t.Entity)
	default:
		fmt.Fprintf(text, "Task %d closed: %s\n", t.ID, t.Kind)
		line(text, "about", t.Entity)
		line(text, "reason", t.Reason)
		line(text, "by", t.ClosedBy)
	}
	text.WriteString("\n")
}

func line(text *strings.Builder, name, value string) {
	if value != "" {
		fmt.Fprintf(text, "  %-6s  %s\n", name, oneLine(value))
	}
}

// oneLine makes a text fit into one line: no control characters, bounded.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, s)
	if runes := []rune(s); len(runes) > mostText {
		s = string(runes[:mostText]) + "…"
	}
	return s
}

// payload is the body of the webhook, in the form that Standard Webhooks suggests.
type payload struct {
	Type      string `json:"type"`
	Timestamp string `json:"timestamp"`
	Data      data   `json:"data"`
}

type data struct {
	ID          string   `json:"id"`
	Environment string   `json:"environment"`
	Store       string   `json:"store"`
	Notices     []notice `json:"notices"`
}

type notice struct {
	ID     uint64 `json:"id"`
	Kind   string `json:"kind"`
	At     string `json:"at"`
	Task   *task  `json:"task,omitempty"`
	From   string `json:"from,omitempty"`
	To     string `json:"to,omitempty"`
	By     string `json:"by,omitempty"`
	Reason string `json:"reason,omitempty"`
}

type task struct {
	ID      uint64 `json:"id"`
	Kind    string `json:"kind"`
	Entity  string `json:"entity"`
	Summary string `json:"summary"`
	Next    string `json:"next,omitempty"`
}

// noticeJSON holds what is settled when the notice is written, so that a repeat is the same: of a task that was opened
// nothing about its end.
func noticeJSON(of credit.NoticeOf) notice {
	n := of.Notice
	out := notice{
		ID: uint64(n.ID), Kind: string(n.Kind), At: n.At.UTC().Format(time.RFC3339Nano), From: string(n.From), To: string(n.To),
		By: oneLine(n.By), Reason: oneLine(n.Reason),
	}
	if t := of.Task; t != nil {
		out.Task = &task{ID: uint64(t.ID), Kind: string(t.Kind), Entity: oneLine(t.Entity), Summary: oneLine(t.Summary), Next: oneLine(t.Next)}
		if n.Kind == credit.NoticeTaskClosed {
			out.By, out.Reason = oneLine(t.ClosedBy), oneLine(t.Reason)
		}
	}
	return out
}
