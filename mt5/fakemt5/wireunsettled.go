package fakemt5

import (
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strings"
)

// Unsettled is the part of Wire for questions that no source answers (mt5-webapi.md, "Not verified"): a client must
// stay right whichever way a real server decides. The zero value of each field is replaced by the default named in
// its comment.
type Unsettled struct {
	// ZeroAmount answers trade/balance with amount 0: a Refusal, "3" (default), or "book" (a deal of 0).
	ZeroAmount string `json:"zero_amount,omitempty"`
	// ExtraDecimals answers an amount with more decimals than the currency: a Refusal, "3" (default), or "round"
	// (half away from zero) or "cut".
	ExtraDecimals string `json:"extra_decimals,omitempty"`
	// ExponentAmount answers an amount such as 1e3: a Refusal, "3" (default), or "accept".
	ExponentAmount string `json:"exponent_amount,omitempty"`
	// DisabledBalance answers trade/balance for an account that is not enabled or is read-only: "accept" (default)
	// or a Refusal.
	DisabledBalance string `json:"disabled_balance,omitempty"`
	// NegativeBalance lets operations take the balance below zero.
	NegativeBalance bool `json:"negative_balance,omitempty"`
	// BalanceDealer is the Dealer of a balance deal: "manager" (default) or "zero".
	BalanceDealer string `json:"balance_dealer,omitempty"`
	// BalanceReason is the Reason of a balance deal: 2, dealer, when 0; -1 stands for 0.
	BalanceReason int `json:"balance_reason,omitempty"`

	// ZeroPage answers get_page with total 0: a Refusal, "3" (default), or "empty", or "all" (100 rows).
	ZeroPage string `json:"zero_page,omitempty"`
	// PageOrder is the order of rows: "oldest" first (default) or "newest" first.
	PageOrder string `json:"page_order,omitempty"`
	// WindowEnd says whether a deal at the second `to` is in the window: "inclusive" (default) or "exclusive".
	WindowEnd string `json:"window_end,omitempty"`
	// ModifyKey is the name of a deal's flags of change: "ModifyFlags" (default) or "ModificationFlags".
	ModifyKey string `json:"modify_key,omitempty"`

	// EmptyLogins answers user/logins where no account is in the groups: "array" (default), "null", "absent" or a Refusal.
	EmptyLogins string `json:"empty_logins,omitempty"`
	// MaskEscape says how backslashes in the masks of user/logins are read: "none" (default, each stands for itself) or "strict" (each takes
	// the next character as it is, so that group names need two).
	MaskEscape string `json:"mask_escape,omitempty"`

	// CodeStatus pairs retcodes with HTTP statuses for every answer that names no status of its own, such as
	// {"13": 404, "8": 403}.
	CodeStatus map[int]int `json:"code_status,omitempty"`
	// MaxSessions is how many sessions one manager login may have; any number when 0.
	MaxSessions int `json:"max_sessions,omitempty"`
	// SessionOverflow is what one session more does: a Refusal of auth/answer, "8" (default), or "oldest" (the
	// manager's oldest session ends).
	SessionOverflow string `json:"session_overflow,omitempty"`
	// MaxPerSecond resets a connection that sends more requests than this within one second; any number when 0.
	MaxPerSecond int `json:"max_per_second,omitempty"`
}

// unsettledWords lists the fields that are words, with their defaults first.
func (u *Unsettled) unsettledWords() []wireWord {
	return []wireWord{
		{"zero_amount", &u.ZeroAmount, true, []string{"3", "book"}},
		{"extra_decimals", &u.ExtraDecimals, true, []string{"3", "round", "cut"}},
		{"exponent_amount", &u.ExponentAmount, true, []string{"3", "accept"}},
		{"disabled_balance", &u.DisabledBalance, true, []string{"accept"}},
		{"balance_dealer", &u.BalanceDealer, false, []string{"manager", "zero"}},
		{"zero_page", &u.ZeroPage, true, []string{"3", "empty", "all"}},
		{"page_order", &u.PageOrder, false, []string{"oldest", "newest"}},
		{"window_end", &u.WindowEnd, false, []string{"inclusive", "exclusive"}},
		{"modify_key", &u.ModifyKey, false, []string{"ModifyFlags", "ModificationFlags"}},
		{"empty_logins", &u.EmptyLogins, true, []string{"array", "null", "absent"}},
		{"mask_escape", &u.MaskEscape, false, []string{"none", "strict"}},
		{"session_overflow", &u.SessionOverflow, true, []string{"8", "oldest"}},
	}
}

// wireWord is a field of Wire that is a word; the first of words is its default.
type wireWord struct {
	name    string
	at      *string
	refusal bool // a Refusal is possible too
	words   []string
}

func (u *Unsettled) withDefaults() error {
	for _, f := range u.unsettledWords() {
		if *f.at == "" {
			*f.at = f.words[0]
		}
		if slices.Contains(f.words, *f.at) {
			continue
		}
		if _, err := Refusal(*f.at).parse(); !f.refusal || err != nil {
			return fmt.Errorf("wire: %s %q is none of %s", f.name, *f.at, choices(f.words, f.refusal))
		}
	}
	if u.BalanceReason == 0 {
		u.BalanceReason = 2
	}
	for code, status := range u.CodeStatus {
		if code < 0 || status < 200 || status > 599 {
			return fmt.Errorf("wire: code_status %d: %d is no HTTP status of a retcode", code, status)
		}
	}
	if u.BalanceReason < -1 || u.MaxSessions < 0 || u.MaxPerSecond < 0 {
		return errors.New("wire: balance_reason, max_sessions and max_per_second must not be negative")
	}
	return nil
}

// reason is the Reason that a balance deal shows.
func (u *Unsettled) reason() int { return max(u.BalanceReason, 0) }

// exponentForm is a decimal number with an exponent that stays in a range where its digits can be written out.
var exponentForm = regexp.MustCompile(`^[+-]?[0-9]{1,20}(\.[0-9]{1,20})?[eE][+-]?[0-9]{1,2}$`)

// amount reads the amount of a balance operation as the wire is set to; refused is set when it is no amount here.
func (w Wire) amount(text string, digits int) (minor int64, refused *reply) {
	settle := func(r reply) (int64, *reply) { return 0, &r }
	if exponentForm.MatchString(text) {
		if w.ExponentAmount != "accept" {
			return settle(Refusal(w.ExponentAmount).reply())
		}
		text = written(text, -1)
	}
	minor, err := parseMinor(text, digits)
	if errors.Is(err, errDecimals) {
		switch w.ExtraDecimals {
		case "round":
			minor, err = parseMinor(written(text, digits), digits)
		case "cut":
			whole, fraction, _ := strings.Cut(text, ".")
			minor, err = parseMinor(strings.TrimSuffix(whole+"."+fraction[:digits], "."), digits)
		default:
			return settle(Refusal(w.ExtraDecimals).reply())
		}
	}
	switch {
	case errors.Is(err, errMoneyTooMuch):
		return settle(codeReply(retMaxMoney))
	case err != nil:
		return settle(codeReply(retParams))
	case minor == 0 && w.ZeroAmount != "book":
		return settle(Refusal(w.ZeroAmount).reply())
	}
	return minor, nil
}

// written writes a number out as a plain decimal: with so many places, rounded half away from zero, or with as many
// as it has for -1.
func written(text string, places int) string {
	number, ok := new(big.Rat).SetString(text)
	if !ok {
		return text
	}
	if places >= 0 {
		return number.FloatString(places)
	}
	plain := strings.TrimRight(number.FloatString(120), "0") // 20 places and an exponent of two digits fit
	return strings.TrimSuffix(plain, ".")
}

// The rights of an account that take part in DisabledBalance (mt5-webapi.md §1.4).
const (
	rightEnabled  = 0x1
	rightReadOnly = 0x200
)

// disabled reports whether the account may be one on which no balance operation is allowed.
func (a Account) disabled() bool {
	return a.Rights != nil && (*a.Rights&rightEnabled == 0 || *a.Rights&rightReadOnly != 0)
}
