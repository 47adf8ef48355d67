package cli

import (
	"fmt"
	"io"
	"net/url"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"creditonce/internal/admin"
)

func reconCommand(p *Process) *cobra.Command {
	cmd := group("recon", "Lay the provider's statements, the credits and MT5's deals side by side: run, import, report, sign, list, statements, withdraw",
		reconRunCommand(p), reconImportCommand(p), reconReportCommand(p), reconSignCommand(p), reconListCommand(p), reconStatementsCommand(p), reconWithdrawCommand(p))
	cmd.Long = "The service compares three lists once a business day: what the providers' statements settled, what the credits say, and the\n" +
		"deals of the MT5 servers. Every difference becomes a task for a person; it moves no money (docs/reconciliation.md)."
	cmd.Example = "  creditonce recon import settlement-2026-11-29.csv --provider stripe-main\n  creditonce recon run --day 2026-11-29\n" +
		"  creditonce recon report --day 2026-11-29 --format html --out report.html"
	return cmd
}

func reconRunCommand(p *Process) *cobra.Command {
	cmd := &cobra.Command{
		Use: "run", Short: "Compare the three lists of one or more business days now", Args: args(cobra.NoArgs),
		Long: "run reads the three lists of the business days, compares them and carries the tasks. Without days it takes what is due: the days\n" +
			"since the last complete run, else the last one that is over. It ends with 0 when everything agrees, or when people have accepted\n" +
			"every difference as it is (they closed its task with a reason), with 3 when a person must look at something, with 4 when a list\n" +
			"was not complete: then it says which, why, and what to do.",
		Example: "  creditonce recon run\n  creditonce recon run --day 2026-11-29\n  creditonce recon run --from 2026-11-01 --to 2026-11-30",
	}
	o := operatedOne(p, cmd)
	var day, from, to string
	cmd.Flags().StringVar(&day, "day", "", "one business day, as 2026-11-29")
	cmd.Flags().StringVar(&from, "from", "", "the first business day")
	cmd.Flags().StringVar(&to, "to", "", "the last business day, included")
	var wish admin.RunWish
	o.check = func(*cobra.Command, []string) (err error) {
		wish, err = daysWished(day, from, to)
		return err
	}
	cmd.RunE = o.run(func(cmd *cobra.Command, c *admin.Client, _ []string) error {
		stop := followProgress(cmd.Context(), p, c)
		run, err := c.Reconcile(cmd.Context(), wish)
		stop()
		if err != nil {
			return err
		}
		if err := show(o, run, runSheet); err != nil {
			return err
		}
		return verdictExit(admin.VerdictOf(run))
	})
	return cmd
}

// daysWished reads the days of a run; all empty: what is due.
func daysWished(day, from, to string) (admin.RunWish, error) {
	switch {
	case day != "" && (from != "" || to != ""):
		return admin.RunWish{}, usagef("--day is one day, --from and --to are several; give the one or the others")
	case (from == "") != (to == ""):
		return admin.RunWish{}, usagef("--from and --to go together")
	case day != "":
		from, to = day, day
	}
	wish, err := admin.RunOf(from, to)
	if err != nil {
		return wish, exitWith(ExitUsage, admin.Refusal(err))
	}
	return wish, nil
}

// verdictExit chooses the exit code of what a run says.
func verdictExit(verdict string) error {
	switch verdict {
	case admin.VerdictIncomplete:
		return exitWith(ExitNoAnswer, nil)
	case admin.VerdictDifferences:
		return exitWith(ExitFound, nil)
	default:
		return nil
	}
}

func runSheet(w io.Writer, r admin.ReconRun) error {
	var s sheet
	s.add("run", strconv.FormatUint(uint64(r.ID), 10))
	s.add("business days", daysOf(r))
	s.add("zone", r.Zone)
	s.add("from", r.From.UTC().Format(time.RFC3339)+" (included)")
	s.add("until", r.Until.UTC().Format(time.RFC3339)+" (not included)")
	s.add("verdict", verdictText(r))
	if err := s.write(w, ""); err != nil {
		return err
	}
	if err := section(w, "lists", r.Sources, sourceColumns()); err != nil {
		return err
	}
	for _, reason := range r.Reasons() {
		if _, err := fmt.Fprintf(w, "not complete: %s\n", plain(reason)); err != nil {
			return err
		}
	}
	for _, s := range r.Sources {
		for _, note := range s.Notes {
			if _, err := fmt.Fprintf(w, "note on %s of %s: %s\n", plain(string(s.List)), plain(s.Name), plain(note)); err != nil {
				return err
			}
		}
	}
	if err := section(w, "what became of them", classesOf(r), classColumns()); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\nthe whole report: creditonce recon report --run %d --format html --out report.html\n", r.ID)
	return err
}

func daysOf(r admin.ReconRun) string {
	if r.First == r.Last {
		return string(r.First)
	}
	return string(r.First) + " to " + string(r.Last)
}

func verdictText(r admin.ReconRun) string {
	text := sayingOf(admin.VerdictOf(r), r.Differences())
	for _, b := range r.Behind() {
		text += fmt.Sprintf("; the statements of %s reach %s", plain(b.Provider), b.At.UTC().Format("2006-01-02 15:04 MST"))
	}
	if admin.VerdictOf(r) != admin.VerdictClean && r.Accepted > 0 {
		text += fmt.Sprintf("; %d of them people have accepted as they are", min(r.Accepted, r.Differences()))
	}
	return text
}

// sayingOf puts a verdict and the number of differences into words.
func sayingOf(verdict string, n int) string {
	text := "everything agrees"
	switch {
	case verdict == admin.VerdictClean && n > 0: // no task of theirs is open
		text = count(n, "difference") + ", which people have accepted"
	case n == 1:
		text = "1 difference, with its task"
	case n > admin.MostWithTasks:
		text = fmt.Sprintf("%d differences, %d of them with tasks: so many mostly have one cause, look at the report", n, admin.MostWithTasks)
	case n > 1:
		text = fmt.Sprintf("%d differences, each with its task", n)
	}
	if verdict == admin.VerdictIncomplete {
		text = "incomplete; of what could be compared: " + text
	}
	return text
}

func sourceColumns() []column[admin.ReconSource] {
	type x = admin.ReconSource
	return []column[x]{
		{head: "list", value: func(r x) string { return string(r.List) }},
		{head: "of", value: func(r x) string { return r.Name }},
		{head: "rows", value: func(r x) string { return strconv.Itoa(r.Rows) }},
		{head: "complete", value: func(r x) string {
			if r.Complete {
				return "yes"
			}
			return "NO"
		}},
		{head: "digest", value: func(r x) string { return r.Digest[:min(12, len(r.Digest))] }},
	}
}

type classLine struct {
	class string
	items int
}

func classesOf(r admin.ReconRun) []classLine {
	var out []classLine
	for _, c := range admin.ReconClasses() {
		if n := r.Outcome.Classes[c]; n > 0 {
			out = append(out, classLine{string(c), n})
		}
	}
	return out
}

func classColumns() []column[classLine] {
	return []column[classLine]{
		{head: "class", value: func(r classLine) string { return r.class }},
		{head: "items", value: func(r classLine) string { return strconv.Itoa(r.items) }},
	}
}

func reconListCommand(p *Process) *cobra.Command {
	return lister(p, "runs, newest first", "list prints each run of the reconciliation with its days and what it says.", "  creditonce recon list", runColumns(),
		func(cmd *cobra.Command) *filters { return filter(p, cmd) },
		func(cmd *cobra.Command, c *admin.Client, q url.Values) (admin.List[admin.ReconRun], error) {
			return c.ReconRuns(cmd.Context(), below(q))
		})
}

// below turns the place where a list goes on into what the service calls it.
func below(q url.Values) url.Values {
	if next := q.Get("after"); next != "" {
		q.Del("after")
		q.Set("below", next)
	}
	return q
}

func runColumns() []column[admin.ReconRun] {
	type x = admin.ReconRun
	return []column[x]{
		{head: "run", value: func(r x) string { return strconv.FormatUint(uint64(r.ID), 10) }},
		{head: "days", value: daysOf},
		{head: "zone", value: func(r x) string { return r.Zone }},
		{head: "verdict", value: func(r x) string { return admin.VerdictOf(r) }},
		{head: "differences", value: func(r x) string { return strconv.Itoa(r.Differences()) }},
		{head: "finished UTC", narrow: true, value: func(r x) string { return utc(r.Finished) }},
		{head: "finished at", wide: true, value: func(r x) string { return stamp(r.Finished) }},
		{head: "by", value: func(r x) string { return r.By }},
		{head: "signed by", value: func(r x) string {
			if r.SignOff == nil {
				return ""
			}
			return r.SignOff.By
		}},
	}
}
