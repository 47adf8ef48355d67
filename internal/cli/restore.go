package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"strings"

	"github.com/spf13/cobra"

	"creditonce/internal/app"
)

// readFile is os.ReadFile; "" is no file.
func readFile(path string) ([]byte, error) {
	if path == "" {
		return nil, os.ErrNotExist
	}
	return os.ReadFile(path)
}

func restoreCommand(p *Process) *cobra.Command {
	var path, from, reason string
	var yes bool
	cmd := &cobra.Command{
		Use: "restore --from FILE --reason WHY", Short: "Put a backup in the place of the store",
		Long: "restore verifies a backup, shows what it would replace, and on confirmation puts it in the place of the store. Stop the\n" +
			"service first. The store of before is kept under a dated name. The restored store starts in mode hold: every credit that may\n" +
			"have been called since the backup is looked up at MT5, and nothing is called until two people release the mode, after the\n" +
			"quarantine and once every provider's payments of the gap are there. Never put a backup in place any other way; the service\n" +
			"notices, and calls nothing.",
		Example: "  creditonce restore --from /srv/copies/2026-11-30.db --reason 'the disk failed'",
		Args:    args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if from == "" || strings.TrimSpace(reason) == "" {
				return usagef("give --from FILE and --reason WHY; see: creditonce restore --help")
			}
			return restore(cmd.Context(), p, path, app.RestoreWish{From: from, By: operatorName(p), Reason: reason}, yes)
		},
	}
	configFlag(cmd, &path)
	cmd.Flags().StringVar(&from, "from", "", "the backup, as creditonce backup wrote it (required)")
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the record (required)")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

// errDeclined says that a person looked at the backup and did not want it.
var errDeclined = errors.New("nothing was replaced")

func restore(ctx context.Context, p *Process, path string, wish app.RestoreWish, yes bool) error {
	c, err := loadConfig(p, chosen(p, path))
	if err != nil {
		return err
	}
	wish.Progress = progressLine(p)
	wish.Confirm = func(r app.Restored) error { return confirmRestore(p, r, yes) }
	r, err := app.Restore(ctx, c, wish)
	switch {
	case app.IsNoFile(err):
		return exitWith(ExitUsage, fmt.Errorf("%s is no file", wish.From))
	case app.IsRunning(err):
		return exitWith(ExitNoAnswer, fmt.Errorf("%w: creditonce restore needs the store for itself", err))
	case errors.Is(err, errDeclined):
		return exitWith(ExitRefused, errDeclined)
	case err != nil:
		return err
	}
	_, _ = fmt.Fprintf(p.Stdout, "restored: %s\n", r.Path)
	if r.Kept != "" {
		_, _ = fmt.Fprintf(p.Stdout, "the store of before is %s\n", r.Kept)
	}
	_, err = fmt.Fprintf(p.Stdout, "looked up again, or kept for people: %s\n\nNext:\n"+
		"  creditonce serve      starts in mode hold: webhooks are taken, credits looked up, nothing is called\n"+
		"  creditonce status     shows the gap of each provider and what the release waits for\n"+
		"  creditonce release    two people, once the gap is complete (docs/operations.md, under restore)\n", creditsText(r.Moved))
	return err
}

// confirmRestore shows what would be replaced, and asks.
func confirmRestore(p *Process, r app.Restored, yes bool) error {
	_, _ = fmt.Fprintf(p.Stdout, "the backup: newest record %s UTC, %s of age; %d events; credits: %s\n", utc(r.Backup.Newest),
		age(p.Now().UTC(), r.Backup.Newest), r.Backup.Events, creditsText(r.Backup.Credits))
	switch {
	case r.Present != nil:
		_, _ = fmt.Fprintf(p.Stdout, "the store:  newest record %s UTC; %d events; credits: %s\n", utc(r.Present.Newest), r.Present.Events, creditsText(r.Present.Credits))
	default:
		_, _ = fmt.Fprintf(p.Stdout, "the store:  there is none at %s, or it cannot be read\n", r.Path)
	}
	if yes {
		return nil
	}
	if !p.Terminal {
		return usagef("this is no terminal where somebody could be asked; give --yes")
	}
	_, _ = fmt.Fprint(p.Stdout, "What happened since the backup is known to MT5 and the providers alone. Type restore to go on: ")
	line, err := bufio.NewReader(p.Stdin).ReadString('\n')
	if err != nil || strings.TrimSpace(line) != "restore" {
		return errDeclined
	}
	return nil
}

// operatorName is who runs the command, as far as the system tells; behind sudo, both.
func operatorName(p *Process) string {
	name := "unknown"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	if behind := p.Getenv("SUDO_USER"); behind != "" && behind != name {
		return name + " (sudo by " + behind + ")"
	}
	return name
}
