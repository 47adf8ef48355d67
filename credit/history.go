package credit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"
)

// Entry is one line of a row's history: append-only, and chained by the digest of the entry before, so that an
// edit, a gap or a swap shows (invariant I-S1).
type Entry struct {
	Credit   ID        `json:"-"` // part of the key
	Seq      int       `json:"seq"`
	At       time.Time `json:"at"` // UTC, cut to microseconds
	By       Mover     `json:"by"`
	Actor    string    `json:"actor"` // a loop's name, an API key's name, later a person
	Move     string    `json:"move"`  // name of the transition
	From     State     `json:"from"`
	To       State     `json:"to"`
	Reason   string    `json:"reason,omitempty"`
	Evidence *Evidence `json:"evidence,omitempty"`
	Previous string    `json:"previous,omitempty"` // digest of the entry before; empty on the first
}

// Evidence is what a move rests on. Only the parts that the move has are set.
type Evidence struct {
	Event   EventID       `json:"event,omitempty"`
	Look    *LookEvidence `json:"look,omitempty"`
	Before  *Mark         `json:"before,omitempty"` // start of the earlier of an absence's two looks; its own entry stands above
	Call    *CallEvidence `json:"call,omitempty"`
	Deal    *Deal         `json:"deal,omitempty"`
	Process string        `json:"process,omitempty"`
	// Proposal is the number of the proposal that two people agreed on.
	Proposal uint64 `json:"proposal,omitempty"`
}

// LookEvidence is what one look at MT5 gave.
type LookEvidence struct {
	Verdict  Verdict   `json:"verdict"`
	Reason   string    `json:"reason,omitempty"` // why there is no answer, or what conflicts
	Started  Mark      `json:"started"`
	From     time.Time `json:"from"`   // window, UTC
	Until    time.Time `json:"until"`  // window, UTC
	Offset   string    `json:"offset"` // server clock minus UTC, as measured in the same session
	Rows     int       `json:"rows"`   // deals read, all actions
	Control  string    `json:"control,omitempty"`
	Tickets  []string  `json:"tickets,omitempty"` // the deals the verdict speaks of
	Complete bool      `json:"complete"`
	Proven   bool      `json:"proven,omitempty"` // with the earlier look it proves that MT5 has no deal (absent)
	Denied   bool      `json:"denied,omitempty"` // MT5 says that the login does not exist
}

// CallEvidence is what one balance call gave.
type CallEvidence struct {
	Attempt int     `json:"attempt"`
	Outcome Outcome `json:"outcome"`
	Code    string  `json:"code,omitempty"` // return code, name and number
	Status  int     `json:"status,omitempty"`
	Ticket  string  `json:"ticket,omitempty"`
	Detail  string  `json:"detail,omitempty"`
	Ended   Mark    `json:"ended"`
}

// Digest is the SHA-256 of the entry's canonical JSON, hex: the next entry's Previous.
func (e Entry) Digest() string {
	b, err := json.Marshal(e)
	if err != nil {
		// Every field is a plain value; an error here is a programming fault that a test meets at once.
		panic(fmt.Sprintf("history entry %d of credit %d: %v", e.Seq, e.Credit, err))
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// CheckChain verifies the entries of one row, oldest first: numbers without a gap, digests that chain, moves
// that the table lists and that continue each other, and an end that equals the row. It returns the first fault.
func CheckChain(row Credit, entries []Entry) error {
	state, previous := New, ""
	for i, e := range entries {
		switch {
		case e.Seq != i+1:
			return fmt.Errorf("credit %d: history entry %d stands at place %d", row.ID, e.Seq, i+1)
		case e.Previous != previous:
			return fmt.Errorf("credit %d: history entry %d does not chain to the one before", row.ID, e.Seq)
		case e.From != state:
			return fmt.Errorf("credit %d: history entry %d leaves %q, the row was %q", row.ID, e.Seq, e.From, state)
		case e.From != e.To && !legal(e.From, e.To, e.By):
			return fmt.Errorf("credit %d: history entry %d: %s may not move %q to %q", row.ID, e.Seq, e.By, e.From, e.To)
		}
		state, previous = e.To, e.Digest()
	}
	if len(entries) != row.Entries || previous != row.Head || state != row.State {
		return fmt.Errorf("credit %d: history of %d entries ends in %q, the row has %d and is %q", row.ID, len(entries), state, row.Entries, row.State)
	}
	return nil
}

// instant is the precision of every stored time: what the coarsest engine keeps.
func instant(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Microsecond)
}
