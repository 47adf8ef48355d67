package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"creditonce/internal/config"
)

// topics are help pages that belong to no command.
func topics() []*cobra.Command {
	return []*cobra.Command{
		{Use: "exit-codes", Short: "What the exit codes of all commands mean", Long: exitCodesHelp},
		{Use: "config", Short: "Where the configuration is looked for, and how secrets are named", Long: configHelp()},
		{Use: "states", Short: "What the states of a credit and of a deposit mean", Long: statesHelp},
	}
}

func configHelp() string {
	var places []string
	for _, path := range config.SearchPath() {
		places = append(places, "  "+path)
	}
	return `One YAML file. Every option with its default and a sentence stands in config.example.yaml, beside the program.

Where it is looked for, first match wins:

  the argument of check, or --config FILE of the other commands
  $` + config.PathVariable + `
` + strings.Join(places, "\n") + `

Secrets never stand in the file. A secret names where it is kept:

  {file: /etc/creditonce/webhook}     a file that only the service's user can read (mode 0600 or 0400)
  {credential: webhook}               a systemd credential (LoadCredential=webhook:PATH in the unit)

A file's last newline is not part of the secret. Relative paths start at the configuration's folder. Your own server's
keys are the exception: the file holds their SHA-256 and nobody holds the key but your server; see: creditonce keys new --help

Durations carry a unit (500ms, 20s, 10m, 24h), sizes too (256KiB, 64GiB). Amounts and rates are text in quotes ("500.00").
An unknown or repeated option is a fault, so that a slip of the keyboard is never taken for a default.

  creditonce check FILE     every fault with its line, in one run; it changes nothing and asks no server
`
}

const statesHelp = `A credit is the row of one payment. Its states:

  held       a person, or a missing deposit record, must come first; the row says why
  pending    may be claimed: waits for its turn, for MT5, or for the mode live
  claimed    a call to MT5 may be under way
  unknown    nobody knows whether MT5 applied the call; settled by looking, never by repeating
  done       one deal, verified at MT5; final
  failed     MT5 refused for a listed reason; a person decides
  cancelled  closed by people without a deal; final

There is no way back from claimed to pending: a call that may have reached MT5 becomes unknown first.
docs/state-machine.md draws every legal move.

A deposit is the record that your own server makes before the client pays. Its state is what a return page may show:

  open       not paid yet
  paid       the payment is known, and the credit waits for its turn (pending)
  crediting  the credit is on its way (claimed, unknown)
  credited   the money is on the account (done)
  review     a person looks at it (held, failed, cancelled, or an open task)
  expired    not paid in time; a payment that comes all the same waits for a person
  closed     taken back by your server before it was paid
`
