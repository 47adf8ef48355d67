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

// cardNumber tells that a text holds 13 to 19 digits in a row that begin as card numbers do and pass Luhn's check.
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
		if n := j - i; n >= 13 && n <= 19 && s[i] >= '3' && s[i] <= '6' && luhn(s[i:j]) {
			return true
		}
		i = j
	}
	return false
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
