package api

import (
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"creditonce/credit"
)

// rule judges a text field: an empty code means that it is well formed. The detail never repeats the text.
type rule func(text string) (code, detail string)

const (
	maxClient = 64 // characters of a client, of a rate's source
	// maxWhole digits before the point leave room for 18 places within the domain's 40 digits, so that an amount
	// that does not fit an exponent can only have too many places.
	maxWhole = 22
)

var (
	labelForm    = regexp.MustCompile(`^[a-z0-9-]{1,32}$`)
	currencyForm = regexp.MustCompile(`^[A-Z0-9]{3,12}$`)
	lifeForm     = regexp.MustCompile(`^[1-9][0-9]{0,5}[smh]$`)
	loginForm    = regexp.MustCompile(`^[1-9][0-9]{0,19}$`)
)

// isLabel: labels of servers and providers are written as the configuration writes them.
func isLabel(text string) (code, detail string) {
	if !labelForm.MatchString(text) {
		return "bad_name", "want 1 to 32 characters of a-z, 0-9 and -"
	}
	return "", ""
}

// isLogin: MT5 logins are unsigned 64-bit integers; one login has one spelling.
func isLogin(text string) (code, detail string) {
	if _, err := parseLogin(text); err != nil {
		return "bad_login", "want digits in quotes, without leading zeros, from 1 to 18446744073709551615"
	}
	return "", ""
}

func parseLogin(text string) (uint64, error) {
	if !loginForm.MatchString(text) {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseUint(text, 10, 64)
}

// isPrintable: names that people read. Blanks at the ends are refused, since nobody sees that they differ.
func isPrintable(text string) (code, detail string) {
	count := utf8.RuneCountInString(text)
	if count == 0 || count > maxClient || strings.TrimSpace(text) != text {
		return "bad_text", "want 1 to 64 printable characters without blanks at the ends"
	}
	for _, r := range text {
		if !unicode.IsPrint(r) {
			return "bad_text", "want 1 to 64 printable characters without blanks at the ends"
		}
	}
	return "", ""
}

func isCurrency(text string) (code, detail string) {
	if !currencyForm.MatchString(text) {
		return "bad_currency", "want 3 to 12 upper case letters or digits"
	}
	return "", ""
}

// isAmount: well formed and more than 0. Whether the places suit the currency is known only with its exponent.
func isAmount(text string) (code, detail string) {
	amount, err := credit.ParseAmount(text, "XXX", places(text))
	whole, _, _ := strings.Cut(text, ".")
	switch {
	case err != nil, len(whole) > maxWhole:
		return "bad_amount", `want a plain decimal in quotes, such as "500.00"`
	case amount.Sign() <= 0:
		return "not_positive", "the amount must be more than 0"
	default:
		return "", ""
	}
}

// places counts the decimal places of a decimal text.
func places(text string) int {
	_, frac, _ := strings.Cut(text, ".")
	return len(frac)
}

func isRate(text string) (code, detail string) {
	if _, err := credit.ParseRate(text); err != nil {
		return "bad_rate", `want a plain decimal in quotes, more than 0, such as "1.0850"`
	}
	return "", ""
}

func isCode(text string) (code, detail string) {
	if !credit.ValidCode(text) {
		return "bad_code", "want 22 to 64 characters of A-Z a-z 0-9 _ -"
	}
	return "", ""
}

func isTime(text string) (code, detail string) {
	if _, err := parseTime(text); err != nil {
		return "bad_time", "want an RFC 3339 time such as 2026-01-31T12:00:00Z, of the years 2000 to 9998"
	}
	return "", ""
}

// parseTime reads RFC 3339 strictly. The years are bounded because a time that leaves 0 to 9999 when it is turned
// to UTC can be stored by nobody.
func parseTime(text string) (time.Time, error) {
	var t time.Time
	if err := t.UnmarshalText([]byte(text)); err != nil {
		return time.Time{}, err
	}
	t = t.UTC()
	if t.Year() < 2000 || t.Year() > 9998 {
		return time.Time{}, strconv.ErrRange
	}
	return t, nil
}

func isLife(text string) (code, detail string) {
	if !lifeForm.MatchString(text) {
		return "bad_duration", `want a whole number with s, m or h, such as "30m" or "24h"`
	}
	return "", ""
}
