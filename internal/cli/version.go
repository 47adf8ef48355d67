package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"creditonce/internal/app"
)

func versionCommand(p *Process) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version and what it was built from",
		Long: "version prints the release, or the revision that a build from a checkout was made of (\"+dirty\" when files were\n" +
			"changed), with the Go version and the platform.",
		Example: "  creditonce version",
		Args:    args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprint(p.Stdout, versionLine())
			return err
		},
	}
}

// versionLine is what version and --version print.
func versionLine() string {
	return fmt.Sprintf("creditonce %s (%s, %s/%s)\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func version() string { return app.Version() }
