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
	if n.Code == "" {
		return f, nil
	}
	d, err := deposits.find(tx, depositByCode, key(nil).text(n.Code))
	if err != nil || d == nil {
		return f, err
	}
	f.Deposit = &d.Deposit
	if f.Account, err = accounts.get(tx, loginKey(d.Deposit.Server, d.Deposit.Login)); err != nil {
		return f, err
	}
	f.DayTotal, err = dayTotal(tx, d.Deposit.Server, d.Deposit.Login, d.Deposit.Credited, now)
	return f, err
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

// dayTotal sums what counts in the login's limit of the UTC day of now. Where an amount cannot be added to what
// is to be credited (the account changed its currency today), that amount is the answer: the domain cannot add
// it either, and holds the row rather than letting it through unmeasured.
func dayTotal(tx *bolt.Tx, server string, login uint64, like credit.Amount, now time.Time) (credit.Amount, error) {
	var total credit.Amount
	rows, err := credits.list(tx, creditDay, dayKey(server, login, now), 0)
	if err != nil {
		return total, err
	}
	for _, row := range rows {
		if _, err := row.Amount.Add(like); err != nil {
			return row.Amount, nil //nolint:nilerr // see above: the domain meets the same error
		}
		if total, err = total.Add(row.Amount); err != nil {
			return row.Amount, nil //nolint:nilerr // see above: the domain meets the same error
		}
	}
	return total, nil
}
