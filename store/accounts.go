package store

import (
	"context"
	"fmt"
	"time"

	bolt "go.etcd.io/bbolt"

	"creditonce/credit"
)

// AccountReceipt is the answer to PutAccount.
type AccountReceipt struct {
	Account credit.Account // as it stands now
	Created bool
	Rows    []credit.RowChange
	Opened  []credit.Task
	Closed  []credit.Task
}

// PutAccount registers a login or changes it, with what credit.ChangeAccount makes of the login's open rows, in
// one transaction. The same again changes nothing. actor is the API key's name. now is UTC.
func (db *DB) PutAccount(ctx context.Context, a credit.Account, actor string, now time.Time) (AccountReceipt, error) {
	var receipt AccountReceipt
	err := db.write(ctx, true, func(w *writer) error {
		var found credit.AccountFound
		var err error
		at := loginKey(a.Server, a.Login)
		if found.Prior, err = accounts.get(w.tx, at); err != nil {
			return err
		}
		if found.Open, err = credits.list(w.tx, creditLive, at, 0); err != nil {
			return err
		}
		changes, err := credit.ChangeAccount(a, found, actor, now)
		if err != nil {
			return err
		}
		done, err := stageChanges(w, changes, nil)
		receipt = AccountReceipt{Created: found.Prior == nil, Rows: changes.Rows, Opened: done.opened, Closed: done.closed}
		if changes.Account != nil {
			receipt.Account = *changes.Account
		} else if found.Prior != nil {
			receipt.Account = *found.Prior
		}
		return err
	})
	if err != nil {
		return AccountReceipt{}, fmt.Errorf("put account %d on %s: %w", a.Login, a.Server, err)
	}
	return receipt, nil
}

// Account reads a registered login by the MT5 server's label; ErrNotFound where it is not registered.
func (db *DB) Account(ctx context.Context, server string, login uint64) (a credit.Account, err error) {
	err = db.read(ctx, func(tx *bolt.Tx) error {
		found, err := accounts.get(tx, loginKey(server, login))
		if err != nil {
			return err
		}
		if found == nil {
			return credit.ErrNotFound
		}
		a = *found
		return nil
	})
	if err != nil {
		return credit.Account{}, fmt.Errorf("read account %d on %s: %w", login, server, err)
	}
	return a, nil
}
