package report

import (
	"maps"
	"math/big"
	"slices"
	"strings"

	"creditonce/credit"
)

// sums adds amounts up by currency. Amounts of one currency may have different exponents: the sum has the largest.
type sums map[string]credit.Amount

func (s sums) add(a credit.Amount) {
	if !a.IsSet() {
		return
	}
	s[a.Currency()] = plus(s[a.Currency()], a)
}

// list gives the sums that are not zero, by currency.
func (s sums) list() []credit.Amount {
	var out []credit.Amount
	for _, currency := range slices.Sorted(maps.Keys(s)) {
		if !s[currency].IsZero() {
			out = append(out, s[currency])
		}
	}
	return out
}

// plus adds two amounts of one currency in the larger exponent. Unset counts as nothing; what cannot be added gives an unset amount.
func plus(a, b credit.Amount) credit.Amount {
	exponent := max(a.Exponent(), b.Exponent())
	sum, err := scaled(a, exponent).Add(scaled(b, exponent))
	if err != nil {
		return credit.Amount{}
	}
	return sum
}

func minus(a, b credit.Amount) credit.Amount { return plus(a, b.Neg()) }

// scaled is the same money with more decimal places.
func scaled(a credit.Amount, exponent int) credit.Amount {
	if !a.IsSet() || a.Exponent() == exponent {
		return a
	}
	factor := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(exponent-a.Exponent())), nil)
	out, err := credit.NewAmount(factor.Mul(factor, a.Units()), a.Currency(), exponent)
	if err != nil {
		return credit.Amount{}
	}
	return out
}

func absolute(a credit.Amount) credit.Amount {
	if a.Sign() < 0 {
		return a.Neg()
	}
	return a
}

// figure writes an amount for reading: "1,250.00"; empty for none.
func figure(a credit.Amount) string {
	if !a.IsSet() {
		return ""
	}
	return grouped(a.Decimal())
}

// money writes an amount with its currency for reading: "1,250.00 USD"; empty for none.
func money(a credit.Amount) string {
	if !a.IsSet() {
		return ""
	}
	return figure(a) + " " + a.Currency()
}

// moneys are amounts of several currencies; empty when there are none.
func moneys(list []credit.Amount) string {
	texts := make([]string, len(list))
	for i, a := range list {
		texts[i] = money(a)
	}
	return strings.Join(texts, ", ")
}
