package recon

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"

	"creditonce/credit"
)

// money is an amount as the comparison counts with it: an integer of minor units that needs no memory of its own while it fits 64 bits.
// Nothing is rounded: two exponents meet in the finer one. The zero value is "no amount".
type money struct {
	small    int64
	big      *big.Int // instead of small where that does not hold it; never changed
	currency string
	exponent int
	set      bool
}

// moneyOf takes an amount over as it is.
func moneyOf(a credit.Amount) money {
	if !a.IsSet() {
		return money{}
	}
	m := money{currency: a.Currency(), exponent: a.Exponent(), set: true}
	return m.with(a.Units())
}

// with is m with another value, which m may keep.
func (m money) with(units *big.Int) money {
	if units.IsInt64() {
		m.small, m.big = units.Int64(), nil
	} else {
		m.small, m.big = 0, units
	}
	return m
}

// amount makes it an amount again; an error where it has more than 40 digits.
func (m money) amount() (credit.Amount, error) {
	switch {
	case !m.set:
		return credit.Amount{}, nil
	case m.big != nil:
		return credit.NewAmount(m.big, m.currency, m.exponent)
	}
	return credit.Minor(m.small, m.currency, m.exponent)
}

func (m money) units() *big.Int {
	if m.big != nil {
		return m.big
	}
	return big.NewInt(m.small)
}

func (m money) sign() int {
	switch {
	case m.big != nil:
		return m.big.Sign()
	case m.small > 0:
		return 1
	case m.small < 0:
		return -1
	}
	return 0
}

func (m money) neg() money {
	if m.big == nil && m.small != math.MinInt64 {
		m.small = -m.small
		return m
	}
	return m.with(new(big.Int).Neg(m.units()))
}

func (m money) abs() money {
	if m.sign() < 0 {
		return m.neg()
	}
	return m
}

var powers = [...]int64{
	1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000, 10_000_000_000, 100_000_000_000, 1_000_000_000_000,
	10_000_000_000_000, 100_000_000_000_000, 1_000_000_000_000_000, 10_000_000_000_000_000, 100_000_000_000_000_000, 1_000_000_000_000_000_000,
}

// finer is the same value with at least so many decimal places.
func (m money) finer(exponent int) money {
	by := exponent - m.exponent
	if by <= 0 {
		return m
	}
	m.exponent = exponent
	if m.big == nil && by < len(powers) {
		hi, lo := bits.Mul64(magnitude(m.small), uint64(powers[by]))
		if hi == 0 && lo <= math.MaxInt64 {
			m.small *= powers[by]
			return m
		}
	}
	return m.with(new(big.Int).Mul(m.units(), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(by)), nil)))
}

func magnitude(v int64) uint64 {
	if v < 0 {
		return -uint64(v)
	}
	return uint64(v)
}

// plus adds amounts of one currency, in the finer exponent; one that is not set adds nothing. Two currencies are a mistake of this package.
func (m money) plus(o money) money {
	switch {
	case !o.set:
		return m
	case !m.set:
		return o
	case m.currency != o.currency:
		panic(fmt.Sprintf("recon: add %s and %s", m.currency, o.currency))
	}
	m, o = m.finer(o.exponent), o.finer(m.exponent)
	if m.big == nil && o.big == nil {
		if sum := m.small + o.small; (sum > m.small) == (o.small > 0) {
			m.small = sum
			return m
		}
	}
	return m.with(new(big.Int).Add(m.units(), o.units()))
}

func (m money) minus(o money) money { return m.plus(o.neg()) }

// same tells that both are set and the same money, whatever their exponents.
func (m money) same(o money) bool {
	return m.set && o.set && m.currency == o.currency && m.minus(o).sign() == 0
}

// within tells that m is no further from zero than limit; a limit that is not set allows zero only.
func (m money) within(limit money) bool {
	if m.sign() == 0 {
		return true
	}
	return limit.set && limit.minus(m.abs()).sign() >= 0
}

// String is for people: "500.00 USD". An amount beyond what an Amount holds is named as such.
func (m money) String() string {
	a, err := m.amount()
	if err != nil {
		return "an amount of more than 40 digits"
	}
	return a.String()
}

// sums adds up money by currency, in the order in which the currencies first came. It is for the few amounts of one item.
type sums []money

func (s *sums) add(m money) {
	if !m.set {
		return
	}
	for i := range *s {
		if (*s)[i].currency == m.currency {
			(*s)[i] = (*s)[i].plus(m)
			return
		}
	}
	*s = append(*s, m)
}

// of is the sum in a currency; not set where nothing in it came.
func (s sums) of(currency string) money {
	for _, m := range s {
		if m.currency == currency {
			return m
		}
	}
	return money{}
}

func (s sums) String() string {
	if len(s) == 0 {
		return "nothing"
	}
	text := s[0].String()
	for _, m := range s[1:] {
		text += " and " + m.String()
	}
	return text
}
