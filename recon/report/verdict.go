package report

import (
	"fmt"
	"strings"

	"creditonce/credit"
	"creditonce/recon"
)

// The three things that a report can come to.
const (
	clean       = "clean"
	differences = "differences"
	incomplete  = "incomplete"
)

// verdict is the first thing that a reader sees.
type verdict struct {
	State    string // clean, differences or incomplete
	Headline string
	Details  []string
}

func (g *gathered) verdict(d Data) verdict { return g.own(d).after(d, g) }

// own is what the run itself says.
func (g *gathered) own(d Data) verdict {
	found, off := g.differences()
	said := differencesText(found, off)
	missing := unread(d.Run)
	short := shortfalls(d.Run)
	v := verdict{State: clean, Headline: "Clean: " + agreement(d.Run.Outcome)}
	if len(short) > 0 {
		v.Headline = "Clean as far as the statements reach: " + agreement(d.Run.Outcome)
	}
	switch {
	case len(missing) > 0:
		v = verdict{State: incomplete, Headline: "Incomplete: " + missing[0], Details: missing[1:]}
		if found == 0 {
			said = "no difference"
		}
		v.Details = append(v.Details, "What was compared shows "+said+". What could not be read may hold more.")
	case d.Run.State != recon.RunComplete:
		v = verdict{State: incomplete, Headline: "Incomplete: the run says so without naming a list. Run it again."}
	case found > 0:
		v = verdict{State: differences, Headline: said, Details: []string{agreement(d.Run.Outcome) + "."}}
	}
	v.Details = append(v.Details, short...)
	v.Details = append(v.Details, contradicted(d.Run)...)
	if len(short) > 0 && v.State == differences {
		v.Headline += ", as far as the statements reach"
	}
	switch accepted := min(d.Run.Accepted, found); {
	case accepted > 0 && accepted == found:
		v.Details = append(v.Details, "People have accepted every difference as it is: they closed its task with a reason.")
	case accepted > 0:
		v.Details = append(v.Details, "People have accepted "+many(accepted, "of the differences", "of the differences")+" as they are: they closed the tasks with a reason.")
	}
	if waiting := g.items(recon.Waiting); waiting > 0 {
		v.Details = append(v.Details, many(waiting, "payment waits", "payments wait")+" for the provider's settlement, within its usual delay.")
	}
	if within := g.items(recon.MatchedWithin); within > 0 {
		v.Details = append(v.Details, many(within, "payment agrees", "payments agree")+" only within the tolerance.")
	}
	if open := unexplained(g.forwards(d.Run.Outcome.Rolls)); open != "" {
		v.Details = append(v.Details, open)
	}
	if cut := g.cut(d.Run.Outcome); cut != "" {
		v = verdict{State: incomplete, Headline: "Incomplete: " + cut, Details: append([]string{said + "."}, v.Details...)}
		if found == 0 {
			v.Details = v.Details[1:]
		}
	}
	return v
}

// agreement counts what agrees.
func agreement(o recon.Outcome) string {
	return many(o.Classes[recon.Matched]+o.Classes[recon.MatchedWithin], "payment agrees", "payments agree")
}

// differencesText is "3 differences, 1,250.00 USD and 40.00 EUR"; the amounts are added up whatever their sign.
func differencesText(n int, off sums) string {
	text := many(n, "difference", "differences")
	var amounts []string
	for _, a := range off.list() {
		amounts = append(amounts, money(a))
	}
	if len(amounts) == 0 {
		return text
	}
	return text + ", " + joined(amounts)
}

func joined(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// unread says for each list that is not complete which one and why.
func unread(r recon.Run) []string {
	var out []string
	for _, s := range r.Sources {
		if !s.Complete {
			out = append(out, listTitle(s)+", because "+strings.TrimRight(clip(s.Reason, 600), ". "))
		}
	}
	return out
}

func listTitle(s recon.Source) string {
	switch s.List {
	case recon.ListSettlements:
		return "the statements of " + clip(s.Name, pageText)
	case recon.ListRows:
		return "the credit rows"
	case recon.ListDeals:
		return "the list of MT5 deals of server " + clip(s.Name, pageText)
	default:
		return "the list " + clip(string(s.List)+" "+s.Name, pageText)
	}
}

// unexplained names the roll-forwards whose difference is not the sum of the listed items: the comparison itself is then in doubt.
func unexplained(list []forward) string {
	var out []string
	for _, f := range list {
		if !f.Unexplained.IsZero() {
			out = append(out, fmt.Sprintf("%s of %s (%s)", money(f.Unexplained), provider(f.Provider), compared(f.Side)))
		}
	}
	if len(out) == 0 {
		return ""
	}
	return "Not explained by the listed items: " + joined(out) + ". Report this as a fault of the program."
}

// cut tells that the items given to the report are not those that the run counted.
func (g *gathered) cut(o recon.Outcome) string {
	for _, class := range recon.Classes() {
		if class != recon.Matched && g.items(class) != o.Classes[class] {
			return fmt.Sprintf("this report lists %s of the %s that the run found under %q. Run it again", count(g.items(class)), count(o.Classes[class]), WordsOf(class).Title)
		}
	}
	return ""
}

func provider(label string) string {
	if label == "" {
		return "no provider"
	}
	return clip(label, pageText)
}

func compared(s recon.Side) string {
	switch s {
	case recon.SideProvider:
		return "statements against rows"
	case recon.SideMT5:
		return "MT5 deals against rows"
	default:
		return shown(string(s))
	}
}

// mainAmount is the amount by which a person knows the item: what was paid, else what was credited.
func mainAmount(i recon.Item) credit.Amount {
	for _, r := range records(i) {
		if r.paid.IsSet() {
			return r.paid
		}
	}
	for _, r := range records(i) {
		if r.credited.IsSet() {
			return r.credited
		}
	}
	return credit.Amount{}
}
