package cli

import (
	"strconv"

	"github.com/spf13/cobra"

	"creditonce/internal/admin"
)

func permitCommand(p *Process) *cobra.Command {
	return act{
		use: "permit --server LABEL --login LOGIN --reason WHY", short: "Let the probe touch a login of a live group (two people)", reasoned: true,
		long: "permit proposes that mt5 probe may touch one login outside the test groups, with its balance operations of the smallest\n" +
			"amount where --operate is given. When another person has confirmed, mt5 probe --permit PROPOSAL runs on exactly this\n" +
			"login of this server: once, within an hour of the confirmation, and only while both people may still agree to it. A login that the\n" +
			"portal registered to a client is refused. Whether MT5 has the login at all is seen when the probe begins.",
		example: "  creditonce mt5 permit --server main --login 500123 --reason 'a login of our own in the live group'\n" +
			"  creditonce proposals confirm 7 --hash 3f9a01c2d4e5 --reason 'it is the test client'\n" +
			"  creditonce mt5 probe --server main --login 500123 --permit 7 --operate",
		flags: func(cmd *cobra.Command) {
			cmd.Flags().String("server", "", "label of the MT5 server")
			cmd.Flags().Uint64("login", 0, "login that the probe may touch")
		},
		make: func(cmd *cobra.Command, _ []string) (admin.Act, error) {
			server, err := cmd.Flags().GetString("server")
			if err != nil {
				return admin.Act{}, err
			}
			login, err := cmd.Flags().GetUint64("login")
			switch {
			case err != nil:
				return admin.Act{}, err
			case server == "":
				return admin.Act{}, usagef("no --server; give the label of the MT5 server, as the configuration has it")
			case login == 0:
				return admin.Act{}, usagef("no --login; name the login that the probe may touch")
			}
			return admin.Act{Kind: "mt5.probe", Subject: "mt5/" + server, Params: map[string]string{"login": strconv.FormatUint(login, 10)}}, nil
		},
	}.command(p)
}
