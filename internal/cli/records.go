package cli

import (
	"strconv"
	"strings"

	"creditonce/internal/admin"
)

// How each record is listed: the columns of tables, and with the wide ones those of CSV.

func creditColumns() []column[admin.Credit] {
	type c = admin.Credit
	return []column[c]{
		{head: "credit", value: func(r c) string { return r.ID }},
		{head: "kind", wide: true, value: func(r c) string { return r.Kind }},
		{head: "state", value: func(r c) string { return r.State }},
		{head: "amount", narrow: true, value: func(r c) string { return r.Amount.String() }},
		{head: "account", narrow: true, value: func(r c) string { return place(r.Server, r.Login) }},
		{head: "updated UTC", narrow: true, value: func(r c) string { return utc(r.UpdatedAt) }},
		{head: "why, payment", narrow: true, value: func(r c) string {
			return strings.TrimSpace(strings.Join(r.Holds, ",") + " " + r.Payment)
		}},
		{head: "holds", wide: true, value: func(r c) string { return strings.Join(r.Holds, " ") }},
		{head: "credited", wide: true, value: func(r c) string { return sum(r.Amount) }},
		{head: "credited currency", wide: true, value: func(r c) string { return currency(r.Amount) }},
		{head: "server", wide: true, value: func(r c) string { return r.Server }},
		{head: "login", wide: true, value: func(r c) string { return r.Login }},
		{head: "client", wide: true, value: func(r c) string { return r.Client }},
		{head: "provider", wide: true, value: func(r c) string { return r.Provider }},
		{head: "payment", wide: true, value: func(r c) string { return r.Payment }},
		{head: "part", wide: true, value: func(r c) string { return r.Part }},
		{head: "paid", wide: true, value: func(r c) string { return sum(r.Paid) }},
		{head: "paid currency", wide: true, value: func(r c) string { return currency(r.Paid) }},
		{head: "paid at", wide: true, value: func(r c) string { return stamp(r.PaidAt) }},
		{head: "deposit", wide: true, value: func(r c) string { return r.Deposit }},
		{head: "reference", wide: true, value: func(r c) string { return r.Reference }},
		{head: "ticket", wide: true, value: func(r c) string { return r.Ticket }},
		{head: "created at", wide: true, value: func(r c) string { return stamp(r.CreatedAt) }},
		{head: "updated at", wide: true, value: func(r c) string { return stamp(r.UpdatedAt) }},
	}
}

func eventColumns() []column[admin.Event] {
	type e = admin.Event
	return []column[e]{
		{head: "event", value: func(r e) string { return r.ID }},
		{head: "received UTC", narrow: true, value: func(r e) string { return utc(r.ReceivedAt) }},
		{head: "provider", value: func(r e) string { return r.Provider }},
		{head: "effect", value: func(r e) string { return r.Effect }},
		{head: "credits", value: func(r e) string { return strings.Join(r.Credits, " ") }},
		{head: "amount", narrow: true, value: func(r e) string { return r.Amount.String() }},
		{head: "type", value: func(r e) string { return r.Type }},
		{head: "sum", wide: true, value: func(r e) string { return sum(r.Amount) }},
		{head: "currency", wide: true, value: func(r e) string { return currency(r.Amount) }},
		{head: "merchant", wide: true, value: func(r e) string { return r.Merchant }},
		{head: "message key", wide: true, value: func(r e) string { return r.MessageKey }},
		{head: "payment", wide: true, value: func(r e) string { return r.Payment }},
		{head: "code", wide: true, value: func(r e) string { return r.Code }},
		{head: "status", wide: true, value: func(r e) string { return r.Status }},
		{head: "problem", wide: true, value: func(r e) string { return r.Problem }},
		{head: "digest", wide: true, value: func(r e) string { return r.Digest }},
		{head: "occurred at", wide: true, value: func(r e) string { return stamp(r.OccurredAt) }},
		{head: "received at", wide: true, value: func(r e) string { return stamp(r.ReceivedAt) }},
	}
}

func depositColumns() []column[admin.Deposit] {
	type d = admin.Deposit
	return []column[d]{
		{head: "state", value: func(r d) string { return r.State }},
		{head: "credited", narrow: true, value: func(r d) string { return r.Credited.String() }},
		{head: "account", narrow: true, value: func(r d) string { return place(r.Server, r.Login) }},
		{head: "credit", value: func(r d) string { return r.Credit }},
		{head: "created UTC", narrow: true, value: func(r d) string { return utc(r.CreatedAt) }},
		{head: "code", value: func(r d) string { return r.Code }},
		{head: "client", wide: true, value: func(r d) string { return r.Client }},
		{head: "server", wide: true, value: func(r d) string { return r.Server }},
		{head: "login", wide: true, value: func(r d) string { return r.Login }},
		{head: "provider", wide: true, value: func(r d) string { return r.Provider }},
		{head: "paid amount", wide: true, value: func(r d) string { return sum(r.Paid) }},
		{head: "paid currency", wide: true, value: func(r d) string { return currency(r.Paid) }},
		{head: "credited amount", wide: true, value: func(r d) string { return sum(r.Credited) }},
		{head: "credited currency", wide: true, value: func(r d) string { return currency(r.Credited) }},
		{head: "owner", wide: true, value: func(r d) string { return r.Owner }},
		{head: "created at", wide: true, value: func(r d) string { return stamp(r.CreatedAt) }},
		{head: "expires at", wide: true, value: func(r d) string { return stamp(r.ExpiresAt) }},
		{head: "closed at", wide: true, value: func(r d) string { return stamp(r.ClosedAt) }},
		{head: "closed by", wide: true, value: func(r d) string { return r.ClosedBy }},
	}
}

func taskColumns() []column[admin.Task] {
	type t = admin.Task
	return []column[t]{
		{head: "task", value: func(r t) string { return r.ID }},
		{head: "kind", value: func(r t) string { return r.Kind }},
		{head: "about", narrow: true, most: 28, value: func(r t) string { return r.Subject }},
		{head: "opened UTC", narrow: true, value: func(r t) string { return utc(r.OpenedAt) }},
		{head: "who", narrow: true, value: func(r t) string {
			if !r.ClosedAt.IsZero() {
				return "closed"
			}
			return r.Assigned
		}},
		{head: "summary", value: func(r t) string { return r.Summary }},
		{head: "subject", wide: true, value: func(r t) string { return r.Subject }},
		{head: "assigned", wide: true, value: func(r t) string { return r.Assigned }},
		{head: "next", wide: true, value: func(r t) string { return r.Next }},
		{head: "opened at", wide: true, value: func(r t) string { return stamp(r.OpenedAt) }},
		{head: "closed at", wide: true, value: func(r t) string { return stamp(r.ClosedAt) }},
		{head: "closed by", wide: true, value: func(r t) string { return r.ClosedBy }},
		{head: "reason", wide: true, value: func(r t) string { return r.Reason }},
	}
}

func accountColumns() []column[admin.Account] {
	type a = admin.Account
	return []column[a]{
		{head: "server", value: func(r a) string { return r.Server }},
		{head: "login", value: func(r a) string { return r.Login }},
		{head: "currency", value: func(r a) string { return r.Currency }},
		{head: "digits", value: func(r a) string { return strconv.Itoa(r.Digits) }},
		{head: "updated UTC", narrow: true, value: func(r a) string { return utc(r.UpdatedAt) }},
		{head: "client", value: func(r a) string { return r.Client }},
		{head: "created at", wide: true, value: func(r a) string { return stamp(r.CreatedAt) }},
		{head: "updated at", wide: true, value: func(r a) string { return stamp(r.UpdatedAt) }},
	}
}

func proposalColumns() []column[admin.Proposal] {
	type p = admin.Proposal
	return []column[p]{
		{head: "proposal", value: func(r p) string { return r.ID }},
		{head: "state", value: func(r p) string { return r.State }},
		{head: "act", value: func(r p) string { return r.Kind }},
		{head: "about", narrow: true, most: 24, value: func(r p) string { return r.Subject }},
		{head: "by", value: func(r p) string { return r.ProposedBy }},
		{head: "until UTC", narrow: true, value: func(r p) string { return utc(r.ExpiresAt) }},
		{head: "reason", value: func(r p) string { return r.Reason }},
		{head: "subject", wide: true, value: func(r p) string { return r.Subject }},
		{head: "digest", wide: true, value: func(r p) string { return r.Digest }},
		{head: "expires at", wide: true, value: func(r p) string { return stamp(r.ExpiresAt) }},
		{head: "proposed at", wide: true, value: func(r p) string { return stamp(r.ProposedAt) }},
		{head: "decided by", wide: true, value: func(r p) string { return r.DecidedBy }},
		{head: "decided at", wide: true, value: func(r p) string { return stamp(r.DecidedAt) }},
		{head: "decision", wide: true, value: func(r p) string { return r.Decision }},
	}
}

func personColumns() []column[admin.Person] {
	type p = admin.Person
	return []column[p]{
		{head: "person", value: func(r p) string { return r.ID }},
		{head: "may act", narrow: true, value: func(r p) string {
			if r.Disabled {
				return "disabled"
			}
			return "yes"
		}},
		{head: "roles", value: func(r p) string { return strings.Join(r.Roles, ",") }},
		{head: "users", value: func(r p) string { return strings.Join(r.Users, ",") }},
		{head: "name", value: func(r p) string { return r.Name }},
		{head: "disabled", wide: true, value: func(r p) string { return strconv.FormatBool(r.Disabled) }},
		{head: "created at", wide: true, value: func(r p) string { return stamp(r.CreatedAt) }},
		{head: "updated at", wide: true, value: func(r p) string { return stamp(r.UpdatedAt) }},
	}
}

func keyColumns() []column[admin.Key] {
	type k = admin.Key
	return []column[k]{
		{head: "key", value: func(r k) string { return r.Name }},
		{head: "kept in", value: func(r k) string { return r.Source }},
		{head: "state", value: func(r k) string {
			if !r.RevokedAt.IsZero() {
				return "revoked"
			}
			return "valid"
		}},
		{head: "made UTC", narrow: true, value: func(r k) string { return utc(r.CreatedAt) }},
		{head: "scopes", value: func(r k) string { return strings.Join(r.Scopes, ",") }},
		{head: "sha256", wide: true, value: func(r k) string { return r.SHA256 }},
		{head: "created by", wide: true, value: func(r k) string { return r.CreatedBy }},
		{head: "created at", wide: true, value: func(r k) string { return stamp(r.CreatedAt) }},
		{head: "revoked at", wide: true, value: func(r k) string { return stamp(r.RevokedAt) }},
	}
}

func auditColumns() []column[admin.AuditEntry] {
	type a = admin.AuditEntry
	return []column[a]{
		{head: "no", value: func(r a) string { return r.ID }},
		{head: "at UTC", narrow: true, value: func(r a) string { return utc(r.At) }},
		{head: "who", value: func(r a) string { // root is no person, and acts once
			if r.Person == "" {
				return r.User
			}
			return r.Person
		}},
		{head: "what", narrow: true, value: func(r a) string { return r.Result + " " + r.Kind }},
		{head: "about", narrow: true, most: 24, value: func(r a) string { return r.Subject }},
		{head: "reason", value: func(r a) string {
			if r.Kind == "store.backup" { // has no reason, but a digest and a place
				return r.Params["sha256"] + " " + r.Params["path"]
			}
			return r.Reason
		}},
		{head: "act", wide: true, value: func(r a) string { return r.Kind }},
		{head: "deed", wide: true, value: func(r a) string { return r.Result }},
		{head: "voided", wide: true, value: func(r a) string { return strings.Join(r.Voided, " ") }},
		{head: "user", wide: true, value: func(r a) string { return r.User }},
		{head: "proposal", wide: true, value: func(r a) string { return r.Proposal }},
		{head: "subject", wide: true, value: func(r a) string { return r.Subject }},
		{head: "at", wide: true, value: func(r a) string { return stamp(r.At) }},
	}
}

func dealColumns() []column[admin.Deal] {
	type d = admin.Deal
	return []column[d]{
		{head: "ticket", value: func(r d) string { return r.Ticket }},
		{head: "login", value: func(r d) string { return r.Login }},
		{head: "action", value: func(r d) string { return strconv.Itoa(r.Action) }},
		{head: "amount", narrow: true, value: func(r d) string { return r.Amount.String() }},
		{head: "sum", wide: true, value: func(r d) string { return sum(r.Amount) }},
		{head: "currency", wide: true, value: func(r d) string { return currency(r.Amount) }},
		{head: "dealer", value: func(r d) string { return r.Dealer }},
		{head: "comment", value: func(r d) string { return r.Comment }},
	}
}

func foundColumns() []column[admin.Found] {
	type f = admin.Found
	return []column[f]{
		{head: "what", value: func(r f) string { return r.Kind }},
		{head: "id", value: func(r f) string { return r.ID }},
		{head: "has it as", value: func(r f) string { return r.By }},
		{head: "credit", value: func(r f) string { return r.Credit }},
	}
}

func place(server, login string) string {
	if login == "" {
		return ""
	}
	return server + "/" + login
}
