package storetest

import (
	"context"
	"time"

	"creditonce/credit"
	"creditonce/internal/desk"
	"creditonce/store"
)

// Broken is an engine whose every verb fails with Err: for what a consumer does when nothing works. Close works,
// so that cleanups do.
type Broken struct{ Err error }

var _ Backend = Broken{}

// Close implements Backend.
func (b Broken) Close(context.Context) error { return nil }

// Settings implements Backend.
func (b Broken) Settings(context.Context) (credit.Settings, error) { return credit.Settings{}, b.Err }

// Due implements Backend.
func (b Broken) Due(context.Context, credit.DueQuery) ([]credit.DueRow, error) { return nil, b.Err }

// Dossier implements Backend.
func (b Broken) Dossier(context.Context, credit.ID) (credit.Dossier, error) {
	return credit.Dossier{}, b.Err
}

// KnownWire implements Backend.
func (b Broken) KnownWire(context.Context, string) (credit.KnownWire, error) {
	return credit.KnownWire{}, b.Err
}

// Holders implements Backend.
func (b Broken) Holders(context.Context, string, []uint64) (map[uint64]credit.ID, error) {
	return nil, b.Err
}

// Advance implements Backend.
func (b Broken) Advance(context.Context, credit.ID, credit.Decide) (credit.Result, error) {
	return credit.Result{}, b.Err
}

// Rows implements Backend.
func (b Broken) Rows(context.Context, credit.RowQuery) ([]credit.Credit, error) { return nil, b.Err }

// Accept implements Backend.
func (b Broken) Accept(context.Context, credit.Event, credit.IntakeRules) (credit.Receipt, error) {
	return credit.Receipt{}, b.Err
}

// MakeDeposit implements Backend.
func (b Broken) MakeDeposit(context.Context, credit.NewDeposit, credit.DepositRules) (store.DepositReceipt, error) {
	return store.DepositReceipt{}, b.Err
}

// PurgeAnswers implements Backend.
func (b Broken) PurgeAnswers(context.Context, time.Time, int) (int, error) { return 0, b.Err }

// Deposit implements Backend.
func (b Broken) Deposit(context.Context, string) (credit.DepositView, error) {
	return credit.DepositView{}, b.Err
}

// PutAccount implements Backend.
func (b Broken) PutAccount(context.Context, credit.Account, string, time.Time) (store.AccountReceipt, error) {
	return store.AccountReceipt{}, b.Err
}

// Account implements Backend.
func (b Broken) Account(context.Context, string, uint64) (credit.Account, error) {
	return credit.Account{}, b.Err
}

// Settle implements Backend.
func (b Broken) Settle(context.Context, func(credit.Settings) (credit.Settings, error)) (credit.Settings, error) {
	return credit.Settings{}, b.Err
}

// Free implements Backend.
func (b Broken) Free(context.Context, credit.ID, credit.IntakeRules) (credit.Result, error) {
	return credit.Result{}, b.Err
}

// Event implements Backend.
func (b Broken) Event(context.Context, credit.EventID) (credit.Event, error) {
	return credit.Event{}, b.Err
}

// EventBody implements Backend.
func (b Broken) EventBody(context.Context, credit.EventID) ([]byte, error) { return nil, b.Err }

// Events implements Backend.
func (b Broken) Events(context.Context, credit.EventID, int) ([]credit.Event, error) {
	return nil, b.Err
}

// Credit implements Backend.
func (b Broken) Credit(context.Context, credit.ID) (credit.Credit, error) {
	return credit.Credit{}, b.Err
}

// History implements Backend.
func (b Broken) History(context.Context, credit.ID) ([]credit.Entry, error) { return nil, b.Err }

// Tasks implements Backend.
func (b Broken) Tasks(context.Context, store.TaskQuery) ([]credit.Task, error) { return nil, b.Err }

// Counts implements Backend.
func (b Broken) Counts(context.Context) (store.Counts, error) { return store.Counts{}, b.Err }

// Verify implements Backend.
func (b Broken) Verify(context.Context, func(done, total int)) (store.Report, error) {
	return store.Report{}, b.Err
}

// DepositStory implements Backend.
func (b Broken) DepositStory(context.Context, string) (credit.DepositStory, error) {
	return credit.DepositStory{}, b.Err
}

// CloseDeposit implements Backend.
func (b Broken) CloseDeposit(context.Context, string, string, time.Time) (credit.DepositView, error) {
	return credit.DepositView{}, b.Err
}

// Deposits implements Backend.
func (b Broken) Deposits(context.Context, credit.DepositQuery) (credit.Page[credit.DepositView], error) {
	return credit.Page[credit.DepositView]{}, b.Err
}

// Credits implements Backend.
func (b Broken) Credits(context.Context, credit.CreditQuery) (credit.Page[credit.Credit], error) {
	return credit.Page[credit.Credit]{}, b.Err
}

// Accounts implements Backend.
func (b Broken) Accounts(context.Context, credit.AccountQuery) (credit.Page[credit.Account], error) {
	return credit.Page[credit.Account]{}, b.Err
}

// Act implements Backend.
func (b Broken) Act(context.Context, desk.Query, desk.Decide) (desk.Receipt, error) {
	return desk.Receipt{}, b.Err
}

// People implements Backend.
func (b Broken) People(context.Context) ([]desk.Person, error) { return nil, b.Err }

// Keys implements Backend.
func (b Broken) Keys(context.Context) ([]desk.Key, error) { return nil, b.Err }

// Proposal implements Backend.
func (b Broken) Proposal(context.Context, desk.ProposalID) (desk.Proposal, error) {
	return desk.Proposal{}, b.Err
}

// Proposals implements Backend.
func (b Broken) Proposals(context.Context, desk.ProposalQuery) ([]desk.Proposal, error) {
	return nil, b.Err
}

// NewestRecords implements Backend.
func (b Broken) NewestRecords(context.Context, uint64, int) ([]desk.Record, error) {
	return nil, b.Err
}

// NewestEvents implements Backend.
func (b Broken) NewestEvents(context.Context, credit.EventID, int) ([]credit.Event, error) {
	return nil, b.Err
}

// OpenTasks implements Backend.
func (b Broken) OpenTasks(context.Context) ([]desk.OpenKind, error) { return nil, b.Err }

// Records implements Backend.
func (b Broken) Records(context.Context, uint64, int) ([]desk.Record, error) { return nil, b.Err }

// Find implements Backend.
func (b Broken) Find(context.Context, string) ([]desk.Hit, error) { return nil, b.Err }

// Totals implements Backend.
func (b Broken) Totals(context.Context) (desk.Totals, error) { return desk.Totals{}, b.Err }

// Task implements Backend.
func (b Broken) Task(context.Context, credit.TaskID) (credit.Task, error) {
	return credit.Task{}, b.Err
}

// Excerpt implements Backend.
func (b Broken) Excerpt(context.Context, store.ExcerptQuery) (store.Excerpt, error) {
	return store.Excerpt{}, b.Err
}

// ChangeStore implements Backend.
func (b Broken) ChangeStore(context.Context, func(credit.Settings) (credit.StoreChange, error)) ([]credit.Task, error) {
	return nil, b.Err
}
