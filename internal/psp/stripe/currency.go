package stripe

import "strings"

// Stripe's exponents differ from ISO 4217 (providers.md §2.1): amounts are in the currency's smallest unit as Stripe counts it. This is
// the one place that knows them: webhooks, the API and the report files use it.
const (
	zeroDecimal  = " BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF "
	threeDecimal = " BHD JOD KWD OMR TND "
	// hundredsOnly are sent with two decimals that must be 00, although they have none.
	hundredsOnly = " ISK UGX "
)

// CurrencyCode is the upper case of a code of three letters, as Stripe writes it in lower case; false for anything else.
func CurrencyCode(currency string) (code string, ok bool) {
	if len(currency) != 3 {
		return "", false
	}
	for i := range len(currency) {
		if c := currency[i] | 0x20; c < 'a' || c > 'z' {
			return "", false
		}
	}
	return strings.ToUpper(currency), true
}

// Exponent is the number of decimal places in which Stripe counts a currency's minor units; false where
// the code is not three letters. Stripe's rule is two for every currency that its page does not list
// (providers.md §2.1), so a code that no bank knows gives two as well.
func Exponent(currency string) (places int, ok bool) {
	code, ok := CurrencyCode(currency)
	switch {
	case !ok:
		return 0, false
	case in(zeroDecimal, code):
		return 0, true
	case in(threeDecimal, code):
		return 3, true
	}
	return 2, true
}

// HundredsOnly tells that a client's payment in the currency is counted with two decimals which must be 00 (ISK and UGX, providers.md §2.1).
func HundredsOnly(currency string) bool {
	code, ok := CurrencyCode(currency)
	return ok && in(hundredsOnly, code)
}

func in(list, code string) bool { return strings.Contains(list, " "+code+" ") }
