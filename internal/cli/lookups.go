package cli

import (
	"cmp"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"creditonce/internal/admin"
)

// lister makes the list command of one kind of record.
func lister[T any](p *Process, noun, long, example string, columns []column[T],
	add func(*cobra.Command) *filters, page func(*cobra.Command, *admin.Client, url.Values) (admin.List[T], error),
) *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List " + noun, Long: long, Example: example, Args: args(cobra.NoArgs)}
	o, f := operated(p, cmd), add(cmd)
	cmd.RunE = o.run(func(cmd *cobra.Command, c *admin.Client, _ []string) error {
		items, more, err := collect(f, func(q url.Values) (admin.List[T], error) { return page(cmd, c, q) })
		if err != nil {
			return err
		}
		return list(o, items, more, columns)
	})
	return cmd
}

// shower makes the show command of one kind of record. Its record is one JSON object; as CSV a record with its
// history has no form.
func shower[T any](p *Process, use, short, long, example string, read func(*cobra.Command, *admin.Client, string) (T, error),
	sheet func(io.Writer, T) error,
) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Long: long, Example: example, Args: args(cobra.ExactArgs(1))}
	o := operatedOne(p, cmd)
	cmd.RunE = o.run(func(cmd *cobra.Command, c *admin.Client, given []string) error {
		v, err := read(cmd, c, given[0])
		if err != nil {
			return err
		}
		return show(o, v, sheet)
	})
	return cmd
}

// show prints one record.
func show[T any](o *operator, v T, sheet func(io.Writer, T) error) error {
	switch o.output {
	case outJSON:
		return writeJSON(o.p.screen(), v)
	case outLines:
		return render(o.p.screen(), outLines, []T{v}, nil)
	default:
		return sheet(o.p.screen(), v)
	}
}

// finder makes the find command of one kind of record; kind "" finds all kinds.
func finder(p *Process, kind, noun, example string) *cobra.Command {
	cmd := &cobra.Command{
		Use: "find TEXT", Short: "Find " + noun + " by any id",
		Long: "find takes any id that somebody may have at hand: a credit's number, a payment, an event's id or message key, a\n" +
			"reference (dep:...), a deal's ticket, a login, a deposit code. It ends with 1 when nothing has it.",
		Example: example, Args: args(cobra.ExactArgs(1)),
	}
	o := operated(p, cmd)
	cmd.RunE = o.run(func(cmd *cobra.Command, c *admin.Client, given []string) error {
		all, err := c.Find(cmd.Context(), given[0])
		if err != nil {
			return err
		}
		hits := []admin.Found{}
		for _, f := range all.Items {
			if kind == "" || f.Kind == kind {
				hits = append(hits, f)
			}
		}
		if len(hits) == 0 {
			if o.output == outJSON {
				if err := list(o, hits, false, foundColumns()); err != nil {
					return err
				}
			}
			return exitWith(ExitFailed, fmt.Errorf("%s has nothing with %q; ids are compared whole, so give all of it", o.where(c), given[0]))
		}
		return list(o, hits, all.Next != "", foundColumns())
	})
	return cmd
}

// where names the service that was asked.
func (o *operator) where(c *admin.Client) string { return "the service at " + c.Path() }

func findCommand(p *Process) *cobra.Command {
	return finder(p, "", "a credit, deposit, event, task or account", "  creditonce find pi_3Qx7RkB2\n  creditonce find 500123 -o json")
}

func creditsCommand(p *Process) *cobra.Command {
	listing := lister(p, "credits, newest first", "list prints one line a credit. For a held one the reasons stand before the payment.",
		"  creditonce credits list --state unknown\n  creditonce credits list --server main --login 500123 --since 7d -o csv",
		creditColumns(), func(cmd *cobra.Command) *filters {
			return filter(p, cmd, "state", "only this state (help states)", "client", "only this client", "server", "only this MT5 server",
				"login", "only this login, with --server", "provider", "only this provider").spans("made")
		}, func(cmd *cobra.Command, c *admin.Client, q url.Values) (admin.List[admin.Credit], error) {
			return c.Credits(cmd.Context(), q)
		})
	showing := shower(p, "show CREDIT", "Show a credit with its events, tasks and history",
		"show prints all that is known about one credit: what was paid, what MT5 has, why it waits, and every move with its\nreason and evidence.",
		"  creditonce credits show 17", func(cmd *cobra.Command, c *admin.Client, id string) (admin.CreditDetail, error) {
			return c.Credit(cmd.Context(), numberOf(id, "credit/"))
		}, creditSheet)
	cmd := group("credits", "The rows of payments: list, show, find, and what people decide about them",
		listing, showing, finder(p, "credit", "credits", "  creditonce credits find dep:8QK800AFQN6Y47J371"),
		resolveCommand(p), retryCommand(p), holdCreditCommand(p), releaseCreditCommand(p), candidatesCommand(p))
	cmd.Long = "A credit is the row of one payment: the one place that says what became of it (creditonce help states)."
	cmd.Example = "  creditonce credits list --state held\n  creditonce credits show 17\n  creditonce credits retry 17 --reason 'group was corrected'"
	return cmd
}

func eventsCommand(p *Process) *cobra.Command {
	raw := false
	showing := &cobra.Command{
		Use: "show EVENT", Short: "Show a stored webhook with its body",
		Long:    "show prints a webhook as it was received. With --raw it prints the body alone, byte for byte, as evidence.",
		Example: "  creditonce events show 4\n  creditonce events show 4 --raw > body.json", Args: args(cobra.ExactArgs(1)),
	}
	o := operatedOne(p, showing)
	showing.Flags().BoolVar(&raw, "raw", false, "the body alone, byte for byte")
	showing.RunE = o.run(func(cmd *cobra.Command, c *admin.Client, given []string) error {
		v, err := c.Event(cmd.Context(), numberOf(given[0], "event/"))
		if err != nil {
			return err
		}
		if raw {
			body := v.BodyBase64
			if v.Body != "" {
				body = []byte(v.Body)
			}
			_, err := p.Stdout.Write(body)
			return err
		}
		return show(o, v, eventSheet)
	})
	cmd := group("events", "The verified webhooks, as evidence: list, show, find",
		lister(p, "events, oldest first", "list prints one line a verified webhook, with the credits that it made or joined. --after continues behind an event.",
			"  creditonce events list --newest --limit 20\n  creditonce events list --after 1200", eventColumns(), func(cmd *cobra.Command) *filters {
				return filter(p, cmd, "after", "only those behind this event").turns()
			}, func(cmd *cobra.Command, c *admin.Client, q url.Values) (admin.List[admin.Event], error) {
				return c.Events(cmd.Context(), q)
			}), showing, finder(p, "event", "events", "  creditonce events find evt_1QxT5bLk"))
	cmd.Long = "An event is one webhook whose signature was good, kept byte for byte and never changed."
	cmd.Example = "  creditonce events list\n  creditonce events show 4"
	return cmd
}

func depositsCommand(p *Process) *cobra.Command {
	cmd := group("deposits", "The records that your own server makes: list, show, find",
		lister(p, "deposits, newest first", "list prints one line a deposit with its state as your return page shows it.",
			"  creditonce deposits list --state review\n  creditonce deposits list --client client-42 -o json", depositColumns(),
			func(cmd *cobra.Command) *filters {
				return filter(p, cmd, "state", "only this state (help states)", "client", "only this client", "server", "only this MT5 server",
					"login", "only this login, with --server", "provider", "only this provider").spans("made")
			}, func(cmd *cobra.Command, c *admin.Client, q url.Values) (admin.List[admin.Deposit], error) {
				return c.Deposits(cmd.Context(), q)
			}),
		shower(p, "show CODE", "Show a deposit with its credits and their history", "show prints a deposit and what became of its payments.",
			"  creditonce deposits show order-2026-11-30-000017", func(cmd *cobra.Command, c *admin.Client, code string) (admin.DepositDetail, error) {
				return c.Deposit(cmd.Context(), code)
			}, depositSheet),
		finder(p, "deposit", "deposits", "  creditonce deposits find order-2026-11-30-000017"))
	cmd.Long = "A deposit is the record that your own server makes before the client pays: the only source of a login and an amount."
	cmd.Example = "  creditonce deposits list --state review\n  creditonce deposits show order-2026-11-30-000017"
	return cmd
}

func tasksCommand(p *Process) *cobra.Command {
	all := false
	listing := lister(p, "tasks, oldest first", "list prints the open tasks: what a person must look at. With --all the closed ones too.",
		"  creditonce tasks list\n  creditonce tasks list --kind conflict", taskColumns(), func(cmd *cobra.Command) *filters {
			cmd.Flags().BoolVar(&all, "all", false, "closed ones too")
			return filter(p, cmd, "kind", "only this kind", "assigned", "only what this person looks at")
		}, func(cmd *cobra.Command, c *admin.Client, q url.Values) (admin.List[admin.Task], error) {
			if all {
				q.Set("all", "true")
			}
			return c.Tasks(cmd.Context(), q)
		})
	cmd := group("tasks", "What a person must look at: list, show, find, note, assign, close", listing,
		showTaskCommand(p),
		finder(p, "task", "tasks", "  creditonce tasks find pi_3Qx7RkB2"), noteCommand(p), assignCommand(p), closeTaskCommand(p))
	cmd.Long = "A task is one thing that does not agree and that no rule may settle. Many close by themselves when it is settled."
	cmd.Example = "  creditonce tasks list\n  creditonce tasks show 3\n  creditonce tasks note 3 --text 'asked the client for the receipt'"
	return cmd
}

func showTaskCommand(p *Process) *cobra.Command {
	cmd := &cobra.Command{
		Use: "show TASK", Short: "Show a task with the records side by side",
		Long: "show prints what does not agree, the records of all sides beside each other, and what to do next. Of a difference that the\n" +
			"reconciliation found these are the provider's lines, the credits and the deals of MT5, as its newest run saw them.",
		Example: "  creditonce tasks show 3\n  creditonce tasks show 3 -o json", Args: args(cobra.ExactArgs(1)),
	}
	o := operatedOne(p, cmd)
	cmd.RunE = o.run(func(cmd *cobra.Command, c *admin.Client, given []string) error {
		columns := 0 // a program reads the records themselves
		if o.output == outTable {
			columns = cmp.Or(p.screen().columns, tableWidth)
		}
		v, err := c.Task(cmd.Context(), numberOf(given[0], "task/"), columns)
		if err != nil {
			return err
		}
		return show(o, v, taskSheet)
	})
	return cmd
}

func accountsCommand(p *Process) *cobra.Command {
	listAccounts := func(cmd *cobra.Command, c *admin.Client, q url.Values) (admin.List[admin.Account], error) {
		return c.Accounts(cmd.Context(), q)
	}
	cmd := group("accounts", "The registered logins: list, show, find",
		lister(p, "registered logins", "list prints the logins that your own server registered, and whose they are.",
			"  creditonce accounts list --client client-42", accountColumns(), func(cmd *cobra.Command) *filters {
				return filter(p, cmd, "client", "only this client", "server", "only this MT5 server", "login", "only this login, with --server",
					"currency", "only this currency")
			}, listAccounts),
		shower(p, "show SERVER/LOGIN", "Show a registered login", "show prints whose a login is and how its money is written.",
			"  creditonce accounts show main/500123", func(cmd *cobra.Command, c *admin.Client, at string) (admin.Account, error) {
				server, login, ok := strings.Cut(at, "/")
				if !ok || !digitsOnly(login) {
					return admin.Account{}, usagef("%q is no account; write SERVER/LOGIN, such as main/500123", at)
				}
				got, err := listAccounts(cmd, c, url.Values{"server": {server}, "login": {login}})
				if err != nil {
					return admin.Account{}, err
				}
				if len(got.Items) == 0 {
					return admin.Account{}, exitWith(ExitFailed, fmt.Errorf("login %s on %s is not registered; your own server registers it with PUT /v1/servers/%s/accounts/%s",
						login, server, server, login))
				}
				return got.Items[0], nil
			}, func(w io.Writer, a admin.Account) error { return writeTable(w, []admin.Account{a}, accountColumns()) }),
		finder(p, "account", "accounts", "  creditonce accounts find 500123"))
	cmd.Long = "An account is a login at an MT5 server that your own server registered for a client; only such a login is credited."
	cmd.Example = "  creditonce accounts list\n  creditonce accounts show main/500123"
	return cmd
}

func auditCommand(p *Process) *cobra.Command {
	cmd := group("audit", "What people did, as it was recorded", lister(p, "what people did, oldest first",
		"list prints every act of a person with its reason. Records are only ever added, each with the digest of the one before.",
		"  creditonce audit list --newest\n  creditonce audit list --after 100", auditColumns(), func(cmd *cobra.Command) *filters {
			return filter(p, cmd, "after", "only those behind this number").turns()
		},
		func(cmd *cobra.Command, c *admin.Client, q url.Values) (admin.List[admin.AuditEntry], error) {
			return c.Audit(cmd.Context(), q)
		}))
	cmd.Long = "Every act of a person leaves a record: who, with which account, what, why. creditonce verify checks their chain."
	cmd.Example = "  creditonce audit list"
	return cmd
}

func candidatesCommand(p *Process) *cobra.Command {
	cmd := &cobra.Command{
		Use: "candidates CREDIT", Short: "Ask MT5 now which deals this credit could adopt",
		Long: "candidates reads the login's balance deals at MT5 and prints those that could be this payment: the same signed amount,\n" +
			"on no other credit. Nothing changes. Without a complete answer of MT5 it ends with 4.",
		Example: "  creditonce credits candidates 17", Args: args(cobra.ExactArgs(1)),
	}
	o := operated(p, cmd)
	cmd.RunE = o.run(func(cmd *cobra.Command, c *admin.Client, given []string) error {
		got, err := c.Candidates(cmd.Context(), numberOf(given[0], "credit/"))
		if err != nil {
			return err
		}
		return list(o, got.Items, got.Next != "", dealColumns())
	})
	return cmd
}

// numberOf takes "17" and "credit/17" alike: tables and tasks show the long form.
func numberOf(given, head string) string { return strings.TrimPrefix(given, head) }
