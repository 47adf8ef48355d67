package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"creditonce/internal/bench"
)

// benchReconFlags is what `bench recon` is asked for.
type benchReconFlags struct {
	dir      string
	payments int
	seconds  float64
	rounds   int
	json     bool
}

const (
	fewestPayments = 10_000
	mostPayments   = 20_000_000
)

func benchReconCommand(p *Process) *cobra.Command {
	var f benchReconFlags
	cmd := &cobra.Command{
		Use:   "recon",
		Short: "Measure how fast three lists are compared, and what it costs the listener",
		Long: "bench recon makes the three lists of so many payments (settled lines, credit rows, MT5 deals), sorts them in temporary\n" +
			"files and matches them as a run of the reconciliation does, in a process of its own: on all cores, a tenth of it, and on\n" +
			"one core. Then it measures how long the acknowledgement takes at 100 webhooks a second, alone and beside a matcher on one\n" +
			"core. One payment in a thousand has a fault, and every fault must be found. A million payments take about a minute on two\n" +
			"cores and up to 2 GB of the disk; nothing is left behind.",
		Example: "  creditonce bench recon --dir /var/lib/creditonce\n" +
			"  creditonce bench recon --payments 100000 --json > recon.json",
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			return f.run(cmd.Context(), p)
		},
	}
	v := cmd.Flags()
	v.StringVar(&f.dir, "dir", "", "existing folder on the disk to measure (default: the system's temporary folder)")
	v.IntVar(&f.payments, "payments", 1_000_000, "so many payments, each in all three lists")
	v.Float64Var(&f.seconds, "seconds", 10, "how long the acknowledgement is measured, alone and beside the matcher")
	v.IntVar(&f.rounds, "rounds", 1, "how often that is measured, in turns; the median counts")
	v.BoolVar(&f.json, "json", false, "print one JSON object on stdout")
	return cmd
}

func (f benchReconFlags) check() error {
	if f.payments < fewestPayments || f.payments > mostPayments {
		return usagef("--payments %d: want %d to %d", f.payments, fewestPayments, mostPayments)
	}
	return benchFlags{dir: f.dir, seconds: f.seconds, rounds: f.rounds}.check()
}

func (f benchReconFlags) run(ctx context.Context, p *Process) error {
	programs, err := benchPrograms()
	if err != nil {
		return err
	}
	r, err := bench.RunReconBench(ctx, bench.ReconOptions{
		Programs: programs, Dir: f.dir, Payments: f.payments, Span: time.Duration(f.seconds * float64(time.Second)), Rounds: f.rounds, Progress: p.Stderr,
	})
	if err != nil {
		return err
	}
	if f.json {
		out := json.NewEncoder(p.Stdout)
		out.SetIndent("", "  ")
		return out.Encode(r)
	}
	return printBenchRecon(p.Stdout, r)
}

// benchReconPart is a part of `bench recon`, not for people.
func benchReconPart(p *Process) *cobra.Command {
	var w bench.ReconWork
	cmd := &cobra.Command{
		Use: bench.ReconCommand, Short: "Compare three lists for bench", Hidden: true, Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if w.Payments < 1 {
				return usagef("--payments %d: want at least 1", w.Payments)
			}
			ctx, cancel := untilParentEnds(cmd.Context(), p)
			defer cancel()
			return bench.RunRecon(ctx, w, p.Stdout)
		},
	}
	v := cmd.Flags()
	v.IntVar(&w.Payments, "payments", 0, "so many payments")
	v.StringVar(&w.Dir, "dir", os.TempDir(), "folder for temporary files")
	v.BoolVar(&w.Again, "again", false, "again and again, at a low priority, until it is ended")
	return cmd
}

func printBenchRecon(w io.Writer, r bench.ReconResult) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(format string, values ...any) { _, _ = fmt.Fprintf(t, format+"\t\n", values...) }
	row("three lists\tpayments\tseconds\tof it matching\tentries/s\tCPU s\tpeak MiB\tfound of planted")
	for _, line := range []struct {
		name string
		m    bench.Matching
	}{{"a tenth", r.Tenth}, {"all", r.Whole}, {"all, on one core", r.OneCPU}} {
		row("%s\t%d\t%.2f\t%.2f\t%.0f\t%s\t%s\t%d of %d", line.name, line.m.Payments, line.m.Seconds, line.m.Matching, line.m.PerSec,
			whereKnown("%.2f", line.m.CPU), whereKnown("%.0f", line.m.PeakMiB), line.m.Found, line.m.Planted)
	}
	row("")
	row("webhook at %d/s\t\tp50 ms\tp99 ms", r.Beside.Rate)
	row("alone\t\t%.2f\t%.2f", r.Beside.AloneP50, r.Beside.AloneP99)
	row("beside a matcher on one core\t\t%.2f\t%.2f", r.Beside.P50, r.Beside.P99)
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\nTen times the payments take %.1f times the work (limit %.0f). The acknowledgement's p99 beside a matcher is %.2f times that alone (limit %.0f).\n"+
		"A million payments are meant to take at most %.0f seconds and %.0f MiB on two cores.\n",
		r.Ratio, bench.ReconTenfold, r.Beside.Ratio, bench.ReconBeside, bench.ReconSeconds, bench.ReconMiB)
	return err
}
