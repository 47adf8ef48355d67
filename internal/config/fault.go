package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Fault is one thing that is wrong (or, as a warning, doubtful) in a configuration file. Line and Column count from 1;
// both are 0 when the fault has no place in the text, such as a file that does not exist.
type Fault struct {
	File    string
	Line    int
	Column  int
	Path    string // "mt5.servers.main.login"; empty for the file as a whole
	Problem string // what is wrong, and after a semicolon what to do
}

// String gives file:line:column: path: problem, without the parts that are empty.
func (f Fault) String() string {
	var b strings.Builder
	b.WriteString(f.File)
	if f.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", f.Line, f.Column)
	}
	if f.Path != "" {
		b.WriteString(": " + f.Path)
	}
	b.WriteString(": " + f.Problem)
	return b.String()
}

// Faults is the error of Parse and Load: every fault of the file, in the order of the file, at least one.
type Faults struct {
	List []Fault
}

// Error gives one line per fault.
func (e *Faults) Error() string {
	lines := make([]string, len(e.List))
	for i, f := range e.List {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}

// inFileOrder sorts by place; faults at one place stay in the order in which they were found.
func inFileOrder(faults []Fault) {
	slices.SortStableFunc(faults, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// nearest returns the candidate that a person most likely meant by name, or "" when none is close.
func nearest(name string, candidates []string) string {
	best, bestDistance := "", len(name)/3+2
	for _, c := range candidates {
		if d := editDistance(strings.ToLower(name), c); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

// editDistance counts the single-byte insertions, deletions, replacements and swaps of neighbours between a and b.
func editDistance(a, b string) int {
	const longest = 64 // of an option's name; keeps hostile keys from costing time
	if len(a) > longest || len(b) > longest {
		return longest
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			replace := last[j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			row[j] = min(replace, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
