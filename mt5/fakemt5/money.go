package fakemt5

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf16"
)

// maxMoney is the largest amount of one operation in whole units (mt5-webapi.md §1.3).
const maxMoney = 1_000_000_000

// commentUnits is what the platform keeps of a comment, in UTF-16 units (§5).
const commentUnits = 31

var (
	errNotDecimal   = errors.New("not a plain decimal number")
	errDecimals     = errors.New("more decimals than the currency has")
	errMoneyTooMuch = errors.New("amount above 1000000000")
)

// parseMinor reads a signed plain decimal as minor units of a currency with the
// given digits. Exponents, NaN and empty parts are refused.
func parseMinor(text string, digits int) (int64, error) {
	body, negative := strings.CutPrefix(text, "-")
	if !negative {
		body, _ = strings.CutPrefix(text, "+")
	}
	whole, fraction, dotted := strings.Cut(body, ".")
	if !onlyDigits(whole) || (dotted && !onlyDigits(fraction)) {
		return 0, errNotDecimal
	}
	if len(fraction) > digits {
		return 0, errDecimals
	}
	whole = strings.TrimLeft(whole, "0")
	if len(whole) > 10 {
		return 0, errMoneyTooMuch
	}
	n, err := strconv.ParseInt("0"+whole+fraction+strings.Repeat("0", digits-len(fraction)), 10, 64)
	if err != nil {
		return 0, errNotDecimal
	}
	if n > maxMoney*pow10(digits) {
		return 0, errMoneyTooMuch
	}
	if negative {
		n = -n
	}
	return n, nil
}

func onlyDigits(s string) bool {
	if s == "" {
		return false
	}
	return strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' }) < 0
}

// formatMinor prints minor units with exactly digits decimals.
func formatMinor(minor int64, digits int) string {
	sign, magnitude := "", uint64(minor)
	if minor < 0 {
		sign, magnitude = "-", -magnitude
	}
	text := strconv.FormatUint(magnitude, 10)
	if digits == 0 {
		return sign + text
	}
	if len(text) <= digits {
		text = strings.Repeat("0", digits+1-len(text)) + text
	}
	cut := len(text) - digits
	return sign + text[:cut] + "." + text[cut:]
}

// formatMinor6 prints minor units with six decimals, as check_balance does (§1.2).
// Currencies with more digits lose the rest.
func formatMinor6(minor int64, digits int) string {
	if digits > 6 {
		return formatMinor(minor/pow10(digits-6), 6)
	}
	text := formatMinor(minor, digits)
	if digits == 0 {
		text += "."
	}
	return text + strings.Repeat("0", 6-digits)
}

func pow10(n int) int64 {
	p := int64(1)
	for range n {
		p *= 10
	}
	return p
}

// cutComment keeps the first 31 UTF-16 units. Half a surrogate pair is dropped.
func cutComment(s string) string {
	units := utf16.Encode([]rune(s))
	if len(units) <= commentUnits {
		return s
	}
	units = units[:commentUnits]
	if last := rune(units[commentUnits-1]); utf16.IsSurrogate(last) && last < 0xDC00 {
		units = units[:commentUnits-1]
	}
	return string(utf16.Decode(units))
}
