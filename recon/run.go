package recon

import (
	"strings"
	"time"

	"creditonce/credit"
)

// RunID numbers runs.
type RunID uint64

// RunState says whether every list of a run was complete.
type RunState string

// The states of a run.
const (
	RunComplete   RunState = "complete"
	RunIncomplete RunState = "incomplete"
)

// ListName says which of the three lists a source belongs to.
type ListName string

// The three lists.
const (
	ListSettlements ListName = "settlements"
	ListRows        ListName = "rows"
	ListDeals       ListName = "deals"
)

// Source is one list as a run found it.
type Source struct {
	List   ListName `json:"list"`
	Name   string   `json:"name"`   // the provider's label, or that of the MT5 server; of the rows: "store"
	Entity string   `json:"entity"` // what Rules and items know it by: the provider's label, the MT5 server's own name; of the rows empty
	Digest string   `json:"digest"` // SHA-256 over the list in its order, hex; of settlements over the digests of the statements
	Rows   int      `json:"rows"`   // lines, rows or deals

	Complete bool      `json:"complete"`
	Reason   string    `json:"reason,omitempty"` // why it is not complete, and what to do
	Notes    []string  `json:"notes,omitempty"`  // what a person should know although it is complete
	From     time.Time `json:"from,omitzero"`    // UTC; from when on it is complete
	Reaches  time.Time `json:"reaches,omitzero"` // UTC; of settlements: its statements have what was settled before it
	// Newest is the newest statement of a list of settlements.
	Newest StatementID `json:"newest,omitzero"`
	// Unseen are logins of which MT5 says that they do not exist, of those that a standing discrepancy is about: the run says nothing of it.
	Unseen Numbers `json:"unseen,omitempty"`
}

// SignOff is a person's word that the report was read.
type SignOff struct {
	By   string    `json:"by"` // the person's id
	At   time.Time `json:"at"` // UTC
	Note string    `json:"note,omitempty"`
}

// Run is one comparison of the three lists over some business days: what a report is made from. It is stored once and changed only by the
// sign-off.
type Run struct {
	ID    RunID     `json:"id,string"`
	First Day       `json:"first"` // business days, both included
	Last  Day       `json:"last"`
	Zone  string    `json:"zone"`  // IANA name of the business zone
	From  time.Time `json:"from"`  // UTC, half open: the same days
	Until time.Time `json:"until"` // UTC

	State    RunState `json:"state"`
	Sources  []Source `json:"sources"` // settlements by label, rows, deals by label
	Outcome  Outcome  `json:"outcome"`
	Findings int      `json:"findings"` // items stored with the run: all but the plain matched ones
	// Earlier lays earlier reports beside what the lists say now. An incomplete run has none.
	Earlier  []Earlier `json:"earlier,omitempty"`
	Accepted int       `json:"accepted"` // differences that a person has accepted as they are, by closing their tasks with a reason
	Digest   string    `json:"digest"`   // SHA-256 over days, sources and items: equal for equal lists

	Started  time.Time `json:"started"`  // UTC
	Finished time.Time `json:"finished"` // UTC
	Version  string    `json:"version"`  // of the program
	By       string    `json:"by"`       // the person's id, or "schedule"
	SignOff  *SignOff  `json:"sign_off,omitempty"`
	Purged   bool      `json:"purged,omitempty"` // its items were removed, since newer complete runs cover its days
}

// Reached is the last business day that complete runs have reached without a gap. Until is what counts: the date is one of its zone, and the
// configuration may name another zone since.
type Reached struct {
	Day   Day       `json:"day"`
	Zone  string    `json:"zone"`  // IANA name
	Until time.Time `json:"until"` // UTC; the end of the day
}

// IsZero tells that no run was complete yet.
func (r Reached) IsZero() bool { return r.Day == "" }

// Reached is where the run's days end.
func (r Run) Reached() Reached { return Reached{r.Last, r.Zone, r.Until.UTC()} }

// Reasons lists why a run is not complete, one sentence a source.
func (r Run) Reasons() []string {
	var out []string
	for _, s := range r.Sources {
		if !s.Complete {
			out = append(out, strings.TrimSpace(string(s.List)+" of "+s.Name)+": "+s.Reason)
		}
	}
	return out
}

// Differences counts the items that a person must look at.
func (r Run) Differences() int {
	n := 0
	for class, items := range r.Outcome.Classes {
		if class.Difference() {
			n += items
		}
	}
	return n
}

// News counts the differences that nobody has accepted as they are.
func (r Run) News() int { return max(0, r.Differences()-r.Accepted) }

// Subject is where a discrepancy lives: what must be complete before its absence from a run says that it is explained.
type Subject struct {
	Side     Side      `json:"side"`
	Provider string    `json:"provider,omitempty"` // label; of the provider's side
	Identity string    `json:"identity,omitempty"` // the MT5 server's own name; of MT5's side
	Earliest time.Time `json:"earliest,omitzero"`  // UTC: no deal that it is about is older; of MT5's side
	At       time.Time `json:"at"`                 // UTC: the item's moment; a run of days before it says nothing about it
	// Logins are those whose deals it rests on: all of MT5's side; on the provider's side those of rows that are not done, which count as
	// credited only because their deal is there.
	Logins Numbers `json:"logins,omitempty"`
	// Tickets are those of the deals that it is about; of MT5's side.
	Tickets Numbers `json:"tickets,omitempty"`
}

// Subject is what an item rests on.
func (i Item) Subject() Subject {
	out := Subject{Side: i.Side, Provider: i.Provider, Earliest: i.At, At: i.At}
	var logins, tickets []uint64
	for _, d := range i.Deals {
		if i.Side == SideMT5 {
			logins, tickets = append(logins, d.Login), append(tickets, d.Ticket)
		}
		out.Identity = d.Identity
		if d.At.Before(out.Earliest) {
			out.Earliest = d.At
		}
	}
	for _, row := range i.Rows {
		if row.Login != 0 && (i.Side == SideMT5 || row.State != credit.Done) {
			logins = append(logins, row.Login)
		}
		if row.Identity != "" {
			out.Identity = row.Identity
		}
		if !row.Trace.IsZero() && row.Trace.Before(out.Earliest) {
			out.Earliest = row.Trace
		}
	}
	out.Logins, out.Tickets = numbersOf(logins), numbersOf(tickets)
	return out
}

// Judges tells whether the run has looked at everything that an item with the subject rests on: only then does it not being there mean that
// it is explained.
func (r Run) Judges(s Subject) bool {
	if !s.At.Before(r.Until) {
		return false
	}
	list, entity := ListSettlements, s.Provider
	if s.Side == SideMT5 {
		list, entity = ListDeals, s.Identity
	}
	found := false
	for _, source := range r.Sources {
		switch {
		case source.List == ListRows && !source.Complete:
			return false
		case source.List == ListDeals && source.Entity == s.Identity && source.Unseen.Meets(s.Logins):
			return false
		case source.List == list && source.Entity == entity:
			found = source.Complete && (s.Side != SideMT5 || !s.Earliest.Before(source.From))
		}
	}
	return found
}
