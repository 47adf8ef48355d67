package probe

import (
	"fmt"
	"strings"
	"time"
)

// Markdown is the report for people.
func (r *Report) Markdown() string {
	var b strings.Builder
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(&b, format+"\n", args...) }
	line("# What MT5 server %s does\n", cell(r.Identity))
	line("| | |\n|---|---|")
	line("| server | %s, version %s by its own words |", cell(r.Server), cell(orDash(r.Build)))
	line("| probed | %s to %s UTC, with creditonce %s |", r.Started.Format(time.DateTime), r.Ended.Format(time.DateTime), cell(r.Program))
	line("| as | manager %d |", r.Manager)
	line("| on | login %d in group %s, %s with %d digits |", r.Login, cell(r.Group), cell(r.Currency), r.Digits)
	operated := "none were allowed (--operate)"
	if r.Operated {
		operated = fmt.Sprintf("%d, each taken back unless it is listed under Attention", len(r.Operations))
	}
	line("| balance operations | %s |\n", operated)
	r.writeAttention(line)
	r.writeDifferences(line)
	r.writeFindings(line)
	r.writeVisible(line)
	r.writeOperations(line)
	return b.String()
}

func (r *Report) writeAttention(line func(string, ...any)) {
	if len(r.Attention) == 0 {
		return
	}
	line("## Attention: do this now\n")
	for _, text := range r.Attention {
		line("- %s", cell(text))
	}
	line("")
}

func (r *Report) writeDifferences(line func(string, ...any)) {
	line("## What differs from what the client assumes\n")
	differences := r.Differences()
	if len(differences) == 0 {
		line("Nothing that was asked.")
	}
	for _, f := range differences {
		a := assumption(f.ID)
		line("- **%s** (%s): assumed: %s; found: %s. What to do: %s.", cell(a.Asks), f.ID, cell(a.Assumes), cell(f.Answer), cell(f.Next))
	}
	line("")
	handled := r.of(Handled)
	if len(handled) == 0 {
		return
	}
	line("## What is otherwise, and handled\n")
	for _, f := range handled {
		a := assumption(f.ID)
		line("- **%s** (%s): expected: %s; found: %s. What follows: %s.", cell(a.Asks), f.ID, cell(a.Assumes), cell(f.Answer), cell(f.Next))
	}
	line("")
}

func (r *Report) writeFindings(line func(string, ...any)) {
	line("## Every question\n")
	line("| question | answer | | assumed | id |\n|---|---|---|---|---|")
	for _, f := range r.Findings {
		a := assumption(f.ID)
		line("| %s | %s | %s | %s | %s |", cell(a.Asks), cell(f.Answer), f.Verdict, cell(orDash(a.Assumes)), f.ID)
	}
	line("")
}

// buckets are the upper ends of the histogram's columns.
var buckets = []time.Duration{
	5 * time.Millisecond, 20 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second,
}

// Histogram counts how long new deals took to show at one endpoint ("get", "get_total", "get_page"): one number a
// bucket, then those that took longer, then those that never showed.
func (r *Report) Histogram(endpoint string) []int {
	counts := make([]int, len(buckets)+2)
	for _, op := range r.Operations {
		if op.Visible == nil {
			continue
		}
		took, seen := op.Visible[endpoint]
		at := len(buckets) + 1
		if seen {
			at = 0
			for at < len(buckets) && took > buckets[at] {
				at++
			}
		}
		counts[at]++
	}
	return counts
}

func (r *Report) writeVisible(line func(string, ...any)) {
	if r.Facts.Samples == 0 {
		return
	}
	line("## Time until a new deal shows\n")
	line("Counted from the answer to the operation to the end of the first read that shows the deal.\n")
	head, rule := "| endpoint |", "|---|"
	for _, upper := range buckets {
		head, rule = head+fmt.Sprintf(" ≤ %s |", upper), rule+"---|"
	}
	line("%s longer | never |\n%s---|---|", head, rule)
	for _, name := range watched {
		row := "| " + name + " |"
		for _, n := range r.Histogram(name) {
			row += fmt.Sprintf(" %d |", n)
		}
		line("%s", row)
	}
	line("")
}

func (r *Report) writeOperations(line func(string, ...any)) {
	if len(r.Operations) == 0 {
		return
	}
	line("## Balance operations\n")
	line("| for | login | sent | comment | outcome | deal | booked | comment kept | answer | took |\n|---|---|---|---|---|---|---|---|---|---|")
	for _, op := range r.Operations {
		ticket := "-"
		if op.Ticket != 0 {
			ticket = fmt.Sprint(op.Ticket)
		}
		line("| %s | %d | %s | %s | %s | %s | %s | %s | %s | %s |", op.Purpose, op.Login, cell(op.Amount), cell(op.Comment), op.Outcome, ticket,
			cell(orDash(op.Booked)), cell(orDash(op.Kept)), cell(op.Reply), brief(op.Took))
	}
	line("")
}

// cell keeps the server's words from being read as Markdown's own.
func cell(s string) string {
	s = strings.NewReplacer(`\`, `\\`, "|", `\|`, "<", "&lt;", "`", "\\`", "\n", " ", "\r", " ", "*", `\*`).Replace(s)
	return strings.TrimSpace(s)
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// assumption is the table's line of an id.
func assumption(id string) Assumption {
	for _, a := range Assumptions() {
		if a.ID == id {
			return a
		}
	}
	return Assumption{ID: id, Asks: id}
}
