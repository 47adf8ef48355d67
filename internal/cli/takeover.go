package cli

import (
	"github.com/spf13/cobra"

	"creditonce/internal/admin"
)

func takeoverCommand(p *Process) *cobra.Command {
	return act{
		use: "takeover --fenced password|address --reason WHY", short: "Let a store in doubt go on (two people)", reasoned: true,
		long: "takeover ends the doubt of a service that started on a copy, on another machine, or on a file that somebody put back. First\n" +
			"fence the other instance at MT5: change the manager's password, or the address that it may come from, so that it can call\n" +
			"nothing more. The quarantine counts from the confirmation. Credits that may have been called meanwhile are looked up, none is\n" +
			"called again by itself, and the mode stays hold until release; read docs/operations.md first.",
		example: "  creditonce takeover --fenced password --reason 'the old server burnt down; its manager password is changed'",
		flags: func(cmd *cobra.Command) {
			cmd.Flags().String("fenced", "", "how the other instance was fenced at MT5: password or address (required)")
		},
		make: func(cmd *cobra.Command, given []string) (admin.Act, error) {
			out, err := fixed("mode.takeover", "mode", "fenced")(cmd, given)
			if how := out.Params["fenced"]; err == nil && how != "password" && how != "address" {
				return out, usagef("--fenced %q: say how the other instance was fenced at MT5: password or address", how)
			}
			return out, err
		},
	}.command(p)
}

func gapCheckedCommand(p *Process) *cobra.Command {
	return act{
		use: "gap-checked PROVIDER", short: "Record that a provider's payments since a restore were looked through", words: 1, reasoned: true,
		long: "gap-checked says that every payment which the provider received since the gap of a restore or takeover began is in the store,\n" +
			"or has been entered. It is for providers whose payments cannot be pulled. status shows from when the gap lasts. Where the\n" +
			"provider has statements, import those of the gap and compare them first, up to the last business day that is over:\n\n" +
			"  creditonce recon run --from 2026-11-27 --to 2026-11-30\n\n" +
			"Each payment that is missing here is then a task settled_without_credit. Else, and for the hours of today, compare its\n" +
			"dashboard with creditonce credits list.",
		example: "  creditonce gap-checked wallet --reason 'compared the dashboard from Friday 14:00 on; two payments were sent again'",
		make: func(_ *cobra.Command, given []string) (admin.Act, error) {
			return admin.Act{Kind: "gap.checked", Subject: "provider/" + given[0], Params: map[string]string{}}, nil
		},
	}.command(p)
}
