package desk

import (
	"fmt"
	"time"

	"creditonce/credit"
)

// Deed is what was done with an act.
type Deed string

// The deeds.
const (
	Did       Deed = "did"       // by one person, or by root
	Proposed  Deed = "proposed"  // by the first of two people
	Confirmed Deed = "confirmed" // by the second: it was done
	Rejected  Deed = "rejected"
	Used      Deed = "used" // the permit that a confirmed proposal left
)

// Record is one line of the audit log: append-only, and chained by the digest of the line before.
type Record struct {
	Seq      uint64           `json:"seq"`
	At       time.Time        `json:"at"` // UTC
	Person   PersonID         `json:"person,omitempty"`
	User     string           `json:"user,omitempty"` // the account that the person came with
	Deed     Deed             `json:"deed"`
	Act      Act              `json:"act"`
	Reason   string           `json:"reason,omitempty"`
	Proposal ProposalID       `json:"proposal,omitempty"`
	Digest   string           `json:"digest,omitempty"` // of the proposal
	Rows     []credit.ID      `json:"rows,omitempty"`   // credits that it changed
	Event    credit.EventID   `json:"event,omitempty"`  // event that it stored
	Settings *credit.Settings `json:"settings,omitempty"`
	Voided   []ProposalID     `json:"voided,omitempty"`   // proposals that count no more, since their person may not act any more
	Previous string           `json:"previous,omitempty"` // digest of the line before; empty on the first
}

// Chain is the record's digest: what the next one carries as Previous.
func (r Record) Chain() string { return hash(r) }

// CheckRecord sees that a record continues the chain: number without a gap, digest of the one before.
func CheckRecord(r Record, seq uint64, previous string) error {
	switch {
	case r.Seq != seq:
		return fmt.Errorf("audit record %d stands at place %d", r.Seq, seq)
	case r.Previous != previous:
		return fmt.Errorf("audit record %d does not chain to the one before", r.Seq)
	}
	return nil
}
