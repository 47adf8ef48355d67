package store

import (
	bolt "go.etcd.io/bbolt"

	"creditonce/internal/desk"
)

// verifyDesk checks what people decided: the tables, the chain of the audit log, the proposals' digests, and that no
// account belongs to two people.
func (v *verifier) verifyDesk() error {
	owners := map[string]desk.PersonID{}
	err := verifyTable(v, people, func(_ *bolt.Tx, p desk.Person) error {
		for _, u := range p.Users {
			if o, taken := owners[u]; taken {
				v.find("bucket %q: the account %s belongs to %s and to %s", people.bucket, u, o, p.ID)
			}
			owners[u] = p.ID
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := verifyTable(v, apiKeys, nil); err != nil {
		return err
	}
	if err := verifyTable(v, proposals, v.crossProposal); err != nil {
		return err
	}
	seq, previous := uint64(0), ""
	err = verifyTable(v, records, func(tx *bolt.Tx, r desk.Record) error {
		seq++
		if err := desk.CheckRecord(r, seq, previous); err != nil {
			v.find("bucket %q: %s", records.bucket, err)
			seq = r.Seq
		}
		previous = r.Chain()
		for _, id := range r.Rows {
			if tx.Bucket([]byte(credits.bucket)).Get(idKey(uint64(id))) == nil {
				v.find("bucket %q: record %d names credit %d, which does not exist", records.bucket, r.Seq, id)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return v.snapshot("counters", func(tx *bolt.Tx) error {
		if written := tx.Bucket([]byte(records.bucket)).Sequence(); written > seq {
			if k, _ := tx.Bucket([]byte(records.bucket)).Cursor().Last(); keyID(k) != written { // one that was added meanwhile is there
				v.find("bucket %q: the log ends at record %d, %d were written", records.bucket, seq, written)
			}
		}
		kept, err := readCounter(tx, counterKey(proposals.bucket, "open"))
		if err != nil {
			v.fault(bucketCounters, nil, err)
			return nil
		}
		if n := countKeys(tx, proposalOpen.bucket, nil); n != int(kept) {
			v.find("bucket %q: %d open proposals are counted, there are %d", bucketCounters, kept, n)
		}
		return nil
	})
}

// crossProposal sees that a proposal still says what its digest was made of, and that two different people ended one
// that was confirmed.
func (v *verifier) crossProposal(_ *bolt.Tx, p desk.Proposal) error {
	if !p.Whole() {
		v.find("bucket %q: proposal %d is not what its digest says", proposals.bucket, p.ID)
	}
	if p.Permit != nil && p.State != desk.ProposalConfirmed {
		v.find("bucket %q: proposal %d is %s and has a permit", proposals.bucket, p.ID, p.State)
	}
	if p.State == desk.ProposalConfirmed && (p.EndedBy == p.By || p.EndedBy == "") {
		v.find("bucket %q: proposal %d of %s was confirmed by %q", proposals.bucket, p.ID, p.By, p.EndedBy)
	}
	return nil
}
