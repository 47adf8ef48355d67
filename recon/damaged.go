package recon

import (
	"slices"
	"strings"

	"creditonce/credit"
)

// A comment can be a damaged copy of a reference in ways that [credit.Reference.Damages] knows. It compares one comment with one reference;
// here many meet many, so what cannot be is sorted out before.

// damageRun is the shortest stretch of a reference that Damages takes for one.
const damageRun = 8

// suspicious tells that the comment of a deal, which is no whole reference, may be a damaged copy of one: it is long enough. A shorter one
// shares no run of 8 characters with a reference and is more than 4 edits away from its 22.
func suspicious(d *Deal) bool {
	return d.Action == credit.ActionBalance && len(d.Comment) >= damageRun
}

// folded is a comment as people and systems may have changed it in passing, brought back: case, blanks, look-alike letters.
func folded(s string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c == ' ', c == '\t':
			return -1
		case c == 'o', c == 'O':
			return '0'
		case c == 'i', c == 'I', c == 'l', c == 'L':
			return '1'
		case 'a' <= c && c <= 'z':
			return c - 'a' + 'A'
		}
		return c
	}, s)
}

// pieces of a reference, after its prefix. Damages lets pass at most 4 edits, so at least one of five pieces is whole; and every run of 8
// characters, like every cut copy that is long enough, holds a whole piece.
var pieces = [][2]int{{4, 8}, {8, 12}, {12, 16}, {16, 19}, {19, 22}}

// manyRows is how many references a comment is compared with one by one; with more, the pieces choose.
const manyRows = 16

// references are those of the rows of one login, ready to be compared with many comments.
type references struct {
	rows  []paired
	index map[string][]int // by piece: the rows that have it; nil for few rows
}

func newReferences(rows []paired) references {
	r := references{rows: rows}
	if len(rows) <= manyRows {
		return r
	}
	r.index = make(map[string][]int, len(pieces)*len(rows))
	for i, row := range rows {
		text := string(row.Row.Reference)
		for n, p := range pieces {
			if p[1] <= len(text) {
				key := string(rune('0'+n)) + text[p[0]:p[1]]
				r.index[key] = append(r.index[key], i)
			}
		}
	}
	return r
}

// damagedBy lists the rows whose reference the deal's comment may be a damaged copy of, in their order.
func (r references) damagedBy(d *Deal) []int {
	var out []int
	for _, i := range r.candidates(d.Comment) {
		row := &r.rows[i].Row
		if row.Reference.Damages(d.Comment) && !slices.Contains(row.NotDeals, d.Ticket) {
			out = append(out, i)
		}
	}
	return out
}

func (r references) candidates(comment string) []int {
	var out []int
	if r.index == nil {
		for i := range r.rows {
			out = append(out, i)
		}
		return out
	}
	text := folded(comment)
	for n, p := range pieces {
		for i, long := 0, p[1]-p[0]; i+long <= len(text); i++ {
			out = append(out, r.index[string(rune('0'+n))+text[i:i+long]]...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
