package standard

import (
	"strings"

	"creditonce/credit"
)

// Currency returns a currency's code in capitals and its number of decimal places: those that exponents name, else
// those of ISO 4217. ok is false for a code that is in neither: its places would be a guess.
func Currency(exponents map[string]int, name string) (code string, places int, ok bool) {
	code = capitals(name)
	if !isCurrency(code) {
		return "", 0, false
	}
	if places, named := exponents[code]; named {
		return code, places, true
	}
	places, ok = credit.ISOExponent(code)
	if !ok {
		return "", 0, false
	}
	return code, places, true
}

// capitals turns a to z into capitals and leaves everything else: Unicode knows other letters whose capital is one of
// A to Z.
func capitals(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' {
			return r - 'a' + 'A'
		}
		return r
	}, name)
}

// isCurrency tells that the code is 3 to 12 capitals and digits.
func isCurrency(code string) bool {
	for i := range len(code) {
		if (code[i] < 'A' || code[i] > 'Z') && (code[i] < '0' || code[i] > '9') {
			return false
		}
	}
	return len(code) >= 3 && len(code) <= 12
}
