package credit

import (
	"slices"
	"time"
)

// ID numbers credit rows; for people and for our own keys only. MT5 never sees it (design §8).
type ID uint64

// Hold is one reason why a row waits for a person or a record.
type Hold string

// The reasons to hold a row (design §4, §5).
const (
	HoldNoDeposit    Hold = "no_deposit"    // no deposit record with the payment's code
	HoldExpired      Hold = "expired"       // paid, by the provider's time, after the deposit's expiry
	HoldClosed       Hold = "closed"        // paid after the portal closed the deposit
	HoldProvider     Hold = "provider"      // from a provider that the deposit does not name
	HoldSecondPart   Hold = "second_part"   // the deposit has taken another part already
	HoldEnteredTwice Hold = "entered_twice" // people may have entered what the provider tells, or the other way round
	HoldAmount       Hold = "amount"        // received is not what the deposit says
	HoldCurrency     Hold = "currency"      // received in another currency
	HoldOwnership    Hold = "ownership"     // the login does not belong to the deposit's client (any more)
	HoldAccount      Hold = "account"       // MT5's account is not as registered: missing, currency, digits, group
	HoldServer       Hold = "server"        // the configuration does not name the deposit's MT5 server (any more)
	HoldLimit        Hold = "limit"         // over the login's limit of the day, or the limit of an hour
	HoldReversal     Hold = "reversal"      // a refund or dispute of the payment is known
	HoldCode         Hold = "code"          // two events, or two fields, name different deposits
	HoldLookAlike    Hold = "look_alike"    // MT5 has a deal that may be this payment, credited by hand
	HoldConflict     Hold = "conflict"      // MT5 has our reference on something different
	HoldPreCutover   Hold = "pre_cutover"   // from before go-live: the old flow may have paid it
	HoldRestored     Hold = "restored"      // born or moved by a restore
	HoldByHand       Hold = "by_hand"       // a person stopped it
	HoldUnknownLogin Hold = "unknown_login" // MT5 says that the login does not exist
)

// Mark is a moment in the life of one process: Boot runs on the boot-time clock, which no step of the wall
// clock moves and which goes on while a machine sleeps. Marks of different processes cannot be compared.
type Mark struct {
	Process string        `json:"process"`
	Boot    time.Duration `json:"boot"`
	At      time.Time     `json:"at"` // UTC, for people
}

// Credit is the row of a unit: the one place that says what became of a payment. It is a value; Apply returns
// a changed copy. Times are UTC and cut to microseconds by the store.
type Credit struct {
	ID    ID     `json:"id"`
	Kind  Kind   `json:"kind"`
	Unit  Unit   `json:"unit"`
	State State  `json:"state"`
	Holds []Hold `json:"holds,omitempty"` // sorted; not empty exactly while State is Held

	// What the provider said.
	Provider string    `json:"provider"` // the config's label at birth
	Paid     Amount    `json:"paid"`
	PaidAt   time.Time `json:"paid_at"`        // the provider's time
	Code     string    `json:"code,omitempty"` // deposit code that travelled with the payment

	// What the deposit says. Empty until a deposit joins, then written once and never changed.
	Deposit   string    `json:"deposit,omitempty"` // deposit code
	DepositAt time.Time `json:"deposit_at,omitzero"`
	Further   bool      `json:"further,omitempty"`  // another row had taken the deposit already
	Server    string    `json:"server,omitempty"`   // the config's label of the MT5 server
	Identity  string    `json:"identity,omitempty"` // the MT5 server's own name
	Login     uint64    `json:"login,string,omitempty"`
	Client    string    `json:"client,omitempty"`
	Amount    Amount    `json:"amount"`          // what the login gets, in the account's currency and digits
	Fixed     bool      `json:"fixed,omitempty"` // two people released the row with the amount received instead of the deposit's
	Reference Reference `json:"reference,omitempty"`

	// The call.
	Attempt      int       `json:"attempt,omitempty"`
	Token        string    `json:"token,omitempty"` // of the current claim
	LeaseUntil   Mark      `json:"lease_until,omitzero"`
	FirstClaimAt time.Time `json:"first_claim_at,omitzero"`
	ClaimedAt    time.Time `json:"claimed_at,omitzero"`
	Answered     bool      `json:"answered,omitempty"` // MT5 once answered success: never re-issued automatically
	Reissues     int       `json:"reissues,omitempty"` // calls repeated after an absence verdict
	Grants       int       `json:"grants,omitempty"`   // further re-issues that people allowed and nobody used yet
	Unsent       int       `json:"unsent,omitempty"`   // calls in a row of which no byte left the machine
	Ended        Mark      `json:"ended,omitzero"`     // end of a refused call: the quarantine of a retry counts from it
	NotSent      *Mark     `json:"not_sent,omitempty"` // evidence of this claim: no byte of the call left the machine
	Restored     bool      `json:"restored,omitempty"` // older than a restore or takeover: moved, marked or born by it
	Restore      int       `json:"restore,omitempty"`  // number of the restore that it was moved, marked or born after
	HandedOver   bool      `json:"handed_over,omitempty"`
	Ticket       uint64    `json:"ticket,string,omitempty"`

	// Looking.
	UnknownSince Mark      `json:"unknown_since,omitzero"`
	FirstAbsent  *Mark     `json:"first_absent,omitempty"` // first complete look after the quarantine that saw nothing
	AbsentAt     *Mark     `json:"absent_at,omitempty"`    // newest look that proved, with FirstAbsent, that MT5 has no deal
	FirstDenied  *Mark     `json:"first_denied,omitempty"` // first of the looks in a row to which MT5 said that there is no such login
	DeniedAt     *Mark     `json:"denied_at,omitempty"`    // newest of them
	NotDeals     []uint64  `json:"not_deals,omitempty"`    // tickets that people recorded as not this payment; sorted, looks skip them
	Looks        int       `json:"looks,omitempty"`        // since the row became unknown
	StuckSince   time.Time `json:"stuck_since,omitzero"`   // pending, and it gets no further since; on the scale of NextAt
	NextAt       time.Time `json:"next_at,omitzero"`       // when a loop takes it up, on the scale of [Process.Schedule]; zero: no loop does
	WatchUntil   time.Time `json:"watch_until,omitzero"`   // a re-issued row is watched for a second deal until then

	PendingAt time.Time `json:"pending_at,omitzero"` // when it first became pending: counts in that UTC day's limit
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`

	Entries int    `json:"entries"` // history entries written
	Head    string `json:"head"`    // digest of the newest one
}

// Joined tells that a deposit has given the row its login, amount and reference.
func (c Credit) Joined() bool { return c.Deposit != "" }

// DealAmount is the signed amount that the row's deal must have.
func (c Credit) DealAmount() Amount { return c.Kind.Signed(c.Amount) }

// HasHold tells whether the row is held for the reason.
func (c Credit) HasHold(h Hold) bool { return slices.Contains(c.Holds, h) }

// withHolds returns the sorted union of both sets in a slice of its own.
func withHolds(holds []Hold, add ...Hold) []Hold {
	out := slices.Concat(holds, add)
	slices.Sort(out)
	return slices.Compact(out)
}

// withoutHolds returns the set without the given reasons in a slice of its own; nil when it is empty.
func withoutHolds(holds []Hold, drop ...Hold) []Hold {
	var out []Hold
	for _, h := range holds {
		if !slices.Contains(drop, h) {
			out = append(out, h)
		}
	}
	return out
}

// EarliestTrace is the earliest moment from which a deal of the row can exist: of the provider's payment time,
// the deposit's creation and the first claim (design §7). Zero only for a row without any of them.
func (c Credit) EarliestTrace() time.Time {
	var first time.Time
	for _, t := range []time.Time{c.PaidAt, c.DepositAt, c.FirstClaimAt} {
		if !t.IsZero() && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	return first
}
