package recon

import (
	"time"

	"creditonce/credit"
)

// Rules are what the comparison must know beside the three lists. They hold every input that is not in the lists: [Match] reads no clock.
type Rules struct {
	From, Until time.Time // UTC, half open: the business days that are compared
	Read        time.Time // UTC: the moment at which the lists were read; ages count from here

	// DealsFrom says for each MT5 server, by its own name, from when on the list of its deals is complete. A row that may have been paid
	// before it is not asked for its deal in this run; nor is a row of a server without an entry, whose list is not complete.
	DealsFrom map[string]time.Time
	// Unseen are the logins, by the server's own name, of which MT5 says that they do not exist: a row on one of them is not asked for its deal
	// either. One that is there after all (moved to another login) is compared all the same.
	Unseen map[string]map[uint64]bool
	// Delay is each provider's usual time from payment to settlement, by label. A credited payment that is not settled is waiting within it,
	// and late after it. A provider without an entry has no settlement list: its rows are neither.
	Delay map[string]time.Duration
	// LinesFrom says for a provider, by label, from when on its statements have all payments. A row that was paid before it is not asked for
	// its line; one that is there is compared all the same. A provider without an entry has them all.
	LinesFrom map[string]time.Time
	// PaysSince is the cut-over: what was paid before it and never credited is the flow's of before, and no difference. Zero: there was none.
	PaysSince time.Time
	// Tolerance is the largest difference of two amounts of a currency that still match; none: they must be equal.
	Tolerance map[string]credit.Amount
	// Marks are the moments at which the balances of providers are wanted.
	Marks []Marked
	// Rounding is the largest rest between a payout and the sum of its lines that is a rounding rest, by currency.
	Rounding map[string]credit.Amount
}

// Side says which two lists an item compares.
type Side string

// The sides.
const (
	SideProvider Side = "provider" // statements against rows, in the currency that was paid
	SideMT5      Side = "mt5"      // rows against deals, in the currency of the login
)

// Roll is one roll-forward: what one provider's rows of one currency say, and what the other side says, over the compared days.
// Theirs minus Ours, closing, is exactly the sum of Off over the listed items of the same provider, currency and side; a payout difference,
// which compares a statement with itself, takes no part.
//
// What moved before the first day is in the opening, what moved after the last is nowhere. What belongs together counts at one moment on
// both sides: the latest of the lines ([Line.Moment]) or deals ([Deal.At]); where the other side has nothing, or a deal with a time
// that cannot be its own (more than an hour after the row with its ticket became done, or the lists were read), the row's own ([Row.Moment]). A row counts as credited where it is done; on the provider's side also where its own deal is there, whatever the row
// says: the client has the money. MT5's side begins where the lists of deals do: a row that is not asked for its deal counts nowhere.
type Roll struct {
	Side     Side          `json:"side"`
	Provider string        `json:"provider,omitempty"` // label; empty: deals that no row has
	Currency string        `json:"currency"`
	Ours     Movement      `json:"ours"`   // the credit rows
	Theirs   Movement      `json:"theirs"` // the statements, or the MT5 deals
	Listed   credit.Amount `json:"listed"` // sum of Off
}

// Movement is opening + credited - refunded - charged back - withdrawn = closing. All amounts have one currency and exponent; what goes out
// is positive here.
type Movement struct {
	Opening     credit.Amount `json:"opening"`
	Credited    credit.Amount `json:"credited"`
	Refunded    credit.Amount `json:"refunded"`
	ChargedBack credit.Amount `json:"charged_back"`
	Withdrawn   credit.Amount `json:"withdrawn"`
	Closing     credit.Amount `json:"closing"`
}

// Outcome is what a comparison amounts to, beside its items.
type Outcome struct {
	Lines   int           `json:"lines"` // read, like the rows and deals
	Rows    int           `json:"rows"`
	Deals   int           `json:"deals"`
	Classes map[Class]int `json:"classes"`          // items of each class
	Rolls   []Roll        `json:"rolls,omitempty"`  // sorted by side, provider, currency
	Counts  []ClassCount  `json:"counts,omitempty"` // the same items by provider; sorted by provider, and each provider's in the order of [Classes]
	Costs   []Cost        `json:"costs,omitempty"`  // sorted by provider, currency
	Rests   []Rest        `json:"rests,omitempty"`  // sorted by provider, currency
	// Balances are those that [Rules.Marks] ask for, of each currency in which anything moved; sorted by provider, currency, time.
	Balances []Balance      `json:"balances,omitempty"`
	Unasked  []Unasked      `json:"unasked,omitempty"` // credits that [Rules.LinesFrom] kept from being asked for their line; by provider
	Before   map[string]int `json:"before,omitempty"`  // settled payments of the compared days from before the cut-over, which nobody here credited and which are not compared; by provider
	Unseen   []UnseenRows   `json:"unseen,omitempty"`  // rows that [Rules.Unseen] kept from being asked for their deals; by server and login
	Asked    map[string]int `json:"asked,omitempty"`   // done rows whose deal was asked for, by the MT5 server's own name
	Actions  map[int]int    `json:"actions,omitempty"` // deals of each action (2 balance, 3 credit, 4 charge, 5 correction, 6 bonus); only 2 moves the balance
}

// ClassCount counts the items of one class of one provider. Items of no provider (deals that no row has) have an empty label.
type ClassCount struct {
	Provider string `json:"provider,omitempty"` // label
	Class    Class  `json:"class"`
	Items    int    `json:"items"`
}

// Cost is what a provider took over the compared days: the sum of [Line.Cost] of the lines whose moment is in them, in one currency.
type Cost struct {
	Provider string        `json:"provider"` // label
	Amount   credit.Amount `json:"amount"`   // negative is a cost
}
