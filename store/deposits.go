package store

import (
	"context"
	"fmt"

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
	f.DayTotal, err = dayTotal(tx, d.Server, d.Login, d.Credited, rules.Now)
	return f, err
}

// Deposit reads a deposit with the row that took it and the number of open tasks about that row, in one
// snapshot; ErrNotFound where there is no deposit with the code.
func (db *DB) Deposit(ctx context.Context, code string) (v credit.DepositView, err error) {
	err = db.read(ctx, func(tx *bolt.Tx) error {
		v = credit.DepositView{}
		d, err := deposits.find(tx, depositByCode, key(nil).text(code))
		if err != nil {
			return err
		}
		if d == nil {
			return credit.ErrNotFound
		}
		v.Deposit = d.Deposit
		if v.Deposit.Credit == 0 {
			return nil
		}
		row, err := credits.must(tx, idKey(uint64(v.Deposit.Credit)))
		v.Row, v.Tasks = &row, countOpenTasks(tx, credit.RowEntity(row.ID))
		return err
	})
	if err != nil {
		return credit.DepositView{}, fmt.Errorf("read deposit: %w", err)
	}
	return v, nil
}
