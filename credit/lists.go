package credit

import (
	"slices"
	"time"
)

// Page is one part of a list. Next leads to what follows it: the engine's own, opaque bytes; nil at the end. A page
// may be short, even empty, and still have a Next: the engine bounds what it looks at for one page.
type Page[T any] struct {
	Items []T
	Next  []byte
}

// TimeRange is a half-open span of time: From is in it, To is not. A zero end is open.
type TimeRange struct{ From, To time.Time }

// Holds tells whether the moment lies in the span.
func (r TimeRange) Holds(t time.Time) bool {
	return (r.From.IsZero() || !t.Before(r.From)) && (r.To.IsZero() || t.Before(r.To))
}

// AmountRange is a span of money of one currency, both ends included. An unset end is open; without a currency every
// amount is in it, an unset one too.
type AmountRange struct {
	Currency string
	Min, Max Amount
}

// Holds tells whether the amount is of the currency and lies in the span.
func (r AmountRange) Holds(a Amount) bool {
	if r.Currency == "" {
		return true
	}
	if !a.IsSet() || a.Currency() != r.Currency {
		return false
	}
	return ordered(r.Min, a) && ordered(a, r.Max)
}

// ordered tells that a is at most b; an unset side is open.
func ordered(a, b Amount) bool {
	if !a.IsSet() || !b.IsSet() {
		return true
	}
	over, err := a.Cmp(b)
	return err == nil && over <= 0
}

// DepositQuery selects deposits, the newest first. Zero fields select all; Login counts only with Server.
type DepositQuery struct {
	State    DepositState // as derived at Now (UTC)
	Now      time.Time
	Client   string
	Server   string
	Login    uint64
	Provider string
	Created  TimeRange
	Credited AmountRange
	After    []byte // a Page's Next
	Limit    int
}

// WantsDeposit judges everything but the state, which needs the deposit's row too.
func (q DepositQuery) WantsDeposit(d Deposit) bool {
	return (q.Client == "" || d.Client == q.Client) && onLogin(q.Server, q.Login, d.Server, d.Login) &&
		(q.Provider == "" || d.Provider == q.Provider) && q.Created.Holds(d.CreatedAt) && q.Credited.Holds(d.Credited)
}

// Wants judges a deposit with what is known about its payment.
func (q DepositQuery) Wants(v DepositView) bool {
	return q.WantsDeposit(v.Deposit) && (q.State == "" || v.State(q.Now) == q.State)
}

// CreditQuery selects credits. Zero fields select all; Login counts only with Server. The newest credit is first;
// of a client or a login, the credits of the newest deposit.
type CreditQuery struct {
	State    State // New: every state
	Client   string
	Server   string
	Login    uint64
	Provider string
	Created  TimeRange
	Updated  TimeRange
	Amount   AmountRange // of what the login gets: a row without its deposit is in no span
	After    []byte      // a Page's Next
	Limit    int
}

// Wants judges a row.
func (q CreditQuery) Wants(c Credit) bool {
	return (q.State == New || c.State == q.State) && (q.Client == "" || c.Client == q.Client) &&
		onLogin(q.Server, q.Login, c.Server, c.Login) && (q.Provider == "" || c.Provider == q.Provider) &&
		q.Created.Holds(c.CreatedAt) && q.Updated.Holds(c.UpdatedAt) && q.Amount.Holds(c.Amount)
}

// AccountQuery selects registered logins, by server and login. Zero fields select all; Login counts only with Server.
type AccountQuery struct {
	Client   string
	Server   string
	Login    uint64
	Currency string
	Created  TimeRange
	Updated  TimeRange
	After    []byte // a Page's Next
	Limit    int
}

// Wants judges an account.
func (q AccountQuery) Wants(a Account) bool {
	return (q.Client == "" || a.Client == q.Client) && onLogin(q.Server, q.Login, a.Server, a.Login) &&
		(q.Currency == "" || a.Currency == q.Currency) && q.Created.Holds(a.CreatedAt) && q.Updated.Holds(a.UpdatedAt)
}

func onLogin(wantServer string, wantLogin uint64, server string, login uint64) bool {
	return (wantServer == "" || server == wantServer) && (wantServer == "" || wantLogin == 0 || login == wantLogin)
}

// DepositStory is a deposit with all that became of its payments, read in one snapshot.
type DepositStory struct {
	DepositView
	History []Entry  // of the row that took the deposit, oldest first
	Further []Credit // rows that joined later, oldest first
}

// DepositStates lists the derived states in the order of a deposit's life.
func DepositStates() []DepositState {
	return []DepositState{DepositOpen, DepositPaid, DepositCrediting, DepositCredited, DepositReview, DepositExpired, DepositClosed}
}

// isFurther tells that a row with these findings joins a deposit that another row has taken.
func isFurther(found []Hold) bool { return slices.Contains(found, HoldSecondPart) }
