package paypal

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"creditonce/internal/psp/ask"
)

// searchScope is the right to read transactions (openapi reporting_transactions_v1, security).
const searchScope = "https://uri.paypal.com/services/reporting/search/read"

// spare is how long before its end a token is used no more: a list may take so long.
const spare = 5 * time.Minute

// token is the right to ask, for a bounded time. It is kept in memory only.
type token struct {
	text  string
	until time.Time
}

// bearer is a token that holds for a while yet; fresh throws the kept one away.
func (c *Client) bearer(ctx context.Context, fresh bool) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !fresh && c.cfg.Now().Add(spare).Before(c.token.until) {
		return c.token.text, nil
	}
	a, err := c.post(ctx, "/v1/oauth2/token", url.Values{"grant_type": {"client_credentials"}})
	if err != nil {
		return "", err
	}
	t, err := readToken(a.Body, c.cfg.Now())
	if err != nil {
		return "", err
	}
	c.token = t
	return t.text, nil
}

// readToken reads the answer of the token endpoint (developer.paypal.com/api/rest/authentication).
func readToken(body []byte, now time.Time) (token, error) {
	r := read(ask.ParseObject(body))
	text, kind, scope, lasts := r.Text("access_token"), r.Text("token_type"), r.Text("scope"), r.count("expires_in")
	switch {
	case r.Err != nil:
		return token{}, us.Odd("the answer to the request for a token is not one")
	case !strings.EqualFold(kind, "Bearer") || text == "" || strings.ContainsFunc(text, func(c rune) bool { return c <= ' ' || c > '~' }):
		return token{}, us.Odd("the token is not one that can be sent")
	case !slices.Contains(strings.Fields(scope), searchScope):
		return token{}, us.Fault(ask.Denied, "the app lacks the right Transaction Search: switch it on in the app's settings; it takes up to nine hours")
	}
	return token{text, now.Add(time.Duration(lasts) * time.Second)}, nil
}
