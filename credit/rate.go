package credit

import (
	"encoding/json"
	"fmt"
	"math/big"
)

// Rate is how many major units of the credited currency one major unit of the paid currency buys: an exact
// decimal, kept as it was given. The zero value is "no rate", for a deposit that is not converted.
type Rate struct {
	text  string
	value *big.Rat
}

// ParseRate reads a positive plain decimal such as "1.0850"; everything else is ErrInvalid.
func ParseRate(text string) (Rate, error) {
	num, scale, err := parseDecimal(text)
	if err != nil {
		return Rate{}, fmt.Errorf("rate: %w", err)
	}
	if num.Sign() <= 0 {
		return Rate{}, fmt.Errorf("rate %q: want more than 0: %w", clip(text), ErrInvalid)
	}
	return Rate{text: text, value: new(big.Rat).SetFrac(num, pow10(scale))}, nil
}

// IsSet tells that there is a rate.
func (r Rate) IsSet() bool { return r.value != nil }

// String is the decimal text as given; empty for no rate.
func (r Rate) String() string { return r.text }

// Within tells whether low <= r <= high.
func (r Rate) Within(low, high Rate) bool {
	return r.IsSet() && low.IsSet() && high.IsSet() && r.value.Cmp(low.value) >= 0 && r.value.Cmp(high.value) <= 0
}

// Agrees tells whether paid x rate equals credited to within one minor unit of the credited currency, which is
// all that one rounding can make (design §5). It never converts: the caller brings both amounts.
func (r Rate) Agrees(paid, credited Amount) bool {
	if !r.IsSet() || !paid.IsSet() || !credited.IsSet() {
		return false
	}
	diff := new(big.Rat).Mul(paid.rat(), r.value)
	diff.Sub(diff, credited.rat())
	unit := new(big.Rat).SetFrac(big.NewInt(1), pow10(credited.Exponent()))
	return diff.Abs(diff).Cmp(unit) <= 0
}

// Convert is paid x rate in the credited currency with so many places, rounded down: what a payment that is not the
// deposit's amount is worth at the deposit's rate. Without a rate the currencies must be one. It is for amounts that
// people confirm; a deposit brings both of its amounts.
func (r Rate) Convert(paid Amount, currency string, exponent int) (Amount, error) {
	if !paid.IsSet() || (!r.IsSet() && paid.Currency() != currency) {
		return Amount{}, fmt.Errorf("convert %s to %s at rate %q: %w", paid, clip(currency), r.text, ErrInvalid)
	}
	worth := paid.rat()
	if r.IsSet() {
		worth.Mul(worth, r.value)
	}
	worth.Mul(worth, new(big.Rat).SetInt(pow10(exponent)))
	return NewAmount(new(big.Int).Div(worth.Num(), worth.Denom()), currency, exponent) // Euclidean: down for both signs
}

// MarshalJSON writes the decimal text; no rate is an empty text.
func (r Rate) MarshalJSON() ([]byte, error) { return json.Marshal(r.text) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (r *Rate) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return fmt.Errorf("rate: %w", err)
	}
	if text == "" {
		*r = Rate{}
		return nil
	}
	v, err := ParseRate(text)
	if err != nil {
		return err
	}
	*r = v
	return nil
}
