package recon

import (
	"errors"
	"strings"

	"creditonce/credit"
)

// Number is how a file writes decimals. The zero value is "-1234.56": a point, no grouping, one leading minus. Nothing else is guessed:
// "1,234" is one number in London and another in Berlin.
type Number struct {
	Comma bool   // "1234,56"
	Group string // what may stand between groups of three digits: ".", ",", " ", "'"; empty: nothing
}

// Amount reads the text exactly or returns an error that says what form it has; the error holds no part of the text. More decimal places
// than the exponent are refused unless they are zeros; nothing is rounded.
func (n Number) Amount(text, currency string, exponent int) (credit.Amount, error) {
	plain, ok := n.plain(text)
	if !ok {
		return credit.Amount{}, errors.New(n.fault(text))
	}
	if whole, frac, _ := strings.Cut(plain, "."); len(frac) > exponent {
		if strings.Trim(frac[exponent:], "0") != "" {
			return credit.Amount{}, errors.New("has more decimal places than its currency: nothing is rounded")
		}
		plain = strings.TrimSuffix(whole+"."+frac[:exponent], ".")
	}
	if strings.HasPrefix(plain, "-") && strings.Trim(plain, "-0.") == "" {
		return credit.Amount{}, errors.New("is a negative zero: no provider books one; the file was edited")
	}
	return credit.ParseAmount(plain, currency, exponent)
}

// plain brings the text to -?digits(.digits)?.
func (n Number) plain(text string) (string, bool) {
	if len(text) > 80 {
		return "", false
	}
	body, negative := strings.CutPrefix(text, "-")
	point := "."
	if n.Comma {
		point = ","
	}
	whole, frac, hasPoint := strings.Cut(body, point)
	whole, ok := n.ungroup(whole)
	if !ok || !allDigits(whole) || hasPoint && !allDigits(frac) {
		return "", false
	}
	if hasPoint {
		whole += "." + frac
	}
	if negative {
		whole = "-" + whole
	}
	return whole, true
}

// ungroup takes the grouping away where every group but the first has three digits.
func (n Number) ungroup(whole string) (string, bool) {
	if n.Group == "" || !strings.Contains(whole, n.Group) {
		return whole, true
	}
	groups := strings.Split(whole, n.Group)
	for i, group := range groups {
		if i > 0 && len(group) != 3 || len(group) == 0 || len(group) > 3 {
			return "", false
		}
	}
	return strings.Join(groups, ""), true
}

// fault names the form that the text has instead.
func (n Number) fault(text string) string {
	other := ","
	if n.Comma {
		other = "."
	}
	switch {
	case text == "":
		return "is empty where there must be a number"
	case strings.TrimSpace(text) != text:
		return "has blanks around its number"
	case len(text) > 80:
		return "is longer than any number"
	case strings.ContainsAny(text, "0123456789") && strings.ContainsAny(text, "eE"):
		return "is in exponent form, as spreadsheets write it: get the file again and do not save it from one"
	case strings.Contains(text, ".") && strings.Contains(text, ","):
		return "has a thousands separator that this format does not have"
	case strings.Contains(text, other):
		return "has \"" + other + "\" in its number, which this format does not have: a decimal sign and a thousands separator cannot be told apart"
	case strings.HasPrefix(text, "+"), strings.HasSuffix(text, "-"), strings.HasPrefix(text, "("):
		return "has its sign in another form than one leading minus"
	default:
		return "is no plain decimal"
	}
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
