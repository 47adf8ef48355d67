package credit

import (
	"context"
	"time"
)

// Clock is time as the loops need it. Loops block nowhere else but in Wait and in their Session's calls.
type Clock interface {
	// Now is the wall clock in UTC: for what is stored and shown, never for waiting.
	Now() time.Time
	// Boot is the boot-time clock: monotonic, and going on while the machine is suspended. Leases, deadlines,
	// the quarantine and every other wait run on it. Values of different boots cannot be compared.
	Boot() time.Duration
	// Wait returns nil when Boot reaches until or wake receives, and ctx's error when ctx ends first.
	Wait(ctx context.Context, until time.Duration, wake <-chan struct{}) error
}

// Session is one authenticated session with one MT5 server: one TCP connection, one request at a time. A Lane
// owns it; it need not be safe for concurrent use. Every method may take as long as the adapter's own time-outs.
type Session interface {
	// Ready connects and authenticates where needed and has a server clock offset no older than the adapter
	// allows. An error means that nothing can be asked now.
	Ready(ctx context.Context) error
	// Account reads the login's state. It returns ErrNotFound when MT5 says, readably, that the login does not
	// exist; every other error is "no answer".
	Account(ctx context.Context, login uint64) (AccountState, error)
	// Look reads every balance deal of the login in the query's window, or says why the answer is not complete
	// (design §7). It never returns a partial list as complete.
	Look(ctx context.Context, q LookQuery) Sighting
	// Relook reads only what came after an earlier complete sighting of the same session and returns both
	// together; without such a sighting it does what Look does.
	Relook(ctx context.Context, q LookQuery, before Sighting) Sighting
	// Balance makes the one balance call. It sends nothing once the call's deadline has passed, never sends
	// twice, and drops the connection on any oddity.
	Balance(ctx context.Context, c Call) CallResult
	// Deal reads one deal by its ticket; ErrNotFound when MT5 says that there is none.
	Deal(ctx context.Context, ticket uint64) (Deal, error)
	// Drop resets the connection: whatever else arrives on it can no longer be taken for an answer.
	Drop(reason string)
}

// AccountState is what MT5 says about a login.
type AccountState struct {
	Login    uint64
	Group    string
	Currency string // of the group
	Digits   int    // of the group
	// Registered is when the login was opened, UTC; zero where MT5 does not say.
	Registered time.Time
	Refusal    string // why the configuration allows no money on such an account (group, currency); empty: it does
}

// LookQuery asks for a login's balance deals.
type LookQuery struct {
	Login    uint64
	Earliest time.Time // UTC: no deal of interest is older; the adapter widens the window by 48 h
	Control  *Anchor   // newest deal known on the login, to prove that the server shows what is there
}

// Anchor is a deal that we know to exist: the positive control of a look.
type Anchor struct {
	Ticket     uint64 `json:"ticket,string"`
	ServerTime int64  `json:"server_time"` // seconds on the MT5 server's own clock
}

// Deal is a balance operation as MT5 has it.
type Deal struct {
	Ticket     uint64 `json:"ticket,string"`
	Login      uint64 `json:"login,string"`
	Action     int    `json:"action"` // 2 balance, 3 credit, 4 charge, 5 correction, 6 bonus (mt5-webapi.md §5)
	Amount     Amount `json:"amount"` // signed, in the account's currency
	Comment    string `json:"comment"`
	Dealer     uint64 `json:"dealer,string"`
	ServerTime int64  `json:"server_time"` // seconds on the MT5 server's own clock
}

// ActionBalance is the deal action of a balance operation (mt5-webapi.md §5).
const ActionBalance = 2

// Sighting is the answer to a look. Deals counts only when Complete is true.
type Sighting struct {
	Complete     bool
	Reason       string // why it is not complete
	LoginMissing bool   // MT5 says, readably, that the login does not exist
	Deals        []Deal // balance deals (actions 2 to 6) in the window, oldest first
	Rows         int    // deals of all actions read
	Newest       *Anchor
	Offset       time.Duration // server clock minus UTC
	From, Until  time.Time     // window, UTC
	Control      string        // which positive control was passed
	Cursor       any           // the adapter's own; lets Relook go on
}

// Call is one balance operation. Deadline runs on the boot-time clock and is checked where the bytes leave.
type Call struct {
	Login     uint64
	Amount    Amount // signed
	Reference Reference
	Deadline  time.Duration
}

// Outcome is how a call ended, as far as anybody can know.
type Outcome string

// The outcomes (design §6.6).
const (
	OutcomeApplied Outcome = "applied"  // a listed success code with a ticket
	OutcomeRefused Outcome = "refused"  // a listed refusal: no money moved
	OutcomeNotSent Outcome = "not_sent" // not one byte of the call left this machine
	OutcomeUnknown Outcome = "unknown"  // everything else
)

// CallResult is the outcome with its evidence.
type CallResult struct {
	Outcome  Outcome
	Answered bool   // a success code was read, with or without a ticket
	Ticket   uint64 // of an applied call
	Code     string // return code as number and name; empty without one
	Status   int    // HTTP status; 0 without an answer
	Detail   string // one sentence without secrets, URLs or bodies
}

// Observer is told what happens; it decides how to log, count and show it.
type Observer interface {
	// Step is called at a named boundary, before the next thing happens. It may block: tests stop the world or
	// kill the process there.
	Step(ctx context.Context, s Step)
	// Note is called after the fact: after a commit, or when something could not be done. It must not block.
	Note(ctx context.Context, n Note)
}

// Step is a named boundary (protocol-holes.md §3.4).
type Step struct {
	Name   string
	Credit ID
}

// The boundaries of the deposit path.
const (
	StepBodyRead       = "B01.body_read"
	StepVerified       = "B02.signature_ok"
	StepEventCommitted = "B03.event_committed"
	StepAcknowledged   = "B04.acknowledged"
	StepSlotHeld       = "B05.slot_held"
	StepClaimed        = "B06.claim_committed"
	StepPartlyWritten  = "B07.partly_written"
	StepWritten        = "B08.written"
	StepAnswered       = "B09.answer_read"
	StepChecked        = "B10.deal_verified"
	StepDone           = "B11.done_committed"
	StepUnknown        = "B12.unknown_committed"
	StepLookPage       = "B13.look_page"
	StepLooked         = "B14.look_complete"
	StepVerdict        = "B15.verdict_committed"
)

// Note is one fact for the log and the demo's view. Only the parts that apply are set.
type Note struct {
	What   string // constant text: "row moved", "task opened", ...
	Row    *Credit
	Entry  *Entry
	Task   *Task
	Closed *TaskClose
	Event  *Event
	Err    error
	Retry  time.Duration // when it is tried again; 0 when it is not

	Session *SessionNote // of an MT5 session that became ready, or is not any more
}

// SessionNote tells whether the session of a lane can be asked.
type SessionNote struct {
	Server string // label
	Shard  int
	Err    error // why it cannot; nil: it can
}

// Book is what the loops need of the store. Every verb is one transaction; it returns only after the commit
// returned nil, or an error and nothing was written (save ErrStopped: then nobody knows). Safe for concurrent use.
type Book interface {
	// Settings reads the stored settings.
	Settings(ctx context.Context) (Settings, error)
	// Due lists rows of one state on one MT5 server whose NextAt is not after upTo, earliest first.
	Due(ctx context.Context, q DueQuery) ([]DueRow, error)
	// Dossier reads a row with everything a decision about it needs; ErrNotFound where there is no such row.
	Dossier(ctx context.Context, id ID) (Dossier, error)
	// Holders tells which of the tickets of an MT5 server (by identity) are on a row already.
	Holders(ctx context.Context, identity string, tickets []uint64) (map[uint64]ID, error)
	// Advance reads the row's dossier, calls decide and writes what [Decision.Changes] makes of the answer, and
	// the login's anchor, in one transaction. decide is pure and may run more than once. An error of decide is
	// returned as it is, and nothing is written. A ticket on another row is a *DuplicateError.
	Advance(ctx context.Context, id ID, decide Decide) (Result, error)
}

// KeeperBook is what the keeper needs beside the Book.
type KeeperBook interface {
	Book
	// Rows lists the rows of a state by id, after q.After.
	Rows(ctx context.Context, q RowQuery) ([]Credit, error)
	// Settle changes the settings in one transaction and returns them. change is pure and may run more than once; its
	// error is returned as it is, and nothing is written.
	Settle(ctx context.Context, change func(Settings) (Settings, error)) (Settings, error)
	// Free reads what FreeRow must be shown of the row, and writes its decision, in one transaction.
	Free(ctx context.Context, id ID, rules IntakeRules) (Result, error)
}

// RowQuery selects rows of one state by id; Limit bounds the answer.
type RowQuery struct {
	State State
	After ID
	Limit int
}

// Decide is a pure decision about one row.
type Decide func(Dossier) (Decision, error)

// DueQuery selects work.
type DueQuery struct {
	State  State
	Server string // label; empty for rows without a server yet (held rows without a deposit)
	UpTo   time.Time
	Shard  int // rows whose login modulo Shards is Shard; Shards 0 or 1 takes all
	Shards int
	Limit  int
}

// DueRow is one line of work.
type DueRow struct {
	ID     ID
	Login  uint64
	NextAt time.Time
}

// Dossier is a row and its surroundings, read in one snapshot.
type Dossier struct {
	Row       Credit
	Deposit   *Deposit // that the row joined, or that waits under its code
	Account   *Account // as registered now, for the row's login
	Settings  Settings
	Busy      []ID     // other rows of the login that are claimed or unknown
	Reversed  bool     // a refund or dispute of the payment is known
	Around    []Credit // of what people decide: rows of the login that may be the same payment, since [Credit.ComparedSince]
	Anchor    *Anchor  // newest deal known on the login
	LowSpace  bool     // the disk has less room than the floor for claims: settle what is open, claim nothing
	OpenTasks []Task   // about the row
	Stops     []Task   // open ones that stop claims on the row's login, by number; see [Task].Login
}

// Decision is what a Decide function wants written. A nil Move writes no row change.
type Decision struct {
	Move   *Transition
	Then   *Transition // applied on top of Move in the same transaction
	Open   []Task
	Close  []TaskClose
	Anchor *Anchor // newest deal now known on the row's login
	Hour   *Hour   // becomes Settings.Hour; nil leaves that as it is
}

// Result is what was written.
type Result struct {
	Row     Credit
	Entries []Entry
	Opened  []Task
	Closed  []Task
}
