package app

import (
	"context"

	"creditonce/credit"
	"creditonce/internal/api"
	"creditonce/store"
)

// deposits gives the portal's API its book: the store under the configured rules.
type deposits struct {
	store    *store.DB
	rules    credit.DepositRules
	clock    credit.Clock
	process  credit.Process
	observer credit.Observer
	wake     func(server string)
}

var _ api.Deposits = (*deposits)(nil)

// Open decides and stores a deposit under the rules as of now.
func (d *deposits) Open(ctx context.Context, n credit.NewDeposit) (credit.Answer, error) {
	rules := d.rules
	rules.Now, rules.Schedule = d.clock.Now(), d.process.Schedule(d.clock)
	receipt, err := d.store.MakeDeposit(ctx, n, rules)
	if err != nil {
		return credit.Answer{}, err
	}
	credit.Announce(ctx, d.observer, receipt.Rows, receipt.Opened, receipt.Closed)
	credit.WakePending(receipt.Rows, d.wake)
	return receipt.Answer, nil
}

// View reads a deposit.
func (d *deposits) View(ctx context.Context, code string) (credit.DepositView, error) {
	return d.store.Deposit(ctx, code)
}

// Story reads a deposit with its rows and their history.
func (d *deposits) Story(ctx context.Context, code string) (credit.DepositStory, error) {
	return d.store.DepositStory(ctx, code)
}

// Close closes a deposit as of now.
func (d *deposits) Close(ctx context.Context, code, by string) (credit.DepositView, error) {
	return d.store.CloseDeposit(ctx, code, by, d.clock.Now())
}

// ListDeposits gives one page of deposits.
func (d *deposits) ListDeposits(ctx context.Context, q credit.DepositQuery) (credit.Page[credit.DepositView], error) {
	return d.store.Deposits(ctx, q)
}

// ListCredits gives one page of credits.
func (d *deposits) ListCredits(ctx context.Context, q credit.CreditQuery) (credit.Page[credit.Credit], error) {
	return d.store.Credits(ctx, q)
}

// dayLimit is the most that a login may be credited in one UTC day.
func (d *deposits) dayLimit(currency string) (credit.Amount, bool) {
	most, ok := d.rules.DayLimits[currency]
	return most, ok
}

// accounts gives the portal's API its register of logins.
type accounts struct {
	store      *store.DB
	identities map[string]string
	currencies map[string]map[string]int // by server label: account currency and its digits
	clock      credit.Clock
	observer   credit.Observer
}

var _ api.Accounts = (*accounts)(nil)

// Put registers or changes a login on a configured server, in a currency that the server may be credited in.
func (a *accounts) Put(ctx context.Context, account credit.Account, actor string) (credit.Account, bool, error) {
	identity, ok := a.identities[account.Server]
	if !ok {
		return credit.Account{}, false, credit.Refuse("unknown_server", "there is no MT5 server with this name")
	}
	digits, ok := a.currencies[account.Server][account.Currency]
	if !ok || digits != account.Digits {
		return credit.Account{}, false, credit.Refuse("wrong_currency",
			"accounts on %s may be in %s", account.Server, currencyList(a.currencies[account.Server]))
	}
	account.Identity = identity
	receipt, err := a.store.PutAccount(ctx, account, actor, a.clock.Now())
	if err != nil {
		return credit.Account{}, false, err
	}
	credit.Announce(ctx, a.observer, receipt.Rows, receipt.Opened, receipt.Closed)
	return receipt.Account, receipt.Created, nil
}

// Get reads a login.
func (a *accounts) Get(ctx context.Context, server string, login uint64) (credit.Account, error) {
	return a.store.Account(ctx, server, login)
}

// ListAccounts gives one page of logins.
func (a *accounts) ListAccounts(ctx context.Context, q credit.AccountQuery) (credit.Page[credit.Account], error) {
	return a.store.Accounts(ctx, q)
}
