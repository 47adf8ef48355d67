package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"creditonce/internal/admin"
	"creditonce/internal/app"
	"creditonce/internal/config"
)

func backupCommand(p *Process) *cobra.Command {
	cmd := &cobra.Command{
		Use: "backup FILE", Short: "Write the store as it is now to a new file, and verify that",
		Long: "backup writes the whole store, as it is at this moment, to FILE, which must not exist yet. FILE is a bare name in the\n" +
			"backup folder (store.backup_dir of the configuration). While the service runs it is the service that writes, as its own\n" +
			"user and into that folder alone, for operators and admins; without a service this command writes, then FILE may also be\n" +
			"a path outside the data directory. The file gets its name only once it is on disk, every record of it is verified, and\n" +
			"the audit log has who took it, where it is and its digest. Copying the file of a running service is no backup. A store that\n" +
			"an older version left is refused, and not changed, until serve has raised it. Keep backups on another machine; restore one\n" +
			"with creditonce restore alone.",
		Example: "  creditonce backup 2026-11-30.db\n  creditonce backup verify /srv/copies/2026-11-30.db",
		Args:    args(cobra.ExactArgs(1)),
	}
	o := operated(p, cmd)
	cmd.RunE = func(cmd *cobra.Command, given []string) error {
		if !slices.Contains(outputs(), o.output) {
			return usagef("-o %q is not known; give one of: %s", o.output, strings.Join(outputs(), ", "))
		}
		to := given[0]
		switch {
		case to == "":
			return usagef("\"\" is no name; give the backup one, such as 2026-11-30.db")
		case filepath.Base(to) != to: // a bare name is one of the backup folder's, which the service knows
			var err error
			if to, err = filepath.Abs(to); err != nil {
				return err
			}
		}
		b, err := o.backUp(cmd.Context(), to)
		if err != nil {
			return o.explain(err)
		}
		return show(o, b, backupSheet)
	}
	cmd.AddCommand(backupVerifyCommand(p))
	return cmd
}

// backUp asks the running service; where none runs, it reads the store itself.
func (o *operator) backUp(ctx context.Context, to string) (admin.Backup, error) {
	socket, err := o.path()
	if err != nil {
		return admin.Backup{}, err
	}
	b, err := admin.NewClient(socket).Backup(ctx, to)
	var away *admin.UnreachableError
	if !errors.As(err, &away) || (!errors.Is(away, fs.ErrNotExist) && !errors.Is(away, syscall.ECONNREFUSED)) {
		return b, err
	}
	path := chosen(o.p, o.config)
	text, err := readConfig(path)
	if err != nil {
		return admin.Backup{}, away // without a configuration only a service could have done it
	}
	b, err = app.Backup(ctx, text, to)
	if app.IsRunning(err) {
		return b, exitWith(ExitNoAnswer, fmt.Errorf("%w; and it does not answer at %s", err, socket))
	}
	return b, err
}

// readConfig reads a configuration's text and none of its secrets: a backup needs only where the store is.
func readConfig(path string) (*config.Config, error) {
	text, err := readFile(path)
	if err != nil {
		return nil, err
	}
	return config.Parse(path, text)
}

func backupVerifyCommand(p *Process) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use: "verify FILE", Short: "Read a whole backup, and print what it holds",
		Long: "verify reads every record of a backup, recomputes every index, checksum and chain, and prints its digest and counts. It\n" +
			"changes nothing and needs no service. A backup that an older version made is read in a private copy in the folder for\n" +
			"temporary files ($TMPDIR), raised as restore would raise it. It ends with 3 when the backup is not whole, with 1 when it\n" +
			"could not be read: a newer version made it, it is not there, this account may not read it, or there is no room for the copy.",
		Example: "  creditonce backup verify /srv/copies/2026-11-30.db",
		Args:    args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			if !slices.Contains(outputs(), output) {
				return usagef("-o %q is not known; give one of: %s", output, strings.Join(outputs(), ", "))
			}
			b, err := app.VerifyBackup(cmd.Context(), given[0], progressLine(p))
			if app.IsNoFile(err) {
				return saidInForm(p, output, exitWith(ExitUsage, fmt.Errorf("%s is no file", given[0])))
			}
			if app.IsInUse(err) {
				return saidInForm(p, output, exitWith(ExitNoAnswer, fmt.Errorf("%s: %w, so it is a store in use and no backup; creditonce backup NAME makes one, "+
					"and a running service verifies its own store at schedules.verify", given[0], err)))
			}
			if app.IsUnread(err) {
				return saidInForm(p, output, fmt.Errorf("%s was not verified: %w", given[0], err))
			}
			if err != nil {
				return saidInForm(p, output, exitWith(ExitFound, fmt.Errorf("%s is no whole backup: %w", given[0], err)))
			}
			return show(&operator{p: p, output: output}, b, backupSheet)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", outTable, "table, json, jsonl or csv")
	return cmd
}

func backupSheet(w io.Writer, b admin.Backup) error {
	var s sheet
	s.add("file", b.Path)
	s.add("size", bytesText(b.Bytes))
	s.add("sha256", b.SHA256)
	if b.Schema != 0 { // an older service does not tell
		s.add("schema", schemaText(b.Schema, b.RaisedTo))
	}
	s.add("store", b.Store)
	s.add("mode", b.Mode)
	s.addTime("newest record", b.Newest)
	s.add("events", fmt.Sprint(b.Events))
	s.add("credits", creditsText(b.Credits))
	s.add("open tasks", fmt.Sprint(b.OpenTasks))
	s.add("claims", fmt.Sprint(b.Claims))
	return s.write(w, "")
}

// creditsText counts by state, in the order of a credit's life.
func creditsText(n map[string]int) string {
	var parts []string
	for _, state := range stateOrder {
		if n[state] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[state], state))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}
