package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"creditonce/internal/app"
	"creditonce/internal/config"
)

// mt5Command holds what asks an MT5 server directly.
func mt5Command(p *Process) *cobra.Command {
	cmd := group("mt5", "Get to know your MT5 server", probeCommand(p), permitCommand(p))
	cmd.Long = "mt5 holds the commands that ask your MT5 server directly, beside the service. docs/mt5.md says what the service assumes of it."
	cmd.Example = "  creditonce mt5 probe --login 700001"
	return cmd
}

// probeFlags are the flags of mt5 probe.
type probeFlags struct {
	config, out, from string
	options           app.ProbeOptions
}

const probeLong = `probe asks your MT5 server what no document settles: how it answers what is empty, unknown or wrong, what it makes of
a comment, its clock, its pages, its sessions. It works on one login in a test group; a login in another group is refused,
unless two people agreed on exactly this login (creditonce mt5 permit) and --permit names their proposal.
Without --operate it only reads. With --operate it books the smallest amount of the currency on that login, a few dozen
times, and takes each back at once; a reversal that fails is said loudly, with what to do. Every comment begins with prb:,
which no credit's reference does. No other login is touched, save one that does not exist.

It says each step on stderr before it does it, and writes OUT.md for people and OUT.json for creditonce. What it learned
goes into the store, and serve uses it from its next start: the dealer number, the time until a deal is visible, the size
of pages, the clock. While the service runs the store is its own: then stop it, and run the command with --import OUT.json.`

func probeCommand(p *Process) *cobra.Command {
	f := &probeFlags{}
	cmd := &cobra.Command{
		Use:   "probe",
		Short: "Ask your MT5 server what no document settles, on a login in a test group",
		Long:  probeLong,
		Example: "  creditonce mt5 probe --login 700001\n" +
			"  creditonce mt5 probe --server main --login 700001 --operate --out probe-main\n" +
			"  creditonce mt5 probe --import probe-main.json",
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(cmd); err != nil {
				return err
			}
			c, err := loadConfig(p, chosen(p, f.config))
			if err != nil {
				return err
			}
			if f.from != "" {
				return importProbe(cmd.Context(), p, c, f.from)
			}
			return f.run(cmd.Context(), p, c)
		},
	}
	configFlag(cmd, &f.config)
	flags, o := cmd.Flags(), &f.options
	flags.StringVar(&o.Server, "server", "", "label of the MT5 server (default: the only one)")
	flags.Uint64Var(&o.Login, "login", 0, "login to probe with, in a test group")
	flags.StringArrayVar(&o.Groups, "group", nil, "mask of test groups, such as 'test\\*', beside probe_groups of the configuration; may be repeated")
	flags.Uint64Var(&o.Permit, "permit", 0, "number of the proposal by which two people permitted this login; used up when the probe begins")
	flags.BoolVar(&o.Operate, "operate", false, "make balance operations of the smallest amount on the login, and take each back")
	flags.IntVar(&o.Operations, "operations", 8, "pairs of an operation and its reversal, 1 to 200; the first eight try comments")
	flags.BoolVar(&o.Overdraw, "overdraw", false, "with --operate: also try to take one unit more than the balance")
	flags.Uint64Var(&o.UnknownLogin, "unknown-login", 0, "a login that does not exist (default: one is made up)")
	flags.IntVar(&o.Sessions, "sessions", 4, "sessions to try at once, 2 to 8; 0 does not ask")
	flags.DurationVar(&o.Pace, "pace", 25*time.Millisecond, "least time between two requests, so that MT5 does not take them for a flood")
	flags.StringVar(&f.out, "out", "", "report files, without ending (default: mt5-probe-SERVER-TIME)")
	flags.StringVar(&f.from, "import", "", "JSON file of an earlier report, to store what it learned; asks nothing")
	return cmd
}

// check refuses command lines that cannot be meant.
func (f *probeFlags) check(cmd *cobra.Command) error {
	o := f.options
	if f.from != "" {
		for _, name := range []string{"server", "login", "group", "permit", "operate", "operations", "overdraw", "unknown-login", "sessions", "pace", "out"} {
			if cmd.Flags().Changed(name) {
				return usagef("--import asks nothing, so --%s has no meaning beside it", name)
			}
		}
		return nil
	}
	switch {
	case o.Login == 0:
		return usagef("no --login: name a login in a test group, or --import a report; see: creditonce mt5 probe --help")
	case o.Login == o.UnknownLogin:
		return usagef("--unknown-login is the login itself; name one that does not exist, or leave it out")
	case o.Overdraw && !o.Operate:
		return usagef("--overdraw moves money; it needs --operate")
	case o.Overdraw && o.Permit != 0:
		return usagef("--overdraw takes more than the balance, and is never tried on a login that needs --permit; leave one of them out")
	case o.Operations < 1 || o.Operations > 200:
		return usagef("--operations %d: give 1 to 200", o.Operations)
	case o.Pace < 0 || o.Pace > 10*time.Second:
		return usagef("--pace %s: give 0 to 10s", o.Pace)
	case o.Sessions != 0 && (o.Sessions < 2 || o.Sessions > 8):
		return usagef("--sessions %d: give 2 to 8, or 0", o.Sessions)
	}
	for _, mask := range o.Groups {
		if app.EveryGroup(mask) {
			return usagef("--group %q names every group; name your test groups", mask)
		}
	}
	return nil
}

// run probes, writes the report and says what it found.
func (f *probeFlags) run(ctx context.Context, p *Process, c *config.Config) error {
	o := f.options
	labels := slices.Sorted(maps.Keys(c.MT5.Servers))
	if o.Server == "" && len(labels) == 1 {
		o.Server = labels[0]
	}
	if !slices.Contains(labels, o.Server) {
		return usagef("--server %q is not in the configuration; give one of: %s", o.Server, strings.Join(labels, ", "))
	}
	if f.out == "" {
		f.out = "mt5-probe-" + o.Server + "-" + p.Now().UTC().Format("20060102-150405")
	}
	for _, ending := range []string{".md", ".json"} {
		if _, err := os.Lstat(f.out + ending); err == nil {
			return usagef("%s is there already; give another --out", f.out+ending)
		}
	}
	o.Config, o.Program = c, version()
	o.Say = func(text string) { _, _ = fmt.Fprintln(p.Stderr, "probe:", text) }
	result, err := app.Probe(ctx, o)
	if err != nil && result.Markdown == nil {
		return exitWith(probeCode(ctx, err), fmt.Errorf("probe %s: %w", o.Server, err))
	}
	if failed := f.write(p, result); failed != nil {
		// The report must not be lost over a full disk: it says what may be left on the account.
		_, _ = p.Stderr.Write(result.Markdown)
		return exitWith(ExitFailed, errors.Join(failed, err))
	}
	return f.conclude(ctx, p, result, err)
}

// write makes both files of the report. They name logins and balances, so only their owner may read them.
func (f *probeFlags) write(p *Process, r app.ProbeResult) error {
	for _, file := range []struct {
		name string
		text []byte
	}{{f.out + ".md", r.Markdown}, {f.out + ".json", r.JSON}} {
		if err := os.WriteFile(file.name, file.text, 0o600); err != nil {
			return fmt.Errorf("write the report: %w", err)
		}
		_, _ = fmt.Fprintln(p.Stdout, "report  ", file.name)
	}
	return nil
}

// conclude says what was found and what to do about it.
func (f *probeFlags) conclude(ctx context.Context, p *Process, r app.ProbeResult, err error) error {
	for _, text := range r.Attention {
		_, _ = fmt.Fprintln(p.Stderr, "\nATTENTION, to be done by hand now:", text)
	}
	for _, text := range r.Differences {
		_, _ = fmt.Fprintln(p.Stdout, "differs ", text)
	}
	again := "creditonce mt5 probe --import " + f.out + ".json"
	switch {
	case r.Stored:
		_, _ = fmt.Fprintln(p.Stdout, "stored   serve uses it from its next start")
	case err != nil:
		_, _ = fmt.Fprintln(p.Stdout, "stored   no: the probe did not come to its end")
	case r.NotStored != nil:
		_, _ = fmt.Fprintf(p.Stdout, "stored   no: %v; when that is mended run: %s\n", r.NotStored, again)
	case r.Running:
		_, _ = fmt.Fprintf(p.Stdout, "stored   no: a service has the store open; stop it, run: %s, and start it again\n", again)
	}
	switch {
	case err != nil:
		return exitWith(probeCode(ctx, err), err)
	case len(r.Attention) > 0:
		return exitWith(ExitFound, fmt.Errorf("%s to be done by hand (above, and in the report)", count(len(r.Attention), "thing")))
	case len(r.Differences) > 0:
		return exitWith(ExitFound, fmt.Errorf("%s from what the client assumes (above, and in the report)", count(len(r.Differences), "difference")))
	}
	_, failed := fmt.Fprintln(p.Stdout, "nothing differs from what the client assumes, as far as it was asked")
	return failed
}

// probeCode sorts the reasons why a probe did not come to its end.
func probeCode(ctx context.Context, err error) int {
	var refused *app.ProbeRefusedError
	var account *app.AccountError
	var wrong *app.ServerConfigError
	switch {
	case errors.As(err, &refused), errors.As(err, &account):
		return ExitRefused
	case errors.As(err, &wrong):
		return ExitBadConfig
	case ctx.Err() != nil, app.IsUnknownLogin(err):
		return ExitFailed
	}
	return ExitNoAnswer
}

func importProbe(ctx context.Context, p *Process, c *config.Config, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read the report: %w", err)
	}
	said, err := app.ImportProbe(ctx, c, text)
	var unfit *app.ReportError
	switch {
	case errors.As(err, &unfit):
		return exitWith(ExitRefused, fmt.Errorf("import %s: %w", file, err))
	case app.IsRunning(err):
		return exitWith(ExitNoAnswer, fmt.Errorf("import %s: %w; stop the service first", file, err))
	case err != nil:
		return exitWith(startCode(err), fmt.Errorf("import %s: %w", file, err))
	}
	_, err = fmt.Fprintln(p.Stdout, said)
	return err
}
