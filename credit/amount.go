package credit

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
)

// MaxExponent is the largest number of decimal places an Amount can have; on-chain tokens use 18.
const MaxExponent = 18

// maxDigits bounds an amount so that a hostile number cannot cost memory: 10^40 minor units is beyond any money.
const maxDigits = 40

var tooLarge = pow10(maxDigits)

// Amount is money: an integer of minor units, a currency code and the number of decimal places of that
// currency where the amount came from (a provider's exponent table may differ from another's). The zero value
// is "no amount". Amounts are immutable and safe to share between goroutines.
type Amount struct {
	minor    *big.Int
	currency string
	exponent uint8
}

// NewAmount makes an amount of minor units. The currency is upper case letters and digits, 3 to 12 of them.
// It returns ErrInvalid for another currency form, an exponent above MaxExponent or more than 40 digits.
func NewAmount(minor *big.Int, currency string, exponent int) (Amount, error) {
	if !validCurrency(currency) {
		return Amount{}, fmt.Errorf("currency %q: want 3 to 12 upper case letters or digits: %w", clip(currency), ErrInvalid)
	}
	if exponent < 0 || exponent > MaxExponent {
		return Amount{}, fmt.Errorf("exponent %d: want 0 to %d: %w", exponent, MaxExponent, ErrInvalid)
	}
	if minor == nil {
		return Amount{}, fmt.Errorf("amount without a number: %w", ErrInvalid)
	}
	if minor.CmpAbs(tooLarge) >= 0 {
		return Amount{}, fmt.Errorf("amount has more than %d digits: %w", maxDigits, ErrInvalid)
	}
	return Amount{minor: new(big.Int).Set(minor), currency: currency, exponent: uint8(exponent)}, nil
}

// Minor makes an amount from an int64 of minor units; errors as NewAmount.
func Minor(minor int64, currency string, exponent int) (Amount, error) {
	return NewAmount(big.NewInt(minor), currency, exponent)
}

// ParseAmount reads a plain decimal ("500", "500.00", "-12.5") exactly. More decimal places than the exponent
// allows, exponent forms, signs other than one leading minus, blanks and separators are refused with
// ErrInvalid; nothing is ever rounded.
func ParseAmount(text, currency string, exponent int) (Amount, error) {
	num, scale, err := parseDecimal(text)
	if err != nil {
		return Amount{}, err
	}
	if scale > exponent {
		return Amount{}, fmt.Errorf("amount %q has %d decimal places, %s has %d: %w", clip(text), scale, clip(currency), exponent, ErrInvalid)
	}
	if exponent > MaxExponent {
		return Amount{}, fmt.Errorf("exponent %d: want 0 to %d: %w", exponent, MaxExponent, ErrInvalid)
	}
	return NewAmount(num.Mul(num, pow10(exponent-scale)), currency, exponent)
}

// parseDecimal reads -?digits(.digits)? and returns the digits as an integer with the number of places.
func parseDecimal(text string) (*big.Int, int, error) {
	bad := fmt.Errorf("number %q: want a plain decimal such as 500.00: %w", clip(text), ErrInvalid)
	if len(text) > maxDigits+MaxExponent+2 {
		return nil, 0, bad
	}
	body, negative := strings.CutPrefix(text, "-")
	whole, frac, point := strings.Cut(body, ".")
	if !digits(whole) || (point && !digits(frac)) {
		return nil, 0, bad
	}
	num, ok := new(big.Int).SetString(whole+frac, 10)
	if !ok {
		return nil, 0, bad
	}
	if negative {
		num.Neg(num)
	}
	return num, len(frac), nil
}

func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

func validCurrency(c string) bool {
	for i := range len(c) {
		if (c[i] < 'A' || c[i] > 'Z') && (c[i] < '0' || c[i] > '9') {
			return false
		}
	}
	return len(c) >= 3 && len(c) <= 12
}

func pow10(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// clip keeps outside text in messages short.
func clip(s string) string {
	if len(s) > 32 {
		return s[:32] + "…"
	}
	return s
}

// IsZero tells that the amount was never set, or is 0 minor units.
func (a Amount) IsZero() bool { return a.minor == nil || a.minor.Sign() == 0 }

// IsSet tells that the amount was set, be it to 0.
func (a Amount) IsSet() bool { return a.minor != nil }

// Sign is -1, 0 or 1.
func (a Amount) Sign() int {
	if a.minor == nil {
		return 0
	}
	return a.minor.Sign()
}

// Units returns a copy of the minor units; 0 for an unset amount.
func (a Amount) Units() *big.Int {
	if a.minor == nil {
		return new(big.Int)
	}
	return new(big.Int).Set(a.minor)
}

// Currency is the currency code, upper case.
func (a Amount) Currency() string { return a.currency }

// Exponent is the number of decimal places of the minor unit.
func (a Amount) Exponent() int { return int(a.exponent) }

// Neg returns the amount with the other sign; an unset amount stays unset.
func (a Amount) Neg() Amount {
	if !a.IsSet() {
		return a
	}
	return Amount{minor: new(big.Int).Neg(a.Units()), currency: a.currency, exponent: a.exponent}
}

// Add returns a+b in a's exponent. It returns ErrInvalid when the currencies or exponents differ: nothing is
// converted or rounded here. Where one is unset the sum is the other.
func (a Amount) Add(b Amount) (Amount, error) {
	switch {
	case !a.IsSet():
		return b, nil
	case !b.IsSet():
		return a, nil
	}
	if a.currency != b.currency || a.exponent != b.exponent {
		return Amount{}, fmt.Errorf("add %s and %s: %w", a, b, ErrInvalid)
	}
	return NewAmount(new(big.Int).Add(a.minor, b.minor), a.currency, int(a.exponent))
}

// Equal tells that both are the same money: the same currency and the same value, whatever the exponents.
func (a Amount) Equal(b Amount) bool {
	return a.IsSet() && b.IsSet() && a.currency == b.currency && a.rat().Cmp(b.rat()) == 0
}

// Cmp compares the values of two amounts of one currency; ErrInvalid when the currencies differ.
func (a Amount) Cmp(b Amount) (int, error) {
	if !a.IsSet() || !b.IsSet() || a.currency != b.currency {
		return 0, fmt.Errorf("compare %s and %s: %w", a, b, ErrInvalid)
	}
	return a.rat().Cmp(b.rat()), nil
}

func (a Amount) rat() *big.Rat { return new(big.Rat).SetFrac(a.Units(), pow10(int(a.exponent))) }

// Decimal is the plain decimal text in major units with exactly Exponent places: "500.00", "-0.05", "500".
func (a Amount) Decimal() string {
	s := new(big.Int).Abs(a.Units()).String()
	if e := int(a.exponent); e > 0 {
		if len(s) <= e {
			s = strings.Repeat("0", e-len(s)+1) + s
		}
		s = s[:len(s)-e] + "." + s[len(s)-e:]
	}
	if a.Sign() < 0 {
		s = "-" + s
	}
	return s
}

// String is the decimal text with the currency: "500.00 USD".
func (a Amount) String() string {
	if !a.IsSet() {
		return "no amount"
	}
	return a.Decimal() + " " + a.currency
}

type amountJSON struct {
	Minor    string `json:"minor"`
	Currency string `json:"currency"`
	Exponent int    `json:"exponent"`
}

// MarshalJSON writes minor units as text, so that no reader cuts them to 53 bits; an unset amount is null.
func (a Amount) MarshalJSON() ([]byte, error) {
	if !a.IsSet() {
		return []byte("null"), nil
	}
	return json.Marshal(amountJSON{a.minor.String(), a.currency, int(a.exponent)})
}

// UnmarshalJSON reads what MarshalJSON wrote, and nothing else that a number parser would let pass.
func (a *Amount) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*a = Amount{}
		return nil
	}
	var j amountJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return fmt.Errorf("amount: %w", err)
	}
	minor, scale, err := parseDecimal(j.Minor)
	if err != nil || scale != 0 {
		return fmt.Errorf("amount: minor units %q: %w", clip(j.Minor), ErrInvalid)
	}
	v, err := NewAmount(minor, j.Currency, j.Exponent)
	if err != nil {
		return err
	}
	*a = v
	return nil
}
