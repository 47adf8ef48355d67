package stripe

import (
	"context"
	"net/http"
	"regexp"

	"creditonce/internal/psp/ask"
)

// named finds the account in Stripe's refusal of a restricted key: "... for this endpoint on account 'acct_...'"
// (stripe-node issue 2246, dj-stripe pull request 1131).
var named = regexp.MustCompile(`on account '(acct_[A-Za-z0-9]{1,64})'`)

// prove sees once that the key belongs to the configured account: the list itself never says whose it is, and another
// account's payments would become credits of this one. A restricted key may lack the right to ask; Stripe's refusal names the
// account then. Where it does not, nothing speaks against the key and it is asked again at the next list.
func (c *Client) prove(ctx context.Context) error {
	if c.proven.Load() {
		return nil
	}
	a, err := c.get(ctx, "/v1/account", nil)
	var id string
	fault := ask.FaultOf(err)
	switch {
	case err == nil:
		o, bad := ask.ParseObject(a.Body)
		if bad == nil {
			id, bad = o.Text("id")
		}
		if bad != nil {
			return us.Odd("the account of the API key cannot be read")
		}
	case fault != nil && fault.Status == http.StatusForbidden:
		found := named.FindStringSubmatch(message(a))
		if found == nil {
			return nil
		}
		id = found[1]
	default:
		return err
	}
	if id != c.cfg.Account {
		return us.Fault(ask.Foreign, "the API key belongs to another account than the configuration names")
	}
	c.proven.Store(true)
	return nil
}
