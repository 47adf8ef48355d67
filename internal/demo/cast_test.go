package demo

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

func TestDeposits_AreDistinctAndConvertedWithinOneMinorUnit(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	c := newCaster(rand.New(rand.NewPCG(seed, 0)))
	seen := map[string]bool{}
	for i := range 500 {
		a := accountAt(i % accountCount)
		d := c.next(a)
		key := d.credited.String() + d.credited.currency
		if seen[key] || d.index != i || d.login != a.login || d.credited.currency != a.currency || d.paid.minor <= 0 {
			t.Fatalf("deposit %+v", d)
		}
		seen[key] = true
		rate := d.rate
		if rate == "" {
			rate = "1"
			if d.paid != d.credited {
				t.Fatalf("without a rate %s %s becomes %s %s", d.paid, d.paid.currency, d.credited, d.credited.currency)
			}
		}
		diff := new(big.Rat).Mul(rat(t, d.paid.String()), rat(t, rate))
		diff.Sub(diff, rat(t, d.credited.String())).Abs(diff)
		if diff.Cmp(big.NewRat(1, scale(a.digits))) > 0 {
			t.Fatalf("%s %s at %s becomes %s %s", d.paid, d.paid.currency, rate, d.credited, d.credited.currency)
		}
	}
}

func rat(t *testing.T, text string) *big.Rat {
	t.Helper()
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatalf("%q is no number", text)
	}
	return r
}

func TestMoney_IsWrittenWithItsDigits(t *testing.T) {
	t.Parallel()
	for want, m := range map[string]money{
		"0.05": {5, "USD", 2}, "-1.20": {-120, "USD", 2}, "1085": {1085, "JPY", 0}, "1.0850": {10850, "", 4},
	} {
		if got := m.String(); got != want {
			t.Errorf("%+v is written %s, want %s", m, got, want)
		}
	}
}
