package stripe

import (
	"errors"
	"fmt"
	"net/url"
)

// Reason tells what kind of fault ended a list.
type Reason string

// The reasons.
const (
	Denied      Reason = "denied"       // the key is not valid, or lacks a right: somebody must change it
	Foreign     Reason = "foreign"      // the key belongs to another account, or to the other environment
	Expired     Reason = "expired"      // a part of the window is older than Stripe keeps events; the rest was listed
	Limited     Reason = "limited"      // too many requests, for longer than it is worth waiting
	Unavailable Reason = "unavailable"  // no answer, or a server's error, in every attempt
	Odd         Reason = "unexpected"   // an answer that is not what the documentation promises
	TooLarge    Reason = "too large"    // an event or page above the bounds
	Refused     Reason = "not accepted" // Stripe calls the request wrong
)

// Fault is why a list is not complete. Its text holds no key, no address and no piece of an answer but Stripe's own code
// of the error and the number of the request.
type Fault struct {
	Reason  Reason
	Status  int    // HTTP status; 0 where there was no answer
	Code    string // Stripe's word, such as api_key_expired; "" without one
	Request string // Stripe's number of the request, for its support; "" without one
	Problem string // one sentence
}

// Error implements error.
func (f *Fault) Error() string {
	text := "stripe: " + f.Problem
	if f.Status != 0 {
		text += fmt.Sprintf(" (HTTP %d", f.Status)
		if f.Code != "" {
			text += ", " + f.Code
		}
		if f.Request != "" {
			text += ", request " + f.Request
		}
		text += ")"
	}
	return text
}

// faultOf is the Fault that err is; nil where it is none.
func faultOf(err error) *Fault {
	var f *Fault
	if errors.As(err, &f) {
		return f
	}
	return nil
}

func odd(problem string) *Fault { return &Fault{Reason: Odd, Problem: problem} }

// withoutURL takes the address with its query out of an error of net/http.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
