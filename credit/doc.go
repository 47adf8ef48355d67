// Package credit is the domain of creditonce: rows, states, transitions, amounts and references, the pure
// decisions about them, and the loops that claim a row, call MT5 and settle what nobody can know.
//
// The package imports the standard library only. It knows no provider, no wire and no engine: adapters know
// it, and hand it a Session (MT5), a Book (the store), a Clock and an Observer.
//
// Its promises, which every other package leans on:
//
//   - A balance operation is irreversible and MT5 has no idempotency. So the order is: intent on disk, look,
//     call, verify, outcome on disk. Anything in between is [Unknown], and unknown is settled by looking.
//   - Every place that turns "I did not see it" into "it is not there" holds its evidence: see [Absence].
//   - A row changes only through a [Transition], which only the constructors of this package build; [Apply]
//     refuses what the table of legal moves does not list.
//   - Decisions ([TakeIn], [OpenDeposit], [ChangeAccount] and the Decide functions of the loops) are pure: no
//     clock, no I/O, no randomness, no process state. A store may run them more than once.
//   - Money is an integer of minor units with currency and exponent; there is no floating point here.
package credit
