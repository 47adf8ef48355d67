package fakemt5

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// KeyCase is how the keys of answers are written (mt5-webapi.md §1.2).
type KeyCase string

// The key cases that clients report: Ticket, ticket; TimeMsc as timemsc or timeMsc.
const (
	KeysDocumented KeyCase = "documented"
	KeysLower      KeyCase = "lower"
	KeysCamel      KeyCase = "camel"
)

// Refusal is an answer of refusal in text form: "13" is HTTP 200 with retcode 13,
// "404 13" adds the HTTP status, "403 -" is a status without a body. Where a list or
// a count is asked for, "empty" is also possible: the answer for an empty window.
type Refusal string

// Wire is how the server answers where documents are silent or differ. The zero
// value of each field is replaced by the default named in its comment; every field
// can be changed at run time over the control port.
type Wire struct {
	KeyCase KeyCase `json:"key_case,omitempty"` // documented
	Scalars string  `json:"scalars,omitempty"`  // "strings" (default) or "numbers"
	// BareBackslash leaves backslashes in strings unescaped, which makes invalid
	// JSON, as one documented sample does (mt5-webapi.md Traps 7).
	BareBackslash bool `json:"bare_backslash,omitempty"`
	// ErrorAnswer is what stands for answer on errors: "absent" (default) or "null".
	ErrorAnswer string `json:"error_answer,omitempty"`

	// EmptyPage answers get_page and get_batch of an empty window: "array" (default),
	// "null", "absent", or a Refusal such as "1" or "13".
	EmptyPage string `json:"empty_page,omitempty"`
	// EmptyTotal answers get_total of an empty window: "zero" (default) or as EmptyPage.
	EmptyTotal string `json:"empty_total,omitempty"`
	// LongPage answers get_page with total above 100: "cut" (default, 100 rows), "all" (as many as asked for) or a Refusal.
	LongPage string `json:"long_page,omitempty"`

	UnknownBalance Refusal `json:"unknown_balance,omitempty"` // trade/balance, unknown login: 13
	UnknownUser    Refusal `json:"unknown_user,omitempty"`    // user/get, account/get, check_balance: 13
	UnknownTotal   Refusal `json:"unknown_total,omitempty"`   // deal/get_total: 13
	UnknownPage    Refusal `json:"unknown_page,omitempty"`    // deal/get_page: 13
	UnknownTicket  Refusal `json:"unknown_ticket,omitempty"`  // deal/get: 13
	UnknownGroup   Refusal `json:"unknown_group,omitempty"`   // group/get: 13
	// NotPermitted answers a manager without the right, or out of reach of a login: 8.
	NotPermitted Refusal `json:"not_permitted,omitempty"`
	// AuthRefused is the HTTP status of a refused authentication: 200.
	AuthRefused int `json:"auth_refused,omitempty"`
	// DeadSession answers a request without a session: "403 -" (default), "401 -",
	// "403 8", any Refusal, or "close" (the connection closes without an answer).
	DeadSession Refusal `json:"dead_session,omitempty"`

	// Session says what carries a session: "connection" (default), "cookie" (the
	// cookie alone, on any connection), "either", "both".
	Session    string `json:"session,omitempty"`
	CookieName string `json:"cookie_name,omitempty"` // "MT5SID"

	// IdleAccount answers account/get for a login without margin and without a deal
	// since the start: "present" (default), "zeros", "null", "absent" or a Refusal.
	IdleAccount string `json:"idle_account,omitempty"`
	// RawSkipsBalance: check_margin=0 lifts the check of the balance too.
	RawSkipsBalance bool `json:"raw_skips_balance,omitempty"`
	// RefuseConnections resets every new connection at once; open ones stay.
	RefuseConnections bool `json:"refuse_connections,omitempty"`

	Unsettled
}

func (w Wire) withDefaults() (Wire, error) {
	for _, d := range []struct {
		at    *string
		value string
	}{
		{(*string)(&w.KeyCase), string(KeysDocumented)}, {&w.Scalars, "strings"}, {&w.ErrorAnswer, "absent"},
		{&w.EmptyPage, "array"}, {&w.EmptyTotal, "zero"}, {&w.LongPage, "cut"},
		{(*string)(&w.UnknownBalance), "13"}, {(*string)(&w.UnknownUser), "13"},
		{(*string)(&w.UnknownTotal), "13"}, {(*string)(&w.UnknownPage), "13"},
		{(*string)(&w.UnknownTicket), "13"}, {(*string)(&w.UnknownGroup), "13"},
		{(*string)(&w.NotPermitted), "8"}, {(*string)(&w.DeadSession), "403 -"},
		{&w.Session, "connection"}, {&w.CookieName, "MT5SID"}, {&w.IdleAccount, "present"},
	} {
		if *d.at == "" {
			*d.at = d.value
		}
	}
	if w.AuthRefused == 0 {
		w.AuthRefused = 200
	}
	if err := w.Unsettled.withDefaults(); err != nil {
		return w, err
	}
	return w, w.validate()
}

func (w Wire) validate() error {
	for _, f := range []struct {
		name, value string
		refusal     bool // a Refusal is possible too
		words       []string
	}{
		{"key_case", string(w.KeyCase), false, []string{"documented", "lower", "camel"}},
		{"scalars", w.Scalars, false, []string{"strings", "numbers"}},
		{"error_answer", w.ErrorAnswer, false, []string{"absent", "null"}},
		{"empty_page", w.EmptyPage, true, []string{"array", "null", "absent"}},
		{"empty_total", w.EmptyTotal, true, []string{"zero", "null", "absent"}},
		{"long_page", w.LongPage, true, []string{"cut", "all"}},
		{"unknown_balance", string(w.UnknownBalance), true, nil},
		{"unknown_user", string(w.UnknownUser), true, nil},
		{"unknown_total", string(w.UnknownTotal), true, []string{"empty"}},
		{"unknown_page", string(w.UnknownPage), true, []string{"empty"}},
		{"unknown_ticket", string(w.UnknownTicket), true, nil},
		{"unknown_group", string(w.UnknownGroup), true, nil},
		{"not_permitted", string(w.NotPermitted), true, nil},
		{"dead_session", string(w.DeadSession), true, []string{"close"}},
		{"session", w.Session, false, []string{"connection", "cookie", "either", "both"}},
		{"idle_account", w.IdleAccount, true, []string{"present", "zeros", "null", "absent"}},
	} {
		if slices.Contains(f.words, f.value) {
			continue
		}
		if _, err := Refusal(f.value).parse(); !f.refusal || err != nil {
			return fmt.Errorf("wire: %s %q is none of %s", f.name, f.value, choices(f.words, f.refusal))
		}
	}
	if w.AuthRefused < 200 || w.AuthRefused > 599 {
		return fmt.Errorf("wire: auth_refused %d is no HTTP status", w.AuthRefused)
	}
	if strings.ContainsAny(w.CookieName, " =;,\t\"") {
		return fmt.Errorf("wire: cookie_name %q is no cookie name", w.CookieName)
	}
	return nil
}

func choices(words []string, refusal bool) string {
	if refusal {
		words = append(slices.Clone(words), `a retcode, "STATUS RETCODE" or "STATUS -"`)
	}
	return strings.Join(words, ", ")
}

// parse turns the text into a reply.
func (r Refusal) parse() (reply, error) {
	status, code := 200, string(r)
	if before, after, both := strings.Cut(code, " "); both {
		n, err := strconv.Atoi(before)
		if err != nil || n < 200 || n > 599 {
			return reply{}, fmt.Errorf("refusal %q: no HTTP status", r)
		}
		status, code = n, after
		if code == "-" {
			return reply{status: status, noBody: true}, nil
		}
	}
	n, err := strconv.Atoi(code)
	if err != nil || n < 0 {
		return reply{}, fmt.Errorf("refusal %q: no retcode", r)
	}
	return reply{status: status, code: n}, nil
}

// reply is the answer of a refusal that validate has passed.
func (r Refusal) reply() reply {
	rep, err := r.parse()
	if err != nil {
		return reply{status: 500, noBody: true}
	}
	return rep
}

func (w Wire) encoder() encoder {
	return encoder{keyCase: w.KeyCase, numbers: w.Scalars == "numbers", bareBackslash: w.BareBackslash}
}
