package stripe

import (
	"context"
	"regexp"
	"time"

	"creditonce/internal/psp/ask"
)

// The states of a payout (docs.stripe.com/api/payouts/object#payout_object-status). One that is Paid may still become Failed within five
// business days; then a transaction of its own brings the money back into the balance.
const (
	PayoutPending   = "pending"
	PayoutInTransit = "in_transit"
	PayoutPaid      = "paid"
	PayoutFailed    = "failed"
	PayoutCanceled  = "canceled"
)

// What Stripe says about the list of a payout's transactions (docs.stripe.com/api/payouts/object#payout_object-reconciliation_status).
const (
	ListCompleted  = "completed"
	ListInProgress = "in_progress"
	ListNone       = "not_applicable" // made by hand, or instant: Stripe does not know which transactions it paid
)

// Payout is one transfer between the Stripe balance and the firm's bank. Amount is in minor units by [Exponent]; negative where Stripe took
// money from the bank.
type Payout struct {
	ID          string
	Amount      int64
	Currency    string // upper case
	Created     time.Time
	Arrival     time.Time // UTC midnight of the day on which it is expected in the bank
	Automatic   bool
	Status      string
	List        string // ListCompleted, ListInProgress, ListNone
	Transaction string // id of its own balance transaction; "" where Stripe names none
}

var (
	payoutForm      = regexp.MustCompile(`^po_[A-Za-z0-9_]{1,250}$`)
	transactionForm = regexp.MustCompile(`^txn_[A-Za-z0-9_]{1,250}$`)
)

// Payouts hands take every payout, of any state and kind, that is expected in the bank from from on and before until, newest first, each once.
// page gets each answer as it came, before its payouts are handed over; nil: nobody wants it. It returns nil only when the list has
// ended; else the error is a *[ask.Fault], take's own, or ctx's.
func (c *Client) Payouts(ctx context.Context, from, until time.Time, page func([]byte), take func(Payout) error) error {
	l := listing{path: "/v1/payouts", what: "payout", id: payoutForm, query: between("arrival_date", from, until), page: page}
	return c.each(ctx, l, func(e entry) error {
		p, err := c.readPayout(e)
		if err != nil {
			return err
		}
		if p.Arrival.Before(from) || !p.Arrival.Before(until) {
			return us.Odd("payout " + p.ID + " is listed, and does not belong to the time that was asked for")
		}
		return take(p)
	})
}

func (c *Client) readPayout(e entry) (Payout, error) {
	p := Payout{ID: e.id}
	live, err := e.Flag("livemode")
	if err == nil && live != c.cfg.Live {
		return p, us.Fault(ask.Foreign, "the API key lists payouts of the other environment: "+environment(live))
	}
	r := read(e.Object, err)
	p.Amount, p.Currency = r.integer("amount"), r.currency("currency")
	p.Created, p.Arrival = r.second("created"), r.second("arrival_date")
	p.Automatic, p.Status = r.Flag("automatic"), r.Text("status")
	p.List = r.Text("reconciliation_status")
	p.Transaction = r.TextIfAny("balance_transaction")
	if r.Err != nil {
		return p, us.Odd("payout " + p.ID + ": " + r.Err.Error())
	}
	if p.Transaction != "" && !transactionForm.MatchString(p.Transaction) {
		return p, us.Odd("payout " + p.ID + ": its balance transaction has no id")
	}
	return p, nil
}
