package mapped

import (
	"slices"
	"strings"

	"creditonce/credit"
	"creditonce/recon"
)

// money is a currency and how many decimals it is counted in.
type money struct {
	currency string
	exponent int
}

// moneys are those of gross and of net in this row.
func (f *file) moneys(r recon.Record) (paid, got money, err error) {
	if paid, err = f.money(r, f.config.Currency); err != nil {
		return money{}, money{}, err
	}
	got, err = f.money(r, f.config.NetCurrency)
	return paid, got, err
}

func (f *file) money(r recon.Record, c Currency) (money, error) {
	code := c.Fixed
	if code == "" {
		word := strings.TrimSpace(r.Text(c.Column))
		named, ok := c.Names[word]
		if code = named; !ok {
			code = strings.Clone(capitals(word))
		}
	}
	exponent, known := f.options.Exponent(code)
	if !known {
		return money{}, r.Fail("has the currency %q, whose decimals are not known: name them in settlement.exponents, or translate the word in currency.names", clip(code))
	}
	if f.config.Unit == unitHundredths {
		exponent = 2
	}
	return money{code, exponent}, nil
}

// capitals turns a to z into capitals; Unicode knows other letters whose capital is one of A to Z.
func capitals(word string) string {
	return strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' {
			return c - 'a' + 'A'
		}
		return c
	}, word)
}

// number reads one column in the config's unit, without judging its sign.
func (f *file) number(r recon.Record, column string, m money) (credit.Amount, error) {
	if f.config.Unit != unitMinor && f.config.Unit != unitHundredths {
		return r.Amount(column, m.currency, m.exponent)
	}
	whole, err := r.Amount(column, m.currency, 0)
	if err != nil {
		return credit.Amount{}, err
	}
	a, err := credit.NewAmount(whole.Units(), m.currency, m.exponent)
	if err != nil {
		return credit.Amount{}, r.Fail("column %q: %s", column, err)
	}
	return a, nil
}

// amount reads an amount with its direction: to the firm is positive.
func (f *file) amount(r recon.Record, a Amount, m money, t recon.LineType) (credit.Amount, error) {
	if a.Column == "" {
		return f.pair(r, a, m, false)
	}
	read, err := f.number(r, a.Column, m)
	if err != nil {
		return credit.Amount{}, err
	}
	switch a.Sign {
	case signReversed:
		return read.Neg(), nil
	case signType:
		return f.unsigned(r, a.Column, read, directions[t])
	case signDirected:
		word := strings.TrimSpace(r.Text(a.Direction))
		switch {
		case slices.Contains(a.In, word):
			return f.unsigned(r, a.Column, read, 1)
		case slices.Contains(a.Out, word):
			return f.unsigned(r, a.Column, read, -1)
		}
		return credit.Amount{}, r.Fail("column %q has the word %q, which is neither in nor out in the config: add it there", a.Direction, clip(word))
	}
	return read, nil
}

// unsigned gives a number its direction. A number that has a sign already is of another export than the config describes.
func (f *file) unsigned(r recon.Record, column string, read credit.Amount, to int) (credit.Amount, error) {
	switch {
	case read.Sign() < 0:
		return credit.Amount{}, r.Fail("column %q has a sign, and the config says that it has none: correct its sign there", column)
	case to < 0:
		return read.Neg(), nil
	}
	return read, nil // also of rows whose type nobody knows: they count nowhere
}

// pair reads a credit and a debit column, of which one is empty or zero; both may be filled in a totals row.
func (f *file) pair(r recon.Record, a Amount, m money, both bool) (credit.Amount, error) {
	var sides [2]credit.Amount
	for i, column := range []string{a.Credit, a.Debit} {
		if strings.TrimSpace(r.Text(column)) == "" {
			continue
		}
		read, err := f.number(r, column, m)
		if err != nil {
			return credit.Amount{}, err
		}
		if sides[i], err = f.unsigned(r, column, read, 1); err != nil {
			return credit.Amount{}, err
		}
	}
	in, out := sides[0], sides[1].Neg()
	switch {
	case !in.IsSet() && !out.IsSet():
		return credit.Amount{}, r.Fail("has neither an amount in %q nor in %q", a.Credit, a.Debit)
	case !in.IsZero() && !out.IsZero() && !both:
		return credit.Amount{}, r.Fail("has an amount in %q and in %q: nobody can say which one holds", a.Credit, a.Debit)
	}
	sum, err := in.Add(out)
	if err != nil {
		return credit.Amount{}, r.Fail("cannot be added up: %s", err)
	}
	return sum, nil
}

// fee is the sum of the fee columns; an empty one is none. Not set where the config has none.
func (f *file) fee(r recon.Record, m money) (credit.Amount, error) {
	var sum credit.Amount
	for _, fee := range f.config.Fees {
		if strings.TrimSpace(r.Text(fee.Column)) == "" {
			continue
		}
		read, err := f.number(r, fee.Column, m)
		if err != nil {
			return credit.Amount{}, err
		}
		if fee.Sign != signSigned {
			read = read.Neg()
		}
		if sum, err = sum.Add(read); err != nil {
			return credit.Amount{}, r.Fail("cannot be added up: %s", err)
		}
	}
	return sum, nil
}

// clip keeps outside text in messages short.
func clip(word string) string {
	const most = 40
	if len(word) > most {
		return strings.ToValidUTF8(word[:most], "") + "…"
	}
	return word
}
