package cli

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"creditonce/internal/admin"
	"creditonce/internal/config"
)

func keysCommand(p *Process) *cobra.Command {
	cmd := group("keys", "API keys of your own server: new, list, revoke", keysNewCommand(p), keysListCommand(p), keysRevokeCommand(p))
	cmd.Long = "Your own server (the client portal) shows a bearer key with each call of the API. creditonce keeps only the SHA-256 of\n" +
		"a key, with what the key may do: in api.keys of the configuration, where you write it yourself, or in the store of a\n" +
		"running service, where two admins put it (keys new --propose). Both are valid beside each other; a key is taken away\n" +
		"where it is kept. Keys of the store count at once, those of the configuration after a restart."
	cmd.Example = "  creditonce keys new --name portal --scope deposits:write --scope deposits:read\n" +
		"  creditonce keys new --name crm --scope accounts:write"
	return cmd
}

func keysNewCommand(p *Process) *cobra.Command {
	var name, reason string
	var scopes []string
	var propose bool
	cmd := &cobra.Command{
		Use:   "new --name NAME --scope SCOPE [--scope SCOPE]",
		Short: "Make a key: prints it once, and the entry for api.keys",
		Long: "new draws a key, prints it on the first line and its entry for api.keys of the configuration on the second.\n" +
			"creditonce keeps only the SHA-256: the key cannot be shown again. Nothing is changed; add the entry yourself.\n" +
			"With --propose the running service draws the key and proposes it; it is valid when another admin has confirmed.\n" +
			"That needs no restart, and --socket or --config to find the service.\n\n" +
			"Scopes: " + strings.Join(config.Scopes(), ", ") + ".\n" +
			"accounts:write and deposits:write never share a key.",
		Example: "  creditonce keys new --name portal --scope deposits:write --scope deposits:read",
		Args:    args(cobra.NoArgs),
	}
	o := operatedOne(p, cmd)
	cmd.RunE = func(cmd *cobra.Command, given []string) error {
		if err := checkKey(name, scopes); err != nil {
			return err
		}
		if propose {
			return o.run(func(cmd *cobra.Command, c *admin.Client, _ []string) error {
				return o.proposeKey(cmd, c, admin.NewKey{Name: name, Scopes: scopes, Reason: reason})
			})(cmd, given)
		}
		if o.output != outTable {
			return usagef("-o goes with --propose; the entry for api.keys has one form")
		}
		key, err := drawKey(p.Random)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(p.Stdout, "%s\n%s\n", key, keyEntry(key, name, scopes)); err != nil {
			return fmt.Errorf("print the new key: %w", err)
		}
		_, err = fmt.Fprintln(p.Stderr, "First line: the key, for your server; it is not shown again. Second line: add it below api.keys.")
		return err
	}
	cmd.Flags().BoolVar(&propose, "propose", false, "let the running service draw and propose the key")
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the record (required with --propose)")
	cmd.Flags().StringVar(&name, "name", "", "who uses the key: 1 to 32 of a-z, 0-9 and -")
	cmd.Flags().StringSliceVar(&scopes, "scope", nil, "what it may do; repeat the flag for more")
	return cmd
}

// proposeKey prints the key first and alone: whatever else goes wrong, it is not lost.
func (o *operator) proposeKey(cmd *cobra.Command, c *admin.Client, k admin.NewKey) error {
	if strings.TrimSpace(k.Reason) == "" {
		return usagef("no --reason; say why in a few words: it stands in the record for ever")
	}
	out, err := c.NewKey(cmd.Context(), k)
	if err != nil {
		return err
	}
	return show(o, out, func(w io.Writer, out admin.Outcome) error {
		if _, err := fmt.Fprintln(w, out.Secret); err != nil {
			return fmt.Errorf("print the new key: %w", err)
		}
		_, _ = fmt.Fprintln(o.p.Stderr, "First line: the key, for your server; it is not shown again, and not valid before another admin has confirmed.")
		return outcomeSheet(w, out)
	})
}

func keysListCommand(p *Process) *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "List the keys of a running service", Long: "list prints the keys that the service knows, where each is kept, and revoked ones.",
		Example: "  creditonce keys list", Args: args(cobra.NoArgs),
	}
	o := operated(p, cmd)
	cmd.RunE = o.run(func(cmd *cobra.Command, c *admin.Client, _ []string) error {
		got, err := c.Keys(cmd.Context())
		if err != nil {
			return err
		}
		return list(o, got.Items, got.Next != "", keyColumns())
	})
	return cmd
}

func keysRevokeCommand(p *Process) *cobra.Command {
	return act{
		use: "revoke NAME", short: "Make a key of the store invalid for good (two people)", words: 1, reasoned: true,
		long:    "revoke proposes to end a key of the store. A key of the configuration is taken out of api.keys instead.",
		example: "  creditonce keys revoke portal --reason 'it stood in a log'",
		make: func(_ *cobra.Command, given []string) (admin.Act, error) {
			return admin.Act{Kind: "key.revoke", Subject: "key/" + given[0]}, nil
		},
	}.command(p)
}

// checkKey refuses what the configuration would refuse, before a key is drawn.
func checkKey(name string, scopes []string) error {
	if !config.ValidName(name) {
		return usagef("--name %q is not usable; give 1 to 32 of a-z, 0-9 and -", name)
	}
	if len(scopes) == 0 {
		return usagef("no --scope; give at least one of: %s", strings.Join(config.Scopes(), ", "))
	}
	for i, scope := range scopes {
		if !slices.Contains(config.Scopes(), scope) {
			return usagef("--scope %q is not known; give one of: %s", scope, strings.Join(config.Scopes(), ", "))
		}
		if slices.Contains(scopes[:i], scope) {
			return usagef("--scope %s is given twice; give it once", scope)
		}
	}
	if problem := config.ForbiddenScopes(scopes); problem != "" {
		return usagef("%s", problem)
	}
	return nil
}

// drawKey makes a key of 256 random bits. The prefix lets secret scanners find a leaked one.
func drawKey(random io.Reader) (string, error) {
	var bits [32]byte
	if _, err := io.ReadFull(random, bits[:]); err != nil {
		return "", fmt.Errorf("draw a key: %w", err)
	}
	return "co_" + base64.RawURLEncoding.EncodeToString(bits[:]), nil
}

// keyEntry is the key's item of api.keys. A plain hash is enough for 256 random bits (security.md §6.4).
func keyEntry(key, name string, scopes []string) string {
	quoted := make([]string, len(scopes))
	for i, s := range scopes {
		quoted[i] = fmt.Sprintf("%q", s)
	}
	return fmt.Sprintf("- {name: %q, sha256: \"%x\", scopes: [%s]}", name, sha256.Sum256([]byte(key)), strings.Join(quoted, ", "))
}
