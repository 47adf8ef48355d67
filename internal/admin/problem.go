package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"creditonce/credit"
	"creditonce/internal/desk"
)

// Problem is an error on the wire (RFC 9457) and the client's error: what was wrong, with what, and what to do.
type Problem struct {
	Title  string `json:"title"`
	Status int    `json:"status"`
	Code   string `json:"code"` // stable, for machines
	Detail string `json:"detail"`
}

// Error gives the sentence for people.
func (p *Problem) Error() string { return p.Detail }

// The classes of errors that leave this package; the command line chooses its exit code by the status.
const (
	statusRefused  = http.StatusForbidden          // understood, and a rule forbids it
	statusInvalid  = http.StatusBadRequest         // not understood; nothing was done
	statusNoAnswer = http.StatusGatewayTimeout     // MT5 gave no complete answer
	statusBusy     = http.StatusServiceUnavailable // nothing can be taken now
)

// Refusal is an error as the socket would answer it where a rule or the form of the request is the reason; every other error
// stays as it is. It is for what a command does itself while no service runs.
func Refusal(err error) error {
	if errors.Is(err, credit.ErrRefused) || errors.Is(err, credit.ErrInvalid) {
		return problemOf(err)
	}
	return err
}

// problemOf chooses what an error says to the caller. What is not listed is a fault of the service; its text is fit
// for people and goes out too: the caller is an operator of this very machine.
func problemOf(err error) *Problem {
	var p *Problem
	var refused *credit.RefusedError
	var silent *desk.NoAnswerError
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &refused):
		return &Problem{"Refused", statusRefused, refused.Code, refused.Detail}
	case errors.As(err, &silent):
		return &Problem{"No complete answer", statusNoAnswer, "no_answer", err.Error()}
	case errors.Is(err, credit.ErrInvalid):
		return &Problem{"Cannot be understood", statusInvalid, "invalid", strings.TrimSuffix(err.Error(), ": "+credit.ErrInvalid.Error())}
	case errors.Is(err, credit.ErrNotFound):
		return &Problem{"There is no such record", http.StatusNotFound, "not_found", err.Error()}
	case errors.Is(err, credit.ErrConflict):
		return &Problem{"It has changed meanwhile", http.StatusConflict, "conflict", err.Error() + "; look at it again and decide anew"}
	case errors.Is(err, credit.ErrDuplicate):
		return &Problem{"Already taken", http.StatusConflict, "already_taken", err.Error()}
	case errors.Is(err, credit.ErrStopped):
		return &Problem{"The store has stopped", statusBusy, "stopped", err.Error() + "; the service ends and looks again after its next start"}
	case errors.Is(err, credit.ErrBusy), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return &Problem{"Not now", statusBusy, "busy", err.Error() + "; whether it was done is shown by the list: look before you repeat it"}
	default:
		return &Problem{"Failed", http.StatusInternalServerError, "internal", err.Error()}
	}
}

// invalid is a request that cannot be understood.
func invalid(format string, args ...any) *Problem {
	return &Problem{"Cannot be understood", statusInvalid, "invalid", fmt.Sprintf(format, args...)}
}

// writeProblem answers with the problem.
func writeProblem(w http.ResponseWriter, p *Problem) {
	body, err := json.Marshal(p)
	if err != nil { // four plain fields
		body = nil
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	_, _ = w.Write(body) // the caller has gone: nobody is left to tell
}
