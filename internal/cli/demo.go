package cli

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"creditonce/internal/demo"
)

// demoFlags is what `demo` is asked for.
type demoFlags struct {
	scenario string
	deposits int
	dir      string
	keep     bool
	exit     bool
	json     bool
	seed     uint64
}

// mostDeposits keeps a slip of the finger from filling the disk.
const mostDeposits = 2000

func demoCommand(p *Process) *cobra.Command {
	var f demoFlags
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "See it work, with simulated money and real crashes",
		Long: "demo runs the service, a fake MT5 server and a simulated payment provider as three processes on this machine, over\n" +
			"TLS and with real signatures, lets deposits go through, and compares in the end what MT5 did with what was paid.\n" +
			"Without --scenario it goes on until Ctrl-C. Scenarios let one failure happen and end by themselves:\n\n" +
			scenarioList() + "\n  " + fmt.Sprintf("%-24s %s", demo.All, "every scenario above but mixed") + "\n\n" +
			"Exit code 0: everything is as the scenario promises, by MT5's own journal. 1: it is not.",
		Example: "  creditonce demo\n" +
			"  creditonce demo --scenario timeout-applied\n" +
			"  creditonce demo --scenario all --json\n" +
			"  creditonce demo --dir ./try      # keeps the folder; then: creditonce serve --config ./try/config.yaml",
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(cmd.Flags().Changed("deposits")); err != nil {
				return err
			}
			return f.run(cmd.Context(), p, cmd.Flags().Changed("seed"))
		},
	}
	v := cmd.Flags()
	v.StringVar(&f.scenario, "scenario", demo.Mixed, "which failure to show; see the list above")
	v.IntVar(&f.deposits, "deposits", 0, "how many deposits (default: the scenario's own number)")
	v.StringVar(&f.dir, "dir", "", "folder of the demo, kept; a new one, or one that an earlier demo made (default: temporary)")
	v.BoolVar(&f.keep, "keep", false, "keep the temporary folder")
	v.BoolVar(&f.exit, "exit", false, "end once everything is settled, instead of at Ctrl-C")
	v.BoolVar(&f.json, "json", false, "print the verdict as one JSON object on stdout")
	v.Uint64Var(&f.seed, "seed", 0, "repeat the amounts, ids and disorder of an earlier run (default: drawn)")
	return cmd
}

func scenarioList() string {
	var lines []string
	for _, s := range demo.Scenarios() {
		lines = append(lines, fmt.Sprintf("  %-24s %s", s.Name, s.Story))
	}
	return strings.Join(lines, "\n")
}

func (f demoFlags) check(depositsGiven bool) error {
	names := []string{}
	for _, s := range demo.Scenarios() {
		names = append(names, s.Name)
	}
	names = append(names, demo.All)
	switch {
	case !slices.Contains(names, f.scenario):
		return usagef("--scenario %q is not known; it may be one of: %s", f.scenario, strings.Join(names, ", "))
	case depositsGiven && (f.deposits < 1 || f.deposits > mostDeposits):
		return usagef("--deposits %d: want 1 to %d", f.deposits, mostDeposits)
	}
	return nil
}

func (f demoFlags) run(ctx context.Context, p *Process, seedGiven bool) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program's own file, to start its parts: %w", err)
	}
	o := demo.Options{
		Scenario: f.scenario, Deposits: f.deposits, Dir: f.dir, Keep: f.keep, Exit: f.exit, Seed: f.seed,
		Executable: self, Now: p.Now, Random: p.Random, Progress: p.Stderr, Screen: screenOf(p),
	}
	if !seedGiven {
		if o.Seed, err = drawSeed(p.Random); err != nil {
			return err
		}
	}
	// A reader that has gone, as in demo | head, ends the demo in order: its processes stop and its folder goes. After
	// that a write into the closed pipe ends this process as it ends every other.
	showing, shown := signal.NotifyContext(ctx, syscall.SIGPIPE)
	defer shown()
	if f.scenario == demo.All {
		r, err := demo.RunAll(showing, o)
		shown()
		if err != nil {
			return err
		}
		return f.printAll(p, r)
	}
	r, err := demo.Run(showing, o)
	shown()
	if err != nil {
		return err
	}
	return f.print(p, r)
}

// drawSeed gives a number that a person can type again.
func drawSeed(random io.Reader) (uint64, error) {
	var bits [4]byte
	if _, err := io.ReadFull(random, bits[:]); err != nil {
		return 0, fmt.Errorf("draw a seed: %w", err)
	}
	return uint64(binary.BigEndian.Uint32(bits[:])), nil
}

// screenOf tells what stderr is: progress goes there, stdout belongs to the verdict.
func screenOf(p *Process) demo.Screen {
	file, ok := p.Stderr.(*os.File)
	if !ok || !isatty.IsTerminal(file.Fd()) || p.Getenv("TERM") == "dumb" {
		return demo.Screen{}
	}
	return demo.Screen{
		Live: true, Colour: p.Getenv("NO_COLOR") == "",
		Size: func() (int, int) { return terminalSize(file) },
	}
}

func (f demoFlags) print(p *Process, r demo.Result) error {
	if f.json {
		return printVerdict(p, r, r.OK)
	}
	others := ""
	if r.Others > 0 {
		others = fmt.Sprintf(" (%d of them paid by hand)", r.Others)
	}
	_, err := fmt.Fprintf(p.Stdout, "\n%s: %d deposits, %d deals at MT5%s; open tasks %d\ndoubled %d, missing %d, wrong %d\n",
		r.Scenario, r.Deposits, r.Deals, others, r.Tasks, r.Doubled, r.Missing, r.Wrong)
	if err != nil {
		return err
	}
	if r.FirstCredit > 0 {
		_, _ = fmt.Fprintf(p.Stdout, "first deposit credited after %.1f s; all in %.1f s; seed %d\n", r.FirstCredit, r.Seconds, r.Seed)
	}
	reported(p, r)
	return said(p, r.OK, r.Folder, r.Problems)
}

func (f demoFlags) printAll(p *Process, r demo.Results) error {
	if f.json {
		return printVerdict(p, r, r.OK)
	}
	_, err := fmt.Fprintf(p.Stdout, "\nall %d scenarios: %d deposits, %d deals at MT5; doubled %d, missing %d, wrong %d\nall in %.1f s; seed %d\n",
		len(r.Scenarios), r.Deposits, r.Deals, r.Doubled, r.Missing, r.Wrong, r.Seconds, r.Seed)
	if err != nil {
		return err
	}
	var problems []string
	for _, s := range demo.Scenarios() {
		reported(p, r.Scenarios[s.Name])
		for _, text := range r.Scenarios[s.Name].Problems {
			problems = append(problems, s.Name+": "+text)
		}
	}
	return said(p, r.OK, r.Folder, problems)
}

// reported says where the report of a reconciliation is.
func reported(p *Process, r demo.Result) {
	if r.Report != "" {
		_, _ = fmt.Fprintf(p.Stdout, "report of the reconciliation: %s\n", r.Report)
	}
}

func said(p *Process, ok bool, folder string, problems []string) error {
	if folder != "" {
		_, _ = fmt.Fprintf(p.Stdout, "kept in %s\n", folder)
	}
	for _, text := range problems {
		_, _ = fmt.Fprintf(p.Stdout, "  not as promised: %s\n", text)
	}
	if !ok {
		return exitWith(ExitFailed, errors.New("the demo did not come out as promised"))
	}
	_, err := fmt.Fprintln(p.Stdout, "as promised: each payment was credited once, or waits for a person")
	return err
}

func printVerdict(p *Process, verdict any, ok bool) error {
	out := json.NewEncoder(p.Stdout)
	out.SetIndent("", "  ")
	if err := out.Encode(verdict); err != nil {
		return fmt.Errorf("print the verdict: %w", err)
	}
	if !ok {
		return exitWith(ExitFailed, nil)
	}
	return nil
}
