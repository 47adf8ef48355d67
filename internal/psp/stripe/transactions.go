package stripe

import (
	"context"
	"errors"
	"net/url"
	"regexp"
	"time"

	"creditonce/internal/psp/ask"
)

// Transaction is one movement of the Stripe balance (docs.stripe.com/api/balance_transactions/object). Amounts are minor units by
// [Exponent] of Currency, signed from the firm's side; Net is Amount less Fee, which has been checked.
type Transaction struct {
	ID        string
	Type      string // Stripe's older word
	Category  string // reporting_category, the one that the reports use
	Currency  string // of the balance, upper case
	Amount    int64
	Fee       int64 // a cost is positive
	Net       int64
	Fees      []Fee
	Rate      string    // exchange_rate as it came; "" where the payment had the currency of the balance
	Created   time.Time // UTC
	Available time.Time // UTC: when it may be paid out; perhaps still to come
	Source    Source
}

// Fee is one part of a transaction's fee, in minor units.
type Fee struct {
	Type     string
	Currency string
	Amount   int64
}

// Source is what a transaction is about. Of charges, refunds and disputes it holds what ties them to a payment; of anything else the id and
// the kind only.
type Source struct {
	ID       string // "" where the transaction is about nothing
	Object   string // "charge", "refund", "dispute", "payout", ...; "" where Stripe gave the id alone
	Intent   string // pi_, "" without one
	Charge   string // ch_ or py_
	Amount   int64  // in Currency, never negative
	Captured int64  // of a charge: what of Amount was taken
	Currency string // of the payment, upper case
	Metadata map[string]string
}

// PayoutTransactions hands take every transaction that an automatic payout paid, in Stripe's order, each once; the payout's own is among
// them. Before the payout's List is ListCompleted they may not all be there. page and the errors are as for [Client.Payouts].
func (c *Client) PayoutTransactions(ctx context.Context, payout string, page func([]byte), take func(Transaction) error) error {
	if !payoutForm.MatchString(payout) {
		return us.Odd("the id of a payout does not have the form of one")
	}
	return c.transactions(ctx, url.Values{"payout": {payout}}, page, take)
}

// Transactions hands take every transaction that was made from from on and before until, whether paid out or not, in Stripe's order, each
// once. It does not say in which payout they are. page and the errors are as for [Client.Payouts].
func (c *Client) Transactions(ctx context.Context, from, until time.Time, page func([]byte), take func(Transaction) error) error {
	return c.transactions(ctx, between("created", from, until), page, func(t Transaction) error {
		if t.Created.Before(from) || !t.Created.Before(until) {
			return us.Odd("balance transaction " + t.ID + " is listed, and does not belong to the time that was asked for")
		}
		return take(t)
	})
}

func (c *Client) transactions(ctx context.Context, query url.Values, page func([]byte), take func(Transaction) error) error {
	query.Set("expand[]", "data.source")
	l := listing{path: "/v1/balance_transactions", what: "balance transaction", id: transactionForm, query: query, page: page}
	return c.each(ctx, l, func(e entry) error {
		t, err := readTransaction(e)
		if err != nil {
			return us.Odd("balance transaction " + e.id + ": " + err.Error())
		}
		return take(t)
	})
}

func readTransaction(e entry) (Transaction, error) {
	r := read(e.Object, nil)
	t := Transaction{
		ID: e.id, Type: r.Text("type"), Category: r.Text("reporting_category"), Currency: r.currency("currency"),
		Amount: r.integer("amount"), Fee: r.integer("fee"), Net: r.integer("net"),
		Created: r.second("created"), Available: r.second("available_on"), Rate: r.rate("exchange_rate"),
	}
	if r.Err != nil {
		return t, r.Err
	}
	if sum := t.Amount - t.Fee; sum != t.Net || (t.Fee > 0) != (sum < t.Amount) && t.Fee != 0 {
		return t, errors.New("net is not amount less fee")
	}
	if !categoryForm.MatchString(t.Category) {
		return t, errors.New("reporting_category is not a word")
	}
	var err error
	if t.Fees, err = readFees(r.Object["fee_details"]); err != nil {
		return t, err
	}
	t.Source, err = readSource(r.Object["source"])
	return t, err
}

var (
	categoryForm = regexp.MustCompile(`^[a-z0-9_]{1,64}$`)
	sourceForm   = regexp.MustCompile(`^[A-Za-z0-9_]{1,255}$`)
)

func readFees(raw []byte) ([]Fee, error) {
	elements, err := ask.ParseList(raw)
	if err != nil {
		return nil, errors.New("fee_details is not a list")
	}
	var fees []Fee
	for _, element := range elements {
		r := read(ask.ParseObject(element))
		fees = append(fees, Fee{Type: r.Text("type"), Currency: r.currency("currency"), Amount: r.integer("amount")})
		if r.Err != nil {
			return nil, errors.New("fee_details: " + r.Err.Error())
		}
	}
	return fees, nil
}

// readSource reads what a transaction is about: null, an id, or the object itself.
func readSource(raw []byte) (Source, error) {
	r := read(ask.Object{"source": raw}, nil)
	if len(raw) == 0 || raw[0] != '{' {
		s := Source{ID: r.TextIfAny("source")}
		if r.Err == nil && s.ID != "" && !sourceForm.MatchString(s.ID) {
			r.Err = errors.New("the id of its source does not have the form of one")
		}
		return s, r.Err
	}
	r = read(ask.ParseObject(raw))
	s := Source{ID: r.Text("id"), Object: r.Text("object")}
	if r.Err == nil && !sourceForm.MatchString(s.ID) {
		r.Err = errors.New("the id does not have the form of one")
	}
	switch s.Object {
	case "charge":
		s.Charge, s.Captured = s.ID, r.integer("amount_captured")
	case "refund", "dispute":
		s.Charge = r.TextIfAny("charge")
	}
	switch s.Object {
	case "charge", "refund", "dispute":
		s.Intent, s.Amount, s.Currency = r.TextIfAny("payment_intent"), r.integer("amount"), r.currency("currency")
		s.Metadata = r.texts("metadata")
	}
	if r.Err != nil {
		return s, errors.New("its source: " + r.Err.Error())
	}
	for _, id := range []string{s.Intent, s.Charge} {
		if id != "" && !sourceForm.MatchString(id) {
			return s, errors.New("its source: an id does not have the form of one")
		}
	}
	return s, nil
}
