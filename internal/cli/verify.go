package cli

import (
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"creditonce/internal/app"
)

func verifyCommand(p *Process) *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Check a whole store that no service has open",
		Long: "verify reads every record of the store, recomputes every index, checksum, reference and history chain, and prints\n" +
			"what does not agree. It changes nothing. Stop the service first: one process has the store open at a time.",
		Example: "  creditonce verify --config /etc/creditonce/config.yaml",
		Args:    args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := loadConfig(p, chosen(p, path))
			if err != nil {
				return err
			}
			in, err := app.Verify(cmd.Context(), c, progressLine(p))
			switch {
			case app.IsRunning(err):
				return exitWith(ExitNoAnswer, fmt.Errorf("%w; a running service verifies its own store at schedules.verify (%s, UTC) and logs what it finds; "+
					"to verify now, stop it first, or ask it how it is: creditonce status", err, scheduleText(c.Schedules.Verify)))
			case err != nil:
				return err
			}
			return printInspection(p, in)
		},
	}
	configFlag(cmd, &path)
	return cmd
}

// scheduleText names a schedule; "" is how the configuration says never.
func scheduleText(spec string) string {
	if spec == "" {
		return "which is off"
	}
	return spec
}

// progressLine redraws one line on a terminal's stderr; elsewhere nothing is printed.
func progressLine(p *Process) func(done, total int) {
	if !p.Terminal {
		return nil
	}
	return func(done, total int) {
		end := "\r"
		if done >= total {
			end = "\n"
		}
		_, _ = fmt.Fprintf(p.Stderr, "verifying %d of %d records%s", done, total, end)
	}
}

func printInspection(p *Process, in app.Inspection) error {
	states := map[string]int{}
	for _, r := range in.Rows {
		states[r.State]++
	}
	_, _ = fmt.Fprintf(p.Stdout, "store    %s\nmode     %s\nevents   %d\nrows     %d", in.Path, in.Mode, in.Events, len(in.Rows))
	for _, s := range slices.Sorted(maps.Keys(states)) {
		_, _ = fmt.Fprintf(p.Stdout, "  %s %d", s, states[s])
	}
	_, _ = fmt.Fprintf(p.Stdout, "\ntasks    %d open\n", len(in.OpenTasks))
	for _, t := range in.OpenTasks {
		_, _ = fmt.Fprintf(p.Stdout, "  %-18s %-24s %s\n", t.Kind, t.Entity, t.Summary)
	}
	if len(in.Findings) == 0 {
		_, err := fmt.Fprintln(p.Stdout, "everything agrees")
		return err
	}
	for _, f := range in.Findings {
		_, _ = fmt.Fprintln(p.Stdout, "does not agree:", f)
	}
	return exitWith(ExitFound, fmt.Errorf("%s in %s; keep a copy of the file, start nothing on it, and ask for help", count(len(in.Findings), "finding"), in.Path))
}
