package recon

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"creditonce/credit"
)

// TaskKeyOf is the key of a discrepancy's task: kinds of tasks are named after the classes.
func TaskKeyOf(k Key) credit.TaskKey {
	return credit.TaskKey{Kind: credit.TaskKind(k.Class), Entity: k.Entity}
}

// KeyOfTask is the key of the discrepancy that a task is about; false where it is about none.
func KeyOfTask(t credit.Task) (Key, bool) {
	k := Key{Class(t.Kind), t.Entity}
	return k, k.Class.Difference() && slices.Contains(Classes(), k.Class)
}

// unescape is the other way of escape.
var unescape = strings.NewReplacer("%2F", "/", "%25", "%")

// EntityParts takes the entity of a key apart: "payment/psp/acct/pi%2F1" gives "payment" and "psp", "acct", "pi/1".
func EntityParts(entity string) (kind string, parts []string) {
	all := strings.Split(entity, "/")
	for _, part := range all[1:] {
		parts = append(parts, unescape.Replace(part))
	}
	return all[0], parts
}

// whatNext tells a person what to do about a difference. Reconciliation does none of it.
var whatNext = map[Class]string{
	SettledWithoutCredit: "look the payment up at the provider and in the store; have the provider send it again; enter it with deposit manual (two people), its id as bank reference, only when it cannot",
	DoneWithoutDeal:      "look at the login in the MT5 manager: was the deal deleted, or the server restored? Put it right there",
	DealWithoutRow:       "find out who made the deal: a restored store or another instance does; correct it at MT5",
	DuplicateReference:   "the login was credited more than once: take back what is too much at MT5",
	DealWithoutReference: "find out who made the deal by hand; resolve the credit with it where it is its payment, else close the task and say what it is",
	WrongLogin:           "compare the three records; move the money at MT5 to the right login",
	WrongAmount:          "compare the three records; correct the difference where it was made",
	WrongCurrency:        "compare the three records; correct the difference where it was made",
	DamagedReference:     "compare the deal's comment with the credit's reference; mend the comment or adopt the deal",
	ReversalMissing:      "the client has the money back from the provider: take the credit back at MT5",
	FailedButDeal:        "MT5 has the deal of a failed credit: adopt it, or take it back at MT5",
	CancelledButDeal:     "MT5 has the deal of a closed credit: take it back at MT5, or adopt it",
	CancelledNotRefunded: "the payment was settled and the client has neither credit nor money: refund it, or credit it",
	PayoutDifference:     "compare the payout with its lines and with the bank; ask the provider",
	Late:                 "import the provider's newest statement; ask the provider where the money is",
}

// mostRecords bounds the records of each side on a task.
const mostRecords = 20

// taskOf is the task of a difference.
func taskOf(i Item) credit.Task {
	k := TaskKeyOf(i.Key)
	return shows(credit.Task{Kind: k.Kind, Entity: k.Entity, Next: whatNext[i.Key.Class]}, i)
}

// shows puts on the task what a run shows of it now.
func shows(t credit.Task, i Item) credit.Task {
	t.Summary = validText(i.Why)
	t.Records = nil
	t.Records = appendSide(t.Records, "provider", i.Lines, lineFields)
	t.Records = appendSide(t.Records, "row", i.Rows, rowFields)
	t.Records = appendSide(t.Records, "mt5", i.Deals, dealFields)
	return t
}

func appendSide[T any](out []credit.Record, source string, list []T, fields func(T) []credit.Field) []credit.Record {
	for n, one := range list {
		if n == mostRecords {
			return append(out, credit.Record{Source: source, Fields: []credit.Field{{Name: "further records", Value: strconv.Itoa(len(list) - n)}}})
		}
		r := credit.Record{Source: source}
		for _, f := range fields(one) {
			if f.Value != "" {
				r.Fields = append(r.Fields, credit.Field{Name: f.Name, Value: validText(f.Value)})
			}
		}
		out = append(out, r)
	}
	return out
}

func lineFields(l Line) []credit.Field {
	return []credit.Field{
		{Name: "type", Value: string(l.Type)}, {Name: "word", Value: l.Word}, {Name: "payment", Value: l.Payment}, {Name: "movement", Value: l.Movement},
		{Name: "deposit", Value: l.Code}, {Name: "batch", Value: l.Batch}, {Name: "gross", Value: amountOf(l.Gross)}, {Name: "fee", Value: amountOf(l.Fee)},
		{Name: "net", Value: amountOf(l.Net)}, {Name: "at", Value: timeOf(l.At)}, {Name: "settled at", Value: timeOf(l.SettledAt)},
		{Name: "file", Value: l.Digest}, {Name: "line", Value: strconv.Itoa(l.Row)},
	}
}

func rowFields(c Row) []credit.Field {
	return []credit.Field{
		{Name: "credit", Value: idText(uint64(c.ID))}, {Name: "kind", Value: string(c.Kind)}, {Name: "state", Value: string(c.State)},
		{Name: "payment", Value: c.Unit.Payment}, {Name: "part", Value: c.Unit.Part}, {Name: "paid", Value: amountOf(c.Paid)},
		{Name: "paid at", Value: timeOf(c.PaidAt)}, {Name: "deposit", Value: c.Code}, {Name: "server", Value: c.Server},
		{Name: "login", Value: idText(c.Login)}, {Name: "amount", Value: amountOf(c.Amount)}, {Name: "reference", Value: string(c.Reference)},
		{Name: "ticket", Value: idText(c.Ticket)},
	}
}

func dealFields(d Deal) []credit.Field {
	return []credit.Field{
		{Name: "server", Value: d.Identity}, {Name: "deal", Value: idText(d.Ticket)}, {Name: "login", Value: idText(d.Login)},
		{Name: "action", Value: strconv.Itoa(d.Action)}, {Name: "amount", Value: amountOf(d.Amount)}, {Name: "comment", Value: d.Comment},
		{Name: "dealer", Value: idText(d.Dealer)}, {Name: "at", Value: timeOf(d.At)},
	}
}

// Evidence is the SHA-256, in hex, over the facts of an item: what the statements, the rows and the deals say, in whatever order they come.
// Ages, texts for people and the file in which a movement stands are left out: a re-issued statement and a further day are no news.
func Evidence(i Item) string {
	var facts []string
	for _, l := range i.Lines {
		name := l.NaturalKey()
		if name == "" {
			name = l.Digest + ":" + strconv.Itoa(l.Row)
		}
		facts = append(facts, fmt.Sprintf("line %q %q %q %q %q %q", name, l.Type, l.Code, amountOf(l.Gross), amountOf(l.Fee), amountOf(l.Net)))
	}
	for _, c := range i.Rows {
		facts = append(facts, fmt.Sprintf("row %d %q %q %q %q %d %q %d", c.ID, c.State, amountOf(c.Paid), amountOf(c.Amount), c.Identity, c.Login, c.Reference, c.Ticket))
	}
	for _, d := range i.Deals {
		facts = append(facts, fmt.Sprintf("deal %q %d %d %d %q %q", d.Identity, d.Ticket, d.Login, d.Action, amountOf(d.Amount), d.Comment))
	}
	for _, a := range i.Beside {
		facts = append(facts, fmt.Sprintf("beside %q", amountOf(a)))
	}
	slices.Sort(facts)
	sum := sha256.Sum256([]byte(fmt.Sprintf("%q %q %q\n%s", i.Key.Class, i.Key.Entity, amountOf(i.Off), strings.Join(facts, "\n"))))
	return hex.EncodeToString(sum[:])
}

// AmountsOf says in a few words what money an item shows on each side.
func AmountsOf(i Item) string {
	var out []string
	add := func(side string, amounts []credit.Amount) {
		var texts []string
		for _, a := range amounts[:min(len(amounts), 4)] {
			texts = append(texts, a.String())
		}
		if len(amounts) > len(texts) {
			texts = append(texts, fmt.Sprintf("and %d more", len(amounts)-len(texts)))
		}
		if len(texts) > 0 {
			out = append(out, side+" "+strings.Join(texts, " + "))
		}
	}
	var lines, rows, deals []credit.Amount
	for _, l := range i.Lines {
		lines = append(lines, l.Gross)
	}
	for _, c := range i.Rows {
		rows = append(rows, c.Amount)
	}
	for _, d := range i.Deals {
		deals = append(deals, d.Amount)
	}
	add("provider", lines)
	add("row", rows)
	add("mt5", deals)
	var off []credit.Amount
	if i.Off.IsSet() {
		off = append(off, i.Off)
	}
	add("difference", append(off, i.Beside...))
	if len(out) == 0 {
		return "no money"
	}
	return strings.Join(out, ", ")
}

func amountOf(a credit.Amount) string {
	if !a.IsSet() {
		return ""
	}
	return a.String()
}

func idText(n uint64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatUint(n, 10)
}

func timeOf(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

// validText is outside text as it is kept: UTF-8, with U+FFFD for each stretch of bytes that is none.
func validText(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
