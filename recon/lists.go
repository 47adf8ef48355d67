package recon

import (
	"time"

	"creditonce/credit"
)

// Row is what reconciliation reads of a credit row.
type Row struct {
	ID        credit.ID
	Kind      credit.Kind
	Unit      credit.Unit
	State     credit.State
	Provider  string // label
	Paid      credit.Amount
	PaidAt    time.Time // UTC, the provider's time
	Code      string
	Server    string // label of the MT5 server; empty until a deposit joined
	Identity  string // the server's own name
	Login     uint64
	Amount    credit.Amount // what the login gets; positive, the kind gives the direction
	Reference credit.Reference
	Ticket    uint64
	ClaimedAt time.Time // UTC; newest claim, zero without one
	Trace     time.Time // UTC; no deal of the row is older, see [credit.Credit.EarliestTrace]
	UpdatedAt time.Time // UTC
	NotDeals  []uint64
	Before    bool // held as pre-cutover: the flow before has credited it, or will
}

// RowOf takes from a credit row what reconciliation reads.
func RowOf(c credit.Credit) Row {
	return Row{
		ID: c.ID, Kind: c.Kind, Unit: c.Unit, State: c.State, Provider: c.Provider, Paid: c.Paid, PaidAt: c.PaidAt, Code: c.Code,
		Server: c.Server, Identity: c.Identity, Login: c.Login, Amount: c.Amount, Reference: c.Reference, Ticket: c.Ticket,
		ClaimedAt: c.ClaimedAt, Trace: c.EarliestTrace(), UpdatedAt: c.UpdatedAt, NotDeals: c.NotDeals, Before: c.HasHold(credit.HoldPreCutover),
	}
}

// Moment is when the row counts where the other side has nothing of it: its newest claim, else its last change.
func (r Row) Moment() time.Time {
	if r.ClaimedAt.IsZero() {
		return r.UpdatedAt
	}
	return r.ClaimedAt
}

// Deal is a balance deal of an MT5 server with its time in UTC: the server's own clock and the offset that held at that time gave it.
type Deal struct {
	credit.Deal
	Server   string // label
	Identity string // the server's own name
	At       time.Time
}

// Class is what became of one payment, row or deal when the lists were laid side by side.
type Class string

// The classes of design §10. The first three are no difference.
const (
	Matched              Class = "matched"
	MatchedWithin        Class = "matched_within_tolerance"
	Waiting              Class = "waiting" // credited, not settled yet, and not later than the provider's usual delay
	Late                 Class = "late"    // credited, and not settled within the provider's usual delay
	SettledWithoutCredit Class = "settled_without_credit"
	DoneWithoutDeal      Class = "done_without_deal"
	DealWithoutRow       Class = "deal_without_row"       // a whole reference of ours that no row has
	DuplicateReference   Class = "duplicate_reference"    // one reference on several deals
	DealWithoutReference Class = "deal_without_reference" // a balance deal that no row has and that carries no reference
	WrongLogin           Class = "wrong_login"
	WrongAmount          Class = "wrong_amount"
	WrongCurrency        Class = "wrong_currency"
	DamagedReference     Class = "damaged_reference"
	ReversalMissing      Class = "reversal_missing" // a settled refund or chargeback without its own row
	FailedButDeal        Class = "failed_but_deal"
	CancelledButDeal     Class = "cancelled_but_deal"
	CancelledNotRefunded Class = "cancelled_not_refunded" // closed without a deal, settled, and never refunded
	PayoutDifference     Class = "payout_difference"      // a payout is not the sum of its lines
)

// Classes lists every class in the order in which a report shows them.
func Classes() []Class {
	return []Class{
		DuplicateReference, WrongLogin, WrongAmount, WrongCurrency, FailedButDeal, CancelledButDeal, DealWithoutRow, DamagedReference, DoneWithoutDeal,
		SettledWithoutCredit, DealWithoutReference, ReversalMissing, CancelledNotRefunded, PayoutDifference, Late, Waiting, MatchedWithin, Matched,
	}
}

// Difference tells that a person must look.
func (c Class) Difference() bool {
	switch c {
	case Matched, MatchedWithin, Waiting:
		return false
	default:
		return true
	}
}

// Rolled tells that what an item of the class adds is part of its roll-forward. A payout is none of the movements of one: what
// is wrong with it changes nothing of what was settled.
func (c Class) Rolled() bool { return c != PayoutDifference }

// Key names one discrepancy across runs: at most one open task has it.
type Key struct {
	Class  Class  `json:"class"`
	Entity string `json:"entity"` // "credit/17", "payment/stripe/acct_1/pi_1", "deal/ExampleBroker-Live/4711", "payout/stripe/acct_1/po_1"
}

// Item is one line of the comparison: what belongs together, and what it is called. Items of one run have different keys.
type Item struct {
	Key      Key           `json:"key"`
	Side     Side          `json:"side"`               // the two lists that it compares; what Off counts on
	Provider string        `json:"provider,omitempty"` // label; empty for deals that no row has
	Lines    []Line        `json:"lines,omitempty"`
	Rows     []Row         `json:"rows,omitempty"`
	Deals    []Deal        `json:"deals,omitempty"`
	Off      credit.Amount `json:"off"` // what it adds to the difference between the sides that disagree, signed; unset: nothing
	// Beside is what it adds in further currencies: of a wrong currency, what the one side has in one and the other in another.
	Beside []credit.Amount `json:"beside,omitempty"`
	At     time.Time       `json:"at"`  // UTC; the moment that puts it on a business day
	Why    string          `json:"why"` // one sentence for a person: what differs, with both values
}

// Offs are all amounts that the item adds, one a currency; none when it adds nothing.
func (i Item) Offs() []credit.Amount {
	if !i.Off.IsSet() {
		return nil
	}
	return append([]credit.Amount{i.Off}, i.Beside...)
}
