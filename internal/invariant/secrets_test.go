package invariant

import "testing"

func TestCardNumber_IsSeenInAnyTextAndNotInsideOfAnId(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`"number":"4242424242424242"`:                      true,
		"card4242424242424242expired":                      true,
		"a4242424242424242":                                true, // no longer than a card number with a letter or two
		`"process":"1aeddeb686902259040713acf73543be"`:     false,
		`"digest":"00ffcafe4242424242424242beefbeefbeef"`:  false,
		"4242424242424241":                                 false, // fails Luhn's check
		"ticket 4294968137 of 1796063071584366475 seconds": false,
	} {
		if got := cardNumber(text); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}
