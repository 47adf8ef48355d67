package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"creditonce/internal/admin"
)

func reconCommand(p *Process) *cobra.Command {
	cmd := group("recon", "Lay the provider's statements, the credits and MT5's deals side by side: run, import, report, sign, list, statements",
		reconRunCommand(p), reconImportCommand(p), reconReportCommand(p), reconSignCommand(p), reconListCommand(p), reconStatementsCommand(p))
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
			"since the last complete run, else the last one that is over. It ends with 0 when everything agrees, with 3 when a person must\n" +
			"look at something, with 4 when a list was not complete: then it says which, why, and what to do.",
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
	for _, text := range []string{from, to} {
		if _, err := time.Parse(time.DateOnly, text); text != "" && err != nil {
			return admin.RunWish{}, usagef("%q is no business day; write it as 2026-11-29", clipped(text))
		}
	}
	if to < from {
		return admin.RunWish{}, usagef("--from %s is after --to %s", from, to)
	}
	return admin.RunOf(from, to), nil
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

// progressEvery is how often a terminal's bar asks how far the service is; elsewhere a line is printed for each step.
const progressEvery = 300 * time.Millisecond

// followProgress shows how far the service is until stop is called, which waits for the last line.
func followProgress(ctx context.Context, p *Process, c *admin.Client) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		view := progressView{w: p.Stderr, terminal: p.Terminal}
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				view.end()
				return
			case <-tick.C:
			}
			if got, err := c.ReconProgress(ctx); err == nil && got.Busy {
				view.show(got)
			}
		}
	}()
	return func() { cancel(); <-done }
}

// progressView draws one line that changes on a terminal, and one line a step elsewhere.
type progressView struct {
	w        io.Writer
	terminal bool
	step     string
	drawn    int
}

func (v *progressView) show(p admin.ProgressAnswer) {
	text := p.Step
	switch {
	case p.Total > 0:
		const cells = 24
		full := min(cells, p.Done*cells/p.Total)
		text = fmt.Sprintf("%s [%s%s] %d of %d", p.Step, strings.Repeat("#", full), strings.Repeat(".", cells-full), p.Done, p.Total)
	case p.Done > 0:
		text = fmt.Sprintf("%s: %d", p.Step, p.Done)
	}
	if v.terminal {
		_, _ = fmt.Fprintf(v.w, "\r%-*s", v.drawn, text)
		v.drawn = len(text)
		return
	}
	if p.Step != v.step {
		v.step = p.Step
		_, _ = fmt.Fprintln(v.w, p.Step)
	}
}

func (v *progressView) end() {
	if v.terminal && v.drawn > 0 {
		_, _ = fmt.Fprintf(v.w, "\r%*s\r", v.drawn, "")
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
	n := r.Differences()
	text := "everything agrees"
	if n == 1 {
		text = "1 difference, with its task"
	} else if n > 1 {
		text = fmt.Sprintf("%d differences, each with its task", n)
	}
	if admin.VerdictOf(r) == admin.VerdictIncomplete {
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

func reconImportCommand(p *Process) *cobra.Command {
	cmd := &cobra.Command{
		Use: "import FILE", Short: "Take in a provider's statement", Args: args(cobra.ExactArgs(1)),
		Long: "import checks the whole file first and stores its rows only when every one can be read; else nothing is stored, and the message\n" +
			"names the line. The same file a second time changes nothing. FILE may be - for standard input. Rows of an unknown type, rows that\n" +
			"differ from an earlier statement and sums that do not agree become a task; the command then ends with 3.",
		Example: "  creditonce recon import settlement_detail_report_batch_42.csv --provider adyen-eu",
	}
	o := operatedOne(p, cmd)
	var provider string
	cmd.Flags().StringVar(&provider, "provider", "", "the provider's name in the configuration")
	o.check = func(*cobra.Command, []string) error {
		if provider == "" {
			return usagef("whose statement is it? give --provider, as the configuration names it")
		}
		return nil
	}
	cmd.RunE = o.run(func(cmd *cobra.Command, c *admin.Client, given []string) error {
		file, name, err := statementFile(p, given[0])
		if err != nil {
			return err
		}
		defer func() { _ = file.Close() }() // only read
		stop := followProgress(cmd.Context(), p, c)
		got, err := c.ImportStatement(cmd.Context(), provider, name, file)
		stop()
		if err != nil {
			return err
		}
		if err := show(o, got, importSheet); err != nil {
			return err
		}
		if !got.Before && admin.NeedsAnswer(got.Statement) {
			return exitWith(ExitFound, nil)
		}
		return nil
	})
	return cmd
}

func statementFile(p *Process, path string) (io.ReadCloser, string, error) {
	if path == "-" {
		return io.NopCloser(p.Stdin), "standard input", nil
	}
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no file", path)
	}
	if err != nil {
		return nil, "", exitWith(ExitUsage, err)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, "", exitWith(ExitUsage, err)
	}
	return file, filepath.Base(path), nil
}

func importSheet(w io.Writer, a admin.ImportAnswer) error {
	im := a.Statement
	var s sheet
	s.add("statement", strconv.FormatUint(uint64(im.ID), 10))
	s.add("file", im.Statement.Name)
	s.add("provider", im.Statement.Provider.Label)
	s.add("sha256", im.Statement.Digest)
	if a.Before {
		s.add("result", "imported before, on "+im.At.UTC().Format("2006-01-02 15:04 MST")+" by "+im.By+"; nothing was changed")
	} else {
		s.add("result", fmt.Sprintf("%d rows, %d new, %d known from earlier statements", im.Statement.Rows, im.Stored, im.Duplicates))
	}
	if !im.Reaches.IsZero() {
		s.add("reaches", im.Reaches.UTC().Format("2006-01-02 15:04 MST"))
	}
	for _, t := range im.Statement.Totals {
		text := "agrees with its rows"
		if !t.Agrees() {
			text = "its rows sum up to " + t.Summed.String()
		} else if t.Rest.IsSet() && !t.Rest.IsZero() {
			text += ", with a rounding rest of " + t.Rest.String()
		}
		s.add(t.Name, t.Stated.String()+": "+text)
	}
	for _, q := range im.Statement.Problems {
		s.add(fmt.Sprintf("line %d", q.Row), q.Text)
	}
	for _, q := range im.Conflicts {
		s.add(fmt.Sprintf("line %d", q.Row), q.Text)
	}
	return s.write(w, "")
}

func reconReportCommand(p *Process) *cobra.Command {
	cmd := &cobra.Command{
		Use: "report", Short: "Print the report of a business day", Args: args(cobra.NoArgs),
		Long: "report prints the report of a run: the newest one, or that of --day or --run. On a terminal it is text; --format html is one page\n" +
			"without anything from elsewhere, to print, send and keep; csv and totals-csv are for spreadsheets, xlsx is a workbook, json is for\n" +
			"programs. Ids and tickets are text everywhere. It ends with 3 when the run found differences, with 4 when it was incomplete.",
		Example: "  creditonce recon report\n  creditonce recon report --day 2026-11-29 --format html --out report.html\n  creditonce recon report --run 17 --format xlsx --out report.xlsx",
	}
	var o operator
	o.p, o.output = p, outTable
	configFlag(cmd, &o.config)
	cmd.Flags().StringVar(&o.socket, "socket", "", "the service's socket (default: $"+socketVariable+", else what the configuration says)")
	var day, run, format, out string
	cmd.Flags().StringVar(&day, "day", "", "the business day, as 2026-11-29")
	cmd.Flags().StringVar(&run, "run", "", "the run's number")
	cmd.Flags().StringVar(&format, "format", "text", strings.Join(admin.ReportFormats(), ", "))
	cmd.Flags().StringVar(&out, "out", "", "write to this new file instead of the standard output")
	o.check = func(*cobra.Command, []string) error {
		if day != "" && run != "" {
			return usagef("--day and --run both say which report; give one")
		}
		if _, err := daysWished(day, "", ""); err != nil {
			return err
		}
		if format == "xlsx" && out == "" && p.Terminal {
			return usagef("a workbook is no text; give --out report.xlsx")
		}
		return nil
	}
	cmd.RunE = o.run(func(cmd *cobra.Command, c *admin.Client, _ []string) error {
		filter := url.Values{"format": {format}}
		for name, value := range map[string]string{"day": day, "run": run} {
			if value != "" {
				filter.Set(name, value)
			}
		}
		verdict, err := writeReport(cmd.Context(), p, c, filter, out)
		if err != nil {
			return err
		}
		return verdictExit(verdict)
	})
	return cmd
}

// writeReport writes the report to the standard output, or to a new file that appears only once it is whole.
func writeReport(ctx context.Context, p *Process, c *admin.Client, filter url.Values, out string) (verdict string, err error) {
	if out == "" {
		_, verdict, err = c.Report(ctx, filter, p.Stdout)
		return verdict, err
	}
	part, err := os.CreateTemp(filepath.Dir(out), "."+filepath.Base(out)+".part-*")
	if err != nil {
		return "", exitWith(ExitUsage, fmt.Errorf("write the report: %w", err))
	}
	defer func() { _ = os.Remove(part.Name()) }() // gone once it has its name
	_, verdict, err = c.Report(ctx, filter, part)
	if err = errors.Join(err, part.Close()); err != nil {
		return "", err
	}
	if err := os.Link(part.Name(), out); err != nil { // never over a file that is there
		return "", exitWith(ExitUsage, fmt.Errorf("write the report: %w; give another name", err))
	}
	_, _ = fmt.Fprintf(p.Stderr, "written to %s\n", out)
	return verdict, nil
}

func reconSignCommand(p *Process) *cobra.Command {
	cmd := &cobra.Command{
		Use: "sign RUN", Short: "Say that the report of a run was read", Args: args(cobra.ExactArgs(1)),
		Long:    "sign stores that you have read the report of the run, with a note. A run is signed once, by a maker or a checker; an incomplete one cannot be signed.",
		Example: "  creditonce recon sign 17 --note=read",
	}
	o := operatedOne(p, cmd)
	var note string
	cmd.Flags().StringVar(&note, "note", "", "what there is to say")
	cmd.RunE = o.run(func(cmd *cobra.Command, c *admin.Client, given []string) error {
		run, err := c.SignRun(cmd.Context(), given[0], note)
		if err != nil {
			return err
		}
		return show(o, run, func(w io.Writer, r admin.ReconRun) error {
			var s sheet
			s.add("run", strconv.FormatUint(uint64(r.ID), 10))
			s.add("business days", daysOf(r))
			if r.SignOff != nil {
				s.add("signed by", r.SignOff.By)
				s.addTime("signed at", r.SignOff.At)
				s.add("note", r.SignOff.Note)
			}
			return s.write(w, "")
		})
	})
	return cmd
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

func reconStatementsCommand(p *Process) *cobra.Command {
	var cmd *cobra.Command
	cmd = lister(p, "imported statements, newest first", "statements prints each statement that was imported or pulled, with its rows and how far it reaches.",
		"  creditonce recon statements --provider stripe-main", statementColumns(),
		func(cmd *cobra.Command) *filters { return filter(p, cmd, "provider", "of this provider only") },
		func(cmd *cobra.Command, c *admin.Client, q url.Values) (admin.List[admin.ReconStatement], error) {
			return c.Statements(cmd.Context(), below(q))
		})
	cmd.Use = "statements"
	return cmd
}

func statementColumns() []column[admin.ReconStatement] {
	type x = admin.ReconStatement
	return []column[x]{
		{head: "statement", value: func(r x) string { return strconv.FormatUint(uint64(r.ID), 10) }},
		{head: "provider", value: func(r x) string { return r.Statement.Provider.Label }},
		{head: "rows", value: func(r x) string { return strconv.Itoa(r.Statement.Rows) }},
		{head: "new", value: func(r x) string { return strconv.Itoa(r.Stored) }},
		{head: "reaches UTC", narrow: true, value: func(r x) string { return utc(r.Reaches) }},
		{head: "reaches", wide: true, value: func(r x) string { return stamp(r.Reaches) }},
		{head: "imported UTC", narrow: true, value: func(r x) string { return utc(r.At) }},
		{head: "imported at", wide: true, value: func(r x) string { return stamp(r.At) }},
		{head: "by", value: func(r x) string { return r.By }},
		{head: "sha256", wide: true, value: func(r x) string { return r.Statement.Digest }},
		{head: "file", value: func(r x) string { return r.Statement.Name }},
	}
}
