package desk

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"creditonce/credit"
)

// ProposalID numbers proposals.
type ProposalID uint64

// Proposal is an act that takes two people, as the first of them wants it: frozen, and bound to the state it was made on.
type Proposal struct {
	ID        ProposalID    `json:"id"`
	Act       Act           `json:"act"` // complete: what is computed is filled in
	By        PersonID      `json:"by"`
	Reason    string        `json:"reason"`
	Basis     string        `json:"basis"`  // digest of the state that it was made on
	Digest    string        `json:"digest"` // SHA-256 of the canonical form of all above; what the confirmer agrees to
	At        time.Time     `json:"at"`     // UTC
	ExpiresAt time.Time     `json:"expires_at"`
	State     ProposalState `json:"state"`
	EndedBy   PersonID      `json:"ended_by,omitempty"`
	EndedAt   time.Time     `json:"ended_at,omitzero"`
	Answer    string        `json:"answer,omitempty"` // the reason of who confirmed or rejected it
	Permit    *Permit       `json:"permit,omitempty"` // of a confirmed probe
}

// ProposalState is what became of a proposal.
type ProposalState string

// The states of a proposal. Expired and moved are derived when read: nothing has to happen to the proposal for them.
const (
	ProposalOpen      ProposalState = "open"
	ProposalConfirmed ProposalState = "confirmed"
	ProposalRejected  ProposalState = "rejected"
	ProposalExpired   ProposalState = "expired"
	ProposalVoided    ProposalState = "voided" // its proposer was disabled or lost the role
	ProposalMoved     ProposalState = "moved"  // what it is about has moved on: it can only be rejected. Never stored
)

// StateAt is the proposal's state at now.
func (p Proposal) StateAt(now time.Time) ProposalState {
	if p.State == ProposalOpen && !now.Before(p.ExpiresAt) {
		return ProposalExpired
	}
	return p.State
}

// digest is the proposal's canonical form, hashed: JSON with its keys in order.
func (p Proposal) digest() string {
	return hash(struct {
		Version int        `json:"v"`
		ID      ProposalID `json:"id"`
		Act     Act        `json:"act"`
		By      PersonID   `json:"by"`
		Reason  string     `json:"reason"`
		Basis   string     `json:"basis"`
		Expires time.Time  `json:"expires"`
	}{1, p.ID, p.Act, p.By, p.Reason, p.Basis, p.ExpiresAt})
}

// Sealed returns the proposal with the digest of what it says.
func (p Proposal) Sealed() Proposal {
	p.Digest = p.digest()
	return p
}

// Whole tells whether the digest is that of what the proposal says.
func (p Proposal) Whole() bool { return p.Digest == p.digest() }

func hash(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("canonical form of %T: %v", v, err)) // only plain values are hashed
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// basis is what a proposal rests on: as long as it is the same, the confirmer decides on what the proposer saw.
type basis struct {
	Mode    credit.Mode    `json:"mode"`
	Cutover time.Time      `json:"cutover"`
	Since   time.Time      `json:"since,omitzero"` // of the mode, where the act is about it: each hold has its own reason
	Row     *credit.Credit `json:"row,omitempty"`
	Person  *Person        `json:"person,omitempty"`
	Key     *Key           `json:"key,omitempty"`
}

// basisOf digests the state that the act is about. Of a row everything counts but what looking alone writes: the history
// of an unknown row grows with every look, and a look that finds nothing new must not undo what a person proposed.
func basisOf(a Act, f Found) string {
	b := basis{Mode: f.Settings.Mode, Cutover: f.Settings.CutoverAt}
	if f.Dossier != nil {
		row := f.Dossier.Row
		row.FirstAbsent, row.AbsentAt, row.FirstDenied, row.DeniedAt = nil, nil, nil, nil
		row.Looks, row.HandedOver, row.NextAt, row.StuckSince = 0, false, time.Time{}, time.Time{}
		row.UpdatedAt, row.Entries, row.Head = time.Time{}, 0, ""
		b.Row = &row
	}
	switch a.Kind {
	case ReleaseMode, GoLive, TakeOver:
		b.Since = f.Settings.ModeAt
	case AddPerson, ChangePerson:
		b.Person = person(PersonID(a.about()), f.People)
	case NewKey, RevokeKey:
		b.Key = liveKey(a.about(), f.Keys)
	default:
	}
	return hash(b)
}
