package stripe

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"time"

	"creditonce/internal/psp/ask"
)

// mostListed bounds one list of payouts or balance transactions: beyond it a shorter window must be asked for.
const mostListed = 1_000_000

// listing is one list of objects with ids that is read to its end.
type listing struct {
	path  string
	what  string         // one of them, for messages
	id    *regexp.Regexp // the form of their ids: it goes into the next request and into messages
	query url.Values
	page  func(body []byte) // gets each answer as it came; nil: nobody wants it
}

// entry is one object of a list.
type entry struct {
	id string
	ask.Object
}

// each hands take every object of the list, in Stripe's order (newest first), each once. It returns nil only when the list has ended. A
// cursor names an object, so objects that come meanwhile neither shift nor hide others; an object that comes twice says that the list is not
// what the cursor promises.
func (c *Client) each(ctx context.Context, l listing, take func(entry) error) error {
	if err := c.prove(ctx); err != nil {
		return err
	}
	l.query.Set("limit", strconv.Itoa(perPage))
	seen := map[string]bool{}
	for {
		a, err := c.get(ctx, l.path, l.query)
		if err != nil {
			return err
		}
		entries, more, err := l.read(a.Body)
		if err != nil {
			return err
		}
		if l.page != nil {
			l.page(a.Body)
		}
		for _, e := range entries {
			if seen[e.id] {
				return us.Odd(l.what + " " + e.id + " is listed twice: the list changed while it was read")
			}
			if seen[e.id] = true; len(seen) > mostListed {
				return us.Fault(ask.TooLarge, fmt.Sprintf("a list has more than %d entries: ask for a shorter time", mostListed))
			}
			if err := take(e); err != nil {
				return err
			}
		}
		switch {
		case !more:
			return nil
		case len(entries) == 0:
			return us.Odd("a page is empty and says that more follow")
		}
		l.query.Set("starting_after", entries[len(entries)-1].id)
	}
}

// read takes one page apart.
func (l listing) read(body []byte) ([]entry, bool, error) {
	page, err := ask.ParseObject(body)
	if err != nil {
		return nil, false, us.Odd("a list is " + err.Error())
	}
	if kind, err := page.Text("object"); err != nil || kind != "list" {
		return nil, false, us.Odd("the answer is no list")
	}
	more, err := page.Flag("has_more")
	if err != nil {
		return nil, false, us.Odd("a list does not say whether more follow")
	}
	elements, err := ask.ParseList(page["data"])
	if err != nil {
		return nil, false, us.Odd("a list holds no list")
	}
	entries := make([]entry, 0, len(elements))
	for _, raw := range elements {
		o, err := ask.ParseObject(raw)
		if err != nil {
			return nil, false, us.Odd(l.what + " of a list is " + err.Error())
		}
		id, err := o.Text("id")
		if err != nil || !l.id.MatchString(id) {
			return nil, false, us.Odd(l.what + " of a list has no id")
		}
		entries = append(entries, entry{id, o})
	}
	return entries, more, nil
}

// between limits a list to from <= name < until, in whole seconds.
func between(name string, from, until time.Time) url.Values {
	return url.Values{
		name + "[gte]": {strconv.FormatInt(from.Unix(), 10)},
		name + "[lt]":  {strconv.FormatInt(until.Unix(), 10)},
	}
}
