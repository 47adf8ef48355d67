package credit

import (
	"fmt"
	"time"
)

// AccountFound is what the store has about a login, read in the deciding transaction.
type AccountFound struct {
	Prior *Account
	Open  []Credit // rows of the login that are pending, claimed or unknown
}

// ChangeAccount registers a login or changes it (design §5). A login that changes its client, currency or
// digits makes its pending rows held; a row that may be under way gets a task; open deposits are judged when
// they are paid. Registering the same again changes nothing. It is pure.
func ChangeAccount(a Account, found AccountFound, actor string, now time.Time) (Changes, error) {
	now = instant(now)
	a.CreatedAt, a.UpdatedAt = now, now
	if found.Prior != nil {
		a.CreatedAt = found.Prior.CreatedAt
		if sameAccount(*found.Prior, a) {
			return Changes{}, nil
		}
	}
	out := Changes{Account: &a}
	if found.Prior == nil {
		return out, nil
	}
	for _, row := range found.Open {
		if err := out.accountChanged(row, *found.Prior, a, actor, now); err != nil {
			return Changes{}, fmt.Errorf("change account %d on %s: %w", a.Login, a.Server, err)
		}
	}
	return out, nil
}

func sameAccount(a, b Account) bool {
	return a.Client == b.Client && a.Currency == b.Currency && a.Digits == b.Digits && a.Identity == b.Identity
}

func (out *Changes) accountChanged(row Credit, prior, a Account, actor string, now time.Time) error {
	var holds []Hold
	if row.Client != a.Client {
		holds = append(holds, HoldOwnership)
	}
	if row.Amount.Currency() != a.Currency || row.Amount.Exponent() != a.Digits {
		holds = append(holds, HoldAccount)
	}
	if len(holds) == 0 {
		return nil
	}
	reason := fmt.Sprintf("the login changed from client %q, %s to client %q, %s", clip(prior.Client), prior.Currency, clip(a.Client), a.Currency)
	if row.State != Pending {
		out.Open = append(out.Open, Task{
			Kind: TaskOwnership, Entity: RowEntity(row.ID), OpenedAt: now,
			Summary: "login " + loginText(row.Login) + " changed while a call for it may be under way",
			Next:    "decide whose money it is once the row is settled",
			Records: []Record{rowRecord(row)},
		})
		return nil
	}
	after, entry, err := Apply(row, stopped(now, ByIntake, actor, reason, nil, holds...))
	if err != nil {
		return err
	}
	before := row
	out.Rows = append(out.Rows, RowChange{Before: &before, After: after, Entries: []Entry{entry}})
	open, closing := rowTasks(row, after, entry)
	out.Open, out.Close = append(out.Open, open...), append(out.Close, closing...)
	return nil
}
