package api

import (
	"context"

	"creditonce/credit"
)

// Deposits is what the API needs of the deposit book. Safe for concurrent use.
type Deposits interface {
	// Open decides and stores a deposit and its answer in one transaction (credit.OpenDeposit), under the rules
	// that the implementation holds: limits, bands, identities, providers, the clock. It returns the stored first
	// answer, marked as a replay, for a key that is known; ErrMismatch for a known key with another input hash; a
	// *credit.RefusedError for what is not allowed; ErrBusy when the same call may succeed later. An error of
	// Render is returned wrapped with %w. After any error but ErrStopped nothing has been written.
	Open(ctx context.Context, n credit.NewDeposit) (credit.Answer, error)
	// View reads a deposit with what is known about its payment, in one snapshot; ErrNotFound without one.
	View(ctx context.Context, code string) (credit.DepositView, error)
	// Story reads a deposit with its rows and the history of the one that took it, in one snapshot; ErrNotFound.
	Story(ctx context.Context, code string) (credit.DepositStory, error)
	// Close closes a deposit (credit.CloseDeposit) and returns it as it then stands; ErrNotFound without one, a
	// *credit.RefusedError for one that is paid. by is the key's name.
	Close(ctx context.Context, code, by string) (credit.DepositView, error)
	// ListDeposits gives one page of deposits, ListCredits one of credits. A page looks at a bounded number of records. ErrInvalid:
	// the place to go on from cannot be read.
	ListDeposits(ctx context.Context, q credit.DepositQuery) (credit.Page[credit.DepositView], error)
	ListCredits(ctx context.Context, q credit.CreditQuery) (credit.Page[credit.Credit], error)
}

// Accounts is what the API needs of the register of logins. Safe for concurrent use.
type Accounts interface {
	// Put registers or changes a login (credit.ChangeAccount) and returns it as it now is; created tells that it
	// was not registered before. The implementation sets Identity and the times; a server label that it does not
	// know is a *credit.RefusedError. actor is recorded in the history of what the change touches.
	Put(ctx context.Context, a credit.Account, actor string) (stored credit.Account, created bool, err error)
	// Get reads a login by the config's label of its server; ErrNotFound without one.
	Get(ctx context.Context, server string, login uint64) (credit.Account, error)
	// ListAccounts gives one page of logins, as ListDeposits does of deposits.
	ListAccounts(ctx context.Context, q credit.AccountQuery) (credit.Page[credit.Account], error)
}

// Observer is told about every answered request, after the answer was handed to the connection. It must not block
// and is safe for concurrent use.
type Observer interface {
	Served(ctx context.Context, s Served)
}

// Served is one answered request, without anything of its body, its query or its secrets.
type Served struct {
	RequestID string // in the answer's X-Request-ID, and in a problem's instance
	Method    string
	Route     string // the route's pattern; empty when no route matched
	Key       string // name of the API key; empty when none was recognised
	Status    int
	Code      string // the problem's stable code; empty for a success
	Replayed  bool   // the stored first answer was sent
	// Err is why the answer is a problem, with its chain; nil for a success. Only errors of status 500 and above
	// are faults of this side. A *PanicError in it is a defect: what the request did is known to the store alone.
	Err error
}
