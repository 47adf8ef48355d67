package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"

	"creditonce/credit"
)

// DepositReceipt is the answer to MakeDeposit. Of a replay and of a dry run it holds the Answer alone.
type DepositReceipt struct {
	Answer credit.Answer
	Rows   []credit.RowChange
	Opened []credit.Task
	Closed []credit.Task
}

// MakeDeposit decides on a new deposit with credit.OpenDeposit and writes deposit, rows, tasks and the answer
// under its idempotency key in one transaction: of twin requests one makes the deposit, the others get its
// answer as a replay. What OpenDeposit refuses is returned with that error and leaves nothing, so the same key
// may come again. A key is needed unless it is a dry run.
func (db *DB) MakeDeposit(ctx context.Context, n credit.NewDeposit, rules credit.DepositRules) (DepositReceipt, error) {
	if n.Key.Key == "" && !n.DryRun {
		return DepositReceipt{}, fmt.Errorf("make deposit: no idempotency key: %w", credit.ErrInvalid)
	}
	var receipt DepositReceipt
	err := db.write(ctx, true, func(w *writer) error {
		found, err := findDeposit(w.tx, n, rules)
		if err != nil {
			return err
		}
		outcome, err := credit.OpenDeposit(n, found, rules)
		if err != nil {
			return err
		}
		receipt = DepositReceipt{Answer: outcome.Answer}
		if !outcome.Store {
			return nil
		}
		done, err := stageChanges(w, outcome.Changes, nil)
		if err != nil {
			return err
		}
		receipt.Rows, receipt.Opened, receipt.Closed = outcome.Changes.Rows, done.opened, done.closed
		return answers.stage(w, nil, keptAnswer{
			Number: answers.next(w), Route: n.Key.Route, Owner: n.Key.Owner, Key: n.Key.Key,
			Hash: n.InputHash, Answer: outcome.Answer, StoredAt: instant(rules.Now),
		})
	})
	if err != nil {
		return DepositReceipt{}, fmt.Errorf("make deposit: %w", err)
	}
	return receipt, nil
}

// findDeposit reads what a decision about a new deposit must be shown.
func findDeposit(tx *bolt.Tx, n credit.NewDeposit, rules credit.DepositRules) (f credit.DepositFound, err error) {
	if f.Settings, err = readSettings(tx); err != nil {
		return f, err
	}
	if n.Key.Key != "" {
		kept, err := answers.find(tx, answerByKey, answerKey(n.Key))
		if err != nil {
			return f, err
		}
		if kept != nil {
			f.Answer, f.Hash = &kept.Answer, kept.Hash
			return f, nil // a replay looks at nothing else
		}
	}
	d := n.Deposit
	existing, err := deposits.find(tx, depositByCode, key(nil).text(d.Code))
	if err != nil {
		return f, err
	}
	if existing != nil {
		f.Existing = &existing.Deposit
	}
	if f.Account, err = accounts.get(tx, loginKey(d.Server, d.Login)); err != nil {
		return f, err
	}
	if f.Waiting, err = credits.list(tx, creditWaiting, key(nil).text(d.Code), 0); err != nil {
		return f, err
	}
	f.Reversed = map[credit.ID]bool{}
	for _, row := range f.Waiting {
		f.Reversed[row.ID] = isReversed(tx, row.Unit.ProviderKind, row.Unit.Account, row.Unit.Payment)
	}
	since := rules.Now
	if len(f.Waiting) > 0 {
		since = slices.MinFunc(f.Waiting, func(a, b credit.Credit) int { return a.PaidAt.Compare(b.PaidAt) }).ComparedSince()
	}
	if f.Around, err = pendingSince(tx, d.Server, d.Login, since, rules.Now); err != nil {
		return f, err
	}
	f.DayTotal = dayTotal(f.Around, d.Credited, rules.Now)
	return f, nil
}

// CloseDeposit closes a deposit with credit.CloseDeposit in one transaction and returns it as it then stands. by is
// the API key's name, now is UTC. ErrNotFound where there is no deposit with the code.
func (db *DB) CloseDeposit(ctx context.Context, code, by string, now time.Time) (credit.DepositView, error) {
	var v credit.DepositView
	err := db.write(ctx, true, func(w *writer) error {
		d, err := depositOfCode(w.tx, code)
		if err != nil {
			return err
		}
		changes, err := credit.CloseDeposit(d, by, now)
		if err != nil {
			return err
		}
		v = credit.DepositView{Deposit: d}
		if changes.Deposit != nil {
			v.Deposit = *changes.Deposit
		}
		_, err = stageChanges(w, changes, nil)
		return err
	})
	if err != nil {
		return credit.DepositView{}, fmt.Errorf("close deposit: %w", err)
	}
	return v, nil
}

// Deposit reads a deposit with the row that took it and the number of open tasks about that row, in one
// snapshot; ErrNotFound where there is no deposit with the code.
func (db *DB) Deposit(ctx context.Context, code string) (v credit.DepositView, err error) {
	err = db.read(ctx, func(tx *bolt.Tx) error {
		d, err := depositOfCode(tx, code)
		if err != nil {
			return err
		}
		v, err = viewDeposit(tx, d)
		return err
	})
	if err != nil {
		return credit.DepositView{}, fmt.Errorf("read deposit: %w", err)
	}
	return v, nil
}

// DepositStory reads a deposit with its rows and the history of the one that took it, in one snapshot; ErrNotFound
// where there is no deposit with the code.
func (db *DB) DepositStory(ctx context.Context, code string) (s credit.DepositStory, err error) {
	err = db.read(ctx, func(tx *bolt.Tx) error {
		s = credit.DepositStory{}
		d, err := depositOfCode(tx, code)
		if err != nil {
			return err
		}
		if s.DepositView, err = viewDeposit(tx, d); err != nil || s.Row == nil {
			return err
		}
		if s.History, err = entriesOf(tx, s.Row.ID); err != nil {
			return err
		}
		s.Further, err = credits.list(tx, creditFurther, key(nil).text(code), 0)
		return err
	})
	if err != nil {
		return credit.DepositStory{}, fmt.Errorf("read deposit and its credits: %w", err)
	}
	return s, nil
}

// depositOfCode reads a deposit by its code; ErrNotFound where there is none.
func depositOfCode(tx *bolt.Tx, code string) (credit.Deposit, error) {
	d, err := deposits.find(tx, depositByCode, key(nil).text(code))
	if err != nil {
		return credit.Deposit{}, err
	}
	if d == nil {
		return credit.Deposit{}, credit.ErrNotFound
	}
	return d.Deposit, nil
}

// viewDeposit adds what is known about the deposit's payment.
func viewDeposit(tx *bolt.Tx, d credit.Deposit) (credit.DepositView, error) {
	v := credit.DepositView{Deposit: d}
	if d.Credit == 0 {
		return v, nil
	}
	row, err := credits.must(tx, idKey(uint64(d.Credit)))
	v.Row, v.Tasks = &row, countOpenTasks(tx, credit.RowEntity(row.ID))
	return v, err
}
