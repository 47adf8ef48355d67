package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"creditonce/internal/admin"
)

const rolesHelp = "viewer looks; operator does what one person may do; maker proposes what takes two; checker confirms what another\n" +
	"proposed; admin proposes and confirms people and keys. No role implies another."

func peopleCommand(p *Process) *cobra.Command {
	listing := &cobra.Command{
		Use: "list", Short: "List the people who may act", Long: "list prints everybody with roles and unix users.\n\n" + rolesHelp,
		Example: "  creditonce people list", Args: args(cobra.NoArgs),
	}
	o := operated(p, listing)
	listing.RunE = o.run(func(cmd *cobra.Command, c *admin.Client, _ []string) error {
		got, err := c.People(cmd.Context())
		if err != nil {
			return err
		}
		return list(o, got.Items, got.Next != "", personColumns())
	})
	cmd := group("people", "Who may act: list, me, add, change, bootstrap", listing, meCommand(p), addPersonCommand(p), changePersonCommand(p), bootstrapCommand(p))
	cmd.Long = "A person acts by the unix user that calls the command; one person may have several, no user belongs to two people.\n" +
		"Root names the first two people of a store; from then on every change takes two.\n\n" + rolesHelp
	cmd.Example = "  creditonce people list\n  creditonce people me"
	return cmd
}

func meCommand(p *Process) *cobra.Command {
	cmd := &cobra.Command{
		Use: "me", Short: "Say which person you are to the service", Long: "me prints the person that your unix user belongs to, with the roles.",
		Example: "  creditonce people me", Args: args(cobra.NoArgs),
	}
	o := operated(p, cmd)
	cmd.RunE = o.run(func(cmd *cobra.Command, c *admin.Client, _ []string) error {
		who, err := c.Who(cmd.Context())
		if err != nil {
			return err
		}
		return list(o, []admin.Person{who}, false, personColumns())
	})
	return cmd
}

// personAct reads an act about a person from the flags that were given.
func personAct(kind string) func(*cobra.Command, []string) (admin.Act, error) {
	return func(cmd *cobra.Command, given []string) (admin.Act, error) {
		out := admin.Act{Kind: kind, Subject: "person/" + given[0], Params: map[string]string{}}
		if cmd.Flags().Changed("name") {
			out.Params["name"], _ = cmd.Flags().GetString("name") // a flag of this command
		}
		for flag, param := range map[string]string{"user": "users", "role": "roles"} {
			if cmd.Flags().Changed(flag) {
				values, err := cmd.Flags().GetStringSlice(flag)
				if err != nil {
					return out, err
				}
				out.Params[param] = strings.Join(values, ",")
			}
		}
		if f := cmd.Flags().Lookup("disabled"); f != nil && f.Changed {
			out.Params["disabled"] = f.Value.String()
		}
		if len(out.Params) == 0 {
			return out, usagef("nothing to change; give --name, --user, --role or --disabled")
		}
		return out, nil
	}
}

func personFlags(cmd *cobra.Command) {
	cmd.Flags().String("name", "", "full name")
	cmd.Flags().StringSlice("user", nil, "unix user; repeat the flag for more")
	cmd.Flags().StringSlice("role", nil, "viewer, operator, maker, checker or admin; repeat the flag for more")
}

func addPersonCommand(p *Process) *cobra.Command {
	return act{
		use: "add ID", short: "Add a person (two people)", words: 1, reasoned: true, flags: personFlags, make: personAct("person.add"),
		long:    "add proposes a new person. An id is never used for anybody else later.\n\n" + rolesHelp,
		example: "  creditonce people add carl --name 'Carl Tan' --user carl --role operator --role maker --reason 'joins the desk'",
	}.command(p)
}

func changePersonCommand(p *Process) *cobra.Command {
	return act{
		use: "change ID", short: "Change or disable a person (two people)", words: 1, reasoned: true, make: personAct("person.change"),
		flags: func(cmd *cobra.Command) {
			personFlags(cmd)
			cmd.Flags().Bool("disabled", false, "may no longer act; --disabled=false lets the person act again")
		},
		long:    "change proposes new values; users and roles replace the ones before. What is not given stays.",
		example: "  creditonce people change carl --disabled --reason 'has left'",
	}.command(p)
}

func bootstrapCommand(p *Process) *cobra.Command {
	cmd := &cobra.Command{
		Use: "bootstrap ID:NAME:USERS:ROLES ID:NAME:USERS:ROLES", Short: "Root names the first two people",
		Long: "bootstrap makes the first two people of a store that has none. Only root may, once; both need the role admin, and it is\n" +
			"recorded. Each is written as id, full name, unix users and roles, colons between, commas inside.\n\n" + rolesHelp,
		Example: "  creditonce people bootstrap 'anna:Anna Lim:anna:admin,maker' 'ben:Ben Koh:ben:admin,checker' --reason 'first start'",
		Args:    args(cobra.ExactArgs(2)),
	}
	o := operatedOne(p, cmd)
	var reason string
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the record (required)")
	var b admin.Bootstrap
	o.check = func(_ *cobra.Command, given []string) error {
		if strings.TrimSpace(reason) == "" {
			return usagef("no --reason; say why in a few words: it stands in the record for ever")
		}
		b = admin.Bootstrap{Reason: reason}
		for _, text := range given {
			who, err := parsePerson(text)
			if err != nil {
				return err
			}
			b.People = append(b.People, who)
		}
		return nil
	}
	cmd.RunE = o.run(func(cmd *cobra.Command, c *admin.Client, _ []string) error {
		out, err := c.Bootstrap(cmd.Context(), b)
		if err != nil {
			return err
		}
		return show(o, out, outcomeSheet)
	})
	return cmd
}

func parsePerson(text string) (admin.Person, error) {
	parts := strings.Split(text, ":")
	if len(parts) != 4 || slices.Contains(parts, "") {
		return admin.Person{}, usagef("%q is no person; write ID:NAME:USERS:ROLES, such as 'anna:Anna Lim:anna:admin,maker'", text)
	}
	return admin.Person{ID: parts[0], Name: parts[1], Users: strings.Split(parts[2], ","), Roles: strings.Split(parts[3], ",")}, nil
}

// bytesText writes a size for people; whole bytes stand in the JSON.
func bytesText(n int64) string {
	if n < 0 {
		return "not known"
	}
	value, unit := float64(n), 0
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	for value >= 1024 && unit < len(units)-1 {
		value, unit = value/1024, unit+1
	}
	if unit == 0 {
		return strconv.FormatInt(n, 10) + " B"
	}
	return fmt.Sprintf("%.1f %s", value, units[unit])
}
