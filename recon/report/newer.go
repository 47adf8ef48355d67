package report

import (
	"fmt"

	"creditonce/recon"
)

// after puts what newer runs of the days came to before everything else that a report says: it is the newest that counts, and one that could
// not read its lists may have had good reason.
func (v verdict) after(d Data, g *gathered) verdict {
	var again []string
	for _, r := range d.Newer.Complete {
		again = append(again, fmt.Sprintf("Run %d has compared %s since, at %s, with every list whole: its report stands for these days.", r.ID, period(r), both(r.Finished, g.loc)))
	}
	failed := d.Newer.Incomplete
	if len(failed) == 0 {
		v.Details = append(again, v.Details...)
		return v
	}
	days, runs := "this business day", "a newer run"
	if d.Run.First != d.Run.Last {
		days = "these business days"
	}
	if len(d.Newer.Numbers) > 1 {
		runs = count(len(d.Newer.Numbers)) + " newer runs"
	}
	out := verdict{State: incomplete, Headline: fmt.Sprintf("Incomplete: %s of %s could not read every list", runs, days)}
	for _, r := range failed {
		out.Details = append(out.Details, newerText(r, g)...)
	}
	if rest := d.Newer.Numbers[min(len(failed), len(d.Newer.Numbers)):]; len(rest) > 0 {
		out.Details = append(out.Details, fmt.Sprintf("Nor could %s before, from run %d on.", many(len(rest), "other", "others"), rest[len(rest)-1]))
	}
	out.Details = append(out.Details, again...)
	out.Details = append(out.Details, fmt.Sprintf("What follows is of the older run %d, finished %s: %s.", d.Run.ID, both(d.Run.Finished, g.loc), v.Headline))
	out.Details = append(out.Details, v.Details...)
	return out
}

// newerText names an incomplete run, and why it was.
func newerText(r recon.Run, g *gathered) []string {
	head := fmt.Sprintf("Run %d, finished %s: ", r.ID, both(r.Finished, g.loc))
	missing := unread(r)
	if len(missing) == 0 {
		return []string{head + "it says so without naming a list."}
	}
	var out []string
	for _, m := range missing {
		out = append(out, head+m+".")
	}
	return out
}
