package stripe

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
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

// get reads path until it has an answer that a repetition cannot better.
func (c *Client) get(ctx context.Context, path string, query url.Values) (answer, error) {
	for n := 1; ; n++ {
		a, err := c.once(ctx, path, query)
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
func (c *Client) once(ctx context.Context, path string, query url.Values) (answer, error) {
	u := *c.base
	u.Path, u.RawQuery = path, query.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return answer{}, odd("the request cannot be made")
	}
	req.Header.Set("Authorization", "Bearer "+string(c.cfg.Key()))
	req.Header.Set("Stripe-Version", Version)
	req.Header.Set("User-Agent", "creditonce")
	resp, err := c.http.Do(req)
	if err != nil {
		return answer{}, &Fault{Reason: Unavailable, Problem: fmt.Sprintf("no answer: %v", withoutURL(err))}
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxPage+1))
	switch {
	case err != nil:
		return answer{}, &Fault{Reason: Unavailable, Status: resp.StatusCode, Problem: fmt.Sprintf("the answer broke off: %v", withoutURL(err))}
	case len(body) > maxPage:
		return answer{}, &Fault{Reason: TooLarge, Status: resp.StatusCode, Problem: fmt.Sprintf("an answer is longer than %d bytes", maxPage)}
	}
	return answer{resp.StatusCode, resp.Header, body}, nil
}

// pause tells whether to ask again, and after how long: what Stripe says, else doubling from the first pause.
func (c *Client) pause(a answer, f *Fault, n int) (time.Duration, bool) {
	again := f.Reason == Unavailable || f.Reason == Limited
	if n >= attempts || !again || a.header.Get("Stripe-Should-Retry") == "false" {
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

// codeForm is what Stripe's codes look like; nothing else of an answer goes into an error.
var (
	codeForm    = regexp.MustCompile(`^[a-z_]{1,64}$`)
	requestForm = regexp.MustCompile(`^req_[A-Za-z0-9]{1,64}$`)
)

// fault says what an answer other than 200 means (docs.stripe.com/api/errors).
func (a answer) fault() *Fault {
	f := &Fault{Status: a.status, Code: a.code()}
	if id := a.header.Get("Request-Id"); requestForm.MatchString(id) {
		f.Request = id
	}
	switch {
	case a.status == http.StatusUnauthorized:
		f.Reason, f.Problem = Denied, "the API key is not valid: wrong, expired or revoked"
	case a.status == http.StatusForbidden:
		f.Reason, f.Problem = Denied, "the API key lacks a right that this needs"
	case a.status == http.StatusTooManyRequests:
		f.Reason, f.Problem = Limited, "too many requests"
	case a.status >= 500, a.status == http.StatusConflict, a.status == http.StatusRequestTimeout:
		f.Reason, f.Problem = Unavailable, "the API does not work now"
	case a.status >= 300 && a.status <= 399:
		f.Reason, f.Problem = Odd, "the API points elsewhere; redirects are not followed"
	default:
		f.Reason, f.Problem = Refused, "the API does not accept the request"
	}
	return f
}

// code is Stripe's code of the error, else its type; "" where the answer has neither in their form.
func (a answer) code() string {
	outer, err := parseObject(a.body)
	if err != nil {
		return ""
	}
	inner, err := parseObject(outer["error"])
	if err != nil {
		return ""
	}
	for _, name := range []string{"code", "type"} {
		if text, err := inner.text(name); err == nil && codeForm.MatchString(text) {
			return text
		}
	}
	return ""
}

// message is Stripe's text of the error. It may hold pieces of the key: it is searched, never shown.
func (a answer) message() string {
	outer, err := parseObject(a.body)
	if err != nil {
		return ""
	}
	inner, err := parseObject(outer["error"])
	if err != nil {
		return ""
	}
	text, _ := inner.text("message")
	return text
}
