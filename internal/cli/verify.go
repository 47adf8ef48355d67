package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"creditonce/internal/app"
)

func verifyCommand(p *Process) *cobra.Command {
	var path, output string
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Check a whole store that no service has open",
		Long: "verify reads every record of the store, recomputes every index, checksum, reference and history chain, judges every\n" +
			"credit by the invariants (docs/invariants.md), and prints what does not agree. It changes nothing. Stop the service first:\n" +
			"while it has the store open nobody else can read it. A store that an older version left is read in a private copy in the\n" +
			"folder for temporary files ($TMPDIR), raised as serve would raise the store itself at its next start.\n" +
			"With -o json it prints one object with everything, with jsonl and csv what does not agree and the open tasks. It ends\n" +
			"with 3 when something does not agree.",
		Example: "  creditonce verify --config /etc/creditonce/config.yaml\n  creditonce verify -o json",
		Args:    args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !slices.Contains(outputs(), output) {
				return usagef("-o %q is not known; give one of: %s", output, strings.Join(outputs(), ", "))
			}
			return saidInForm(p, output, verify(cmd.Context(), p, chosen(p, path), output))
		},
	}
	configFlag(cmd, &path)
	cmd.Flags().StringVarP(&output, "output", "o", outTable, "table, json, jsonl or csv")
	return cmd
}

func verify(ctx context.Context, p *Process, path, output string) error {
	c, err := loadConfig(p, path)
	if err != nil {
		return err
	}
	var progress func(done, total int)
	if output == outTable {
		progress = progressLine(p)
	}
	in, err := app.Verify(ctx, c, progress)
	switch {
	case app.IsRunning(err):
		return exitWith(ExitNoAnswer, fmt.Errorf("%w; a running service verifies its own store at schedules.verify (%s, UTC) and logs what it finds; "+
			"to verify now, stop it first, or ask it how it is: creditonce status", err, scheduleText(c.Schedules.Verify)))
	case err != nil:
		return err
	}
	if err := printInspection(p.Stdout, output, in); err != nil {
		return fmt.Errorf("print what was verified: %w", err)
	}
	if n := len(in.Findings) + len(in.Violations); n > 0 {
		return exitWith(ExitFound, fmt.Errorf("%s in %s; keep a copy of the file, start nothing on it, and ask for help", count(n, "finding"), in.Path))
	}
	return nil
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

// verified is what verify prints for programs.
type verified struct {
	Store    string         `json:"store"`
	Schema   int            `json:"schema,omitempty"`    // of the file; 0 where it could not be told
	RaisedTo int            `json:"raised_to,omitempty"` // of the private copy that was read in its place, where the file's is older
	Mode     string         `json:"mode"`
	Events   int            `json:"events"`
	Credits  map[string]int `json:"credits"` // by state
	Tasks    []verifiedItem `json:"open_tasks"`
	Findings []verifiedItem `json:"findings"`
}

// verifiedItem is one thing for a person: Kind is "finding", or the kind of an open task.
type verifiedItem struct {
	Kind    string `json:"kind"`
	Subject string `json:"subject,omitempty"`
	Text    string `json:"text"`
}

func verifiedOf(in app.Inspection) verified {
	v := verified{Store: in.Path, Schema: in.Schema, RaisedTo: in.RaisedTo, Mode: in.Mode, Events: in.Events, Credits: map[string]int{}, Tasks: []verifiedItem{}, Findings: []verifiedItem{}}
	for _, state := range stateOrder {
		v.Credits[state] = 0
	}
	for _, r := range in.Rows {
		v.Credits[r.State]++
	}
	for _, t := range in.OpenTasks {
		v.Tasks = append(v.Tasks, verifiedItem{Kind: t.Kind, Subject: t.Entity, Text: t.Summary})
	}
	for _, f := range in.Findings {
		v.Findings = append(v.Findings, verifiedItem{Kind: "finding", Text: f})
	}
	for _, x := range in.Violations {
		var rows []string
		for _, id := range x.Rows {
			rows = append(rows, fmt.Sprintf("credit/%d", id))
		}
		v.Findings = append(v.Findings, verifiedItem{Kind: x.Invariant, Subject: strings.Join(rows, " "), Text: x.Text})
	}
	return v
}

// printInspection writes what verify found in one of the formats of -o.
func printInspection(w io.Writer, output string, in app.Inspection) error {
	v := verifiedOf(in)
	switch output {
	case outJSON:
		return writeJSON(w, v)
	case outLines, outCSV:
		return render(w, output, slices.Concat(v.Findings, v.Tasks), []column[verifiedItem]{
			{head: "kind", value: func(i verifiedItem) string { return i.Kind }},
			{head: "subject", value: func(i verifiedItem) string { return i.Subject }},
			{head: "text", value: func(i verifiedItem) string { return i.Text }},
		})
	}
	text := "store    " + v.Store + "\n"
	if v.RaisedTo != 0 {
		text += "schema   " + schemaText(v.Schema, v.RaisedTo) + "\n"
	}
	text += fmt.Sprintf("mode     %s\nevents   %d\nrows     %d", v.Mode, v.Events, len(in.Rows))
	for _, state := range slices.Sorted(maps.Keys(v.Credits)) {
		if n := v.Credits[state]; n > 0 {
			text += fmt.Sprintf("  %s %d", state, n)
		}
	}
	text += fmt.Sprintf("\ntasks    %d open\n", len(v.Tasks))
	for _, t := range v.Tasks {
		text += fmt.Sprintf("  %-18s %-24s %s\n", plain(t.Kind), plain(t.Subject), plain(t.Text))
	}
	for _, f := range v.Findings {
		what := "does not agree: "
		if f.Kind != "finding" {
			what = "broken " + plain(f.Kind) + ": "
		}
		text += what + plain(f.Text) + "\n"
	}
	if len(v.Findings) == 0 {
		text += "everything agrees\n"
	}
	_, err := io.WriteString(w, text)
	return err
}

// schemaText says which layout a file has, and what was read.
func schemaText(schema, raisedTo int) string {
	text := fmt.Sprintf("version %d", schema)
	if raisedTo != 0 {
		text += fmt.Sprintf(", read in a private copy raised to %d; the file itself was not changed", raisedTo)
	}
	return text
}
