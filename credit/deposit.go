package credit

import "time"

// Deposit is the record that the firm's own server made for a signed-in client: the only source of a login and
// of the amount to credit (design §1, §2). Its state is derived when read; see [DepositView].
type Deposit struct {
	Code      string    `json:"code"`
	Owner     string    `json:"owner"` // name of the API key that made it
	Client    string    `json:"client"`
	Server    string    `json:"server"`   // the config's label of the MT5 server
	Identity  string    `json:"identity"` // the MT5 server's own name
	Login     uint64    `json:"login,string"`
	Provider  string    `json:"provider"` // the config's label of the only provider that may pay it
	Paid      Amount    `json:"paid"`
	Credited  Amount    `json:"credited"` // in the account's currency and digits
	Rate      Rate      `json:"rate"`
	RateFrom  string    `json:"rate_from,omitempty"`
	RateAt    time.Time `json:"rate_at,omitzero"`
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at"`
	ClosedAt  time.Time `json:"closed_at,omitzero"`
	ClosedBy  string    `json:"closed_by,omitempty"` // name of the API key that closed it
	Credit    ID        `json:"credit,omitempty"`    // the row that took it; 0 until a part is paid
}

// Account is what the firm registered about a login: who owns it, and how its money is written.
type Account struct {
	Server    string    `json:"server"`
	Identity  string    `json:"identity"`
	Login     uint64    `json:"login,string"`
	Client    string    `json:"client"`
	Currency  string    `json:"currency"`
	Digits    int       `json:"digits"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// DepositState is what a return page may show (design §2).
type DepositState string

// The derived states of a deposit.
const (
	DepositOpen      DepositState = "open"
	DepositPaid      DepositState = "paid"
	DepositCrediting DepositState = "crediting"
	DepositCredited  DepositState = "credited"
	DepositReview    DepositState = "review"
	DepositExpired   DepositState = "expired"
	DepositClosed    DepositState = "closed"
)

// DepositView is a deposit with what is known about its payment, read in one snapshot.
type DepositView struct {
	Deposit Deposit
	Row     *Credit // the row that took the deposit; nil before payment
	Tasks   int     // open tasks about that row
	// OverDay tells, of a deposit that is just being made, that paid at this very moment it would take the login over
	// its limit of the UTC day.
	OverDay bool
}

// State derives the deposit's state at now (UTC).
func (v DepositView) State(now time.Time) DepositState {
	switch {
	case v.Row == nil && !v.Deposit.ClosedAt.IsZero():
		return DepositClosed
	case v.Row == nil && !now.Before(v.Deposit.ExpiresAt):
		return DepositExpired
	case v.Row == nil:
		return DepositOpen
	case v.Row.State == Done:
		return DepositCredited
	case v.Tasks > 0:
		return DepositReview
	}
	switch v.Row.State {
	case Pending:
		return DepositPaid
	case Claimed, Unknown:
		return DepositCrediting
	case Held, Failed, Cancelled, Done, New:
		return DepositReview
	default:
		return DepositReview
	}
}
