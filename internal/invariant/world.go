package invariant

import (
	"time"

	"creditonce/credit"
)

// World is what there is, as plain facts. Lists marked append-only are in the order of what happened; a [Checker] judges
// each of their elements once, so an element belongs in the list when nothing about it changes any more, unless its own
// comment says otherwise.
type World struct {
	Missing Lists // lists that nobody could read: what needs them is not judged

	// Part says that Rows, Events, Deposits and Tasks are a selection: then nothing is concluded from what is not there.
	Part bool
	// Quiescent says that the faults are over and that everything has had time to settle: the liveness rules hold.
	Quiescent bool
	// Stepwise says that the world is shown after every single step: a call that is new is one that was sent just now.
	Stepwise bool
	// OneClock says that all times of the world are of one wall clock that nobody set: they order what happened.
	OneClock bool

	Now         time.Time     // UTC
	Environment string        // "live" or "test"
	Dealer      uint64        // of our manager login: a deal with it is ours
	Quarantine  time.Duration // Q of design §7; 0: not known
	SecondLook  time.Duration // between the two looks of an absence; 0: not known
	Lease       time.Duration // of a claim; 0: not known
	Processes   []Process     // of the service, as far as known; append-only but for Over

	Sent  []Delivery // provider journal, in the order of sending; append-only but for Status
	Calls []Call     // MT5 journal: balance calls that arrived, in the order of arrival; append-only but for Ended
	Deals []Deal     // MT5 journal: balance deals, in the order of execution; append-only but for Gone

	Restores []Restore     // older stores that were put back; append-only
	Fences   []credit.Mark // takeovers: the moment from which the other instance could not call any more

	Settings credit.Settings
	Rows     []Row            // by id
	Events   []credit.Event   // by id, without bodies
	Deposits []credit.Deposit // in any order that stays
	Accounts []credit.Account
	Tasks    []credit.Task // by id, closed ones too
	Findings []string      // of the store's own verification
	Recon    *Recon        // what reconciliation stored; nil: nobody read it, and its rules are not judged

	Log     []string // lines of log, metrics and error pages; append-only
	Secrets []string // texts that must be in no line
}

// Lists is a set of lists of a World.
type Lists uint

// The lists that may be missing.
const (
	Sent Lists = 1 << iota
	Calls
	Deals
	Settings
	Rows
	Events
	Deposits
	Tasks
	Log
)

// NoJournals is what a store alone lacks: the journals of the provider and of MT5, and the log.
const NoJournals = Sent | Calls | Deals | Log

// Row is a credit row with its whole history, oldest entry first.
type Row struct {
	Credit  credit.Credit
	History []credit.Entry
}

// Process is one run of the service.
type Process struct {
	ID      string
	Started time.Duration // on its boot-time clock
	Over    bool          // it has ended: none of its calls is under way any more
}

// Delivery is one notification as the provider sent it.
type Delivery struct {
	Provider   string // the config's label of the endpoint
	MessageKey string // the provider's event id; empty: not known, as of a body that nobody can read
	Signed     bool   // with the right secret, in time
	Pulled     bool   // read by the service from the provider's list: authentic, and never answered
	Status     int    // of the answer; 0: none was read yet. Set later
	At         time.Time
	Facts      credit.Facts // what it says; judged only where Effect is set
}

// Call is one balance call that arrived at MT5.
type Call struct {
	Server    string // the MT5 server's own name
	Login     uint64
	Amount    credit.Amount // signed
	Reference string        // the comment as it was sent
	Process   string        // that sent it; empty: not known
	Conn      string        // the connection that it came on; empty: not known
	Sent      credit.Mark   // when the first byte left
	Ended     credit.Mark   // when the process knew or gave up; zero: not yet. Set later
	Deadline  time.Duration // of the call, on the sender's boot-time clock; 0: not known
	Forbidden string        // why no call was allowed at that moment, as the harness knows it; empty: one was
	Foreign   bool          // sent by an instance on another store: only the money of it is judged
}

// Deal is one balance operation in MT5's own journal.
type Deal struct {
	Server    string // the MT5 server's own name
	Ticket    uint64
	Login     uint64
	Action    int           // 2 balance
	Amount    credit.Amount // signed
	Comment   string        // as it is stored now
	Reference string        // the comment that the call carried; empty: the same as Comment
	Dealer    uint64
	Altered   bool // MT5 itself, or a person there, made it differ from the call: the product is not to blame
	Gone      bool // deleted there, or lost by a restore of the MT5 server. Set later
	Foreign   bool // made by a call of an instance on another store
}

// Restore is an older store that was put back. The numbers are the lengths of the World's lists at that moment: what
// stands before may be unknown to the store.
type Restore struct {
	At          time.Time
	Command     bool // by the command; else the file was copied back by hand
	Sent, Calls int
	Deals       int
}

// Violation is one thing that is not as it must be.
type Violation struct {
	Invariant string      // "I-M1"
	Rows      []credit.ID // the rows it is about; sorted, may be empty
	Text      string      // one sentence with the facts
}

// String is the violation in one line.
func (v Violation) String() string { return v.Invariant + ": " + v.Text }

// has tells that none of the lists is missing.
func (w *World) has(lists Lists) bool { return w.Missing&lists == 0 }

// restored tells whether the i-th element of a list stands before the newest restore; at picks the list's length.
func (w *World) restored(i int, at func(Restore) int) bool {
	n := len(w.Restores)
	return n > 0 && i < at(w.Restores[n-1])
}
