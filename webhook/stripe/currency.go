package stripe

import (
	"errors"
	"math/big"
	"strings"

	"creditonce/credit"
)

// Stripe's exponents differ from ISO 4217 (providers.md §2.1): amounts are in the currency's smallest
// unit as Stripe counts it.
const (
	zeroDecimal  = " BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF "
	threeDecimal = " BHD JOD KWD OMR TND "
	// hundredsOnly are sent with two decimals that must be 00, although they have none.
	hundredsOnly = " ISK UGX "
)

var (
	errCurrency = errors.New("the currency is not three letters")
	errNumber   = errors.New("an amount is not an integer of at most 30 digits")
	errHundreds = errors.New("an amount in ISK or UGX does not end in 00")
)

// Exponent is the number of decimal places in which Stripe counts a currency's minor units; false where
// the code is not three letters. Stripe's rule is two for every currency that its page does not list
// (providers.md §2.1), so a code that no bank knows gives two as well.
func Exponent(currency string) (places int, ok bool) {
	code, err := currencyCode(currency)
	switch {
	case err != nil:
		return 0, false
	case in(zeroDecimal, code):
		return 0, true
	case in(threeDecimal, code):
		return 3, true
	}
	return 2, true
}

// amount reads the text of a JSON number in the currency's minor units.
func amount(number, currency string) (credit.Amount, error) {
	code, err := currencyCode(currency)
	if err != nil {
		return credit.Amount{}, err
	}
	minor, err := integer(number)
	if err != nil {
		return credit.Amount{}, err
	}
	if in(hundredsOnly, code) && new(big.Int).Rem(minor, big.NewInt(100)).Sign() != 0 {
		return credit.Amount{}, errHundreds
	}
	exponent, _ := Exponent(code)
	return credit.NewAmount(minor, code, exponent)
}

func in(list, code string) bool { return strings.Contains(list, " "+code+" ") }

func currencyCode(currency string) (string, error) {
	if len(currency) != 3 {
		return "", errCurrency
	}
	for i := range len(currency) {
		if c := currency[i] | 0x20; c < 'a' || c > 'z' {
			return "", errCurrency
		}
	}
	return strings.ToUpper(currency), nil
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
