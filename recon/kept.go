package recon

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"creditonce/credit"
)

// LineID numbers the lines of a store in the order of their import.
type LineID uint64

// LineStanding says whether a stored line counts.
type LineStanding string

// The standings of lines.
const (
	LineCounts      LineStanding = "counts"
	LineImporting   LineStanding = "importing"   // its statement is not whole yet, and may never be
	LineContradicts LineStanding = "contradicts" // an earlier line of the same movement has other facts: kept as evidence, until a person says which holds
	LineSuperseded  LineStanding = "superseded"  // a later line of the same movement names its batch or its type, and counts in its place
	LineWithdrawn   LineStanding = "withdrawn"   // a person has withdrawn its statement
)

// KeptLine is a line as the store has it.
type KeptLine struct {
	ID        LineID       `json:"id,string"`
	Statement StatementID  `json:"statement,string"`
	Standing  LineStanding `json:"standing"`
	Line      Line         `json:"line"`
}

// OtherFacts says what two lines of one movement disagree about, with both values; empty: they say the same. Type, payment, movement, code,
// batch and the three amounts are facts; what belongs to the file, its times and its words, is none. A code or batch that one of them leaves
// empty is no other one, and no amount is the same as zero.
func OtherFacts(earlier, now Line) string {
	var out []string
	note := func(name, a, b string) {
		if a != b {
			out = append(out, name+" was "+textOrNone(a)+", now "+textOrNone(b))
		}
	}
	amount := func(name string, a, b credit.Amount) {
		bothSet := a.IsSet() && b.IsSet()
		if (bothSet && !a.Equal(b)) || (!bothSet && (!a.IsZero() || !b.IsZero())) {
			note(name, a.String(), b.String())
		}
	}
	given := func(name, a, b string) {
		if a != "" && b != "" {
			note(name, a, b)
		}
	}
	note("type", string(earlier.Type), string(now.Type))
	note("payment", earlier.Payment, now.Payment)
	note("movement", earlier.Movement, now.Movement)
	given("code", earlier.Code, now.Code)
	given("batch", earlier.Batch, now.Batch)
	amount("gross", earlier.Gross, now.Gross)
	amount("fee", earlier.Fee, now.Fee)
	amount("net", earlier.Net, now.Net)
	return strings.Join(out, "; ")
}

func textOrNone(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}

// mostStatementRows bounds the rows that a task about a statement names.
const mostStatementRows = 20

// StatementTask is the task about an import that a person must look at: sums that do not agree, rows that say other things than an earlier
// statement did, rows that nobody can read. False where there is nothing to ask. The same import always gives the same task. at is UTC.
func StatementTask(im Imported, at time.Time) (credit.Task, bool) {
	s := im.Statement
	var fields []credit.Field
	further, sums := 0, 0
	add := func(name, value string) {
		if len(fields) == mostStatementRows {
			further++
			return
		}
		fields = append(fields, credit.Field{Name: name, Value: validText(value)})
	}
	for _, t := range s.Totals {
		if !t.Agrees() {
			sums++
			add("total "+t.Name, fmt.Sprintf("stated %s, the lines sum up to %s", t.Stated, t.Summed))
		}
	}
	for _, c := range im.Conflicts {
		add(fmt.Sprintf("line %d", c.Row), fmt.Sprintf("%s (line %d of the file %.12s)", c.Text, c.Line, c.Earlier))
	}
	further += im.Differing() - len(im.Conflicts)
	for _, p := range s.Problems {
		add(fmt.Sprintf("line %d", p.Row), p.Text)
	}
	if len(fields) == 0 {
		return credit.Task{}, false
	}
	if further > 0 {
		fields = append(fields, credit.Field{Name: "further rows", Value: grouped(further)})
	}
	var what []string
	for _, w := range []struct {
		n         int
		one, many string
	}{
		{len(s.Problems), "1 row needs an answer", "rows need an answer"},
		{im.Differing(), "1 row differs from an earlier statement", "rows differ from an earlier statement"},
		{sums, "1 sum does not agree", "sums do not agree"},
	} {
		switch {
		case w.n == 1:
			what = append(what, w.one)
		case w.n > 1:
			what = append(what, grouped(w.n)+" "+w.many)
		}
	}
	return credit.Task{
		Kind: credit.TaskStatement, Entity: StatementTaskKey(s).Entity,
		Summary: validText(fmt.Sprintf("statement %s of %s: %s", s.Name, s.Provider.Label, strings.Join(what, ", "))),
		Next: "compare the rows with the provider's dashboard; name unknown words in the configuration (settlement.row_types), ask the provider for a corrected statement " +
			"where sums or rows disagree and withdraw the wrong one (creditonce recon withdraw), then close this task with what you found",
		Records:  []credit.Record{{Source: "statement", Fields: slices.Concat([]credit.Field{{Name: "file", Value: validText(s.Name)}, {Name: "sha256", Value: s.Digest}}, fields)}},
		OpenedAt: at,
	}, true
}

// StatementTaskKey names the task about a statement.
func StatementTaskKey(s Statement) credit.TaskKey {
	return credit.TaskKey{
		Kind:   credit.TaskStatement,
		Entity: "statement/" + escape.Replace(s.Provider.Kind) + "/" + escape.Replace(s.Provider.Account) + "/" + s.Digest[:min(16, len(s.Digest))],
	}
}
