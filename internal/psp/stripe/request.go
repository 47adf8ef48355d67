package stripe

import (
	"context"
	"net/http"
	"net/url"
	"regexp"

	"creditonce/internal/psp/ask"
)

// us is the name with which faults begin.
const us ask.Provider = "stripe"

// Expired is the reason of a list of events of which a part of the window is older than Stripe keeps them; the rest was listed.
const Expired ask.Reason = "expired"

// get reads path until it has an answer that a repetition cannot better.
func (c *Client) get(ctx context.Context, path string, query url.Values) (ask.Answer, error) {
	return c.api.Ask(ctx, func() (*http.Request, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.api.URL(path, query), nil)
		if err == nil {
			req.Header.Set("Authorization", "Bearer "+string(c.cfg.Key()))
			req.Header.Set("Stripe-Version", Version)
		}
		return req, err
	})
}

// What Stripe's codes and request numbers look like; nothing else of an answer goes into an error.
var (
	codeForm    = regexp.MustCompile(`^[a-z_]{1,64}$`)
	requestForm = regexp.MustCompile(`^req_[A-Za-z0-9]{1,64}$`)
)

// explain says what an answer other than 200 means (docs.stripe.com/api/errors).
func explain(a ask.Answer, f *ask.Fault) {
	f.Code = code(a)
	if id := a.Header.Get("Request-Id"); requestForm.MatchString(id) {
		f.Request = "request " + id
	}
	f.Final = a.Header.Get("Stripe-Should-Retry") == "false"
	switch a.Status {
	case http.StatusUnauthorized:
		f.Problem = "the API key is not valid: wrong, expired or revoked"
	case http.StatusForbidden:
		f.Problem = "the API key lacks a right that this needs"
	}
}

// code is Stripe's code of the error, else its type; "" where the answer has neither in their form.
func code(a ask.Answer) string {
	inner, err := errorOf(a)
	if err != nil {
		return ""
	}
	for _, name := range []string{"code", "type"} {
		if text, err := inner.Text(name); err == nil && codeForm.MatchString(text) {
			return text
		}
	}
	return ""
}

// message is Stripe's text of the error. It may hold pieces of the key: it is searched, never shown.
func message(a ask.Answer) string {
	inner, err := errorOf(a)
	if err != nil {
		return ""
	}
	text, _ := inner.Text("message")
	return text
}

// errorOf is what an answer other than 200 says about itself.
func errorOf(a ask.Answer) (ask.Object, error) {
	outer, err := ask.ParseObject(a.Body)
	if err != nil {
		return nil, err
	}
	return ask.ParseObject(outer["error"])
}
