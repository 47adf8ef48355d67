package probe

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
)

// text is a scalar that may come as text or as a number (§1.2).
type text string

// UnmarshalJSON implements json.Unmarshaler.
func (t *text) UnmarshalJSON(b []byte) error {
	if bytes.HasPrefix(b, []byte{'"'}) {
		var s string
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
		*t = text(s)
		return nil
	}
	if string(b) != "null" {
		*t = text(b)
	}
	return nil
}

func (t text) uint() uint64 {
	n, err := strconv.ParseUint(string(t), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func (t text) int() (int64, bool) {
	n, err := strconv.ParseInt(string(t), 10, 64)
	return n, err == nil
}

// isZero tells whether it is a number without a digit above 0.
func (t text) isZero() bool { return t != "" && strings.Trim(string(t), "-+.0") == "" }

// user is what user/get says of the login, as far as it counts here.
type user struct{ Login, Group, Name, Email, Balance, Credit text }

// deal is a deal as the server shows it.
type deal struct {
	Deal, Login, Dealer, Action, Reason, Time, Profit, Comment text
}

// sums is the answer of check_balance.
type sums struct {
	Balance, Credit struct{ User, History text }
}

// decode reads an answer; of a list of one its only element.
func decode(raw json.RawMessage, into any) error {
	var list []json.RawMessage
	if bytes.HasPrefix(raw, []byte("[")) && json.Unmarshal(raw, &list) == nil && len(list) == 1 {
		raw = list[0]
	}
	if raw == nil {
		return errUnreadable
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return errors.Join(errUnreadable, err)
	}
	return nil
}

// deals reads a list of deals; nothing and null are none.
func deals(raw json.RawMessage) ([]deal, error) {
	if raw == nil {
		return nil, nil
	}
	var list []deal
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, errUnreadable
	}
	return list, nil
}

// backslashes undoes what JSON makes of a bare backslash before b, f, n, r or t (Traps 7).
func backslashes(s text) string {
	return strings.NewReplacer("\b", `\b`, "\f", `\f`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(string(s))
}
