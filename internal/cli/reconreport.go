package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"creditonce/internal/admin"
)

func reconReportCommand(p *Process) *cobra.Command {
	cmd := &cobra.Command{
		Use: "report", Short: "Print the report of a business day", Args: args(cobra.NoArgs),
		Long: "report prints the report of a run: the newest one, or that of --day or --run. On a terminal it is text; --format html is one page\n" +
			"without anything from elsewhere, to print, send and keep; csv and totals-csv are for spreadsheets, xlsx is a workbook, json is for\n" +
			"programs. Ids and tickets are text everywhere. It ends with 3 when the run found differences\n" +
			"that nobody has accepted, with 4 when it was incomplete.\n" +
			"Of a day it is the newest complete run. Where newer ones of the same days were incomplete, the report says so first, names them\n" +
			"and why, and the command ends with 4.",
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
		if n, err := strconv.ParseUint(run, 10, 64); run != "" && (err != nil || n == 0) {
			return usagef("--run %q is no number of a run; see creditonce recon list", clipped(run))
		}
		if !slices.Contains(admin.ReportFormats(), format) {
			return usagef("--format %q is not known; give one of: %s", clipped(format), strings.Join(admin.ReportFormats(), ", "))
		}
		if _, err := os.Lstat(out); out != "" && err == nil {
			return usagef("%s is there already; give another name", out)
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
		told, err := writeReport(cmd.Context(), p, c, filter, out)
		switch {
		case err != nil:
			return err
		case len(told.Newer) > 0:
			return exitWith(ExitNoAnswer, fmt.Errorf("the report is of run %s; newer runs of the same business days were incomplete (%s): see creditonce recon report --run %s",
				told.Run, strings.Join(told.Newer, ", "), told.Newer[0]))
		}
		return verdictExit(told.Verdict)
	})
	return cmd
}

// writeReport writes the report to the standard output, or to a new file that appears only once it is whole.
func writeReport(ctx context.Context, p *Process, c *admin.Client, filter url.Values, out string) (told admin.Reported, err error) {
	if out == "" {
		return c.Report(ctx, filter, p.Stdout)
	}
	part, err := os.CreateTemp(filepath.Dir(out), "."+filepath.Base(out)+".part-*")
	if err != nil {
		return told, exitWith(ExitUsage, fmt.Errorf("write the report: %w", err))
	}
	defer func() { _ = os.Remove(part.Name()) }() // gone once it has its name
	told, err = c.Report(ctx, filter, part)
	if err = errors.Join(err, part.Close()); err != nil {
		return told, err
	}
	if err := named(part.Name(), out); err != nil {
		return told, exitWith(ExitUsage, fmt.Errorf("write the report: %w", err))
	}
	_, _ = fmt.Fprintf(p.Stderr, "written to %s\n", out)
	return told, nil
}

// named gives a whole file its name, never over a file that is there.
func named(part, name string) error {
	err := os.Link(part, name)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	// A disk without links: an empty file takes the name, and the whole one its place.
	place, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(place.Close(), os.Rename(part, name))
}

func reconSignCommand(p *Process) *cobra.Command {
	cmd := &cobra.Command{
		Use: "sign RUN", Short: "Say that the report of a run was read", Args: args(cobra.ExactArgs(1)),
		Long: "sign stores that you have read the report of the run, with a note. A run is signed once, by a maker or a checker; an incomplete one cannot be signed,\n" +
			"nor one for all of whose days a newer complete one stands. Newer runs of the same days that were incomplete are named.",
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
		return show(o, run, func(w io.Writer, r admin.SignedRun) error {
			var s sheet
			s.add("run", strconv.FormatUint(uint64(r.ID), 10))
			s.add("business days", daysOf(r.ReconRun))
			if r.SignOff != nil {
				s.add("signed by", r.SignOff.By)
				s.addTime("signed at", r.SignOff.At)
				s.add("note", r.SignOff.Note)
			}
			if len(r.Newer) > 0 {
				s.add("newer runs", strings.Join(r.Newer, ", ")+": they were incomplete, and what they found is not in what was signed")
			}
			if len(r.Again) > 0 {
				s.add("newer reports", strings.Join(r.Again, ", ")+": they stand for some of these days; read and sign them too")
			}
			return s.write(w, "")
		})
	})
	return cmd
}
