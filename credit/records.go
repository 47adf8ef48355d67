package credit

import (
	"strconv"
	"time"
)

// rowRecord shows a row on a task.
func rowRecord(c Credit) Record {
	return Record{Source: "row", Fields: []Field{
		{"credit", strconv.FormatUint(uint64(c.ID), 10)},
		{"state", string(c.State)},
		{"payment", c.Unit.Payment},
		{"part", c.Unit.Part},
		{"paid", c.Paid.String()},
		{"paid at", timeText(c.PaidAt)},
		{"deposit", c.Code},
		{"server", c.Server},
		{"login", loginText(c.Login)},
		{"amount", c.Amount.String()},
		{"reference", string(c.Reference)},
		{"attempt", strconv.Itoa(c.Attempt)},
		{"ticket", loginText(c.Ticket)},
	}}
}

// factsRecord shows what an event said.
func factsRecord(source string, f Facts) Record {
	r := Record{Source: source, Fields: []Field{
		{"type", f.Type}, {"effect", string(f.Effect)}, {"payment", f.Payment}, {"movement", f.Movement},
		{"status", f.Status}, {"deposit", f.Code}, {"occurred at", timeText(f.OccurredAt)},
	}}
	for _, p := range f.Parts {
		r.Fields = append(r.Fields, Field{"amount " + p.ID, p.Amount.String()})
	}
	if f.Moved.IsSet() {
		r.Fields = append(r.Fields, Field{"moved", f.Moved.String()})
	}
	return r
}

// dealRecords shows deals of MT5.
func dealRecords(deals []Deal) []Record {
	out := make([]Record, 0, len(deals))
	for _, d := range deals {
		out = append(out, Record{Source: "mt5", Fields: []Field{
			{"deal", loginText(d.Ticket)}, {"login", loginText(d.Login)}, {"action", strconv.Itoa(d.Action)},
			{"amount", d.Amount.String()}, {"comment", d.Comment}, {"dealer", loginText(d.Dealer)},
			{"server clock", time.Unix(d.ServerTime, 0).UTC().Format("2006-01-02 15:04:05") + " (MT5)"},
		}})
	}
	return out
}

func loginText(n uint64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatUint(n, 10)
}

func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}
