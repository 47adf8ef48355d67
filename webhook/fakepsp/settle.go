package fakepsp

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Payout is one transfer from the merchant's balance to its bank. Amount is in minor units as Stripe counts them. An automatic payout knows
// the transactions that it paid; one made by hand does not (providers.md §2.1).
type Payout struct {
	ID           string    `json:"id"` // po_…
	Amount       int64     `json:"amount_minor"`
	Currency     string    `json:"currency"`
	Created      time.Time `json:"created"`
	Arrival      time.Time `json:"arrival"` // UTC midnight
	Automatic    bool      `json:"automatic"`
	Status       string    `json:"status"`
	Transactions []string  `json:"transactions,omitempty"` // ids of what it paid, oldest first, without its own
}

// SettleRequest makes the automatic payouts that are due: one for each currency, of everything that became available and was in none yet.
// Where refunds and disputes outweigh the rest nothing is paid out, and it waits.
type SettleRequest struct {
	// Available is how long after its creation a transaction may be paid out; 0: at once.
	Available time.Duration `json:"available_ns,omitempty"`
	// Payments settle although no event said that they were paid: what a provider took and told nobody.
	Payments []string `json:"payments,omitempty"`
	// Arrival is when the payouts reach the bank; the zero value: now. It counts as a UTC day.
	Arrival time.Time `json:"arrival,omitzero"`
	// Status of the payouts; default paid.
	Status string `json:"status,omitempty"`
	// Currency and Amount make one payout by hand instead: so much of that currency, of nothing in particular.
	Currency string `json:"currency,omitempty"`
	Amount   int64  `json:"amount_minor,omitempty"`
}

// Settled marks a payment as taken although no event says so.
type Settled struct {
	Payment string `json:"payment"`
}

// Settle makes payouts and returns them, by currency. When it returns nil they are on disk in the journal.
func (s *Server) Settle(r SettleRequest) ([]Payout, error) {
	s.acting.Lock()
	defer s.acting.Unlock()
	now := s.cfg.Now().UTC()
	if r.Arrival.IsZero() {
		r.Arrival = now
	}
	base := Payout{Created: now, Arrival: r.Arrival.UTC().Truncate(24 * time.Hour), Status: cmp.Or(r.Status, "paid")}
	if r.Currency != "" || r.Amount != 0 {
		return s.settleByHand(r, base)
	}
	var records []Record
	for _, id := range r.Payments {
		if _, known := s.book.payments[id]; !known {
			return nil, fmt.Errorf("payment %q is %w", id, errUnknown)
		}
		records = append(records, Record{Settled: &Settled{Payment: id}})
	}
	if err := s.keep(records); err != nil {
		return nil, err
	}
	payouts := s.due(base, now.Add(-r.Available))
	records = nil
	for i := range payouts {
		records = append(records, Record{Payout: &payouts[i]})
	}
	return payouts, s.keep(records)
}

func (s *Server) settleByHand(r SettleRequest, p Payout) ([]Payout, error) {
	currency, err := currencyText(r.Currency)
	if err != nil || r.Amount < 1 || len(r.Payments) > 0 {
		return nil, fmt.Errorf("%w: a payout by hand has a currency and an amount, and no payments", errRefused)
	}
	p.ID, p.Currency, p.Amount = s.maker.id("po_1"), currency, r.Amount
	return []Payout{p}, s.keep([]Record{{Payout: &p}})
}

// due gathers what was made until latest and is in no payout, by currency. The caller holds acting.
func (s *Server) due(base Payout, latest time.Time) []Payout {
	byCurrency := map[string]Payout{}
	for _, t := range s.book.movements() {
		if t.payout != "" || t.Created.After(latest) || t.Category == "payout" {
			continue
		}
		p := byCurrency[t.Currency]
		p.Amount += t.Amount - t.Fee
		p.Transactions = append(p.Transactions, t.ID)
		byCurrency[t.Currency] = p
	}
	var out []Payout
	for _, currency := range slices.Sorted(maps.Keys(byCurrency)) {
		found := byCurrency[currency]
		if found.Amount < 1 {
			continue
		}
		p := base
		p.ID, p.Currency, p.Amount, p.Transactions, p.Automatic = s.maker.id("po_1"), currency, found.Amount, found.Transactions, true
		out = append(out, p)
	}
	return out
}

// keep puts records on disk and takes them in. The caller holds acting.
func (s *Server) keep(records []Record) error {
	s.closing.RLock()
	defer s.closing.RUnlock()
	if s.closed {
		return errClosed
	}
	if err := s.journal.commit(records...); err != nil {
		return err
	}
	s.book.enterAll(records)
	return nil
}

// Payouts lists all payouts in the order in which they were made.
func (s *Server) Payouts() []Payout {
	s.book.mu.Lock()
	defer s.book.mu.Unlock()
	return slices.Clone(s.book.payouts)
}

// transaction is one movement of the merchant's balance. Amount is signed, Fee is a cost.
type transaction struct {
	ID       string
	Type     string
	Category string
	Amount   int64
	Fee      int64
	Currency string
	Created  time.Time
	Source   any    // the object that it is about, as the API shows it
	source   string // its id
	payout   string // the payout that paid it
}

// paysFor tells that an event of this name says that the money was taken.
func paysFor(name string) bool {
	switch name {
	case "payment_intent.succeeded", "charge.succeeded", "checkout.session.completed", "checkout.session.async_payment_succeeded":
		return true
	default:
		return false
	}
}

// cardFee is 2.9 % and 30 minor units, as Stripe's list price has it; the half is rounded up.
func cardFee(amount int64) int64 { return (amount*29+500)/1000 + 30 }

// movements are all transactions of the balance, oldest first: of the payments that were taken, of their refunds and disputes, and of the
// payouts. It is derived from the book each time, so a journal of an older version has them too.
func (b *book) movements() []transaction {
	b.mu.Lock()
	defer b.mu.Unlock()
	in := map[string]string{}
	var out []transaction
	for _, p := range b.payouts {
		for _, id := range p.Transactions {
			in[id] = p.ID
		}
		out = append(out, transaction{
			ID: "txn_" + p.ID, Type: "payout", Category: "payout", Amount: -p.Amount, Currency: p.Currency, Created: p.Created, Source: payoutObject(p, ""),
			source: p.ID, payout: p.ID,
		})
	}
	for _, id := range b.order {
		if p := b.payments[id]; b.takenPayments[id] {
			out = append(out, transaction{
				ID: "txn_" + p.Charge, Type: "charge", Category: "charge", Amount: p.Amount, Fee: cardFee(p.Amount), Currency: p.Currency, Created: p.Created,
				Source: chargeObject(p, b.refunded[p.ID]), source: p.Charge,
			})
		}
	}
	for _, r := range b.refunds {
		out = append(out, b.refundMovements(r)...)
	}
	for _, d := range b.disputes {
		out = append(out, b.disputeMovements(d)...)
	}
	for i := range out {
		out[i].payout = cmp.Or(out[i].payout, in[out[i].ID])
	}
	slices.SortFunc(out, func(x, y transaction) int { return cmp.Or(x.Created.Compare(y.Created), cmp.Compare(x.ID, y.ID)) })
	return out
}

// refundMovements are the refund, and its money back where it failed later.
func (b *book) refundMovements(r Refund) []transaction {
	failed := counted(r) == 0
	if failed && r.Changed.IsZero() {
		return nil // it never left
	}
	p := b.payments[r.Payment]
	t := transaction{
		ID: "txn_" + r.ID, Type: "refund", Category: "refund", Amount: -r.Amount, Currency: p.Currency, Created: r.Created, Source: refundObject(p, r), source: r.ID,
	}
	if !failed {
		return []transaction{t}
	}
	back := t
	back.ID, back.Type, back.Category, back.Amount, back.Created = t.ID+"Back", "refund_failure", "refund_failure", r.Amount, r.Changed
	return []transaction{t, back}
}

// disputeMovements are none for an inquiry, else the amount and the fee, and the amount again where the dispute was won.
func (b *book) disputeMovements(d Dispute) []transaction {
	if strings.HasPrefix(d.Status, "warning_") {
		return nil
	}
	p := b.payments[d.Payment]
	t := transaction{
		ID: "txn_" + d.ID, Type: "adjustment", Category: "dispute", Amount: -d.Amount, Fee: disputeFee, Currency: p.Currency, Created: d.Created,
		Source: disputeObject(p, d, "funds_withdrawn"), source: d.ID,
	}
	if d.Status != "won" {
		return []transaction{t}
	}
	back := t
	back.ID, back.Category, back.Amount, back.Fee, back.Created = t.ID+"Won", "dispute_reversal", d.Amount, 0, cmp.Or(d.Changed, d.Created)
	return []transaction{t, back}
}
