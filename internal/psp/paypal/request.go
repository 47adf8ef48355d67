package paypal

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"creditonce/internal/psp/ask"
)

// us is the name with which faults begin.
const us ask.Provider = "paypal"

// The reasons that PayPal has beside the others'.
const (
	Late    ask.Reason = "late"    // PayPal has not gathered all transactions of the time yet: ask again later
	Changed ask.Reason = "changed" // the list changed each time while it was read: ask again later
)

// get reads path with the token, and once more with a fresh one where PayPal takes the first no longer.
func (c *Client) get(ctx context.Context, path string, query url.Values) (ask.Answer, error) {
	for fresh := false; ; fresh = true {
		bearer, err := c.bearer(ctx, fresh)
		if err != nil {
			return ask.Answer{}, err
		}
		a, err := c.api.Ask(ctx, func() (*http.Request, error) {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.api.URL(path, query), nil)
			if err == nil {
				req.Header.Set("Accept", "application/json")
				req.Header.Set("Authorization", "Bearer "+bearer)
			}
			return req, err
		})
		if f := ask.FaultOf(err); f == nil || f.Status != http.StatusUnauthorized || fresh {
			return a, err
		}
	}
}

// post sends a form with the app's id and secret.
func (c *Client) post(ctx context.Context, path string, form url.Values) (ask.Answer, error) {
	return c.api.Ask(ctx, func() (*http.Request, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.api.URL(path, nil), strings.NewReader(form.Encode()))
		if err == nil {
			req.Header.Set("Accept", "application/json")
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			req.SetBasicAuth(c.cfg.ID, string(c.cfg.Secret()))
		}
		return req, err
	})
}

// What PayPal's names and debug ids look like; nothing else of an answer goes into an error.
var (
	nameForm  = regexp.MustCompile(`^[A-Za-z_]{1,64}$`)
	debugForm = regexp.MustCompile(`^[A-Za-z0-9]{1,64}$`)
)

// tooManyListed is PayPal's name of a window with more transactions than it lists.
const tooManyListed = "RESULTSET_TOO_LARGE"

// explain says what an answer other than 200 means (developer.paypal.com/api/rest/responses).
func explain(a ask.Answer, f *ask.Fault) {
	f.Code = name(a)
	if id := a.Header.Get("Paypal-Debug-Id"); debugForm.MatchString(id) {
		f.Request = "debug id " + id
	}
	switch {
	case a.Status == http.StatusUnauthorized:
		f.Problem = "the app's id, secret or token is not valid"
	case a.Status == http.StatusForbidden:
		f.Problem = "the app lacks the right Transaction Search; PayPal needs up to nine hours after it was switched on"
	case f.Reason == ask.Refused && f.Code == tooManyListed:
		f.Reason, f.Problem = ask.TooLarge, tooMany
	}
}

const tooMany = "more transactions in the time than PayPal lists"

// name is PayPal's name of the error, else OAuth's; "" where the answer has neither in their form.
func name(a ask.Answer) string {
	o, err := ask.ParseObject(a.Body)
	if err != nil {
		return ""
	}
	for _, member := range []string{"name", "error"} {
		if text, err := o.Text(member); err == nil && nameForm.MatchString(text) {
			return text
		}
	}
	return ""
}
