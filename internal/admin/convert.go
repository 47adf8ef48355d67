package admin

import (
	"encoding/base64"
	"slices"
	"strconv"
	"strings"
	"time"

	"creditonce/credit"
	"creditonce/internal/desk"
)

// id64 writes a number of 64 bits as text; nothing for 0.
func id64[T ~uint64](n T) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatUint(uint64(n), 10)
}

func texts[T ~string](in []T) []string {
	var out []string
	for _, v := range in {
		out = append(out, string(v))
	}
	return out
}

func ids[T ~uint64](in []T) []string {
	var out []string
	for _, v := range in {
		out = append(out, id64(v))
	}
	return out
}

// each converts a slice; the result is never nil, so that JSON has a list.
func each[A, B any](in []A, convert func(A) B) []B {
	out := make([]B, 0, len(in))
	for _, v := range in {
		out = append(out, convert(v))
	}
	return out
}

func moneyOf(a credit.Amount) *Money {
	if !a.IsSet() {
		return nil
	}
	return &Money{a.Decimal(), a.Currency()}
}

// pageOf converts a page of the store; its place becomes text.
func pageOf[A, B any](p credit.Page[A], convert func(A) B) List[B] {
	out := List[B]{Items: each(p.Items, convert)}
	if p.Next != nil {
		out.Next = base64.RawURLEncoding.EncodeToString(p.Next)
	}
	return out
}

func creditOf(c credit.Credit) Credit {
	return Credit{
		ID: id64(c.ID), Kind: string(c.Kind), State: string(c.State), Holds: texts(c.Holds), Provider: c.Provider, Merchant: c.Unit.Account,
		Payment: c.Unit.Payment, Part: c.Unit.Part, Paid: moneyOf(c.Paid), PaidAt: c.PaidAt, Code: c.Code, Deposit: c.Deposit, Client: c.Client,
		Server: c.Server, Login: id64(c.Login), Amount: moneyOf(c.Amount), Reference: string(c.Reference), Ticket: id64(c.Ticket), Attempt: c.Attempt,
		HandedOver: c.HandedOver, Restored: c.Restored, NotDeals: ids(c.NotDeals), CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt, NextAt: c.NextAt,
	}
}

func entryOf(e credit.Entry) Entry {
	out := Entry{Seq: e.Seq, At: e.At, By: string(e.By), Actor: e.Actor, Move: e.Move, From: string(e.From), To: string(e.To), Reason: e.Reason}
	if v := e.Evidence; v != nil {
		out.Event, out.Proposal, out.Look = id64(v.Event), id64(v.Proposal), lookOf(v.Look)
		if v.Call != nil {
			out.Call = &Call{v.Call.Attempt, string(v.Call.Outcome), v.Call.Code, v.Call.Ticket, v.Call.Detail}
		}
		if v.Deal != nil {
			d := dealOf(*v.Deal)
			out.Deal = &d
		}
	}
	return out
}

func lookOf(v *credit.LookEvidence) *Look {
	if v == nil {
		return nil
	}
	return &Look{string(v.Verdict), v.Reason, v.Started.At, v.From, v.Until, v.Rows, v.Tickets, v.Complete}
}

func dealOf(d credit.Deal) Deal {
	return Deal{id64(d.Ticket), id64(d.Login), d.Action, moneyOf(d.Amount), d.Comment, id64(d.Dealer)}
}

func depositOf(v credit.DepositView, now time.Time) Deposit {
	d := v.Deposit
	return Deposit{
		Code: d.Code, State: string(v.State(now)), Client: d.Client, Server: d.Server, Login: id64(d.Login), Provider: d.Provider, Paid: moneyOf(d.Paid),
		Credited: moneyOf(d.Credited), Owner: d.Owner, Credit: id64(d.Credit), CreatedAt: d.CreatedAt, ExpiresAt: d.ExpiresAt, ClosedAt: d.ClosedAt, ClosedBy: d.ClosedBy,
	}
}

func depositDetailOf(v credit.DepositView, now time.Time) DepositDetail {
	out := DepositDetail{Deposit: depositOf(v, now), Tasks: v.Tasks}
	if v.Row != nil {
		c := creditOf(*v.Row)
		out.Credit = &c
	}
	return out
}

func creditDetailOf(v desk.CreditView, now time.Time) CreditDetail {
	out := CreditDetail{
		Credit: creditOf(v.Row), Tasks: each(v.OpenTasks, taskOf), History: each(v.History, entryOf),
		Proposals: each(v.Proposals, func(p desk.Proposal) Proposal { return proposalOf(p, now) }),
	}
	if v.Deposit != nil {
		d := depositOf(credit.DepositView{Deposit: *v.Deposit, Row: &v.Row, Tasks: len(v.OpenTasks)}, now)
		out.Deposit = &d
	}
	return out
}

func eventOf(e credit.Event) Event {
	f := e.Facts
	out := Event{
		ID: id64(e.ID), Provider: e.Provider, Merchant: e.Account, MessageKey: e.MessageKey, Type: f.Type, Effect: string(f.Effect), Payment: f.Payment,
		Code: f.Code, Status: f.Status, Problem: f.Problem, Credits: ids(e.Rows), Digest: e.Digest, Headers: e.Headers, OccurredAt: f.OccurredAt, ReceivedAt: e.ReceivedAt,
	}
	switch {
	case len(f.Parts) > 0:
		out.Amount = moneyOf(f.Parts[0].Amount)
	case f.Moved.IsSet():
		out.Amount = moneyOf(f.Moved)
	}
	return out
}

func taskOf(t credit.Task) Task {
	out := Task{
		ID: id64(t.ID), Kind: string(t.Kind), Subject: t.Entity, Summary: t.Summary, Next: t.Next, Assigned: t.Assigned, OpenedAt: t.OpenedAt,
		ClosedAt: t.ClosedAt, ClosedBy: t.ClosedBy, Reason: t.Reason,
	}
	for _, r := range t.Records {
		out.Records = append(out.Records, Record{r.Source, each(r.Fields, func(f credit.Field) Field { return Field{f.Name, f.Value} })})
	}
	for _, n := range t.Notes {
		out.Notes = append(out.Notes, Note{n.At, n.By, n.Text})
	}
	return out
}

func taskDetailOf(v desk.TaskView, now time.Time) TaskDetail {
	out := TaskDetail{Task: taskOf(v.Task)}
	if v.Credit != nil {
		c := creditDetailOf(*v.Credit, now)
		out.Credit = &c
	}
	return out
}

func accountOf(a credit.Account) Account {
	return Account{a.Server, id64(a.Login), a.Client, a.Currency, a.Digits, a.CreatedAt, a.UpdatedAt}
}

func proposalOf(p desk.Proposal, now time.Time) Proposal {
	line := lineOf(p.Act.Kind)
	return Proposal{
		ID: id64(p.ID), Kind: string(p.Act.Kind), Subject: p.Act.Subject, Params: p.Act.Params, State: string(p.StateAt(now)), Summary: line.Help,
		Reason: p.Reason, Digest: p.Digest, ProposedBy: string(p.By), ProposedAt: p.At, ExpiresAt: p.ExpiresAt, Confirm: texts(line.Confirm),
		DecidedBy: string(p.EndedBy), DecidedAt: p.EndedAt, Decision: p.Answer, Permit: (*Permit)(p.Permit),
	}
}

// lineOf finds what the table says about an act; nothing of an act that this version does not know.
func lineOf(k desk.Kind) desk.Line {
	lines := desk.Table()
	if i := slices.IndexFunc(lines, func(l desk.Line) bool { return l.Kind == k }); i >= 0 {
		return lines[i]
	}
	return desk.Line{}
}

func personOf(p desk.Person) Person {
	return Person{string(p.ID), p.Name, p.Users, texts(p.Roles), p.Disabled, p.CreatedAt, p.UpdatedAt}
}

func keyOf(k desk.Key) Key {
	return Key{k.Name, string(k.Source), k.Scopes, k.SHA256, k.CreatedAt, k.CreatedBy, k.RevokedAt}
}

func auditOf(r desk.Record) AuditEntry {
	return AuditEntry{
		ID: id64(r.Seq), At: r.At, Person: string(r.Person), User: r.User, Kind: string(r.Act.Kind), Subject: r.Act.Subject, Result: string(r.Deed),
		Reason: r.Reason, Params: r.Act.Params, Proposal: id64(r.Proposal), Voided: ids(r.Voided),
	}
}

func foundOf(h desk.Hit) Found {
	kind, id, _ := strings.Cut(h.Subject, "/")
	return Found{Kind: kind, ID: id, By: h.By, Credit: id64(h.Credit)}
}
