package month

import (
	"fmt"
	"math/big"

	"creditonce/credit"
)

// fine is the number of decimal places in which the books count: no currency of the month has more.
const fine = 18

// coin is a currency with the decimal places of its minor unit.
type coin struct {
	code   string
	places int
}

// The currencies of the month: one without decimal places, one of a chain.
var (
	euro   = coin{"EUR", 2}
	dollar = coin{"USD", 2}
	yen    = coin{"JPY", 0}
	reais  = coin{"BRL", 2}
	ether  = coin{"ETH", 18}
)

// amount is so many minor units of the coin.
func (c coin) amount(minor int64) credit.Amount { return written(big.NewInt(minor), c.code, c.places) }

// written makes an amount that is known to be well formed: a panic here is a mistake of this package.
func written(minor *big.Int, code string, places int) credit.Amount {
	a, err := credit.NewAmount(minor, code, places)
	if err != nil {
		panic(fmt.Sprintf("the month made an amount that is none: %v", err))
	}
	return a
}

// power is 10 to the n.
func power(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// exact is so many minor units of the coin in the units of the books.
func (c coin) exact(minor int64) *big.Int {
	return new(big.Int).Mul(big.NewInt(minor), power(fine-c.places))
}

// Exact is an amount of any exponent in 10^-18 of its currency: what the books of the month count in. An unset amount is 0.
func Exact(a credit.Amount) *big.Int {
	return new(big.Int).Mul(a.Units(), power(fine-a.Exponent()))
}

// rates are what one unit of a currency is worth in millionths of a dollar.
var rates = map[string]int64{"USD": 1_000_000, "EUR": 1_083_000, "JPY": 6_711, "BRL": 174_350, "ETH": 2_611_700_000}

// exchange converts minor units of one coin into minor units of another, rounded down.
func exchange(minor int64, from, to coin) int64 {
	if from.code == to.code {
		return new(big.Int).Div(new(big.Int).Mul(from.exact(minor), power(to.places)), power(fine)).Int64()
	}
	v := new(big.Int).Mul(from.exact(minor), big.NewInt(rates[from.code]))
	v.Mul(v, power(to.places))
	v.Div(v, big.NewInt(rates[to.code]))
	return v.Div(v, power(fine)).Int64()
}
