package cli

import (
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"creditonce/internal/admin"
)

func proposalsCommand(p *Process) *cobra.Command {
	all := false
	listing := lister(p, "proposals", "list prints what waits for a second person, and what has moved: it can only be rejected, since what it is about has moved\non. With --all what was decided or has expired too.",
		"  creditonce proposals list", proposalColumns(), func(cmd *cobra.Command) *filters {
			cmd.Flags().BoolVar(&all, "all", false, "decided and expired ones too")
			return filter(p, cmd)
		}, func(cmd *cobra.Command, c *admin.Client, q url.Values) (admin.List[admin.Proposal], error) {
			if all {
				q.Set("all", "true")
			}
			return c.Proposals(cmd.Context(), q)
		})
	showing := shower(p, "show PROPOSAL", "Show what a proposal would do", "show prints what a proposal would do, who may confirm it and until when, and its hash.",
		"  creditonce proposals show 5", func(cmd *cobra.Command, c *admin.Client, id string) (admin.Proposal, error) {
			return c.Proposal(cmd.Context(), id)
		}, proposalSheet)
	cmd := group("proposals", "What waits for a second person: list, show, confirm, reject", listing, showing, confirmCommand(p), rejectCommand(p))
	cmd.Long = "Some acts take two people. The first proposes; another confirms exactly that, by its hash, or rejects it. A proposal\n" +
		"expires, is used once, and is refused when what it rests on has changed."
	cmd.Example = "  creditonce proposals list\n  creditonce proposals show 5\n  creditonce proposals reject 5 --reason 'wrong client'"
	return cmd
}

// shortestHash is how many characters of a proposal's hash may stand for it: a slip of the hand never hits another.
const shortestHash = 12

func confirmCommand(p *Process) *cobra.Command {
	cmd := &cobra.Command{
		Use: "confirm PROPOSAL --hash HASH", Short: "Agree to a proposal, and do it",
		Long: "confirm shows what the proposal would do and does it, when you say that you have seen exactly this: by its hash (its\n" +
			"first 12 characters suffice), or by --yes for what is shown now. With neither it shows and does nothing. With -o json,\n" +
			"jsonl or csv nothing is shown before: give the hash that proposals show -o json prints as digest.",
		Example: "  creditonce proposals confirm 5 --hash 3f9a01c2d4e5 --reason 'compared with the statement'", Args: args(cobra.ExactArgs(1)),
	}
	o := operatedOne(p, cmd)
	var hash, reason string
	var yes bool
	cmd.Flags().StringVar(&hash, "hash", "", "the proposal's hash as proposals show prints it")
	cmd.Flags().StringVar(&reason, "reason", "", "why you agree, for the record (required)")
	cmd.Flags().BoolVar(&yes, "yes", false, "agree to what is shown now")
	cmd.RunE = o.run(func(cmd *cobra.Command, c *admin.Client, given []string) error {
		seen, err := c.Proposal(cmd.Context(), given[0])
		if err != nil {
			return err
		}
		if o.output != outTable && hash == "" {
			return usagef("no --hash; nothing was done: creditonce proposals show %s -o %s prints the proposal with its hash (digest), give that here",
				seen.ID, outJSON)
		}
		if err := o.shownFirst(seen); err != nil {
			return err
		}
		if err := agreed(seen, hash, reason, yes); err != nil {
			return err
		}
		out, err := c.Confirm(cmd.Context(), seen.ID, admin.Verdict{Digest: seen.Digest, Reason: reason})
		if err != nil {
			return err
		}
		return show(o, out, outcomeSheet)
	})
	return cmd
}

// shownFirst shows the proposal to a person before anything is decided. A program has its hash from having read it.
func (o *operator) shownFirst(seen admin.Proposal) error {
	if o.output != outTable {
		return nil
	}
	if err := proposalSheet(o.p.screen(), seen); err != nil {
		return err
	}
	_, err := fmt.Fprintln(o.p.Stdout)
	return err
}

// agreed tells whether the person has said yes to exactly what was read.
func agreed(seen admin.Proposal, hash, reason string, yes bool) error {
	switch {
	case hash == "" && !yes:
		return usagef("nothing was done; when this is what you agree to: creditonce proposals confirm %s --hash %s --reason '...'",
			seen.ID, seen.Digest[:min(shortestHash, len(seen.Digest))])
	case hash != "" && len(hash) < shortestHash:
		return usagef("--hash %s is too short; give at least the first %d characters", hash, shortestHash)
	case hash != "" && !strings.HasPrefix(seen.Digest, hash):
		return exitWith(ExitRefused, fmt.Errorf("refused: proposal %s has another hash than the one you give, so it is not what you saw; nothing was done: look at it again",
			seen.ID))
	case strings.TrimSpace(reason) == "":
		return usagef("no --reason; say why you agree in a few words: it stands in the record for ever")
	default:
		return nil
	}
}

func rejectCommand(p *Process) *cobra.Command {
	cmd := &cobra.Command{
		Use: "reject PROPOSAL", Short: "End a proposal undone", Long: "reject ends a proposal. Whoever made it may withdraw it so, too.",
		Example: "  creditonce proposals reject 5 --reason 'wrong ticket'", Args: args(cobra.ExactArgs(1)),
	}
	o := operatedOne(p, cmd)
	var reason string
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the record (required)")
	o.check = func(*cobra.Command, []string) error {
		if strings.TrimSpace(reason) == "" {
			return usagef("no --reason; say why in a few words: it stands in the record for ever")
		}
		return nil
	}
	cmd.RunE = o.run(func(cmd *cobra.Command, c *admin.Client, given []string) error {
		gone, err := c.Reject(cmd.Context(), given[0], admin.Verdict{Reason: reason})
		if err != nil {
			return err
		}
		return show(o, gone, func(w io.Writer, r admin.Proposal) error {
			_, err := fmt.Fprintf(w, "done: proposal %s (%s %s) is rejected; nothing of it was done\n", plain(r.ID), plain(r.Kind), plain(r.Subject))
			return err
		})
	})
	return cmd
}
