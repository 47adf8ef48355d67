package credit

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

func TestH39_ParseAmountIsExact(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text     string
		exponent int
		minor    string
		decimal  string
	}{
		{"500", 2, "50000", "500.00"},
		{"500.00", 2, "50000", "500.00"},
		{"0.05", 2, "5", "0.05"},
		{"-12.5", 2, "-1250", "-12.50"},
		{"-0.05", 2, "-5", "-0.05"},
		{"0", 2, "0", "0.00"},
		{"-0", 2, "0", "0.00"},
		{"007.10", 2, "710", "7.10"},
		{"500", 0, "500", "500"},
		{"1.234", 3, "1234", "1.234"},
		{"0.00000001", 8, "1", "0.00000001"},
		{"1.000000000000000001", 18, "1000000000000000001", "1.000000000000000001"},
		{"9007199254740993", 2, "900719925474099300", "9007199254740993.00"},
		{"9999999999999999999999.999999999999999999", 18, strings.Repeat("9", 40), "9999999999999999999999.999999999999999999"},
	} {
		a, err := ParseAmount(c.text, "USD", c.exponent)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if a.Units().String() != c.minor || a.Decimal() != c.decimal || a.Exponent() != c.exponent {
			t.Errorf("%q: %s minor units, %s; want %s, %s", c.text, a.Units(), a.Decimal(), c.minor, c.decimal)
		}
	}
}

func TestParseAmount_RefusesWhatIsNotAPlainDecimal(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", " ", "-", ".", "-.", "+5", "--5", "5-", " 5", "5 ", "5\n", "\t5", "1e3", "1E3", "5.0e0", "0x10", "0b1", "1_000",
		"1,000", "1.000,00", "5.", ".5", "-.5", "5.0.0", "NaN", "Inf", "-Inf", "infinity", "٥", "５", "5\x00", "½", "five",
		"1.005", "0.001", // more places than the currency has, never rounded
		strings.Repeat("9", 39), strings.Repeat("9", 100), "1" + strings.Repeat("0", 1<<20),
	} {
		if a, err := ParseAmount(text, "USD", 2); !errors.Is(err, ErrInvalid) {
			t.Errorf("%.40q: %v, %v; want ErrInvalid", text, a, err)
		} else if len(err.Error()) > 200 {
			t.Errorf("%.40q: a message of %d bytes", text, len(err.Error()))
		}
	}
}

func TestNewAmount_RefusesOddCurrenciesAndExponents(t *testing.T) {
	t.Parallel()
	for _, currency := range []string{"", "US", "usd", "US D", "USD ", "ÜSD", "ABCDEFGHIJKLM", "US\x00", "US-D"} {
		if _, err := Minor(1, currency, 2); !errors.Is(err, ErrInvalid) {
			t.Errorf("currency %q: %v", currency, err)
		}
	}
	for _, currency := range []string{"USD", "USC", "USDT", "1INCH", "ABCDEFGHIJKL"} {
		if _, err := Minor(1, currency, 2); err != nil {
			t.Errorf("currency %q: %v", currency, err)
		}
	}
	for _, exponent := range []int{-1, 19, 256, 258, 1 << 40, -1 << 40} {
		if _, err := Minor(1, "USD", exponent); !errors.Is(err, ErrInvalid) {
			t.Errorf("exponent %d: %v", exponent, err)
		}
		if _, err := ParseAmount("1", "USD", exponent); !errors.Is(err, ErrInvalid) {
			t.Errorf("parse with exponent %d: %v", exponent, err)
		}
	}
	if _, err := NewAmount(nil, "USD", 2); !errors.Is(err, ErrInvalid) {
		t.Errorf("no number: %v", err)
	}
	limit := new(big.Int).Exp(big.NewInt(10), big.NewInt(40), nil)
	for _, n := range []*big.Int{limit, new(big.Int).Neg(limit), new(big.Int).Lsh(limit, 100000)} {
		if _, err := NewAmount(n, "USD", 2); !errors.Is(err, ErrInvalid) {
			t.Errorf("41 digits pass: %v", err)
		}
	}
	if _, err := NewAmount(new(big.Int).Sub(limit, big.NewInt(1)), "USD", 2); err != nil {
		t.Errorf("40 digits: %v", err)
	}
}

func TestAmount_IsImmutable(t *testing.T) {
	t.Parallel()
	n := big.NewInt(5)
	a := must(NewAmount(n, "USD", 2))
	n.SetInt64(9)
	a.Units().SetInt64(9)
	a.Neg()
	if _, err := a.Add(usd(1)); err != nil {
		t.Fatal(err)
	}
	if !a.Equal(usd(5)) {
		t.Errorf("amount became %s", a)
	}
}

func TestAmount_EqualAndCmpAcrossExponents(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b  Amount
		equal bool
		cmp   int
	}{
		{amount("5", "USD", 0), amount("5.00", "USD", 2), true, 0},
		{amount("5.00", "USD", 2), amount("5.00000000", "USD", 8), true, 0},
		{amount("5.00", "USD", 2), amount("5.01", "USD", 2), false, -1},
		{amount("5.000000000000000001", "ETH", 18), amount("5.00000000", "ETH", 8), false, 1},
		{amount("-5", "USD", 0), amount("5.00", "USD", 2), false, -1},
		{amount("0", "USD", 0), amount("0.00", "USD", 2), true, 0},
	} {
		got, err := c.a.Cmp(c.b)
		if c.a.Equal(c.b) != c.equal || c.b.Equal(c.a) != c.equal || got != c.cmp || err != nil {
			t.Errorf("%s and %s: equal %v, cmp %d, %v; want %v, %d", c.a, c.b, c.a.Equal(c.b), got, err, c.equal, c.cmp)
		}
	}
	for _, pair := range [][2]Amount{{usd(5), amount("0.05", "EUR", 2)}, {usd(0), {}}, {{}, usd(0)}, {{}, {}}} {
		if _, err := pair[0].Cmp(pair[1]); pair[0].Equal(pair[1]) || !errors.Is(err, ErrInvalid) {
			t.Errorf("%s and %s can be compared: %v", pair[0], pair[1], err)
		}
	}
}

func TestAmount_AddRefusesToConvertAndTakesUnsetAsNothing(t *testing.T) {
	t.Parallel()
	var none Amount
	for _, c := range [][3]Amount{{usd(5), usd(7), usd(12)}, {none, usd(7), usd(7)}, {usd(7), none, usd(7)}, {usd(5), usd(-5), usd(0)}} {
		if sum, err := c[0].Add(c[1]); err != nil || !sum.Equal(c[2]) {
			t.Errorf("%s + %s = %s, %v; want %s", c[0], c[1], sum, err, c[2])
		}
	}
	if sum, err := none.Add(none); err != nil || sum.IsSet() {
		t.Errorf("nothing and nothing is %s, %v", sum, err)
	}
	huge := must(NewAmount(bigInt(strings.Repeat("9", 40)), "USD", 2))
	for _, c := range [][2]Amount{{usd(5), amount("5", "EUR", 2)}, {usd(5), amount("5", "USD", 3)}, {huge, usd(1)}} {
		if sum, err := c[0].Add(c[1]); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s + %s = %s, %v; want ErrInvalid", c[0], c[1], sum, err)
		}
	}
}

func TestAmount_UnsetStaysUnset(t *testing.T) {
	t.Parallel()
	var none Amount
	if none.Neg().IsSet() || KindRefund.Signed(none).IsSet() || none.Sign() != 0 || !none.IsZero() || none.String() != "no amount" {
		t.Errorf("unset amount: neg %v, sign %d, %q", none.Neg().IsSet(), none.Sign(), none)
	}
	if usd(0).IsSet() != true || !usd(0).IsZero() {
		t.Error("0 USD is not an amount, or not zero")
	}
}

func TestH40_SignedIsPositiveExactlyWhereTheBalanceGrows(t *testing.T) {
	t.Parallel()
	want := map[Kind]int{
		KindDeposit: 1, KindChargebackReversal: 1, KindWithdrawalReturn: 1,
		KindRefund: -1, KindChargeback: -1, KindWithdrawal: -1, Kind("no such kind"): -1,
	}
	for kind, sign := range want {
		if got := kind.Signed(usd(5)).Sign(); got != sign {
			t.Errorf("%s: sign %d, want %d", kind, got, sign)
		}
	}
}

func TestRate_RefusesWhatIsNoPositivePlainDecimal(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "0", "0.0", "-1", "+1", "1e2", "1,1", " 1", ".5", "NaN"} {
		if r, err := ParseRate(text); !errors.Is(err, ErrInvalid) || r.IsSet() {
			t.Errorf("%q: %s, %v", text, r, err)
		}
	}
	r := must(ParseRate("1.0850"))
	b := must(json.Marshal(r))
	var back Rate
	if err := json.Unmarshal(b, &back); err != nil || back.String() != "1.0850" || !back.Within(r, r) {
		t.Errorf("round trip of 1.0850 gives %s, %v", back, err)
	}
	if err := json.Unmarshal([]byte(`""`), &back); err != nil || back.IsSet() {
		t.Errorf("no rate gives %s, %v", back, err)
	}
	if err := json.Unmarshal([]byte(`"0"`), &back); err == nil {
		t.Error("a stored rate of 0 is read")
	}
	if err := json.Unmarshal([]byte(`1.5`), &back); err == nil {
		t.Error("a rate that is a JSON number is read")
	}
}

func TestRate_WithinHoldsItsEnds(t *testing.T) {
	t.Parallel()
	low, high := must(ParseRate("1.05")), must(ParseRate("1.15"))
	for text, want := range map[string]bool{"1.05": true, "1.0500": true, "1.15": true, "1.1": true, "1.0499999999": false, "1.1500000001": false} {
		if got := must(ParseRate(text)).Within(low, high); got != want {
			t.Errorf("%s within 1.05 to 1.15: %v, want %v", text, got, want)
		}
	}
	if low.Within(Rate{}, high) || low.Within(low, Rate{}) || (Rate{}).Within(low, high) {
		t.Error("a missing rate is within a band")
	}
}

func TestRate_AgreesWithinOneMinorUnitAndNoMore(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 2))
	for _, digits := range []int{0, 2, 3, 8, 18} {
		for range 200 {
			paid := must(Minor(1+rng.Int64N(1e12), "EUR", 2))
			rate := must(ParseRate(fmt.Sprintf("%d.%06d", 1+rng.IntN(200), rng.IntN(1e6))))
			product := new(big.Rat).Mul(paid.rat(), rate.value)
			exact := product.Mul(product, new(big.Rat).SetInt(pow10(digits)))
			floor := new(big.Int).Div(exact.Num(), exact.Denom())
			whole := exact.IsInt()
			for delta := int64(-2); delta <= 3; delta++ {
				want := delta == 0 || delta == 1 || (whole && delta == -1)
				credited := must(NewAmount(new(big.Int).Add(floor, big.NewInt(delta)), "USD", digits))
				if got := rate.Agrees(paid, credited); got != want {
					t.Fatalf("%s x %s = %s (%+d of the floor): agrees %v, want %v", paid, rate, credited, delta, got, want)
				}
			}
		}
	}
	if (Rate{}).Agrees(usd(1), usd(1)) || must(ParseRate("1")).Agrees(Amount{}, usd(0)) || must(ParseRate("1")).Agrees(usd(0), Amount{}) {
		t.Error("something missing agrees")
	}
}

func FuzzParseAmount(f *testing.F) {
	for _, s := range []string{"500.00", "-12.5", "0.05", "1e3", "+1", " 1", "1.", ".1", "007", "-0", strings.Repeat("9", 60), "1.000000000000000001"} {
		f.Add(s, 2)
		f.Add(s, 18)
	}
	f.Fuzz(func(t *testing.T, text string, exponent int) {
		a, err := ParseAmount(text, "USD", exponent)
		if err != nil {
			if !errors.Is(err, ErrInvalid) || a.IsSet() {
				t.Fatalf("%q: %v with %v", text, a, err)
			}
			return
		}
		want, ok := new(big.Rat).SetString(text)
		if !ok || a.rat().Cmp(want) != 0 {
			t.Fatalf("%q is read as %s", text, a)
		}
		back, err := ParseAmount(a.Decimal(), "USD", exponent)
		if err != nil || !back.Equal(a) || back.Decimal() != a.Decimal() {
			t.Fatalf("%q: %s comes back as %s, %v", text, a, back, err)
		}
	})
}

func FuzzAmountJSON(f *testing.F) {
	for _, s := range []string{
		`null`, `{"minor":"50000","currency":"USD","exponent":2}`, `{"minor":50000,"currency":"USD","exponent":2}`,
		`{"minor":"+5","currency":"USD","exponent":2}`, `{"minor":"5.0","currency":"USD","exponent":2}`,
		`{"minor":"0x5","currency":"USD","exponent":2}`, `{"minor":"-5","currency":"USD","exponent":18}`, `{}`, `"500"`, `5`,
		`{"minor":"` + strings.Repeat("9", 41) + `","currency":"USD","exponent":0}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var a Amount
		if err := json.Unmarshal(b, &a); err != nil {
			return
		}
		first, err := json.Marshal(a)
		if err != nil {
			t.Fatalf("%q: %v", b, err)
		}
		var back Amount
		if err := json.Unmarshal(first, &back); err != nil {
			t.Fatalf("%s cannot be read back: %v", first, err)
		}
		second := must(json.Marshal(back))
		if string(first) != string(second) || a.IsSet() != back.IsSet() || (a.IsSet() && !a.Equal(back)) {
			t.Fatalf("%q becomes %s, then %s", b, first, second)
		}
	})
}

func TestAmountJSON_RefusesNumbersThatAReaderWouldCut(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		`{"minor":50000,"currency":"USD","exponent":2}`, `{"minor":"+5","currency":"USD","exponent":2}`,
		`{"minor":"5.0","currency":"USD","exponent":2}`, `{"minor":"","currency":"USD","exponent":2}`,
		`{"minor":"5","currency":"usd","exponent":2}`, `{"minor":"5","currency":"USD","exponent":19}`,
		`{"minor":"5","currency":"USD","exponent":-1}`, `{}`, `500`, `"500.00"`, `[]`,
	} {
		var a Amount
		if err := json.Unmarshal([]byte(s), &a); err == nil {
			t.Errorf("%s is read as %s", s, a)
		}
	}
}
