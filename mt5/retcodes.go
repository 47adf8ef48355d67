package mt5

import (
	"fmt"
	"net/http"

	"creditonce/credit"
)

// class says what a return code means for a balance call: whether money moved.
type class uint8

const (
	unknown class = iota // the zero value, so that a code outside the table is unknown
	applied
	refused
)

// retcode is one line of the table of return codes.
type retcode struct {
	class   class
	name    string
	meaning string
}

// Return codes that the client acts on by itself (§4).
const (
	codeDone     = 0
	codeNothing  = 1
	codeNotFound = 13
	noCode       = -1 // no readable return code
)

// codeText is the code as number and name, for records: "10019 MT_RET_REQUEST_NO_MONEY".
func codeText(code int) string {
	if code < 0 {
		return ""
	}
	if r, ok := retcodes[code]; ok {
		return fmt.Sprintf("%d %s", code, r.name)
	}
	return fmt.Sprintf("%d (not in the table)", code)
}

// explain is the code with its meaning, for people.
func explain(code int) string {
	if r, ok := retcodes[code]; ok {
		return fmt.Sprintf("%d %s: %s", code, r.name, r.meaning)
	}
	return codeText(code)
}

// Classify decides how a balance call ended from what was read of its answer: HTTP status, return code (-1
// for none) and ticket (0 for none). answered tells that a success code was read, which is evidence even where
// the outcome is unknown. Pure; design §6.6:
//
//   - applied: HTTP 200, a success code and a ticket;
//   - refused: HTTP 200, 400 or 404 and a code that the table lists as a refusal;
//   - unknown: everything else. HTTP 401, 403 and 5xx are unknown whatever the body says.
func Classify(status, code int, ticket uint64) (outcome credit.Outcome, answered bool) {
	c := retcodes[code].class
	switch {
	case c == applied && status == http.StatusOK && ticket != 0:
		return credit.OutcomeApplied, true
	case c == applied:
		return credit.OutcomeUnknown, true
	case c == refused && (status == http.StatusOK || status == http.StatusBadRequest || status == http.StatusNotFound):
		return credit.OutcomeRefused, false
	}
	return credit.OutcomeUnknown, false
}
