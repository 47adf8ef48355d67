package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"creditonce/internal/app"
)

func openapiCommand(p *Process) *cobra.Command {
	return &cobra.Command{
		Use:   "openapi",
		Short: "Print the description of the portal's API (OpenAPI 3.1)",
		Long: "openapi prints the very document that a running service serves at /openapi.json of its API listener: every call\n" +
			"with its parameters, bodies, problem codes and a curl line. Client generators and API tools read it.",
		Example: "  creditonce openapi > openapi.json",
		Args:    args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			text, err := app.APIDocument()
			if err != nil {
				return err
			}
			if _, err := p.Stdout.Write(text); err != nil {
				return fmt.Errorf("print the document: %w", err)
			}
			return nil
		},
	}
}
