package cli

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"creditonce/internal/config"
)

func keysCommand(p *Process) *cobra.Command {
	cmd := group("keys", "API keys of your own server", keysNewCommand(p))
	cmd.Long = "Your own server (the client portal) shows a bearer key with each call of the API. creditonce keeps only the SHA-256 of\n" +
		"a key, in api.keys of the configuration, with what the key may do."
	cmd.Example = "  creditonce keys new --name portal --scope deposits:write --scope deposits:read\n" +
		"  creditonce keys new --name crm --scope accounts:write"
	return cmd
}

func keysNewCommand(p *Process) *cobra.Command {
	var name string
	var scopes []string
	cmd := &cobra.Command{
		Use:   "new --name NAME --scope SCOPE [--scope SCOPE]",
		Short: "Make a key: prints it once, and the entry for api.keys",
		Long: "new draws a key, prints it on the first line and its entry for api.keys of the configuration on the second.\n" +
			"creditonce keeps only the SHA-256: the key cannot be shown again. Nothing is changed; add the entry yourself.\n\n" +
			"Scopes: " + strings.Join(config.Scopes(), ", ") + ".\n" +
			"accounts:write and deposits:write never share a key.",
		Example: "  creditonce keys new --name portal --scope deposits:write --scope deposits:read",
		Args:    args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			if err := checkKey(name, scopes); err != nil {
				return err
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
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "who uses the key: 1 to 32 of a-z, 0-9 and -")
	cmd.Flags().StringSliceVar(&scopes, "scope", nil, "what it may do; repeat the flag for more")
	return cmd
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
