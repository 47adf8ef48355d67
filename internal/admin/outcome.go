package admin

import (
	"fmt"
	"strings"
	"time"

	"creditonce/internal/desk"
)

func outcomeOf(o desk.Outcome, now time.Time) Outcome {
	out := Outcome{
		Done: o.Done, Waits: o.Waits, Look: lookOf(o.Look), Credits: each(o.Rows, creditOf), Opened: each(o.Opened, taskOf), Closed: each(o.Closed, taskOf),
		People: each(o.People, personOf),
	}
	if o.Task != nil {
		t := taskOf(*o.Task)
		out.Task = &t
	}
	if o.Proposal != nil {
		p := proposalOf(*o.Proposal, now)
		out.Proposal = &p
	}
	if o.Notice != 0 {
		out.Notice = id64(o.Notice)
	}
	out.Text = outcomeText(o)
	return out
}

// outcomeText says what happened, to what.
func outcomeText(o desk.Outcome) string {
	if !o.Done {
		return fmt.Sprintf("%s (%s) waits for a second person; nothing of it was done", o.Act.Kind, o.Act.Subject)
	}
	var parts []string
	for _, r := range o.Rows {
		parts = append(parts, fmt.Sprintf("credit %d is %s", r.ID, r.State))
	}
	if o.Settings != nil {
		parts = append(parts, "the mode is "+string(o.Settings.Mode))
		if !o.Settings.CutoverAt.IsZero() {
			parts = append(parts, "payments from "+o.Settings.CutoverAt.UTC().Format(time.DateTime)+" UTC on are paid here")
		}
	}
	if o.Event != 0 {
		parts = append(parts, fmt.Sprintf("event %d is stored", o.Event))
	}
	for _, p := range o.People {
		parts = append(parts, personText(p))
	}
	if o.Look != nil {
		parts = append(parts, strings.TrimSpace(fmt.Sprintf("MT5 was asked: %s %s", o.Look.Verdict, o.Look.Reason)))
	}
	if text := actText(o.Act); text != "" {
		parts = append(parts, text)
	}
	if p := o.Proposal; p != nil && p.Permit.Unused() {
		parts = append(parts, fmt.Sprintf("once, until %s UTC: creditonce mt5 probe --server %s --login %d --permit %d",
			p.Permit.ExpiresAt.Format(time.DateTime), p.Permit.Server, p.Permit.Login, p.ID))
	}
	if len(o.Voided) > 0 {
		parts = append(parts, "proposals that count no more: "+strings.Join(ids(o.Voided), ", "))
	}
	if len(parts) == 0 {
		return fmt.Sprintf("%s %s: nothing had to change", o.Act.Kind, o.Act.Subject)
	}
	return strings.Join(parts, "; ")
}

func personText(p desk.Person) string {
	if p.Disabled {
		return fmt.Sprintf("%s may no longer act", p.ID)
	}
	return fmt.Sprintf("%s acts as %s", p.ID, strings.Join(texts(p.Roles), ", "))
}

// actText says what an act did that changes neither a credit nor the mode.
func actText(a desk.Act) string {
	subject := strings.Replace(a.Subject, "/", " ", 1)
	switch a.Kind {
	case desk.NoteTask:
		return "the note is on " + subject
	case desk.AssignTask:
		if to := a.Params["person"]; to != "" {
			return subject + " is " + to + "'s"
		}
		return subject + " is nobody's"
	case desk.CloseTask:
		return subject + " is closed"
	case desk.NewKey:
		return subject + " is valid"
	case desk.RevokeKey:
		return subject + " is not valid any more"
	case desk.Probe:
		return "the probe may touch login " + a.Params["login"] + " of " + subject
	case desk.TestAlerts:
		return "a test message is in the outbox"
	case desk.DealGone:
		server, login := a.Login()
		return fmt.Sprintf("looks of login %d on %s do not wait for deal %s any more", login, server, a.Params["ticket"])
	case desk.TakeOver:
		return "this store goes on; the mode is released once the quarantine is over and every gap is complete"
	case desk.GapChecked:
		return "the gap of " + subject + " is complete"
	case desk.Replay:
		return subject + " went through the intake again"
	default:
		return ""
	}
}
