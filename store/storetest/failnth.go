package storetest

import (
	"context"
	"sync"
	"time"

	"creditonce/credit"
	"creditonce/internal/desk"
	"creditonce/store"
)

// When says whether a call that fails has had its effect.
type When int

// The two ways in which a call to an engine fails. A consumer cannot tell them apart, and must be right in both.
const (
	BeforeApplying When = iota // nothing was written
	AfterApplying              // it was written, and the caller does not know
)

// FailNth wraps an engine so that its n-th call (from 1, over all verbs, Close apart) fails with err; all others
// go through. Safe for concurrent use.
func FailNth(b Backend, n int, err error, when When) Backend {
	return &failing{b: b, n: n, err: err, when: when}
}

type failing struct {
	b    Backend
	n    int
	err  error
	when When

	mu    sync.Mutex
	calls int
}

// call makes one call, or fails it.
func call[T any](f *failing, do func() (T, error)) (T, error) {
	f.mu.Lock()
	f.calls++
	fails := f.calls == f.n
	f.mu.Unlock()
	var none T
	if fails && f.when == BeforeApplying {
		return none, f.err
	}
	v, err := do()
	if fails {
		return none, f.err
	}
	return v, err
}

// Close implements Backend.
func (f *failing) Close(ctx context.Context) error { return f.b.Close(ctx) }

// Settings implements Backend.
func (f *failing) Settings(ctx context.Context) (credit.Settings, error) {
	return call(f, func() (credit.Settings, error) { return f.b.Settings(ctx) })
}

// Due implements Backend.
func (f *failing) Due(ctx context.Context, q credit.DueQuery) ([]credit.DueRow, error) {
	return call(f, func() ([]credit.DueRow, error) { return f.b.Due(ctx, q) })
}

// Dossier implements Backend.
func (f *failing) Dossier(ctx context.Context, id credit.ID) (credit.Dossier, error) {
	return call(f, func() (credit.Dossier, error) { return f.b.Dossier(ctx, id) })
}

// KnownWire implements Backend.
func (f *failing) KnownWire(ctx context.Context, bank string) (credit.KnownWire, error) {
	return call(f, func() (credit.KnownWire, error) { return f.b.KnownWire(ctx, bank) })
}

// Holders implements Backend.
func (f *failing) Holders(ctx context.Context, identity string, tickets []uint64) (map[uint64]credit.ID, error) {
	return call(f, func() (map[uint64]credit.ID, error) { return f.b.Holders(ctx, identity, tickets) })
}

// Advance implements Backend.
func (f *failing) Advance(ctx context.Context, id credit.ID, decide credit.Decide) (credit.Result, error) {
	return call(f, func() (credit.Result, error) { return f.b.Advance(ctx, id, decide) })
}

// Rows implements Backend.
func (f *failing) Rows(ctx context.Context, q credit.RowQuery) ([]credit.Credit, error) {
	return call(f, func() ([]credit.Credit, error) { return f.b.Rows(ctx, q) })
}

// Accept implements Backend.
func (f *failing) Accept(ctx context.Context, e credit.Event, rules credit.IntakeRules) (credit.Receipt, error) {
	return call(f, func() (credit.Receipt, error) { return f.b.Accept(ctx, e, rules) })
}

// MakeDeposit implements Backend.
func (f *failing) MakeDeposit(ctx context.Context, n credit.NewDeposit, rules credit.DepositRules) (store.DepositReceipt, error) {
	return call(f, func() (store.DepositReceipt, error) { return f.b.MakeDeposit(ctx, n, rules) })
}

// PurgeAnswers implements Backend.
func (f *failing) PurgeAnswers(ctx context.Context, before time.Time, limit int) (int, error) {
	return call(f, func() (int, error) { return f.b.PurgeAnswers(ctx, before, limit) })
}

// Deposit implements Backend.
func (f *failing) Deposit(ctx context.Context, code string) (credit.DepositView, error) {
	return call(f, func() (credit.DepositView, error) { return f.b.Deposit(ctx, code) })
}

// PutAccount implements Backend.
func (f *failing) PutAccount(ctx context.Context, a credit.Account, actor string, now time.Time) (store.AccountReceipt, error) {
	return call(f, func() (store.AccountReceipt, error) { return f.b.PutAccount(ctx, a, actor, now) })
}

// Account implements Backend.
func (f *failing) Account(ctx context.Context, server string, login uint64) (credit.Account, error) {
	return call(f, func() (credit.Account, error) { return f.b.Account(ctx, server, login) })
}

// Settle implements Backend.
func (f *failing) Settle(ctx context.Context, change func(credit.Settings) (credit.Settings, error)) (credit.Settings, error) {
	return call(f, func() (credit.Settings, error) { return f.b.Settle(ctx, change) })
}

// Free implements Backend.
func (f *failing) Free(ctx context.Context, id credit.ID, rules credit.IntakeRules) (credit.Result, error) {
	return call(f, func() (credit.Result, error) { return f.b.Free(ctx, id, rules) })
}

// Event implements Backend.
func (f *failing) Event(ctx context.Context, id credit.EventID) (credit.Event, error) {
	return call(f, func() (credit.Event, error) { return f.b.Event(ctx, id) })
}

// EventBody implements Backend.
func (f *failing) EventBody(ctx context.Context, id credit.EventID) ([]byte, error) {
	return call(f, func() ([]byte, error) { return f.b.EventBody(ctx, id) })
}

// Events implements Backend.
func (f *failing) Events(ctx context.Context, after credit.EventID, limit int) ([]credit.Event, error) {
	return call(f, func() ([]credit.Event, error) { return f.b.Events(ctx, after, limit) })
}

// Credit implements Backend.
func (f *failing) Credit(ctx context.Context, id credit.ID) (credit.Credit, error) {
	return call(f, func() (credit.Credit, error) { return f.b.Credit(ctx, id) })
}

// History implements Backend.
func (f *failing) History(ctx context.Context, id credit.ID) ([]credit.Entry, error) {
	return call(f, func() ([]credit.Entry, error) { return f.b.History(ctx, id) })
}

// Tasks implements Backend.
func (f *failing) Tasks(ctx context.Context, q store.TaskQuery) ([]credit.Task, error) {
	return call(f, func() ([]credit.Task, error) { return f.b.Tasks(ctx, q) })
}

// Counts implements Backend.
func (f *failing) Counts(ctx context.Context) (store.Counts, error) {
	return call(f, func() (store.Counts, error) { return f.b.Counts(ctx) })
}

// Verify implements Backend.
func (f *failing) Verify(ctx context.Context, progress func(done, total int)) (store.Report, error) {
	return call(f, func() (store.Report, error) { return f.b.Verify(ctx, progress) })
}

// DepositStory implements Backend.
func (f *failing) DepositStory(ctx context.Context, code string) (credit.DepositStory, error) {
	return call(f, func() (credit.DepositStory, error) { return f.b.DepositStory(ctx, code) })
}

// CloseDeposit implements Backend.
func (f *failing) CloseDeposit(ctx context.Context, code, by string, now time.Time) (credit.DepositView, error) {
	return call(f, func() (credit.DepositView, error) { return f.b.CloseDeposit(ctx, code, by, now) })
}

// Deposits implements Backend.
func (f *failing) Deposits(ctx context.Context, q credit.DepositQuery) (credit.Page[credit.DepositView], error) {
	return call(f, func() (credit.Page[credit.DepositView], error) { return f.b.Deposits(ctx, q) })
}

// Credits implements Backend.
func (f *failing) Credits(ctx context.Context, q credit.CreditQuery) (credit.Page[credit.Credit], error) {
	return call(f, func() (credit.Page[credit.Credit], error) { return f.b.Credits(ctx, q) })
}

// Accounts implements Backend.
func (f *failing) Accounts(ctx context.Context, q credit.AccountQuery) (credit.Page[credit.Account], error) {
	return call(f, func() (credit.Page[credit.Account], error) { return f.b.Accounts(ctx, q) })
}

// Act implements Backend.
func (f *failing) Act(ctx context.Context, q desk.Query, decide desk.Decide) (desk.Receipt, error) {
	return call(f, func() (desk.Receipt, error) { return f.b.Act(ctx, q, decide) })
}

// People implements Backend.
func (f *failing) People(ctx context.Context) ([]desk.Person, error) {
	return call(f, func() ([]desk.Person, error) { return f.b.People(ctx) })
}

// Keys implements Backend.
func (f *failing) Keys(ctx context.Context) ([]desk.Key, error) {
	return call(f, func() ([]desk.Key, error) { return f.b.Keys(ctx) })
}

// Proposal implements Backend.
func (f *failing) Proposal(ctx context.Context, id desk.ProposalID) (desk.Proposal, error) {
	return call(f, func() (desk.Proposal, error) { return f.b.Proposal(ctx, id) })
}

// Proposals implements Backend.
func (f *failing) Proposals(ctx context.Context, q desk.ProposalQuery) ([]desk.Proposal, error) {
	return call(f, func() ([]desk.Proposal, error) { return f.b.Proposals(ctx, q) })
}

// Records implements Backend.
func (f *failing) NewestRecords(ctx context.Context, below uint64, limit int) ([]desk.Record, error) {
	return call(f, func() ([]desk.Record, error) { return f.b.NewestRecords(ctx, below, limit) })
}

func (f *failing) NewestEvents(ctx context.Context, below credit.EventID, limit int) ([]credit.Event, error) {
	return call(f, func() ([]credit.Event, error) { return f.b.NewestEvents(ctx, below, limit) })
}

func (f *failing) OpenTasks(ctx context.Context) ([]desk.OpenKind, error) {
	return call(f, func() ([]desk.OpenKind, error) { return f.b.OpenTasks(ctx) })
}

func (f *failing) Records(ctx context.Context, after uint64, limit int) ([]desk.Record, error) {
	return call(f, func() ([]desk.Record, error) { return f.b.Records(ctx, after, limit) })
}

// Find implements Backend.
func (f *failing) Find(ctx context.Context, text string) ([]desk.Hit, error) {
	return call(f, func() ([]desk.Hit, error) { return f.b.Find(ctx, text) })
}

// Totals implements Backend.
func (f *failing) Totals(ctx context.Context) (desk.Totals, error) {
	return call(f, func() (desk.Totals, error) { return f.b.Totals(ctx) })
}

// Task implements Backend.
func (f *failing) Task(ctx context.Context, id credit.TaskID) (credit.Task, error) {
	return call(f, func() (credit.Task, error) { return f.b.Task(ctx, id) })
}

// Excerpt implements Backend.
func (f *failing) Excerpt(ctx context.Context, q store.ExcerptQuery) (store.Excerpt, error) {
	return call(f, func() (store.Excerpt, error) { return f.b.Excerpt(ctx, q) })
}

// ChangeStore implements Backend.
func (f *failing) ChangeStore(ctx context.Context, change func(credit.Settings) (credit.StoreChange, error)) ([]credit.Task, error) {
	return call(f, func() ([]credit.Task, error) { return f.b.ChangeStore(ctx, change) })
}
