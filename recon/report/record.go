package report

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"creditonce/credit"
	"creditonce/recon"
)

// The three sides, in the order in which they stand side by side.
const (
	sideProvider = "provider"
	sideRow      = "row"
	sideMT5      = "mt5"
)

var sideTitles = map[string]string{sideProvider: "Provider", sideRow: "Our row", sideMT5: "MT5"}

// record is one statement line, credit row or deal, brought to fields that can stand beside each other. Texts are raw: whoever shows them
// makes them harmless.
type record struct {
	side      string
	what      string // "payment (charge)", "deposit, done", "balance deal"
	id        string // the provider's movement, "credit/17", "deal/4711"
	payment   string
	part      string
	code      string
	paid      credit.Amount // signed, in the currency of the payment
	credited  credit.Amount // signed, in the currency of the login
	fee, net  credit.Amount
	reference string // of a deal its whole comment
	login     string
	server    string
	ticket    string
	at        time.Time
	settled   time.Time
	digest    string // of the statement
	row       int    // in the statement
	note      string // what else names it: batch, dealer
}

// records brings an item's lines, rows and deals into one order.
func records(i recon.Item) []record {
	out := make([]record, 0, len(i.Lines)+len(i.Rows)+len(i.Deals))
	for _, l := range i.Lines {
		out = append(out, ofLine(l))
	}
	for _, r := range i.Rows {
		out = append(out, ofRow(r))
	}
	for _, d := range i.Deals {
		out = append(out, ofDeal(d))
	}
	return out
}

func ofLine(l recon.Line) record {
	what := string(l.Type)
	if l.Word != "" && l.Word != what {
		what += " (" + l.Word + ")"
	}
	note := ""
	if l.Batch != "" {
		note = "payout " + l.Batch
	}
	return record{
		side: sideProvider, what: what, id: l.Movement, payment: l.Payment, code: l.Code, paid: l.Gross, fee: l.Fee, net: l.Net,
		at: l.At, settled: l.SettledAt, digest: l.Digest, row: l.Row, note: note,
	}
}

func ofRow(r recon.Row) record {
	return record{
		side: sideRow, what: fmt.Sprintf("%s, %s", r.Kind, r.State), id: fmt.Sprintf("credit/%d", r.ID), payment: r.Unit.Payment, part: r.Unit.Part, code: r.Code,
		paid: r.Kind.Signed(r.Paid), credited: r.Kind.Signed(r.Amount), reference: string(r.Reference), login: number(r.Login),
		server: cmp.Or(r.Identity, r.Server), ticket: number(r.Ticket), at: r.PaidAt,
	}
}

func ofDeal(d recon.Deal) record {
	note := ""
	if d.Dealer != 0 {
		note = "dealer " + number(d.Dealer)
	}
	return record{
		side: sideMT5, what: action(d.Action) + " deal", id: "deal/" + number(d.Ticket), credited: d.Amount, reference: d.Comment, login: number(d.Login),
		server: cmp.Or(d.Identity, d.Server), ticket: number(d.Ticket), at: d.At, note: note,
	}
}

// number writes an id; 0 is none.
func number(n uint64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatUint(n, 10)
}

// action names a deal's action (mt5-webapi.md §5).
func action(a int) string {
	switch a {
	case credit.ActionBalance:
		return "balance"
	case 3:
		return "credit"
	case 4:
		return "charge"
	case 5:
		return "correction"
	case 6:
		return "bonus"
	default:
		return fmt.Sprintf("action %d", a)
	}
}

// matrix is the records of one item beside each other: one column a record, one line a field that any of them has.
type matrix struct {
	Heads []string // "Provider", "Our row", "MT5"; numbered where a side has several
	Lines []matrixLine
}

type matrixLine struct {
	Name    string
	Cells   []string // one a column; empty: that record says nothing of it
	Differs bool     // records that should agree say different things
	Figures bool     // the cells are amounts
}

// sides lays an item's records side by side. A side without a record has its column too, so that what is missing is seen.
func sides(i recon.Item, loc *time.Location) matrix {
	list := records(i)
	var columns []record
	var m matrix
	for _, side := range []string{sideProvider, sideRow, sideMT5} {
		n := 0
		for _, r := range list {
			if r.side == side {
				columns = append(columns, r)
				m.Heads = append(m.Heads, sideTitles[side])
				n++
			}
		}
		switch {
		case n == 0:
			columns = append(columns, record{side: side, what: "nothing"})
			m.Heads = append(m.Heads, sideTitles[side])
		case n > 1:
			for k := range n {
				m.Heads[len(m.Heads)-n+k] += " " + strconv.Itoa(k+1)
			}
		}
	}
	for _, f := range fields {
		if line, some := f.line(columns, loc); some {
			m.Lines = append(m.Lines, line)
		}
	}
	return m
}

// field is one line of a matrix.
type field struct {
	name    string
	value   func(record, *time.Location) string
	compare bool // the records should agree
	figures bool
}

var fields = []field{
	{name: "Record", value: func(r record, _ *time.Location) string { return r.what }},
	{name: "Id", value: func(r record, _ *time.Location) string { return r.id }},
	{name: "Payment", value: func(r record, _ *time.Location) string { return slashed(r.payment, r.part) }},
	{name: "Deposit code", value: func(r record, _ *time.Location) string { return r.code }, compare: true},
	{name: "Paid", value: func(r record, _ *time.Location) string { return money(r.paid) }, compare: true, figures: true},
	{name: "Fee", value: func(r record, _ *time.Location) string { return money(r.fee) }, figures: true},
	{name: "Net", value: func(r record, _ *time.Location) string { return money(r.net) }, figures: true},
	{name: "Credited", value: func(r record, _ *time.Location) string { return money(r.credited) }, compare: true, figures: true},
	{name: "Login", value: func(r record, _ *time.Location) string { return r.login }, compare: true},
	{name: "MT5 server", value: func(r record, _ *time.Location) string { return r.server }, compare: true},
	{name: "Ticket", value: func(r record, _ *time.Location) string { return r.ticket }, compare: true},
	{name: "Reference", value: func(r record, _ *time.Location) string { return r.reference }, compare: true},
	{name: "Time", value: func(r record, _ *time.Location) string { return utc(r.at) }},
	{name: "business zone", value: func(r record, loc *time.Location) string { return elsewhere(r.at, loc) }},
	{name: "Settled", value: func(r record, _ *time.Location) string { return utc(r.settled) }},
	{name: "business zone", value: func(r record, loc *time.Location) string { return elsewhere(r.settled, loc) }},
	{name: "Stands in", value: func(r record, _ *time.Location) string { return place(r) }},
	{name: "Also", value: func(r record, _ *time.Location) string { return r.note }},
}

func (f field) line(columns []record, loc *time.Location) (matrixLine, bool) {
	out := matrixLine{Name: f.name, Figures: f.figures, Cells: make([]string, len(columns))}
	seen := ""
	for i, r := range columns {
		value := f.value(r, loc)
		out.Cells[i] = clip(value, pageText)
		if value != "" && f.compare {
			out.Differs = out.Differs || seen != "" && seen != value
			seen = value
		}
		seen = cmp.Or(seen, value)
	}
	return out, seen != ""
}

func slashed(payment, part string) string { return strings.TrimSuffix(payment+"/"+part, "/") }

// elsewhere is the moment in the business zone; empty where that is UTC.
func elsewhere(at time.Time, loc *time.Location) string {
	if at.IsZero() || abbreviation(at, loc) == "UTC" {
		return ""
	}
	return local(at, loc)
}

// place says where a statement line stands: the first digits of the file's digest name it in the list of sources' statements.
func place(r record) string {
	if r.row == 0 {
		return ""
	}
	return "file " + r.digest[:min(12, len(r.digest))] + ", line " + strconv.Itoa(r.row)
}
