package paypal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"strings"
	"time"

	"creditonce/credit"
	psp "creditonce/internal/psp/paypal"
	"creditonce/recon"
)

// API is what a pull asks PayPal for; [psp.Client] is one.
type API interface {
	Transactions(ctx context.Context, account string, from, until time.Time, page func([]byte), take func(psp.Transaction) error) error
}

// Puller gets settlement lines from PayPal's transaction search. It is safe for concurrent use.
type Puller struct {
	api     API
	options recon.ReadOptions
}

// NewPuller takes what the config knows about the provider. Its Merchant, else the account of its Provider, is the merchant account id that
// PayPal's answers must name.
func NewPuller(api API, o recon.ReadOptions) *Puller { return &Puller{api: api, options: o} }

// Pull hands emit a line for every transaction that changed the account's balance from from on and before until (whole seconds), with the
// natural keys of the settlement report files. A transaction that is pending or denied is kept as unknown and named as a problem: once it is
// settled, a pull of the same time gives its line.
//
// It returns nil only for a list that is complete; PayPal lists transactions up to three hours late, so a time that ended only just now ends it
// with an error. The digest covers the account, the time asked for and every answer as it came, in order; an equal pull gives equal lines, with
// Row as their position. Digest of the lines is left empty: it is known at the end only.
func (p *Puller) Pull(ctx context.Context, from, until time.Time, emit func(recon.Line) error) (recon.Statement, error) {
	from, until = from.UTC(), until.UTC()
	if !from.Before(until) || from.Nanosecond() != 0 || until.Nanosecond() != 0 {
		return recon.Statement{}, fmt.Errorf("pull %s of paypal: from %s until %s is no time in whole seconds: %w", p.options.Provider.Label, from, until, credit.ErrInvalid)
	}
	account := p.options.Merchant
	if account == "" {
		account = p.options.Provider.Account
	}
	u := &pull{
		options: p.options, emit: emit, digest: sha256.New(),
		st: recon.Statement{Name: "api", Provider: p.options.Provider, Format: "paypal-api", From: from, Until: until, Consecutive: true},
	}
	_, _ = fmt.Fprintf(u.digest, "paypal api %s %s %s\n", account, from.Format(time.RFC3339), until.Format(time.RFC3339))
	err := p.api.Transactions(ctx, account, from, until, func(body []byte) { _, _ = u.digest.Write(body) }, u.take)
	if err != nil {
		var own taken
		if errors.As(err, &own) {
			return recon.Statement{}, own.error
		}
		return recon.Statement{}, fmt.Errorf("pull %s of paypal: %w", p.options.Provider.Label, err)
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
	options  recon.ReadOptions
	emit     func(recon.Line) error
	digest   hash.Hash
	st       recon.Statement
	problems recon.Problems
}

// take makes the line of a transaction and hands it over.
func (u *pull) take(t psp.Transaction) error {
	l := recon.Line{Provider: u.options.Provider, Row: u.st.Rows + 1, Word: t.Event, Movement: t.ID, Code: t.Custom, At: t.Initiated, SettledAt: t.Updated}
	if l.Code == "" {
		l.Code = t.Invoice
	}
	if t.Status != "S" {
		l.SettledAt = time.Time{} // what changed it last was no settlement
	}
	if err := price(t, &l); err != nil {
		return fmt.Errorf("transaction %s: %w", t.ID, err)
	}
	u.judge(t, &l)
	if err := u.emit(l); err != nil {
		return taken{err}
	}
	u.st.Rows++
	return nil
}

// price reads gross and fee; net is their sum. Every currency has two decimal places, as in the files; the API gives JPY none, which is the
// same money.
func price(t psp.Transaction, l *recon.Line) (err error) {
	if l.Gross, err = amount(t.Amount); err != nil {
		return err
	}
	l.Net = l.Gross
	if t.Fee.Value == "" {
		return nil
	}
	if l.Fee, err = amount(t.Fee); err != nil {
		return err
	}
	if l.Fee.Currency() != l.Gross.Currency() {
		return fmt.Errorf("its fee is in %s, its amount in %s: no net can be computed; ask PayPal", l.Fee.Currency(), l.Gross.Currency())
	}
	l.Net, err = l.Gross.Add(l.Fee)
	return err
}

func amount(m psp.Money) (credit.Amount, error) {
	text := m.Value
	if body, negative := strings.CutPrefix(text, "-"); strings.HasPrefix(body, ".") {
		if text = "0" + body; negative {
			text = "-" + text
		}
	}
	return credit.ParseAmount(text, m.Currency, exponent)
}

// judge says what the transaction is, or doubts what contradicts itself, as the reader of the files does.
func (u *pull) judge(t psp.Transaction, l *recon.Line) {
	known := false
	if l.Type, known = lineType(l.Word, u.options.RowTypes); !known {
		u.problems.AddUnknown(l.Row, "transaction event code", l.Word)
		return
	}
	id, named := paymentID(l.Type, t.ID, t.Reference, t.ReferenceType)
	switch want := direction(l.Type); {
	case t.Status == "P":
		u.doubt(t, l, "is pending; pull its day again once PayPal has completed it")
	case t.Status == "D":
		u.doubt(t, l, "was denied; look it up at PayPal")
	case t.Status != "S" && t.Status != "V":
		u.doubt(t, l, "has a status that PayPal does not document; ask PayPal")
	case !named:
		u.doubt(t, l, "refers to no transaction; ask PayPal")
	case l.Gross.Sign()*want < 0:
		u.doubt(t, l, "moves money in the other direction than its code says; ask PayPal")
	}
	l.Payment = id
	l.Shape()
}

func (u *pull) doubt(t psp.Transaction, l *recon.Line, why string) {
	u.problems.Add(l.Row, "transaction %s with code %s (%s) %s: it counts nowhere", t.ID, l.Word, l.Type, why)
	l.Type = recon.LineUnknown
}
