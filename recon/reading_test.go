package recon_test

import (
	"testing"

	"creditonce/credit"
	"creditonce/recon"
)

func parsed(t *testing.T, text, currency string, exponent int) credit.Amount {
	t.Helper()
	a, err := credit.ParseAmount(text, currency, exponent)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestOnlyASmallRestIsRounding(t *testing.T) {
	t.Parallel()
	limit := map[string]credit.Amount{"USD": parsed(t, "0.05", "USD", 2)}
	for name, c := range map[string]struct {
		stated, summed, currency string
		options                  recon.ReadOptions
		rest                     string // "" : none
		agrees                   bool
	}{
		"equal":                             {"10.00", "10.00", "USD", recon.ReadOptions{}, "", true},
		"one cent":                          {"10.01", "10.00", "USD", recon.ReadOptions{}, "0.010000", true},
		"one cent the other way":            {"10.00", "10.01", "USD", recon.ReadOptions{}, "-0.010000", true},
		"two cents":                         {"10.02", "10.00", "USD", recon.ReadOptions{}, "0.020000", true},
		"more than two cents":               {"10.020001", "10.00", "USD", recon.ReadOptions{}, "", false},
		"the config's limit":                {"10.05", "10.00", "USD", recon.ReadOptions{Rounding: limit}, "0.050000", true},
		"over the config's limit":           {"10.06", "10.00", "USD", recon.ReadOptions{Rounding: limit}, "", false},
		"two yen":                           {"1002", "1000", "JPY", recon.ReadOptions{}, "2.000000", true},
		"a currency that nobody knows":      {"10.000001", "10.00", "XTOK", recon.ReadOptions{}, "", false},
		"a currency that the config counts": {"10.000002", "10.00", "XTOK", recon.ReadOptions{Exponents: map[string]int{"XTOK": 6}}, "0.000002", true},
	} {
		got := c.options.BookRest(recon.StatedTotal{Stated: parsed(t, c.stated, c.currency, 6), Summed: parsed(t, c.summed, c.currency, 6)})
		if got.Agrees() != c.agrees || got.Rest.IsSet() != (c.rest != "") || c.rest != "" && got.Rest.Decimal() != c.rest {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestShortKeepsTheValue(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"80.000000": "80.00", "-0.057909": "-0.057909", "1.230000": "1.23", "1.234000": "1.234", "0": "0.00"} {
		a := parsed(t, text, "USD", 6)
		if got := recon.Short(a, 2); got.Decimal() != want || !got.Equal(a) {
			t.Errorf("Short(%s) = %s, want %s", text, got, want)
		}
	}
	if got := recon.Short(credit.Amount{}, 2); got.IsSet() {
		t.Error("no amount became one")
	}
}

func TestRowsOfTheAccountHaveNoGross(t *testing.T) {
	t.Parallel()
	a := parsed(t, "-5", "EUR", 2)
	for kind, gross := range map[recon.LineType]bool{
		recon.LinePayment: true, recon.LineRefund: true, recon.LineChargeback: true, recon.LineUnknown: true,
		recon.LineFee: false, recon.LinePayout: false, recon.LineReserve: false, recon.LineAdjustment: false, recon.LineConversion: false,
	} {
		line := recon.Line{Type: kind, Gross: a, Net: a}
		line.Shape()
		if line.Gross.IsSet() != gross || line.Fee.IsSet() != (kind == recon.LineFee) || !line.Net.Equal(a) {
			t.Errorf("%s: %+v", kind, line)
		}
	}
}
