package paypal

import (
	"errors"
	"fmt"
	"net/url"
)

// Reason tells what kind of fault ended a list.
type Reason string

// The reasons.
const (
	Denied      Reason = "denied"       // the app's secret is not valid, or the app lacks a right: somebody must change it
	Foreign     Reason = "foreign"      // the app belongs to another account
	Late        Reason = "late"         // PayPal has not gathered all transactions of the time yet: ask again later
	Limited     Reason = "limited"      // too many requests, for longer than it is worth waiting
	Unavailable Reason = "unavailable"  // no answer, or a server's error, in every attempt
	Odd         Reason = "unexpected"   // an answer that is not what the documentation promises
	TooLarge    Reason = "too large"    // an answer above the bounds, or a second with more transactions than PayPal lists
	Refused     Reason = "not accepted" // PayPal calls the request wrong
	Changed     Reason = "changed"      // the list changed each time while it was read: ask again later
)

// Fault is why a list is not whole. Its text holds no secret, no address and no piece of an answer but PayPal's own name of the error and
// the number of the request.
type Fault struct {
	Reason  Reason
	Status  int    // HTTP status; 0 where there was no answer
	Name    string // PayPal's word, such as NOT_AUTHORIZED; "" without one
	Request string // PayPal's debug id, for its support; "" without one
	Problem string // one sentence
}

// Error implements error.
func (f *Fault) Error() string {
	text := "paypal: " + f.Problem
	if f.Status != 0 {
		text += fmt.Sprintf(" (HTTP %d", f.Status)
		if f.Name != "" {
			text += ", " + f.Name
		}
		if f.Request != "" {
			text += ", debug id " + f.Request
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
