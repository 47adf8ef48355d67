package desk

import (
	"context"
	"time"

	"creditonce/credit"
)

// Query names what a decision must be shown: the act, or the proposal that holds it.
type Query struct {
	Act      Act
	Proposal ProposalID     // set: its act counts, and Act is not looked at
	Again    *credit.Event  // of a replay that reads the stored body anew: the event as it is read now
	Manual   *credit.Manual // of a manual deposit
	Identity string         // of the MT5 server, for an act about a login
	Now      time.Time      // UTC: the day of Found.DayTotal
}

// Found is what the store has for a query, read in the deciding transaction.
type Found struct {
	Settings     credit.Settings
	People       []Person
	Keys         []Key
	Proposal     *Proposal  // nil also where the query names none
	Proposals    []Proposal // that are open or have an unused permit; of a change of a person only
	NextProposal ProposalID
	NextRecord   uint64
	Previous     string // digest of the newest audit record
	NextKey      uint64
	Channels     int // on which people are told; of a test of the alarms only

	Dossier  *credit.Dossier // of the act's credit
	DayTotal credit.Amount   // of its login
	Holder   credit.ID       // the row that has the act's ticket on the row's MT5 server, or the login's
	Anchor   *credit.Anchor  // newest deal known on the act's login
	Account  *credit.Account // that the portal registered for the login of a probe
	Task     *credit.Task
	TaskRow  *credit.Credit // the row that the task is about
	Event    *credit.Event
	Intake   credit.IntakeFound  // of a replay
	Manual   *credit.ManualFound // of a manual deposit
}

// Changes is everything that one act wants written, in one transaction.
type Changes struct {
	Credit   credit.Changes // rows, tasks, deposit; an event with its body
	Anchor   *credit.Anchor // newest deal known on the login of the changed row
	Gone     *Gone          // the newest deal known on a login exists no more
	Settings *credit.Settings
	People   []Person
	Keys     []Key
	Task     *credit.Task // changed without being closed
	Signs    uint64       // the run that the record's person signs off, with its reason as the note; 0: none
	TakesOut uint64       // the settlement statement that the record's person takes back, for its reason; 0: none
	Notices  []credit.Notice
	Proposal *Proposal  // new, or ended
	Voided   []Proposal // ended, or their permits, with the person whom they rest on
	Record   Record
}

// Receipt is what was written.
type Receipt struct {
	Changes
	Opened []credit.Task
	Closed []credit.Task
	Notice credit.NoticeID // the last of Changes.Notices; 0 where there was none
}

// Decide is a pure decision; the store may call it more than once.
type Decide func(Found) (Changes, error)

// Book is what the desk needs of the store. Every verb is one transaction.
type Book interface {
	// Act reads what the query names, calls decide and writes its answer in one write transaction. An error of decide
	// is returned as it is, and nothing is written.
	Act(ctx context.Context, q Query, decide Decide) (Receipt, error)
	// Advance is credit.Book's verb; the desk writes looks that people asked for with it.
	Advance(ctx context.Context, id credit.ID, decide credit.Decide) (credit.Result, error)

	Settings(ctx context.Context) (credit.Settings, error)
	People(ctx context.Context) ([]Person, error)
	Keys(ctx context.Context) ([]Key, error)
	Proposal(ctx context.Context, id ProposalID) (Proposal, error)
	Proposals(ctx context.Context, q ProposalQuery) ([]Proposal, error)
	Records(ctx context.Context, after uint64, limit int) ([]Record, error)
	// NewestRecords lists records below the given number, the newest first; 0: from the newest.
	NewestRecords(ctx context.Context, below uint64, limit int) ([]Record, error)
	Find(ctx context.Context, text string) ([]Hit, error)
	Totals(ctx context.Context) (Totals, error)

	Dossier(ctx context.Context, id credit.ID) (credit.Dossier, error)
	Holders(ctx context.Context, identity string, tickets []uint64) (map[uint64]credit.ID, error)
	// KnownWire reads what a bank's reference is known for.
	KnownWire(ctx context.Context, bank string) (credit.KnownWire, error)
	History(ctx context.Context, id credit.ID) ([]credit.Entry, error)
	Task(ctx context.Context, id credit.TaskID) (credit.Task, error)
	Tasks(ctx context.Context, q TaskQuery) ([]credit.Task, error)
	// OpenTasks counts every open task by its kind, in the order of the kinds, from an index alone.
	OpenTasks(ctx context.Context) ([]OpenKind, error)
	Event(ctx context.Context, id credit.EventID) (credit.Event, error)
	EventBody(ctx context.Context, id credit.EventID) ([]byte, error)
	Events(ctx context.Context, after credit.EventID, limit int) ([]credit.Event, error)
	// NewestEvents lists events below the given number, the newest first; 0: from the newest.
	NewestEvents(ctx context.Context, below credit.EventID, limit int) ([]credit.Event, error)
	Deposit(ctx context.Context, code string) (credit.DepositView, error)
	Channels(ctx context.Context) ([]credit.ChannelState, error)
	Account(ctx context.Context, server string, login uint64) (credit.Account, error)
	Rows(ctx context.Context, q credit.RowQuery) ([]credit.Credit, error)
	Credits(ctx context.Context, q credit.CreditQuery) (credit.Page[credit.Credit], error)
	Deposits(ctx context.Context, q credit.DepositQuery) (credit.Page[credit.DepositView], error)
	Accounts(ctx context.Context, q credit.AccountQuery) (credit.Page[credit.Account], error)
}

// ProposalQuery selects proposals by number, after After; Limit bounds the answer (0: 100).
type ProposalQuery struct {
	Open  bool // neither confirmed nor rejected; one that has expired still counts as open here
	After ProposalID
	Limit int
}

// TaskQuery selects tasks by number, after After; Limit bounds the answer (0: 100).
type TaskQuery struct {
	OpenOnly bool
	After    credit.TaskID
	Limit    int
}

// Hit is one thing that has the text somebody searched for.
type Hit struct {
	Subject string    `json:"subject"`          // "credit/17", "deposit/CODE", "event/5", "account/main/5001", "task/3"
	Credit  credit.ID `json:"credit,omitempty"` // the row that it leads to
	By      string    `json:"by"`               // what of it is the text: "ticket", "login", "reference", ...
}

// OpenKind is how many tasks of a kind are open, and since when the oldest is.
type OpenKind struct {
	Kind   credit.TaskKind `json:"kind"`
	Open   int             `json:"open"`
	Oldest time.Time       `json:"oldest"` // UTC
}

// Totals are how much the store holds, in the snapshot of one moment.
type Totals struct {
	Events        int                  `json:"events"`
	Rows          map[credit.State]int `json:"rows"` // every state, also those without rows
	OpenTasks     int                  `json:"open_tasks"`
	OpenProposals int                  `json:"open_proposals"`
}
