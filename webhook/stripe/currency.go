package stripe

import (
	"errors"
	"math/big"
	"strings"

	"creditonce/credit"
	psp "creditonce/internal/psp/stripe"
)

var (
	errCurrency = errors.New("the currency is not three letters")
	errNumber   = errors.New("an amount is not an integer of at most 30 digits")
	errHundreds = errors.New("an amount in ISK or UGX does not end in 00")
)

// Exponent is the number of decimal places in which Stripe counts a currency's minor units, as [psp.Exponent] has it.
func Exponent(currency string) (places int, ok bool) { return psp.Exponent(currency) }

// amount reads the text of a JSON number in the currency's minor units.
func amount(number, currency string) (credit.Amount, error) {
	code, ok := psp.CurrencyCode(currency)
	if !ok {
		return credit.Amount{}, errCurrency
	}
	minor, err := integer(number)
	if err != nil {
		return credit.Amount{}, err
	}
	if psp.HundredsOnly(code) && new(big.Int).Rem(minor, big.NewInt(100)).Sign() != 0 {
		return credit.Amount{}, errHundreds
	}
	exponent, _ := psp.Exponent(code)
	return credit.NewAmount(minor, code, exponent)
}

// integer reads plain digits with at most one leading minus. JSON's other spellings of a number (1e3,
// 1.0) are refused, although some of them are whole.
func integer(number string) (*big.Int, error) {
	digits := strings.TrimPrefix(number, "-")
	if digits == "" || len(digits) > 30 {
		return nil, errNumber
	}
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return nil, errNumber
		}
	}
	n, ok := new(big.Int).SetString(number, 10)
	if !ok {
		return nil, errNumber
	}
	return n, nil
}
