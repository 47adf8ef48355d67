package ask

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
)

// Reason tells what kind of fault ended a list.
type Reason string

// The reasons that every provider knows; a provider's package may have others of its own.
const (
	Denied      Reason = "denied"       // the key or app is not valid, or lacks a right: somebody must change it
	Foreign     Reason = "foreign"      // the key or app belongs to another account, or to the other environment
	Limited     Reason = "limited"      // too many requests, for longer than it is worth waiting
	Unavailable Reason = "unavailable"  // no answer, or a server's error, in every attempt
	Odd         Reason = "unexpected"   // an answer that is not what the documentation promises
	TooLarge    Reason = "too large"    // above the bounds: an answer, or a part of one
	Refused     Reason = "not accepted" // the provider calls the request wrong
)

// Provider is the name with which its faults begin, such as "stripe".
type Provider string

// Fault is why a list is not whole. Its text holds no secret, no address and no piece of an answer but the provider's own word for the error
// and the number of the request.
type Fault struct {
	Provider Provider
	Reason   Reason
	Status   int    // HTTP status; 0 where there was no answer
	Code     string // the provider's word, such as api_key_expired; "" without one
	Request  string // what the provider's support asks for, by its name: "request req_1", "debug id 90957"; "" without one
	Problem  string // one sentence
	Final    bool   // the provider says that to ask again is of no use, whatever the reason
}

// Error implements error.
func (f *Fault) Error() string {
	text := string(f.Provider) + ": " + f.Problem
	if f.Status != 0 {
		text += fmt.Sprintf(" (HTTP %d", f.Status)
		if f.Code != "" {
			text += ", " + f.Code
		}
		if f.Request != "" {
			text += ", " + f.Request
		}
		text += ")"
	}
	return text
}

// Fault is one that no status belongs to.
func (p Provider) Fault(reason Reason, problem string) *Fault {
	return &Fault{Provider: p, Reason: reason, Problem: problem}
}

// Odd is a fault with the reason Odd that no status belongs to.
func (p Provider) Odd(problem string) *Fault { return p.Fault(Odd, problem) }

// FaultOf is the Fault that err is; nil where it is none.
func FaultOf(err error) *Fault {
	var f *Fault
	if errors.As(err, &f) {
		return f
	}
	return nil
}

// byStatus is what a status other than 200 says by itself.
func byStatus(status int) (Reason, string) {
	switch {
	case status == http.StatusUnauthorized:
		return Denied, "the API does not know who asks"
	case status == http.StatusForbidden:
		return Denied, "who asks lacks a right that this needs"
	case status == http.StatusTooManyRequests:
		return Limited, "too many requests"
	case status >= 500, status == http.StatusConflict, status == http.StatusRequestTimeout:
		return Unavailable, "the API does not work now"
	case status >= 300 && status <= 399:
		return Odd, "the API points elsewhere; redirects are not followed"
	}
	return Refused, "the API does not accept the request"
}

// withoutURL takes the address with its query out of an error of net/http.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
