package report

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	pageText = 120   // runes of one outside value on a page or terminal; the tables have it whole
	cellText = 32000 // runes of one cell; a spreadsheet keeps 32,767 UTF-16 units of one
)

// shown spells out what is invisible or would act on the text around it: control, direction and other format characters, line and paragraph
// separators, private use. Bytes that are no UTF-8 become U+FFFD.
func shown(s string) string {
	clean := utf8.ValidString(s)
	for _, r := range s {
		clean = clean && !acts(r)
	}
	if clean {
		return s
	}
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(s, "\uFFFD") {
		switch {
		case acts(r) && r > 0xFFFF:
			fmt.Fprintf(&b, `\U%08X`, r)
		case acts(r):
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func acts(r rune) bool {
	if r < unicode.MaxASCII {
		return r < ' '
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp)
}

// clip is shown text of bounded length that says how long it was.
func clip(s string, limit int) string {
	s = shown(s)
	if len(s) <= limit {
		return s
	}
	n := utf8.RuneCountInString(s)
	if n <= limit {
		return s
	}
	return string([]rune(s)[:limit]) + "… (" + count(n) + " characters)"
}

// formulaStarts begin a formula in a spreadsheet, the full-width ones too: some take them for the others.
const formulaStarts = "=+-@\t\r\n|%＝＋－＠"

// cell is a text cell of CSV: it stays text in a spreadsheet. What would run as a formula, or lose digits as a number (more than 15, a
// leading zero, an exponent), begins with an apostrophe, which spreadsheets take as "this is text".
func cell(value string) string {
	value = clip(value, cellText)
	switch {
	case strings.IndexAny(strings.TrimLeft(value, " \u00a0\u3000"), formulaStarts) == 0,
		losesDigits(value):
		return "'" + value
	default:
		return value
	}
}

// losesDigits tells that a spreadsheet would read the text as a number and show another one.
func losesDigits(value string) bool {
	if value == "" || !strings.Contains("0123456789.", value[:1]) {
		return false
	}
	if at := strings.IndexAny(value, "eE"); at > 0 {
		return digits(strings.ReplaceAll(value[:at], ".", "")) && digits(strings.TrimLeft(value[at+1:], "+-"))
	}
	return digits(value) && (len(value) > 15 || len(value) > 1 && value[0] == '0')
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// count writes a number with a comma between thousands.
func count[T ~int | ~uint64](n T) string { return grouped(fmt.Sprint(n)) }

// grouped puts commas between the thousands of a plain decimal.
func grouped(decimal string) string {
	body, negative := strings.CutPrefix(decimal, "-")
	whole, fraction, point := strings.Cut(body, ".")
	var b strings.Builder
	if negative {
		b.WriteByte('-')
	}
	for i, r := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(r)
	}
	if point {
		b.WriteString("." + fraction)
	}
	return b.String()
}

// many writes "1 difference" or "3 differences".
func many[T ~int](n T, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return count(n) + " " + more
}
