package cli

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"creditonce/internal/admin"
)

// What `show` prints of one record for a person.

func creditSheet(w io.Writer, d admin.CreditDetail) error {
	c := d.Credit
	var s sheet
	s.add("credit", c.ID)
	s.add("state", c.State)
	s.add("held because", strings.Join(c.Holds, ", "))
	s.add("amount", c.Amount.String())
	s.add("account", place(c.Server, c.Login))
	s.add("client", c.Client)
	s.add("reference", c.Reference)
	s.add("deal", c.Ticket)
	s.add("payment", strings.TrimRight(c.Payment+" "+c.Part, " "))
	s.add("provider", c.Provider+" (merchant "+c.Merchant+")")
	s.add("paid", c.Paid.String())
	s.addTime("paid at", c.PaidAt)
	s.add("code with payment", c.Code)
	s.add("deposit", c.Deposit)
	if c.Attempt > 0 {
		s.add("calls", fmt.Sprint(c.Attempt))
	}
	if c.HandedOver {
		s.add("handed over", "yes: a further call needs two people")
	}
	if c.Restored {
		s.add("restored", "yes: only people move it")
	}
	s.add("not this payment", strings.Join(c.NotDeals, ", "))
	s.addTime("created", c.CreatedAt)
	s.addTime("updated", c.UpdatedAt)
	s.addTime("next look", c.NextAt)
	if err := s.write(w, ""); err != nil {
		return err
	}
	if err := section(w, "open tasks", d.Tasks, taskColumns()); err != nil {
		return err
	}
	if err := section(w, "waiting for a second person", d.Proposals, proposalColumns()); err != nil {
		return err
	}
	return section(w, "history", d.History, historyColumns())
}

// section prints a titled table below a sheet; nothing where there is nothing.
func section[T any](w io.Writer, title string, items []T, columns []column[T]) error {
	if len(items) == 0 {
		return nil
	}
	if _, err := fmt.Fprintf(w, "\n%s\n", title); err != nil {
		return err
	}
	return writeTable(w, items, columns)
}

func historyColumns() []column[admin.Entry] {
	type e = admin.Entry
	return []column[e]{
		{head: "at UTC", value: func(r e) string { return r.At.UTC().Format(time.DateTime) }},
		{head: "who", value: func(r e) string { return r.Actor }},
		{head: "move", value: func(r e) string { return r.Move }},
		{head: "to", value: func(r e) string { return r.To }},
		{head: "why", value: entryWhy},
	}
}

// entryWhy joins the reason with the evidence that a person would ask for.
func entryWhy(r admin.Entry) string {
	parts := []string{r.Reason}
	switch {
	case r.Call != nil:
		parts = append(parts, "call "+r.Call.Outcome, r.Call.Code)
	case r.Look != nil:
		parts = append(parts, "look "+r.Look.Verdict)
	}
	if r.Deal != nil {
		parts = append(parts, "deal "+r.Deal.Ticket)
	}
	if r.Event != "" {
		parts = append(parts, "event "+r.Event)
	}
	if r.Proposal != "" {
		parts = append(parts, "proposal "+r.Proposal)
	}
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), "; ")
}

func depositSheet(w io.Writer, v admin.DepositDetail) error {
	d := v.Deposit
	var s sheet
	s.add("deposit", d.Code)
	s.add("state", d.State)
	s.add("client", d.Client)
	s.add("account", place(d.Server, d.Login))
	s.add("to pay", d.Paid.String())
	s.add("to credit", d.Credited.String())
	s.add("provider", d.Provider)
	s.add("made by key", d.Owner)
	s.add("credit", d.Credit)
	s.addTime("created", d.CreatedAt)
	s.addTime("expires", d.ExpiresAt)
	s.addTime("closed", d.ClosedAt)
	s.add("closed by", d.ClosedBy)
	if err := s.write(w, ""); err != nil {
		return err
	}
	if v.Credit == nil {
		return nil
	}
	if err := section(w, "credit (all of it: creditonce credits show "+v.Credit.ID+")", []admin.Credit{*v.Credit}, creditColumns()); err != nil {
		return err
	}
	return section(w, "its history", v.History, historyColumns())
}

func eventSheet(w io.Writer, v admin.EventDetail) error {
	e := v.Event
	var s sheet
	s.add("event", e.ID)
	s.add("provider", e.Provider+" (merchant "+e.Merchant+")")
	s.add("message key", e.MessageKey)
	s.add("type", e.Type)
	s.add("effect", e.Effect)
	s.add("payment", e.Payment)
	s.add("amount", e.Amount.String())
	s.add("deposit code", e.Code)
	s.add("status", e.Status)
	s.add("problem", e.Problem)
	s.add("credits", strings.Join(e.Credits, ", "))
	s.addTime("occurred", e.OccurredAt)
	s.addTime("received", e.ReceivedAt)
	s.add("sha256 of body", e.Digest)
	for _, name := range slices.Sorted(maps.Keys(e.Headers)) {
		s.add("header "+name, e.Headers[name])
	}
	if err := s.write(w, ""); err != nil {
		return err
	}
	if v.Body == "" && len(v.BodyBase64) == 0 {
		return nil
	}
	_, err := fmt.Fprintf(w, "\nbody (byte for byte with --raw)\n%s\n", bodyText(v))
	return err
}

// bodyText shows a body line by line, safe for a terminal.
func bodyText(v admin.EventDetail) string {
	if v.Body == "" {
		return fmt.Sprintf("%d bytes that are no text", len(v.BodyBase64))
	}
	lines := strings.Split(v.Body, "\n")
	for i, l := range lines {
		lines[i] = plain(strings.ReplaceAll(l, "\t", "    "))
	}
	return strings.Join(lines, "\n")
}

func taskSheet(w io.Writer, v admin.TaskDetail) error {
	t := v.Task
	var s sheet
	s.add("task", t.ID)
	s.add("kind", t.Kind)
	s.add("about", t.Subject)
	if v.Difference == nil { // which says both, in more words
		s.add("what", t.Summary)
		s.add("next", t.Next)
	}
	s.add("assigned to", t.Assigned)
	s.addTime("opened", t.OpenedAt)
	s.addTime("closed", t.ClosedAt)
	s.add("closed by", t.ClosedBy)
	s.add("reason", t.Reason)
	if err := s.write(w, ""); err != nil {
		return err
	}
	if err := taskRecords(w, v); err != nil {
		return err
	}
	for _, n := range t.Notes {
		if _, err := fmt.Fprintf(w, "\nnote of %s, %s UTC\n  %s\n", plain(n.By), n.At.UTC().Format(time.DateTime), plain(n.Text)); err != nil {
			return err
		}
	}
	if v.Credit == nil {
		return nil
	}
	return section(w, "credit (all of it: creditonce credits show "+v.Credit.Credit.ID+")", []admin.Credit{v.Credit.Credit}, creditColumns())
}

// taskRecords prints what does not agree.
func taskRecords(w io.Writer, v admin.TaskDetail) error {
	d := v.Difference
	if d == nil {
		return sideBySide(w, v.Task.Records)
	}
	days := d.First
	if d.Last != d.First {
		days += " to " + d.Last
	}
	lines := strings.Split(strings.TrimRight(d.Text, "\n"), "\n")
	for i, l := range lines {
		lines[i] = plain(l)
	}
	_, err := fmt.Fprintf(w, "\nas run %s of %s showed it (creditonce recon report --run %s)\n\n%s\n", d.Run, days, d.Run, strings.Join(lines, "\n"))
	return err
}

// sideBySide prints the records of a task with equal names on one line, so that a difference meets the eye.
func sideBySide(w io.Writer, records []admin.Record) error {
	if len(records) == 0 {
		return nil
	}
	head := []string{""}
	var names []string
	values := map[string]map[int]string{}
	for i, r := range records {
		head = append(head, plain(r.Source))
		for _, f := range r.Fields {
			if values[f.Name] == nil {
				values[f.Name] = map[int]string{}
				names = append(names, f.Name)
			}
			values[f.Name][i] = plain(f.Value)
		}
	}
	cells := [][]string{head}
	for _, name := range names {
		row := []string{plain(name)}
		for i := range records {
			row = append(row, values[name][i])
		}
		cells = append(cells, row)
	}
	columns := columnsIn(w)
	fitted(cells, append([]int{0}, slices.Repeat([]int{max(12, (columns-24)/len(records))}, len(records))...), columns)
	_, err := fmt.Fprintf(w, "\n%s", aligned(cells))
	return err
}

func proposalSheet(w io.Writer, p admin.Proposal) error {
	var s sheet
	s.add("proposal", p.ID)
	s.add("state", p.State)
	if p.State == "moved" {
		s.add("so", "what it is about has moved on, and it cannot be confirmed any more: creditonce proposals reject "+p.ID+" --reason '...'")
	}
	s.add("would", p.Summary)
	s.add("act", p.Kind+" "+p.Subject)
	for _, name := range slices.Sorted(maps.Keys(p.Params)) {
		s.add("  "+name, p.Params[name])
	}
	s.add("reason", p.Reason)
	s.add("proposed by", p.ProposedBy)
	s.addTime("proposed", p.ProposedAt)
	s.add("may confirm", "another person who is "+strings.Join(p.Confirm, " or "))
	s.addTime("until", p.ExpiresAt)
	s.add("decided by", p.DecidedBy)
	s.addTime("decided", p.DecidedAt)
	s.add("decision", p.Decision)
	if permit := p.Permit; permit != nil {
		s.addTime("permit until", permit.ExpiresAt)
		s.addTime("permit used", permit.UsedAt)
		s.add("permit used by", permit.UsedBy)
		s.add("permit void", permit.Void)
	}
	s.add("hash", p.Digest)
	return s.write(w, "")
}
