package mt5

import (
	"math/big"
	"strings"
	"testing"
)

func TestH39_DealAmountIsExactOrRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text   string
		digits int
		want   string // "" for a refusal
	}{
		{"26000.00", 2, "26000.00 USD"}, {"26000", 2, "26000.00 USD"}, {"-0.05", 2, "-0.05 USD"}, {"500.00000000", 2, "500.00 USD"},
		{"500.5", 2, "500.50 USD"}, {"500.00", 0, "500 USD"}, {"0.123456", 2, "0.123456 USD"}, {"0.1230", 2, "0.123 USD"}, {"-0.00", 2, "0.00 USD"},
		{"", 2, ""}, {"1e3", 2, ""}, {"1,00", 2, ""}, {"NaN", 2, ""}, {"+5", 2, ""}, {".5", 2, ""}, {"5.", 2, ""}, {" 5", 2, ""}, {"--5", 2, ""},
		{"1.2.3", 2, ""}, {"0." + strings.Repeat("0", 30) + "1", 2, ""}, {strings.Repeat("9", 60), 2, ""}, {"5.x", 0, ""}, {"5.00x", 2, ""},
	} {
		got, err := dealAmount(c.text, "USD", c.digits)
		if (err == nil) != (c.want != "") || err == nil && got.String() != c.want {
			t.Errorf("%q with %d digits: %s %v, want %q", c.text, c.digits, got, err, c.want)
		}
	}
}

func FuzzDealAmount(f *testing.F) {
	for _, s := range []string{"26000.00", "-0.05", "1e3", "0.1230", ".", "-", "5.", "0.0000000000000000001", "00.10", ""} {
		f.Add(s, uint8(2))
	}
	f.Fuzz(func(t *testing.T, text string, digits uint8) {
		got, err := dealAmount(text, "USD", int(digits%19))
		if err != nil {
			return
		}
		want, ok := new(big.Rat).SetString(text)
		value, _ := new(big.Rat).SetString(got.Decimal())
		if !ok || want.Cmp(value) != 0 {
			t.Fatalf("%q was read as %s", text, got)
		}
		if got.Exponent() < int(digits%19) {
			t.Fatalf("%q with %d digits got an exponent of %d", text, digits%19, got.Exponent())
		}
	})
}
