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
	"creditonce/internal/demo"
)

// benchFlags is what `bench` is asked for.
type benchFlags struct {
	dir     string
	seconds float64
	rounds  int
	events  int
	tls     bool
	json    bool
}

// The bounds of the flags keep a slip of the finger from measuring for a day or filling the disk.
const (
	mostSeconds = 60
	mostRounds  = 20
	mostEvents  = 10_000_000
)

func benchCommand(p *Process) *cobra.Command {
	var f benchFlags
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure what this machine's disk and processors allow",
		Long: "bench runs the service with simulated money in a temporary folder, and measures: how often the disk syncs, how many\n" +
			"webhooks a second the listener takes over 1, 32 and 128 connections, how long the acknowledgement takes at 100 a\n" +
			"second, how long the portal waits for a deposit's state meanwhile, and how many rows a second become done at a fake\n" +
			"MT5 server and in the store alone. Every figure stands beside a limit measured in the same run. It takes about a\n" +
			"minute, uses up to about 100 MB of the disk and leaves nothing behind.\n\n" +
			"Name a folder on the disk that will hold the store: the system's temporary folder may be memory.",
		Example: "  creditonce bench --dir /var/lib/creditonce\n" +
			"  creditonce bench --seconds 5 --rounds 3 --json > bench.json\n" +
			"  creditonce bench --events 1000000      # with a million events in the store; needs about 4 GB",
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
	v.Float64Var(&f.seconds, "seconds", 2, "how long each measurement takes")
	v.IntVar(&f.rounds, "rounds", 1, "how often each measurement is made; the median counts")
	v.IntVar(&f.events, "events", 0, "fill the store with so many events first")
	v.BoolVar(&f.tls, "tls", false, "let the webhook listener speak TLS itself, as without a proxy before it")
	v.BoolVar(&f.json, "json", false, "print one JSON object on stdout")
	cmd.AddCommand(benchReconCommand(p), benchReconPart(p))
	return cmd
}

func (f benchFlags) check() error {
	if !(f.seconds >= 0.5 && f.seconds <= mostSeconds) { // NaN too
		return usagef("--seconds %v: want 0.5 to %d", f.seconds, mostSeconds)
	}
	if f.rounds < 1 || f.rounds > mostRounds {
		return usagef("--rounds %d: want 1 to %d", f.rounds, mostRounds)
	}
	if f.events < 0 || f.events > mostEvents {
		return usagef("--events %d: want 0 to %d", f.events, mostEvents)
	}
	if f.dir == "" {
		return nil
	}
	if about, err := os.Stat(f.dir); err != nil || !about.IsDir() {
		return usagef("--dir %s: it is no folder that can be read", f.dir)
	}
	return nil
}

func (f benchFlags) run(ctx context.Context, p *Process) error {
	programs, err := benchPrograms()
	if err != nil {
		return err
	}
	r, err := bench.Run(ctx, bench.Options{
		Programs: programs, Dir: f.dir, Span: time.Duration(f.seconds * float64(time.Second)), Rounds: f.rounds, Events: f.events,
		TLS: f.tls, Progress: p.Stderr,
	})
	if err != nil {
		return err
	}
	if f.json {
		out := json.NewEncoder(p.Stdout)
		out.SetIndent("", "  ")
		return out.Encode(r)
	}
	return printBench(p.Stdout, r)
}

// ChildVariable tells a command that it ends when its standard input does, see untilParentEnds.
const ChildVariable = demo.ChildVariable

func benchPrograms() (bench.Programs, error) {
	self, err := os.Executable()
	if err != nil {
		return bench.Programs{}, fmt.Errorf("find this program's own file, to start its parts: %w", err)
	}
	return bench.Programs{Executable: self, Env: []string{ChildVariable + "=1"}}, nil
}

// benchLoadCommand is a part of bench, not for people.
func benchLoadCommand(p *Process) *cobra.Command {
	return &cobra.Command{
		Use: bench.LoadCommand, Short: "Make a load for bench, from JSON on stdin", Hidden: true, Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return bench.RunLoad(cmd.Context(), p.Stdin, p.Stdout) },
	}
}

func printBench(w io.Writer, r bench.Result) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(format string, values ...any) { _, _ = fmt.Fprintf(t, format+"\t\n", values...) }
	syncs := func(name string, s bench.Syncs) { row("%s\t%.0f\t%.2f\t%.2f", name, s.PerSecond, s.P50, s.P99) }
	row("disk, 4 KiB and a sync\t/s\tp50 ms\tp99 ms")
	syncs("overwrite", r.Disk.Overwrite)
	syncs("append", r.Disk.Append)
	row("")
	row("webhooks\t/s\tp50 ms\tp99 ms\tper sync\tservice cores\tload cores\twithout commit /s\tratio")
	for _, a := range r.Accept {
		row("%d connections\t%.0f\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%s\t%s", a.Connections, a.PerSecond, a.P50, a.P99, a.PerSync, a.ServiceCores, a.LoadCores,
			whereKnown("%.0f", a.Without), whereKnown("%.2f", a.Ratio))
	}
	row("")
	row("latency\t\tp50 ms\tp99 ms\tlimit ms\tof limit")
	row("webhook at %d/s\t\t%.2f\t%.2f\t%.2f\t%.2f", r.Paced.Rate, r.Paced.P50, r.Paced.P99, r.Paced.Limit, r.Paced.Ratio)
	row("portal's look, no load\t\t%.2f\t%.2f", r.Lookup.IdleP50, r.Lookup.IdleP99)
	row("portal's look, full load\t\t%.2f\t%.2f\t%.2f\t%.2f", r.Lookup.P50, r.Lookup.P99, r.Lookup.Limit, r.Lookup.Ratio)
	row("")
	row("pending to done\t/s\tper sync")
	row("fake MT5, %d sessions\t%.0f\t%.2f", r.Wire.Sessions, r.Wire.PerSecond, r.Wire.PerSync)
	for _, l := range r.Store {
		row("store alone, %d lanes\t%.0f\t%.2f", l.Lanes, l.PerSecond, l.PerSync)
	}
	if l := r.Large; l != nil {
		row("")
		row("%d events in the store\tfill /s\tMB\topen ms\tanonymous MiB", l.Events)
		row("\t%.0f\t%d\t%.1f\t%s", l.Fill, l.Bytes/1_000_000, l.Open, whereKnown("%.1f", l.Anonymous))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, line := range r.Advice {
		if _, err := fmt.Fprintf(w, "\n%s\n", line); err != nil {
			return err
		}
	}
	return nil
}

// whereKnown leaves out what was not measured.
func whereKnown(format string, value float64) string {
	if value == 0 {
		return "-"
	}
	return fmt.Sprintf(format, value)
}
