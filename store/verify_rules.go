package store

import (
	"fmt"
	"strconv"
	"strings"

	bolt "go.etcd.io/bbolt"

	"creditonce/credit"
)

// crossEvent checks an event against its body's place and its rows. The body itself is checked by checkBodies.
func (v *verifier) crossEvent(tx *bolt.Tx, e credit.Event) error {
	if tx.Bucket([]byte(bucketBodies)).Get(idKey(uint64(e.ID))) == nil {
		v.find("bucket %q: event %d has no body", bucketBodies, e.ID)
	}
	for _, id := range e.Rows {
		if tx.Bucket([]byte(credits.bucket)).Get(idKey(uint64(id))) == nil {
			v.find("bucket %q: event %d names credit %d, which does not exist", events.bucket, e.ID, id)
		}
	}
	return nil
}

// checkBodies unpacks every body and compares it with its event's digest.
func (v *verifier) checkBodies() error {
	return v.walk(bucketBodies, func(tx *bolt.Tx, k, value []byte) {
		e, err := events.get(tx, k)
		if err != nil {
			return // named by the events' own walk
		}
		if e == nil {
			v.find("bucket %q: body %s belongs to no event", bucketBodies, keyText(k))
			return
		}
		packed, err := unseal(bucketBodies, k, value)
		if err != nil {
			v.fault(bucketBodies, k, err)
			return
		}
		body, err := v.db.packer.unpack(packed)
		if err != nil {
			v.fault(bucketBodies, k, fmt.Errorf("unpack the body: %w", err))
			return
		}
		if digest(body) != e.Digest {
			v.find("bucket %q: body %s does not have its event's digest", bucketBodies, keyText(k))
		}
	})
}

// crossCredit checks a row against its history and its deposit.
func (v *verifier) crossCredit(tx *bolt.Tx, c credit.Credit) error {
	entries, err := entriesOf(tx, c.ID)
	if err != nil {
		return err
	}
	if err := credit.CheckChain(c, entries); err != nil {
		v.find("bucket %q: %s", history.bucket, err)
	}
	v.checkState(c)
	if !c.Joined() {
		if c.Login != 0 || c.Amount.IsSet() || c.Reference != "" {
			v.find("bucket %q: credit %d has a login, an amount or a reference and no deposit", credits.bucket, c.ID)
		}
		return nil
	}
	return v.checkJoined(tx, c)
}

func (v *verifier) checkState(c credit.Credit) {
	known := false
	for _, s := range credit.States() {
		known = known || s == c.State
	}
	if !known {
		v.find("bucket %q: credit %d is in the state %q, which does not exist", credits.bucket, c.ID, c.State)
	}
	if (c.State == credit.Held) != (len(c.Holds) > 0) {
		v.find("bucket %q: credit %d is %s with the holds %v", credits.bucket, c.ID, c.State, c.Holds)
	}
	if (c.State == credit.Done) != (c.Ticket != 0) {
		v.find("bucket %q: credit %d is %s with the ticket %d", credits.bucket, c.ID, c.State, c.Ticket)
	}
	if !c.Joined() && c.State != credit.Held && c.State != credit.Cancelled {
		v.find("bucket %q: credit %d is %s without a deposit", credits.bucket, c.ID, c.State)
	}
}

// checkJoined compares what the deposit wrote on the row with the deposit, and recomputes the reference.
func (v *verifier) checkJoined(tx *bolt.Tx, c credit.Credit) error {
	found, err := deposits.find(tx, depositByCode, key(nil).text(c.Deposit))
	if err != nil {
		return err
	}
	if found == nil {
		v.find("bucket %q: credit %d names a deposit that does not exist", credits.bucket, c.ID)
		return nil
	}
	d := found.Deposit
	if d.Credit == 0 {
		v.find("bucket %q: deposit %d is not taken, yet credit %d has joined it", deposits.bucket, found.Number, c.ID)
	}
	if c.Further != (d.Credit != c.ID) {
		v.find("bucket %q: deposit %d is taken by credit %d; credit %d says otherwise", deposits.bucket, found.Number, d.Credit, c.ID)
	}
	if c.Server != d.Server || c.Identity != d.Identity || c.Login != d.Login || c.Client != d.Client || !c.DepositAt.Equal(d.CreatedAt) {
		v.find("bucket %q: credit %d and its deposit %d disagree on server, login, client or time", credits.bucket, c.ID, found.Number)
	}
	over, err := c.Amount.Cmp(d.Credited)
	agrees := err == nil && (over == 0 || (over < 0 && c.Fixed && c.Amount.Sign() > 0))
	if !agrees || c.Amount.Exponent() != d.Credited.Exponent() {
		v.find("bucket %q: credit %d is over %s, its deposit %d says %s", credits.bucket, c.ID, c.Amount, found.Number, d.Credited)
	}
	if want := credit.NewReference(v.settings.Environment, c.Identity, c.Kind, c.Unit); want != c.Reference {
		v.find("bucket %q: credit %d has the reference %s, its unit gives %s", credits.bucket, c.ID, c.Reference, want)
	}
	return nil
}

// crossEntry sees that an entry belongs to a row that counts it.
func (v *verifier) crossEntry(tx *bolt.Tx, e credit.Entry) error {
	row, err := credits.get(tx, idKey(uint64(e.Credit)))
	if err != nil {
		return nil //nolint:nilerr // the rows' own walk names it
	}
	if row == nil || e.Seq > row.Entries {
		v.find("bucket %q: entry %d of credit %d belongs to no row, or lies beyond its end", history.bucket, e.Seq, e.Credit)
	}
	return nil
}

// crossDeposit sees that the row that took a deposit has joined it.
func (v *verifier) crossDeposit(tx *bolt.Tx, d numberedDeposit) error {
	if d.Deposit.Credit == 0 {
		return nil
	}
	row, err := credits.get(tx, idKey(uint64(d.Deposit.Credit)))
	if err != nil {
		return nil //nolint:nilerr // the rows' own walk names it
	}
	if row == nil || row.Deposit != d.Deposit.Code {
		v.find("bucket %q: deposit %d is taken by credit %d, which has not joined it", deposits.bucket, d.Number, d.Deposit.Credit)
	}
	return nil
}

// crossTask sees that a task about a row is about one that exists. That only one task a key is open is the
// unique rule's own check.
func (v *verifier) crossTask(tx *bolt.Tx, t credit.Task) error {
	number, ok := strings.CutPrefix(t.Entity, "credit/")
	if !ok {
		return nil
	}
	id, err := strconv.ParseUint(number, 10, 64)
	if err != nil || tx.Bucket([]byte(credits.bucket)).Get(idKey(id)) == nil {
		v.find("bucket %q: task %d is about %s, which does not exist", tasks.bucket, t.ID, t.Entity)
	}
	return nil
}
