package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"creditonce/internal/admin"
)

// act is a command that asks for one decision.
type act struct {
	use, short, long, example string
	words                     int  // arguments
	reasoned                  bool // --reason is required
	flags                     func(*cobra.Command)
	make                      func(cmd *cobra.Command, given []string) (admin.Act, error)
}

// command builds it.
func (a act) command(p *Process) *cobra.Command {
	cmd := &cobra.Command{Use: a.use, Short: a.short, Long: a.long, Example: a.example, Args: args(cobra.ExactArgs(a.words))}
	o := operatedOne(p, cmd)
	var reason string
	if a.reasoned {
		cmd.Flags().StringVar(&reason, "reason", "", "why, for the record (required)")
	}
	if a.flags != nil {
		a.flags(cmd)
	}
	var what admin.Act
	o.check = func(cmd *cobra.Command, given []string) (err error) {
		if a.reasoned && strings.TrimSpace(reason) == "" {
			return usagef("no --reason; say why in a few words: it stands in the record for ever")
		}
		if what, err = a.make(cmd, given); err != nil {
			return err
		}
		return timesOf(what)
	}
	cmd.RunE = o.run(func(cmd *cobra.Command, c *admin.Client, _ []string) error {
		what.Reason = reason
		out, err := c.Submit(cmd.Context(), what)
		if err != nil {
			return err
		}
		return show(o, out, outcomeSheet)
	})
	return cmd
}

// timesOf refuses a time that the service would not understand.
func timesOf(what admin.Act) error {
	for _, name := range []string{"cutover", "received_at"} {
		if text := what.Params[name]; text != "" {
			if _, err := time.Parse(time.RFC3339, text); err != nil {
				return usagef("--%s %q is no time; write it as 2026-12-01T06:00:00Z", strings.ReplaceAll(name, "_", "-"), text)
			}
		}
	}
	return nil
}

// about makes an act on the numbered record that the first argument names.
func about(kind, head string, params ...string) func(*cobra.Command, []string) (admin.Act, error) {
	return func(cmd *cobra.Command, given []string) (admin.Act, error) {
		n := numberOf(given[0], head)
		if !digitsOnly(n) {
			return admin.Act{}, usagef("%q is no number; give the number that list shows, such as 17", given[0])
		}
		out := admin.Act{Kind: kind, Subject: head + n, Params: map[string]string{}}
		for i, name := range params {
			if i+1 < len(given) {
				out.Params[name] = given[i+1]
				continue
			}
			value, err := cmd.Flags().GetString(name)
			if err != nil {
				return admin.Act{}, err
			}
			if cmd.Flags().Changed(name) {
				out.Params[name] = value
			}
		}
		return out, nil
	}
}

// fixed makes an act on a subject that needs no argument.
func fixed(kind, subject string, params ...string) func(*cobra.Command, []string) (admin.Act, error) {
	return func(cmd *cobra.Command, _ []string) (admin.Act, error) {
		out := admin.Act{Kind: kind, Subject: subject, Params: map[string]string{}}
		for _, name := range params {
			value, err := cmd.Flags().GetString(strings.ReplaceAll(name, "_", "-"))
			if err != nil {
				return admin.Act{}, err
			}
			if value != "" {
				out.Params[name] = value
			}
		}
		return out, nil
	}
}

// outcomeSheet says what happened, to what, and what to do next.
func outcomeSheet(w io.Writer, out admin.Outcome) error {
	if !out.Done && out.Proposal != nil {
		return proposedSheet(w, out)
	}
	if _, err := fmt.Fprintf(w, "done: %s\n", plain(out.Text)); err != nil {
		return err
	}
	if err := section(w, "credits", out.Credits, creditColumns()); err != nil {
		return err
	}
	if err := section(w, "tasks opened", out.Opened, taskColumns()); err != nil {
		return err
	}
	return section(w, "tasks closed", out.Closed, taskColumns())
}

func proposedSheet(w io.Writer, out admin.Outcome) error {
	p := *out.Proposal
	if _, err := fmt.Fprintf(w, "proposed: %s\n\n", plain(out.Text)); err != nil {
		return err
	}
	if err := proposalSheet(w, p); err != nil {
		return err
	}
	if out.Waits != "" {
		if _, err := fmt.Fprintf(w, "\nit cannot be confirmed yet: %s\n", plain(out.Waits)); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "\nThe other person looks at it and confirms:\n  creditonce proposals show %s\n  creditonce proposals confirm %s --hash %s --reason '...'\n",
		p.ID, p.ID, p.Digest[:min(shortestHash, len(p.Digest))])
	return err
}

func resolveCommand(p *Process) *cobra.Command {
	return act{
		use: "resolve CREDIT", short: "Look at MT5 for this credit now", words: 1,
		long: "resolve brings the next look forward. It moves no money and skips no waiting time: what may be concluded from the\n" +
			"look is decided as always.",
		example: "  creditonce credits resolve 17", make: about("credit.resolve", "credit/"),
	}.command(p)
}

func retryCommand(p *Process) *cobra.Command {
	return act{
		use: "retry CREDIT", short: "Try a failed credit again", words: 1, reasoned: true,
		long: "retry lets a failed credit go on: it becomes unknown, is looked up, and is called again only when MT5 proves to have\n" +
			"no deal of it. An unknown credit that was handed over takes a second person; one further call is then allowed.",
		example: "  creditonce credits retry 17 --reason 'the account was enabled again'", make: about("credit.retry", "credit/"),
	}.command(p)
}

func holdCreditCommand(p *Process) *cobra.Command {
	return act{
		use: "hold CREDIT", short: "Stop a credit that waits for its turn", words: 1, reasoned: true,
		long:    "hold stops a pending credit. One whose call may be under way cannot be stopped.",
		example: "  creditonce credits hold 17 --reason 'the client reports a stolen card'", make: about("credit.hold", "credit/"),
	}.command(p)
}

func releaseCreditCommand(p *Process) *cobra.Command {
	return act{
		use: "release CREDIT", short: "Let a held credit go on (two people)", words: 1, reasoned: true,
		long: "release lets a held credit go on. Where the amount differed, what was received times the deposit's rate is credited, at\n" +
			"most the deposit's amount. A wrong currency cannot be released, only adopted or closed.",
		example: "  creditonce credits release 17 --reason 'compared with the provider'", make: about("credit.release", "credit/"),
	}.command(p)
}

func adoptCommand(p *Process) *cobra.Command {
	return act{
		use: "adopt-deal CREDIT TICKET", short: "Take a deal of MT5 as this payment (two people)", words: 2, reasoned: true,
		long: "adopt-deal says that a deal which somebody made by hand is this payment: the credit is done and nothing is called. MT5\n" +
			"is asked when it is proposed and again when it is confirmed; the deal must be a balance operation of the same\n" +
			"amount on the same login, and on no other credit. Its comment, when it is not our reference, is given word for word.",
		example: "  creditonce adopt-deal 17 900071 --comment 'deposit card' --reason 'credited by hand on Friday'",
		flags: func(cmd *cobra.Command) {
			cmd.Flags().String("comment", "", "the deal's whole comment, where it is not our reference")
		},
		make: about("credit.adopt", "credit/", "ticket", "comment"),
	}.command(p)
}

func notThisDealCommand(p *Process) *cobra.Command {
	return act{
		use: "not-this-deal CREDIT TICKET", short: "Record that a deal is not this payment (two people)", words: 2, reasoned: true,
		long:    "not-this-deal says that a deal which looks like this payment is another one; later looks for this credit skip it.",
		example: "  creditonce not-this-deal 17 900071 --reason 'a bonus of the same amount'", make: about("credit.not-this-deal", "credit/", "ticket"),
	}.command(p)
}

func dealGoneCommand(p *Process) *cobra.Command {
	return act{
		use: "deal-gone LOGIN TICKET --server LABEL", short: "Record that a deal was deleted at MT5 (two people)", words: 2, reasoned: true,
		long: "deal-gone says that a deal which MT5 showed on a login was deleted there. Looks of the login rely on the newest deal that\n" +
			"they have seen: while it is not shown, MT5's answer does not count as complete, and the login's credits wait. MT5 is\n" +
			"asked when it is proposed and again when it is confirmed, and must say that there is no such deal. The deal of a\n" +
			"credit is refused: with it gone, the client's money was taken back at MT5.",
		example: "  creditonce deal-gone 500123 900071 --server main --reason 'a mistaken bonus, deleted by the dealing desk'",
		flags:   func(cmd *cobra.Command) { cmd.Flags().String("server", "", "label of the MT5 server") },
		make: func(cmd *cobra.Command, given []string) (admin.Act, error) {
			server, err := cmd.Flags().GetString("server")
			switch {
			case err != nil:
				return admin.Act{}, err
			case server == "":
				return admin.Act{}, usagef("no --server; give the label of the MT5 server, as the configuration has it")
			case !digitsOnly(given[0]) || !digitsOnly(given[1]):
				return admin.Act{}, usagef("give the login and the deal's ticket as numbers, such as 500123 900071")
			}
			return admin.Act{Kind: "deal.gone", Subject: "account/" + server + "/" + given[0], Params: map[string]string{"ticket": given[1]}}, nil
		},
	}.command(p)
}

func closeWithoutDealCommand(p *Process) *cobra.Command {
	return act{
		use: "close-without-deal CREDIT", short: "End a credit without a deal (two people)", words: 1, reasoned: true,
		long: "close-without-deal ends a held, unknown or failed credit for ever. MT5 must have proven to have no deal of it. What the\n" +
			"client paid is then yours to give back.",
		example: "  creditonce close-without-deal 17 --reason 'refunded at the provider'", make: about("credit.close", "credit/"),
	}.command(p)
}

func depositCommand(p *Process) *cobra.Command {
	cmd := group("deposit", "Enter a deposit that no provider reports", act{
		use:   "manual --client C --server S --login N --amount A --currency X --bank-reference R --received-at T --reason WHY",
		short: "Enter a bank wire (two people)", reasoned: true,
		long: "manual enters money that came by bank wire. After the second person it is a credit like any other: checked, looked up,\n" +
			"called once. Give the bank's own reference: a second wire with the same reference, in any spelling, is refused.\n" +
			"For a payment that a provider can no longer tell about, give the payment's id: should it come after all, it is held.",
		example: "  creditonce deposit manual --client client-42 --server main --login 500123 --amount 500.00 --currency USD \\\n" +
			"    --bank-reference F-20261130-17 --received-at 2026-11-30T09:15:00Z --reason wire",
		flags: func(cmd *cobra.Command) {
			for _, f := range [][2]string{
				{"client", "whose money it is, as your own server names the client"}, {"server", "MT5 server"}, {"login", "login at the MT5 server"},
				{"amount", "what to credit, such as 500.00"}, {"currency", "the account's currency"},
				{"bank-reference", "the bank's own reference of the wire"}, {"received-at", "when the bank received it, such as 2026-11-30T09:15:00Z"},
			} {
				cmd.Flags().String(f[0], "", f[1])
			}
		},
		make: func(cmd *cobra.Command, given []string) (admin.Act, error) {
			names := []string{"client", "server", "login", "amount", "currency", "bank_reference", "received_at"}
			out, err := fixed("deposit.manual", "deposit/manual", names...)(cmd, given)
			for _, name := range names {
				if err == nil && out.Params[name] == "" {
					return out, usagef("no --%s; see: creditonce deposit manual --help", strings.ReplaceAll(name, "_", "-"))
				}
			}
			return out, err
		},
	}.command(p))
	cmd.Long = "Deposits come from your own server; what comes by bank wire is entered here, prepared by one person and confirmed by another."
	cmd.Example = "  creditonce deposit manual --help"
	return cmd
}

func webhookCommand(p *Process) *cobra.Command {
	cmd := group("webhook", "Run a stored webhook again", act{
		use: "replay EVENT", short: "Run a stored webhook through the intake again", words: 1, reasoned: true,
		long:    "replay runs a stored event through the same path again. It can only end in the same credits: nothing is paid twice.",
		example: "  creditonce webhook replay 4 --reason 'the mapping was corrected'", make: about("webhook.replay", "event/"),
	}.command(p))
	cmd.Long = "The stored webhooks are listed by creditonce events list."
	cmd.Example = "  creditonce webhook replay 4 --reason 'the mapping was corrected'"
	return cmd
}

func noteCommand(p *Process) *cobra.Command {
	return act{
		use: "note TASK --text TEXT", short: "Write a note on a task", words: 1, long: "note adds a sentence to a task, with your name and the time.",
		example: "  creditonce tasks note 3 --text 'asked the provider'",
		flags:   func(cmd *cobra.Command) { cmd.Flags().String("text", "", "what to note (required)") },
		make: func(cmd *cobra.Command, given []string) (admin.Act, error) {
			out, err := about("task.note", "task/", "text")(cmd, given)
			if err == nil && strings.TrimSpace(out.Params["text"]) == "" {
				return out, usagef("no --text; nothing was noted: say in --text what there is to note")
			}
			return out, err
		},
	}.command(p)
}

func assignCommand(p *Process) *cobra.Command {
	return act{
		use: "assign TASK --person PERSON", short: "Say who looks at a task", words: 1, long: "assign names the person who looks at a task; --person '' takes the name off.",
		example: "  creditonce tasks assign 3 --person anna",
		flags:   func(cmd *cobra.Command) { cmd.Flags().String("person", "", "id of the person; empty: nobody") },
		make:    about("task.assign", "task/", "person"),
	}.command(p)
}

func closeTaskCommand(p *Process) *cobra.Command {
	return act{
		use: "close TASK", short: "Close a task", words: 1, reasoned: true,
		long:    "close closes a task that does not close by itself. It changes nothing else; what the task spoke of must be settled first.",
		example: "  creditonce tasks close 3 --reason 'the provider confirmed the refund'", make: about("task.close", "task/"),
	}.command(p)
}

func holdCommand(p *Process) *cobra.Command {
	return act{
		use: "hold", short: "Stop all balance operations now", reasoned: true,
		long:    "hold stops the service from calling balance operations. Webhooks are taken, deposits made and credits looked up as before.",
		example: "  creditonce hold --reason 'MT5 maintenance'", make: fixed("mode.hold", "mode"),
	}.command(p)
}

func releaseCommand(p *Process) *cobra.Command {
	return act{
		use: "release", short: "End a hold (two people)", reasoned: true,
		long:    "release ends the mode hold. To let one held credit go on, use: creditonce credits release.",
		example: "  creditonce release --reason 'maintenance is over'", make: fixed("mode.release", "mode"),
	}.command(p)
}

func goLiveCommand(p *Process) *cobra.Command {
	return act{
		use: "go-live", short: "Begin to call balance operations (two people)", reasoned: true,
		long: "go-live ends the mode observe. Whatever was paid before the cut-over, which is the moment of the confirmation or the\n" +
			"later time of --cutover, is left to your present flow for ever: such credits can only be adopted or closed. Stop the\n" +
			"present flow for payments from the cut-over on, and read docs/operations.md first.",
		example: "  creditonce go-live --cutover 2026-12-01T06:00:00Z --reason 'two weeks beside the old flow'",
		flags: func(cmd *cobra.Command) {
			cmd.Flags().String("cutover", "", "from which payment time on creditonce pays, such as 2026-12-01T06:00:00Z (default: the confirmation)")
		},
		make: fixed("mode.go-live", "mode", "cutover"),
	}.command(p)
}
