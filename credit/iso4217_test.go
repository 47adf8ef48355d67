package credit_test

import (
	"testing"

	"creditonce/credit"
)

func TestISOExponentKnowsActiveCodesAlone(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]int{"USD": 2, "JPY": 0, "ISK": 0, "UGX": 0, "KWD": 3, "CLF": 4, "ZWG": 2, "AED": 2} {
		if got, ok := credit.ISOExponent(code); got != want || !ok {
			t.Errorf("ISOExponent(%q) = %d, %v; want %d", code, got, ok, want)
		}
	}
	for _, code := range []string{"", "usd", "USDT", "XXX", "HRK", "D E", " US", "   "} {
		if got, ok := credit.ISOExponent(code); ok {
			t.Errorf("ISOExponent(%q) = %d, want none", code, got)
		}
	}
}
