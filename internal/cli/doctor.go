package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"creditonce/internal/app"
	"creditonce/internal/config"
)

func doctorCommand(p *Process) *cobra.Command {
	var path, output string
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Examine configuration, store, machine and MT5 servers, and say how to mend what is wrong",
		Long: "doctor runs numbered checks: configuration, secrets, certificates, store, operators' socket, disk, clock, ports, and each MT5\n" +
			"server with its name, clock and certificate. What is not in order comes with the command that mends it. Below stands what the service\n" +
			"still assumes of each MT5 server, and what creditonce mt5 probe has measured. It changes nothing: it reads a store that\n" +
			"an older version left in a private copy. It logs in to each server once; a running service is left alone.",
		Example: "  creditonce doctor\n" +
			"  creditonce doctor --config /etc/creditonce/config.yaml -o json",
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if output != "table" && output != "json" {
				return usagef("-o %q is not known; give table or json", output)
			}
			c, diagnosis := loadForDoctor(p, chosen(p, path))
			if c != nil {
				diagnosis = app.Diagnose(cmd.Context(), c)
			}
			if err := printDiagnosis(p.Stdout, output, diagnosis); err != nil {
				return err
			}
			if n := diagnosis.Problems(); n > 0 {
				return exitWith(ExitFound, fmt.Errorf("%s", count(n, "problem")))
			}
			return nil
		},
	}
	configFlag(cmd, &path)
	cmd.Flags().StringVarP(&output, "output", "o", "table", "table or json")
	return cmd
}

// loadForDoctor reads the configuration; what is wrong with it is the first check.
func loadForDoctor(p *Process, path string) (*config.Config, app.Diagnosis) {
	fault := func(detail, fix string) (*config.Config, app.Diagnosis) {
		return nil, app.Diagnosis{Checks: []app.Check{{Number: 1, Name: "configuration", Detail: detail, Fix: fix}}}
	}
	if path == "" {
		return fault("there is none where it is looked for", "creditonce help config")
	}
	if err := unreadable(p, path, "with --config"); err != nil {
		return fault(err.Error(), "creditonce help config")
	}
	c, err := config.Load(path, p.configEnv())
	var faults *config.Faults
	switch {
	case errors.As(err, &faults):
		return fault(fmt.Sprintf("%s in %s; the other checks need it", count(len(faults.List), "fault"), path), "creditonce check "+path)
	case err != nil:
		return fault(err.Error(), "creditonce check "+path)
	}
	return c, app.Diagnosis{}
}

func printDiagnosis(w io.Writer, output string, d app.Diagnosis) error {
	if output == "json" {
		text, err := json.MarshalIndent(d, "", "  ")
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(w, "%s\n", text)
		return err
	}
	for _, c := range d.Checks {
		word := "ok     "
		if !c.OK {
			word = "PROBLEM"
		}
		if _, err := fmt.Fprintf(w, "%2d  %s  %s: %s\n", c.Number, word, c.Name, c.Detail); err != nil {
			return err
		}
		if c.Fix != "" {
			_, _ = fmt.Fprintf(w, "             %s\n", c.Fix)
		}
	}
	return printAssumed(w, d.Assumed)
}

// printAssumed lists what matters and is not measured, and what differs; the whole table is in the JSON form.
func printAssumed(w io.Writer, all []app.Assumed) error {
	server, measured := "", map[string]int{}
	for _, a := range all {
		if a.State == "measured" {
			measured[a.Server]++
		}
	}
	for _, a := range all {
		if a.Server != server {
			server = a.Server
			if _, err := fmt.Fprintf(w, "\nmt5 %s: %d answers are measured and as assumed; beside them\n", server, measured[server]); err != nil {
				return err
			}
		}
		switch {
		case a.State == "differs":
			_, _ = fmt.Fprintf(w, "  differs  %-18s %s: assumed: %s; measured: %s\n", a.ID, a.Asks, a.Assumes, a.Answer)
		case a.State != "measured" && a.Assumes != "":
			_, _ = fmt.Fprintf(w, "  %-8s %-18s %s: %s\n", a.State, a.ID, a.Asks, a.Assumes)
		}
	}
	return nil
}
