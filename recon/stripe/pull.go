package stripe

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"slices"
	"time"

	"creditonce/credit"
	psp "creditonce/internal/psp/stripe"
	"creditonce/recon"
)

// API is what a pull asks Stripe for; [psp.Client] is one.
type API interface {
	Payouts(ctx context.Context, from, until time.Time, page func([]byte), take func(psp.Payout) error) error
	PayoutTransactions(ctx context.Context, payout string, page func([]byte), take func(psp.Transaction) error) error
	Transactions(ctx context.Context, from, until time.Time, page func([]byte), take func(psp.Transaction) error) error
}

// maxPulledPayouts bounds the payouts of one pull.
const maxPulledPayouts = 20_000

// Puller gets settlement lines from Stripe's API. It is safe for concurrent use.
type Puller struct {
	api     API
	options recon.ReadOptions
	manual  bool
}

// NewPuller takes what the config knows about the provider; its API reads the account of o.Provider. manual says that the account's payouts are
// made by hand: Stripe cannot say what those paid (providers.md §2.1), so the transactions are pulled by the day on which they were made. An
// account that changes from one to the other must not be pulled in both ways for the same time: what was listed without a payout would come
// again with one, under another natural key.
func NewPuller(api API, o recon.ReadOptions, manual bool) *Puller {
	return &Puller{api: api, options: o, manual: manual}
}

// Pull hands emit the lines of every automatic payout that is expected in the bank from from on and before until (whole seconds), with the
// payout's own line; of an account with payouts by hand, of every transaction made in that time. SettledAt is the payout's arrival, so each
// line lies in the asked time; without a payout it is the moment from which on the money is available.
//
// It returns nil only for a list that is complete: a payout whose transactions Stripe has not listed yet, a page that does not come, a list that
// changes while it is read end it with an error. What a person must look at is a problem of the statement: a payout that is not the sum of
// its transactions, one that failed or is under way still, one made by hand. The digest covers the account, the time asked for and every answer as
// it came, in order; an equal pull gives equal lines, with Row as their position. Digest of the lines is left empty: it is known at the end only.
func (p *Puller) Pull(ctx context.Context, from, until time.Time, emit func(recon.Line) error) (recon.Statement, error) {
	from, until = from.UTC(), until.UTC()
	if !from.Before(until) || from.Nanosecond() != 0 || until.Nanosecond() != 0 {
		return recon.Statement{}, fmt.Errorf("pull %s of stripe: from %s until %s is no time in whole seconds: %w", p.options.Provider.Label, from, until, credit.ErrInvalid)
	}
	u := &pull{
		puller: p, emit: emit, digest: sha256.New(),
		st: recon.Statement{Name: "api", Provider: p.options.Provider, Format: "stripe-api", From: from, Until: until, Consecutive: true},
	}
	_, _ = fmt.Fprintf(u.digest, "stripe api %s %t %s %s\n", p.options.Provider.Account, p.manual, from.Format(time.RFC3339), until.Format(time.RFC3339))
	err := u.all(ctx)
	if err != nil {
		var own taken
		if errors.As(err, &own) {
			return recon.Statement{}, own.error
		}
		return recon.Statement{}, fmt.Errorf("pull %s of stripe: %w", p.options.Provider.Label, err)
	}
	u.st.Digest, u.st.Problems = hex.EncodeToString(u.digest.Sum(nil)), u.problems.List()
	return u.st, nil
}

// taken is an error of the caller's emit on its way out: it is returned as it is.
type taken struct{ error }

// Unwrap gives emit's own error.
func (t taken) Unwrap() error { return t.error }

// pull is one pull under way.
type pull struct {
	puller   *Puller
	emit     func(recon.Line) error
	digest   hash.Hash
	st       recon.Statement
	problems recon.Problems
}

// answered takes an answer into the digest; writing to a hash does not fail.
func (u *pull) answered(body []byte) { _, _ = u.digest.Write(body) }

func (u *pull) all(ctx context.Context) error {
	if u.puller.manual {
		return u.puller.api.Transactions(ctx, u.st.From, u.st.Until, u.answered, func(t psp.Transaction) error {
			return u.hand(t, "", t.Available)
		})
	}
	var payouts []psp.Payout
	err := u.puller.api.Payouts(ctx, u.st.From, u.st.Until, u.answered, func(p psp.Payout) error {
		if len(payouts) == maxPulledPayouts {
			return fmt.Errorf("more than %d payouts: pull a shorter time: %w", maxPulledPayouts, credit.ErrInvalid)
		}
		payouts = append(payouts, p)
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(payouts, func(x, y psp.Payout) int { return cmp.Or(x.Arrival.Compare(y.Arrival), cmp.Compare(x.ID, y.ID)) })
	for _, p := range payouts {
		if err := u.payout(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// payout hands over one payout with what it paid.
func (u *pull) payout(ctx context.Context, p psp.Payout) error {
	switch {
	case !p.Automatic || p.List == psp.ListNone && p.Amount > 0:
		u.problems.Add(u.st.Rows+1, "payout %s was made by hand or at once: Stripe does not say which transactions it paid, so none of them is in this list; "+
			"set settlement.manual_payouts for accounts that are paid out by hand", p.ID)
		return u.ownLine(p, "")
	case p.List == psp.ListInProgress:
		return fmt.Errorf("payout %s: Stripe has not listed all of its transactions yet; pull again in an hour", p.ID)
	case p.List != psp.ListCompleted && p.List != psp.ListNone:
		return fmt.Errorf("payout %s: it is not said whether its transactions are listed", p.ID)
	}
	switch p.Status {
	case psp.PayoutPaid:
	case psp.PayoutPending, psp.PayoutInTransit:
		u.problems.Add(u.st.Rows+1, "payout %s is expected in the bank on %s and is not there yet (%s)", p.ID, p.Arrival.Format(time.DateOnly), p.Status)
	case psp.PayoutFailed, psp.PayoutCanceled:
		u.problems.Add(u.st.Rows+1, "payout %s did not reach the bank (%s): its money is in the balance again, by a line of a later payout", p.ID, p.Status)
	default:
		return fmt.Errorf("payout %s: its status is not one that Stripe documents", p.ID)
	}
	return u.itemised(ctx, p)
}

// itemised hands over the transactions of an automatic payout, its own among them, and lays their sum beside it.
func (u *pull) itemised(ctx context.Context, p psp.Payout) error {
	exponent, _ := u.exponent(p.Currency)
	summed, err := credit.Minor(0, p.Currency, exponent)
	if err != nil {
		return fmt.Errorf("payout %s: %w", p.ID, err)
	}
	own, others := false, 0
	err = u.puller.api.PayoutTransactions(ctx, p.ID, u.answered, func(t psp.Transaction) error {
		if t.Currency != p.Currency {
			return fmt.Errorf("payout %s is in %s, its transaction %s in %s", p.ID, p.Currency, t.ID, t.Currency)
		}
		if t.Category == "payout" && (t.Source.ID == p.ID || t.ID == p.Transaction) {
			if own || t.Amount != -p.Amount {
				return fmt.Errorf("payout %s: its own transaction %s is there twice, or has another amount", p.ID, t.ID)
			}
			own = true
			return u.hand(t, p.ID, p.Arrival)
		}
		net, err := credit.Minor(t.Net, t.Currency, exponent)
		if err == nil {
			summed, err = summed.Add(net)
		}
		if err != nil {
			return fmt.Errorf("add up payout %s: %w", p.ID, err)
		}
		others++
		return u.hand(t, p.ID, p.Arrival)
	})
	if err != nil {
		return err
	}
	batch := p.ID
	if others == 0 && p.Amount < 0 { // Stripe took money from the bank, and lists nothing that it was for
		batch = ""
		u.problems.Add(u.st.Rows+1, "payout %s took money from the firm's bank to cover a negative balance: Stripe does not list what it was for", p.ID)
	}
	if !own {
		if err := u.ownLine(p, batch); err != nil {
			return err
		}
	}
	if batch == "" {
		return nil
	}
	return u.total(p, summed)
}

// total lays the payout beside the sum of what it paid.
func (u *pull) total(p psp.Payout, summed credit.Amount) error {
	stated, err := credit.Minor(p.Amount, p.Currency, summed.Exponent())
	if err != nil {
		return fmt.Errorf("payout %s: %w", p.ID, err)
	}
	t := recon.StatedTotal{Name: "payout " + p.ID, Row: u.st.Rows, Batch: p.ID, Stated: stated, Summed: summed}
	u.st.Totals = append(u.st.Totals, t)
	if !t.Agrees() {
		u.problems.Add(t.Row, "payout %s is %s, its transactions sum up to %s: some are missing or doubled. Pull again, and ask Stripe if it stays", p.ID, stated, summed)
	}
	return nil
}
