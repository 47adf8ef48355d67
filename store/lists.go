package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"time"

	bolt "go.etcd.io/bbolt"

	"creditonce/credit"
)

const (
	// mostWalked bounds how many rows one page looks at, a few ten milliseconds' worth: a filter that fits next to
	// nothing must not hold a snapshot, which makes the file grow, for as long as reading a million rows takes.
	mostWalked = 2000
	// clockSlack is how far the order of numbers and that of creation times may disagree: numbers are given in the
	// order of commits, times are of a wall clock that may have been set back.
	clockSlack = 24 * time.Hour
)

// Deposits lists deposits, the newest first, each with what is known about its payment. A page reads one snapshot.
// Each deposit is listed at most once in a walk through all pages, and each that existed at its start and kept its
// state is. ErrInvalid: After is none of this list's.
func (db *DB) Deposits(ctx context.Context, q credit.DepositQuery) (p credit.Page[credit.DepositView], err error) {
	err = db.read(ctx, func(tx *bolt.Tx) error {
		p, err = listDeposits(tx, q)
		return err
	})
	if err != nil {
		return credit.Page[credit.DepositView]{}, fmt.Errorf("list deposits: %w", err)
	}
	return p, nil
}

func listDeposits(tx *bolt.Tx, q credit.DepositQuery) (p credit.Page[credit.DepositView], err error) {
	below, err := numberOf(q.After)
	if err != nil {
		return p, err
	}
	w := walk{limit: limitOf(q.Limit)}
	p.Next, err = walkDeposits(tx, q.Client, q.Server, q.Login, q.Created, below, func(d numberedDeposit) (bool, error) {
		if !q.WantsDeposit(d.Deposit) {
			return w.passed(false), nil
		}
		v, err := viewDeposit(tx, d.Deposit)
		if err != nil {
			return false, err
		}
		wanted := q.Wants(v)
		if wanted {
			p.Items = append(p.Items, v)
		}
		return w.passed(wanted), nil
	})
	return p, err
}

// walkDeposits visits deposits with numbers under below, newest first, over the narrowest index, until visit is full.
// next is where to go on; nil at the end.
func walkDeposits(tx *bolt.Tx, client, server string, login uint64, span credit.TimeRange, below uint64, visit func(numberedDeposit) (full bool, err error)) (next []byte, err error) {
	bucket, prefix := deposits.bucket, []byte(nil)
	switch {
	case server != "" && login != 0:
		bucket, prefix = depositByLogin.bucket, loginKey(server, login)
	case client != "":
		bucket, prefix = depositByClient.bucket, key(nil).text(client)
	}
	made := func(d numberedDeposit) time.Time { return d.Deposit.CreatedAt }
	if below, err = deposits.before(tx, made, span.To, below); err != nil {
		return nil, err
	}
	err = down(tx, bucket, prefix, below, func(id []byte) (bool, error) {
		d, err := deposits.must(tx, id)
		if err != nil {
			return false, err
		}
		if tooOld(d.Deposit.CreatedAt, span) {
			return false, nil
		}
		full, err := visit(d)
		if full {
			next = id
		}
		return !full, err
	})
	return next, err
}

// Credits lists credits, the newest first; of a client or a login, those of its newest deposit first, and those of
// one deposit in the order of joining it. Its promises are those of [DB.Deposits].
func (db *DB) Credits(ctx context.Context, q credit.CreditQuery) (p credit.Page[credit.Credit], err error) {
	err = db.read(ctx, func(tx *bolt.Tx) error {
		if q.Client != "" || (q.Server != "" && q.Login != 0) {
			p, err = listCreditsOfDeposits(tx, q)
		} else {
			p, err = listCredits(tx, q)
		}
		return err
	})
	if err != nil {
		return credit.Page[credit.Credit]{}, fmt.Errorf("list credits: %w", err)
	}
	return p, nil
}

func listCredits(tx *bolt.Tx, q credit.CreditQuery) (p credit.Page[credit.Credit], err error) {
	below, err := numberOf(q.After)
	if err != nil {
		return p, err
	}
	made := func(c credit.Credit) time.Time { return c.CreatedAt }
	if below, err = credits.before(tx, made, q.Created.To, below); err != nil {
		return p, err
	}
	bucket, prefix := credits.bucket, []byte(nil)
	if q.State != credit.New {
		bucket, prefix = creditByState.bucket, stateKey(q.State)
	}
	w := walk{limit: limitOf(q.Limit)}
	err = down(tx, bucket, prefix, below, func(id []byte) (bool, error) {
		row, err := credits.must(tx, id)
		if err != nil || tooOld(row.CreatedAt, q.Created) {
			return false, err
		}
		wanted := q.Wants(row)
		if wanted {
			p.Items = append(p.Items, row)
		}
		full := w.passed(wanted)
		if full {
			p.Next = id
		}
		return !full, nil
	})
	return p, err
}

// listCreditsOfDeposits goes through the deposits of a client or a login. Its place in the list is a deposit and how
// many of its rows have been passed; that many stay passed, since rows only join at the end.
func listCreditsOfDeposits(tx *bolt.Tx, q credit.CreditQuery) (p credit.Page[credit.Credit], err error) {
	below, skip := uint64(0), 0
	if q.After != nil {
		if len(q.After) != 12 {
			return p, fmt.Errorf("a place in the list of %d bytes: %w", len(q.After), credit.ErrInvalid)
		}
		below = binary.BigEndian.Uint64(q.After) + 1
		skip = int(binary.BigEndian.Uint32(q.After[8:]))
	}
	at := below - 1 // the deposit that skip is about
	w := walk{limit: limitOf(q.Limit)}
	// A row may be older than its deposit, or much younger: the span of the rows does not bound the deposits.
	next, err := walkDeposits(tx, q.Client, q.Server, q.Login, credit.TimeRange{}, below, func(d numberedDeposit) (bool, error) {
		rows, err := rowsOfDeposit(tx, d.Deposit)
		if err != nil {
			return false, err
		}
		from := 0
		if below != 0 && d.Number == at {
			from = min(skip, len(rows))
		}
		for i, row := range rows[from:] {
			wanted := q.Wants(row)
			if wanted {
				p.Items = append(p.Items, row)
			}
			if w.passed(wanted) {
				skip = from + i + 1
				return true, nil
			}
		}
		skip = len(rows)
		return w.passed(false), nil
	})
	if next != nil {
		p.Next = binary.BigEndian.AppendUint32(bytes.Clone(next), uint32(min(skip, math.MaxUint32)))
	}
	return p, err
}

// rowsOfDeposit lists the row that took the deposit, then those that joined it later.
func rowsOfDeposit(tx *bolt.Tx, d credit.Deposit) ([]credit.Credit, error) {
	if d.Credit == 0 {
		return nil, nil
	}
	first, err := credits.must(tx, idKey(uint64(d.Credit)))
	if err != nil {
		return nil, err
	}
	further, err := credits.list(tx, creditFurther, key(nil).text(d.Code), 0)
	return append([]credit.Credit{first}, further...), err
}

// Accounts lists registered logins by server label and login. Its promises are those of [DB.Deposits].
func (db *DB) Accounts(ctx context.Context, q credit.AccountQuery) (p credit.Page[credit.Account], err error) {
	err = db.read(ctx, func(tx *bolt.Tx) error {
		p, err = listAccounts(tx, q)
		return err
	})
	if err != nil {
		return credit.Page[credit.Account]{}, fmt.Errorf("list accounts: %w", err)
	}
	return p, nil
}

func listAccounts(tx *bolt.Tx, q credit.AccountQuery) (p credit.Page[credit.Account], err error) {
	bucket, prefix := accounts.bucket, []byte(nil)
	switch {
	case q.Client != "":
		bucket, prefix = accountByClient.bucket, key(nil).text(q.Client)
	case q.Server != "" && q.Login != 0:
		prefix = loginKey(q.Server, q.Login)
	case q.Server != "":
		prefix = key(nil).text(q.Server)
	}
	start := prefix
	if q.After != nil {
		if start = q.After; bucket == accountByClient.bucket {
			start = append(bytes.Clone(prefix), q.After...)
		}
		if !bytes.HasPrefix(start, prefix) || len(start) > maxKey {
			return p, fmt.Errorf("a place in another list: %w", credit.ErrInvalid)
		}
	}
	w := walk{limit: limitOf(q.Limit)}
	c := tx.Bucket([]byte(bucket)).Cursor()
	k, value := c.Seek(start)
	if q.After != nil && bytes.Equal(k, start) {
		k, value = c.Next()
	}
	for ; k != nil && bytes.HasPrefix(k, prefix); k, value = c.Next() {
		at := k
		if bucket == accountByClient.bucket {
			at = value
		}
		a, err := accounts.must(tx, at)
		if err != nil {
			return p, err
		}
		wanted := q.Wants(a)
		if wanted {
			p.Items = append(p.Items, a)
		}
		if w.passed(wanted) {
			p.Next = bytes.Clone(at)
			break
		}
	}
	return p, nil
}

// walk counts what a page has looked at and taken.
type walk struct{ limit, seen, taken int }

// passed notes one row and tells that the page ends with it.
func (w *walk) passed(taken bool) bool {
	w.seen++
	if taken {
		w.taken++
	}
	return w.taken >= w.limit || w.seen >= mostWalked
}

// down visits the numbers that a bucket has under the very key prefix, highest first, those below the given one
// (0: all), until visit says not to go on. The id is a copy.
func down(tx *bolt.Tx, bucket string, prefix []byte, below uint64, visit func(id []byte) (more bool, err error)) error {
	if below == 0 {
		below = math.MaxUint64
	}
	c := tx.Bucket([]byte(bucket)).Cursor()
	k, _ := c.Seek(key(bytes.Clone(prefix)).number(below))
	if k == nil {
		k, _ = c.Last()
	} else {
		k, _ = c.Prev()
	}
	for ; k != nil && bytes.HasPrefix(k, prefix); k, _ = c.Prev() {
		if len(k) != len(prefix)+8 {
			return &DamageError{bucket, bytes.Clone(k), "the entry has another form"}
		}
		more, err := visit(bytes.Clone(k[len(prefix):]))
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// before narrows below to the rows made before the end of a span: numbers grow with the times, give or take the
// slack, so that everything from the found row on is younger.
func (t *table[T]) before(tx *bolt.Tx, made func(T) time.Time, end time.Time, below uint64) (uint64, error) {
	if most := tx.Bucket([]byte(t.bucket)).Sequence() + 1; below == 0 || below > most {
		below = most
	}
	if end.IsZero() {
		return below, nil
	}
	low, high := uint64(1), below
	for low < high {
		middle := low + (high-low)/2
		row, err := t.must(tx, idKey(middle))
		if err != nil {
			return 0, err
		}
		if made(row).After(end.Add(clockSlack)) {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low, nil
}

// tooOld tells that this row, and with it every one of a lower number, was made before the span begins.
func tooOld(made time.Time, span credit.TimeRange) bool {
	return !span.From.IsZero() && made.Before(span.From.Add(-clockSlack))
}

// numberOf reads a place in a list of numbered rows; 0 for its beginning.
func numberOf(after []byte) (uint64, error) {
	if after == nil {
		return 0, nil
	}
	if len(after) != 8 {
		return 0, fmt.Errorf("a place in the list of %d bytes: %w", len(after), credit.ErrInvalid)
	}
	return binary.BigEndian.Uint64(after), nil
}
