package store

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"

	"creditonce/credit"
)

// Accept decides on a verified event with credit.TakeIn and writes the answer, in one transaction. The digest
// must be the body's SHA-256 in hex (else ErrInvalid). Of a repeat it says so, and nothing is written. On any
// error the event is not stored and must not be acknowledged.
func (db *DB) Accept(ctx context.Context, e credit.Event, rules credit.IntakeRules) (credit.Receipt, error) {
	if digest(e.Body) != e.Digest {
		return credit.Receipt{}, fmt.Errorf("accept event: the digest is not the body's: %w", credit.ErrInvalid)
	}
	e.Facts.OccurredAt = instant(e.Facts.OccurredAt)
	packed := db.packer.pack(e.Body)
	var receipt credit.Receipt
	err := db.write(ctx, true, func(w *writer) error {
		found, err := findIntake(w, e.Needs(), rules.Now)
		if err != nil {
			return err
		}
		changes, err := credit.TakeIn(e, found, rules)
		if err != nil {
			return err
		}
		if changes.Event == nil {
			receipt = credit.Receipt{Event: found.Prior.ID, Repeat: true}
			return nil
		}
		done, err := stageChanges(w, changes, packed)
		receipt = credit.Receipt{Event: changes.Event.ID, Rows: changes.Rows, Opened: done.opened, Closed: done.closed}
		return err
	})
	if err != nil {
		return credit.Receipt{}, fmt.Errorf("accept event: %w", err)
	}
	return receipt, nil
}

// findIntake reads what a decision about an event must be shown.
func findIntake(w *writer, n credit.IntakeNeeds, now time.Time) (f credit.IntakeFound, err error) {
	tx := w.tx
	if f.Settings, err = w.settings(); err != nil {
		return f, err
	}
	f.NextRow, f.NextEvent = credit.ID(credits.next(w)), credit.EventID(events.next(w))
	if f.Prior, err = events.find(tx, eventByMessage, messageKey(n.Provider, n.MessageKey)); err != nil {
		return f, err
	}
	if f.Prior != nil {
		variant, err := events.find(tx, eventVariant, variantKey(n.Provider, n.MessageKey, n.Digest))
		f.Variant = variant != nil || f.Prior.Digest == n.Digest
		return f, err // known: nothing else is looked at
	}
	if n.Payment != "" {
		if f.Rows, err = rowsOf(tx, n.Kind, n.Account, n.Payment); err != nil {
			return f, err
		}
		f.Reversed = isReversed(tx, n.Kind, n.Account, n.Payment)
	}
	if f.Entered, err = enteredAs(tx, n); err != nil || n.Code == "" {
		return f, err
	}
	d, err := deposits.find(tx, depositByCode, key(nil).text(n.Code))
	if err != nil || d == nil {
		return f, err
	}
	f.Deposit = &d.Deposit
	if f.Account, err = accounts.get(tx, loginKey(d.Deposit.Server, d.Deposit.Login)); err != nil {
		return f, err
	}
	if f.Around, err = pendingSince(tx, d.Deposit.Server, d.Deposit.Login, n.ComparedSince(), now); err != nil {
		return f, err
	}
	f.DayTotal = dayTotal(f.Around, d.Deposit.Credited, now)
	return f, nil
}

// rowsOf lists the rows of a payment by part.
func rowsOf(tx *bolt.Tx, kind, account, payment string) ([]credit.Credit, error) {
	prefix := paymentKey(kind, account, payment)
	var out []credit.Credit
	c := tx.Bucket([]byte(creditByUnit.bucket)).Cursor()
	for k, _ := c.Seek(prefix); k != nil && bytes.HasPrefix(k, prefix); k, _ = c.Next() {
		row, err := credits.find(tx, creditByUnit, k)
		if err != nil {
			return nil, err
		}
		out = append(out, *row)
	}
	slices.SortStableFunc(out, func(a, b credit.Credit) int { return strings.Compare(a.Unit.Part, b.Unit.Part) })
	return out, nil
}

// isReversed tells whether a refund or dispute of the payment is stored.
func isReversed(tx *bolt.Tx, kind, account, payment string) bool {
	if payment == "" {
		return false
	}
	prefix := paymentKey(kind, account, payment)
	k, _ := tx.Bucket([]byte(eventReversal.bucket)).Cursor().Seek(prefix)
	return k != nil && bytes.HasPrefix(k, prefix)
}

// farthest is how many days a payment may be late and still be compared with what people entered since.
const farthest = 92

const day = 24 * time.Hour

// pendingSince lists the rows of a login that became pending in the UTC days from since to now, oldest day first: of a
// payment just made the day of now, which the day's limit needs anyway.
func pendingSince(tx *bolt.Tx, server string, login uint64, since, now time.Time) ([]credit.Credit, error) {
	if earliest := now.Add(-farthest * day); since.Before(earliest) {
		since = earliest
	}
	if since.After(now) {
		since = now // a provider's clock may be ahead
	}
	var out []credit.Credit
	for at := since.UTC().Truncate(day); !at.After(now); at = at.Add(day) {
		rows, err := credits.list(tx, creditDay, dayKey(server, login, at), 0)
		if err != nil {
			return nil, err
		}
		out = append(out, rows...)
	}
	return out, nil
}

// enteredAs lists the rows that people entered with a payment's id as the bank's reference.
func enteredAs(tx *bolt.Tx, n credit.IntakeNeeds) ([]credit.Credit, error) {
	if n.Provider == credit.ManualProvider || credit.BankKey(n.Payment) == "" {
		return nil, nil
	}
	return rowsOfBank(tx, n.Payment)
}

// dayTotal sums what counts in the login's limit of the UTC day of now, of rows that became pending. Where an amount cannot
// be added to what is to be credited (the account changed its currency today), that amount is the answer: the domain cannot
// add it either, and holds the row rather than letting it through unmeasured.
func dayTotal(rows []credit.Credit, like credit.Amount, now time.Time) credit.Amount {
	var total credit.Amount
	for _, row := range rows {
		if !row.PendingAt.Truncate(day).Equal(now.UTC().Truncate(day)) {
			continue
		}
		if _, err := row.Amount.Add(like); err != nil {
			return row.Amount
		}
		sum, err := total.Add(row.Amount)
		if err != nil {
			return row.Amount
		}
		total = sum
	}
	return total
}
