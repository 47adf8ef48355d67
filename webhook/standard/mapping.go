package standard

import (
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"creditonce/credit"
)

// effect is what a type of message means.
type effect int

const (
	ignored effect = iota
	paid
	refund
	dispute
)

// lastSecond ends the year 9999: later times cannot be written as RFC 3339, so an event with one could not be stored,
// and the sender would deliver it for ever.
const lastSecond = 253402300799

var (
	errNotUTF8 = errors.New("the body is not valid UTF-8")
	errNotJSON = errors.New("the body is not one JSON object")
)

// read reads a body by the rules. An error says which member is missing or odd, never what it holds.
func (r rules) read(body []byte) (credit.Facts, error) {
	var f credit.Facts
	if !utf8.Valid(body) {
		return f, errNotUTF8
	}
	tree, err := parse(body)
	if err != nil {
		return f, err
	}
	if f.Type, err = tree.text(r.Type); err != nil {
		return f, err
	}
	if f.OccurredAt, err = tree.moment(r.OccurredAt); err != nil {
		return f, err
	}
	if f.Live = r.Live; r.Livemode != "" {
		if f.Live, err = tree.flag(r.Livemode); err != nil {
			return f, err
		}
	}
	if f.Merchant, err = tree.optionalText(r.Merchant); err != nil {
		return f, err
	}
	meaning, known := r.meaning[f.Type]
	if !known {
		f.Effect = credit.EffectUnknown
		return f, nil
	}
	if f.Status, err = tree.optionalText(r.Status); err != nil {
		return f, err
	}
	switch meaning {
	case paid:
		err = r.paid(tree, &f)
	case refund:
		err = r.reversal(tree, r.Refund, credit.EffectRefund, &f)
	case dispute:
		err = r.reversal(tree, r.Dispute, credit.EffectDispute, &f)
	case ignored:
		f.Effect = credit.EffectNone
	}
	return f, err
}

// paid reads a message that says that money was received. Its amount is above zero: what a sender with another sign
// means is not for us to say.
func (r rules) paid(t tree, f *credit.Facts) (err error) {
	var part credit.Part
	if f.Payment, err = t.id(r.Paid.Payment); err != nil {
		return err
	}
	if r.Paid.Part != "" {
		if part.ID, err = t.id(r.Paid.Part); err != nil {
			return err
		}
	}
	if part.Amount, err = r.amount(t, r.Paid.Amount, r.Paid.Currency); err != nil {
		return err
	}
	if part.Amount.Sign() <= 0 {
		return fmt.Errorf("%s is not above zero", r.Paid.Amount)
	}
	there, err := t.has(r.Paid.Code)
	if err != nil {
		return err
	}
	if there {
		if f.Code, err = t.text(r.Paid.Code); err != nil {
			return err
		}
	}
	f.Effect, f.Parts = credit.EffectPaid, []credit.Part{part}
	return nil
}

func (r rules) reversal(t tree, from Reversal, effect credit.Effect, f *credit.Facts) (err error) {
	if f.Payment, err = t.id(from.Payment); err != nil {
		return err
	}
	if from.Movement != "" {
		if f.Movement, err = t.id(from.Movement); err != nil {
			return err
		}
	}
	f.Effect = effect
	if from.Amount == "" {
		return nil
	}
	if moved, err := r.amount(t, from.Amount, from.Currency); err == nil {
		f.Moved = moved
	}
	return nil
}

// amount reads an amount in the form that the configuration states.
func (r rules) amount(t tree, at, currencyAt Path) (credit.Amount, error) {
	name, err := t.text(currencyAt)
	if err != nil {
		return credit.Amount{}, err
	}
	currency, exponent, ok := Currency(r.Exponents, name)
	if !ok {
		return credit.Amount{}, fmt.Errorf("%s is neither a currency of ISO 4217 nor one whose exponent the configuration names", currencyAt)
	}
	if r.AmountIs == Minor {
		digits, err := t.integer(at)
		if err != nil {
			return credit.Amount{}, err
		}
		a, err := credit.ParseAmount(digits, currency, 0)
		if err != nil {
			return credit.Amount{}, fmt.Errorf("%s is not an integer of minor units", at)
		}
		return credit.NewAmount(a.Units(), currency, exponent)
	}
	text, err := t.text(at)
	if err != nil {
		return credit.Amount{}, err
	}
	a, err := credit.ParseAmount(text, currency, exponent)
	if err != nil {
		return credit.Amount{}, fmt.Errorf("%s is not a plain decimal with at most %d places", at, exponent)
	}
	return a, nil
}

// moment reads a time: Unix seconds where the member is a number, RFC 3339 where it is a text. Milliseconds lie beyond
// the year 9999 and are refused.
func (t tree) moment(p Path) (time.Time, error) {
	odd := fmt.Errorf("%s is neither a time in Unix seconds nor one by RFC 3339", p)
	raw, err := t.need(p)
	if err != nil {
		return time.Time{}, err
	}
	if raw[0] != '"' {
		seconds, ok := plainDigits(raw, lastSecond)
		if !ok {
			return time.Time{}, odd
		}
		return time.Unix(seconds, 0).UTC(), nil
	}
	text, err := t.text(p)
	if err != nil {
		return time.Time{}, err
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || at.Unix() < 0 || at.Unix() > lastSecond {
		return time.Time{}, odd
	}
	return at.UTC(), nil
}
