package invariant

import (
	"strconv"
	"strings"

	"creditonce/credit"
)

func otherRules() []Invariant {
	return []Invariant{{"I-O2", "no card number and no secret is in any line", Log, nothingSecret}}
}

func nothingSecret(v *view) {
	for i := v.m.log; i < len(v.w.Log); i++ {
		line := v.w.Log[i]
		for n, secret := range v.w.Secrets {
			if secret != "" && strings.Contains(line, secret) {
				v.find(nil, "line %d holds secret number %d", i+1, n+1)
			}
		}
		if cardNumber(line) {
			v.find(nil, "line %d holds what looks like a card number", i+1)
		}
	}
}

// cardNumber tells that a text holds 13 to 19 digits in a row that begin as card numbers do and pass Luhn's check. Such a
// row inside of a long hexadecimal word is chance: process ids and digests are such words.
func cardNumber(s string) bool {
	for i := 0; i < len(s); {
		if s[i] < '0' || s[i] > '9' {
			i++
			continue
		}
		j := i
		for j < len(s) && s[j] >= '0' && s[j] <= '9' {
			j++
		}
		if n := j - i; n >= 13 && n <= 19 && s[i] >= '3' && s[i] <= '6' && luhn(s[i:j]) && !longHex(s, i, j) {
			return true
		}
		i = j
	}
	return false
}

// longHex tells that s[i:j] is a part of a hexadecimal word that is longer than a card number.
func longHex(s string, i, j int) bool {
	hex := func(b byte) bool { return '0' <= b && b <= '9' || 'a' <= b && b <= 'f' }
	for i > 0 && hex(s[i-1]) {
		i--
	}
	for j < len(s) && hex(s[j]) {
		j++
	}
	return j-i > 19
}

func luhn(digits string) bool {
	sum := 0
	for i := range len(digits) {
		d := int(digits[len(digits)-1-i] - '0')
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}

// entity is the text by which a task names a row.
func entity(id credit.ID) string { return "credit/" + strconv.FormatUint(uint64(id), 10) }
