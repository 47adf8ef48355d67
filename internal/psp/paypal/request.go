package paypal

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	// attempts is how often one request is made at most.
	attempts = 5
	// firstPause doubles after each attempt.
	firstPause = 500 * time.Millisecond
	// longestPause is the longest that one answer makes a list wait: beyond it the next pull tries again.
	longestPause = time.Minute
)

// answer is one whole answer.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// ask makes requests until one has an answer that a repetition cannot better. make is called for each attempt.
func (c *Client) ask(ctx context.Context, prepare func() (*http.Request, error)) (answer, error) {
	for n := 1; ; n++ {
		a, err := c.once(prepare)
		if err == nil && a.status == http.StatusOK {
			return a, nil
		}
		if ctx.Err() != nil {
			return answer{}, ctx.Err()
		}
		fault := faultOf(err)
		if err == nil {
			fault = a.fault()
		}
		pause, again := c.pause(a, fault, n)
		if !again {
			return a, fault
		}
		if err := c.cfg.Wait(ctx, pause); err != nil {
			return answer{}, err
		}
	}
}

// once makes one request. Its error is a *Fault.
func (c *Client) once(prepare func() (*http.Request, error)) (answer, error) {
	req, err := prepare()
	if err != nil {
		return answer{}, odd("the request cannot be made")
	}
	req.Header.Set("User-Agent", "creditonce")
	req.Header.Set("Accept", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return answer{}, &Fault{Reason: Unavailable, Problem: fmt.Sprintf("no answer: %v", withoutURL(err))}
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return answer{}, &Fault{Reason: Unavailable, Status: resp.StatusCode, Problem: fmt.Sprintf("the answer broke off: %v", withoutURL(err))}
	case len(body) > maxAnswer:
		return answer{}, &Fault{Reason: TooLarge, Status: resp.StatusCode, Problem: fmt.Sprintf("an answer is longer than %d bytes", maxAnswer)}
	}
	return answer{resp.StatusCode, resp.Header, body}, nil
}

// get reads path with the token, and once more with a fresh one where PayPal takes the first no longer.
func (c *Client) get(ctx context.Context, path string, query url.Values) (answer, error) {
	for fresh := false; ; fresh = true {
		bearer, err := c.bearer(ctx, fresh)
		if err != nil {
			return answer{}, err
		}
		a, err := c.ask(ctx, func() (*http.Request, error) {
			u := *c.base
			u.Path, u.RawQuery = path, query.Encode()
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
			if err == nil {
				req.Header.Set("Authorization", "Bearer "+bearer)
			}
			return req, err
		})
		if f := faultOf(err); f == nil || f.Status != http.StatusUnauthorized || fresh {
			return a, err
		}
	}
}

// post sends a form with the app's id and secret.
func (c *Client) post(ctx context.Context, path string, form url.Values) (answer, error) {
	return c.ask(ctx, func() (*http.Request, error) {
		u := *c.base
		u.Path = path
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), strings.NewReader(form.Encode()))
		if err == nil {
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			req.SetBasicAuth(c.cfg.ID, string(c.cfg.Secret()))
		}
		return req, err
	})
}

// pause tells whether to ask again, and after how long: what PayPal says, else doubling from the first pause.
func (c *Client) pause(a answer, f *Fault, n int) (time.Duration, bool) {
	if n >= attempts || f.Reason != Unavailable && f.Reason != Limited {
		return 0, false
	}
	pause := firstPause << (n - 1)
	pause -= time.Duration(c.cfg.Spread() * float64(pause) / 2)
	if said, ok := c.retryAfter(a.header.Get("Retry-After")); ok {
		pause = max(pause, said)
	}
	return pause, pause <= longestPause
}

// retryAfter reads the header of RFC 9110 §10.2.3: seconds, or a date.
func (c *Client) retryAfter(text string) (time.Duration, bool) {
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second, true
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0, false
	}
	return max(0, at.Sub(c.cfg.Now())), true
}

// What PayPal's names and debug ids look like; nothing else of an answer goes into an error.
var (
	nameForm  = regexp.MustCompile(`^[A-Za-z_]{1,64}$`)
	debugForm = regexp.MustCompile(`^[A-Za-z0-9]{1,64}$`)
)

// tooManyListed is PayPal's name of a window with more transactions than it lists.
const tooManyListed = "RESULTSET_TOO_LARGE"

// fault says what an answer other than 200 means (developer.paypal.com/api/rest/responses).
func (a answer) fault() *Fault {
	f := &Fault{Status: a.status, Name: a.name()}
	if id := a.header.Get("Paypal-Debug-Id"); debugForm.MatchString(id) {
		f.Request = id
	}
	switch {
	case a.status == http.StatusUnauthorized:
		f.Reason, f.Problem = Denied, "the app's id, secret or token is not valid"
	case a.status == http.StatusForbidden:
		f.Reason, f.Problem = Denied, "the app lacks the right Transaction Search; PayPal needs up to nine hours after it was switched on"
	case a.status == http.StatusTooManyRequests:
		f.Reason, f.Problem = Limited, "too many requests"
	case a.status >= 500, a.status == http.StatusConflict, a.status == http.StatusRequestTimeout:
		f.Reason, f.Problem = Unavailable, "the API does not work now"
	case a.status >= 300 && a.status <= 399:
		f.Reason, f.Problem = Odd, "the API points elsewhere; redirects are not followed"
	case f.Name == tooManyListed:
		f.Reason, f.Problem = TooLarge, "more transactions in the time than PayPal lists"
	default:
		f.Reason, f.Problem = Refused, "the API does not accept the request"
	}
	return f
}

// name is PayPal's name of the error, else OAuth's; "" where the answer has neither in their form.
func (a answer) name() string {
	o, err := parseObject(a.body)
	if err != nil {
		return ""
	}
	for _, member := range []string{"name", "error"} {
		if text, err := o.text(member); err == nil && nameForm.MatchString(text) {
			return text
		}
	}
	return ""
}
