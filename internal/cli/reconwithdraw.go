package cli

import (
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"creditonce/internal/admin"
)

func reconWithdrawCommand(p *Process) *cobra.Command {
	cmd := &cobra.Command{
		Use: "withdraw STATEMENT", Short: "Take an imported statement back", Args: args(cobra.ExactArgs(1)),
		Long: "withdraw takes back a statement that should not count: one that was cut, belongs to another account, or was read with a wrong mapping.\n" +
			"Its rows count nowhere from then on, its task closes, and the corrected file or the same one can be imported anew; the next run\n" +
			"compares without it. It stays in the list with who withdrew it and why. While later statements repeat or contradict its rows it\n" +
			"is refused with 5 and names them: withdraw those first, then import them again. It takes a maker or a checker.",
		Example: "  creditonce recon withdraw 12 --reason 'read in dollars, the file is in cents'",
	}
	o := operatedOne(p, cmd)
	var reason string
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the record (required)")
	o.check = func(_ *cobra.Command, given []string) error {
		if n, err := strconv.ParseUint(given[0], 10, 64); err != nil || n == 0 {
			return usagef("%q is no number of a statement; give the one that `creditonce recon statements` shows", given[0])
		}
		if strings.TrimSpace(reason) == "" {
			return usagef("no --reason; say why in a few words: it stands in the record for ever")
		}
		return nil
	}
	cmd.RunE = o.run(func(cmd *cobra.Command, c *admin.Client, given []string) error {
		im, err := c.WithdrawStatement(cmd.Context(), given[0], reason)
		if err != nil {
			return err
		}
		return show(o, im, withdrawnSheet)
	})
	return cmd
}

func withdrawnSheet(w io.Writer, im admin.ReconStatement) error {
	var s sheet
	s.add("statement", strconv.FormatUint(uint64(im.ID), 10))
	s.add("file", im.Statement.Name)
	s.add("provider", im.Statement.Provider.Label)
	s.add("sha256", im.Statement.Digest)
	s.add("rows", strconv.Itoa(im.Statement.Rows)+", none of them counts any more")
	if im.Withdrawn != nil {
		s.add("withdrawn by", im.Withdrawn.By)
		s.addTime("withdrawn at", im.Withdrawn.At)
		s.add("reason", im.Withdrawn.Reason)
	}
	return s.write(w, "")
}

// withdrawnBy is who took the statement back; empty: it counts.
func withdrawnBy(im admin.ReconStatement) string {
	if im.Withdrawn == nil {
		return ""
	}
	return im.Withdrawn.By
}
