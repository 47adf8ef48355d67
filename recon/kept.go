package recon

import (
	"strings"

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
)

// KeptLine is a line as the store has it.
type KeptLine struct {
	ID        LineID       `json:"id,string"`
	Statement StatementID  `json:"statement,string"`
	Standing  LineStanding `json:"standing"`
	Line      Line         `json:"line"`
}

// OtherFacts says what two lines of one movement disagree about, with both values; empty: they say the same. Type, payment, movement, code
// and the three amounts are facts; what belongs to the file, its times and its words, is none.
func OtherFacts(earlier, now Line) string {
	var out []string
	note := func(name, a, b string) {
		if a != b {
			out = append(out, name+" was "+textOrNone(a)+", now "+textOrNone(b))
		}
	}
	amount := func(name string, a, b credit.Amount) {
		if a.IsSet() != b.IsSet() || (a.IsSet() && !a.Equal(b)) {
			note(name, a.String(), b.String())
		}
	}
	note("type", string(earlier.Type), string(now.Type))
	note("payment", earlier.Payment, now.Payment)
	note("movement", earlier.Movement, now.Movement)
	note("code", earlier.Code, now.Code)
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
