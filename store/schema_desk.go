package store

import (
	"creditonce/credit"
	"creditonce/internal/desk"
)

// The tables of what people decide. Like schema.go, this file names buckets, and no other file does.

// people: id -> person. Few, so there is no index: whoever decides reads them all.
var people = &table[desk.Person]{
	bucket: "people",
	key:    func(p desk.Person) []byte { return key(nil).text(string(p.ID)) },
}

// proposals: number -> proposal.
var (
	// proposals that nobody has confirmed or rejected, by number; expired ones among them
	proposalOpen = &ordered[desk.Proposal]{bucket: "proposal open", key: func(p desk.Proposal) []byte {
		if p.State != desk.ProposalOpen {
			return nil
		}
		return []byte{}
	}}
	proposals = &table[desk.Proposal]{
		bucket: "proposals", numbered: true,
		key:     func(p desk.Proposal) []byte { return idKey(uint64(p.ID)) },
		ordered: []*ordered[desk.Proposal]{proposalOpen},
		count: func(p desk.Proposal) string {
			if p.State == desk.ProposalOpen {
				return "open"
			}
			return ""
		},
	}
)

// records: number -> audit record. Append-only, each with the digest of the one before.
var records = &table[desk.Record]{
	bucket: "audit", numbered: true,
	key: func(r desk.Record) []byte { return idKey(r.Seq) },
}

// apiKeys: number -> key of the portal's API.
var (
	// hash of the key: never used twice, a revoked one included
	keyByHash = &unique[desk.Key]{"api key by hash", func(k desk.Key) []byte { return key(nil).text(k.SHA256) }}
	// name; keys that are not revoked
	keyByName = &unique[desk.Key]{"api key by name", func(k desk.Key) []byte {
		if !k.Live() {
			return nil
		}
		return key(nil).text(k.Name)
	}}
	apiKeys = &table[desk.Key]{
		bucket: "api keys", numbered: true,
		key:    func(k desk.Key) []byte { return idKey(k.Number) },
		unique: []*unique[desk.Key]{keyByHash, keyByName},
	}
)

// eventByBank: the bank's reference as credit.BankKey; events of deposits that people entered, and no others
var eventByBank = &ordered[credit.Event]{bucket: "event by bank reference", key: func(e credit.Event) []byte {
	if e.Provider != credit.ManualProvider || e.Kind != credit.ManualKind {
		return nil
	}
	return key(nil).text(credit.BankKey(e.Facts.Movement))
}}
