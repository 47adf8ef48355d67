package stripe_test

import (
	"testing"

	"creditonce/internal/psp/stripe"
)

func TestExponentIsStripesOwn(t *testing.T) {
	t.Parallel()
	for currency, want := range map[string]int{"USD": 2, "eur": 2, "JPY": 0, "xof": 0, "KWD": 3, "omr": 3, "ISK": 2, "UGX": 2, "HUF": 2, "TWD": 2} {
		if got, ok := stripe.Exponent(currency); got != want || !ok {
			t.Errorf("Exponent(%q) = %d, %v; want %d", currency, got, ok, want)
		}
	}
	for _, currency := range []string{"", "US", "USDT", "U D", "€", "12A"} {
		if places, ok := stripe.Exponent(currency); ok {
			t.Errorf("Exponent(%q) = %d, want none", currency, places)
		}
		if code, ok := stripe.CurrencyCode(currency); ok {
			t.Errorf("CurrencyCode(%q) = %q, want none", currency, code)
		}
	}
	for currency, want := range map[string]bool{"isk": true, "UGX": true, "JPY": false, "USD": false, "": false} {
		if got := stripe.HundredsOnly(currency); got != want {
			t.Errorf("HundredsOnly(%q) = %v", currency, got)
		}
	}
}
