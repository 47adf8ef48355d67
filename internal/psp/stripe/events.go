package stripe

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"time"

	"creditonce/internal/psp/ask"
)

// Event is one event of the list. Raw are its bytes as the list gave them, valid for as long as the caller keeps them.
type Event struct {
	ID      string
	Created time.Time // UTC, whole seconds
	Raw     []byte
}

// Listing says what a list gave. Until is the end of the window by Stripe's own clock, where it tells one: a clock here that is
// fast must not pass off as seen what has not happened yet.
type Listing struct {
	Events int
	Pages  int
	Until  time.Time
}

// Events hands take every event that was created from from to to, both ends included, newest first, an event perhaps twice.
// It returns nil only when the list has ended: everything that Stripe lists of the window was handed over. Otherwise the
// error is a *[ask.Fault], take's own, or ctx's. It holds one page at a time. Where a part of the window is older than Kept it lists
// the rest and returns a *[ask.Fault] with the reason Expired.
func (c *Client) Events(ctx context.Context, from, to time.Time, take func(Event) error) (Listing, error) {
	got := Listing{Until: to}
	if len(c.cfg.Types) == 0 {
		return got, us.Fault(ask.Refused, "this client was made to list no events") // without types Stripe would list them all
	}
	if err := c.prove(ctx); err != nil {
		return got, err
	}
	oldest := c.cfg.Now().Add(-Kept)
	expired := from.Before(oldest)
	if expired {
		from = oldest
	}
	query := c.window(from, to)
	walk := walk{seen: map[string]bool{}, newest: to}
	for {
		a, err := c.get(ctx, "/v1/events", query)
		if err != nil {
			return got, err
		}
		if at, err := http.ParseTime(a.Header.Get("Date")); got.Pages == 0 && err == nil && at.Before(got.Until) {
			got.Until = at.UTC()
		}
		page, err := c.readPage(a.Body)
		if err != nil {
			return got, err
		}
		got.Pages++
		for _, e := range page.events {
			if err := take(e); err != nil {
				return got, fmt.Errorf("take event %s: %w", e.ID, err)
			}
			got.Events++
		}
		if !page.more {
			break
		}
		after, err := walk.next(page)
		if err != nil {
			return got, err
		}
		query.Set("starting_after", after)
	}
	if expired {
		return got, us.Fault(Expired, fmt.Sprintf("events of before %s UTC are listed no more: Stripe keeps them for %d days",
			oldest.UTC().Format(time.DateTime), int(Kept.Hours()/24)))
	}
	return got, nil
}

func (c *Client) window(from, to time.Time) url.Values {
	return url.Values{
		"created[gte]": {strconv.FormatInt(from.Unix(), 10)},
		"created[lte]": {strconv.FormatInt(to.Unix(), 10)},
		"limit":        {strconv.Itoa(perPage)},
		"types[]":      c.cfg.Types,
	}
}

// walk sees that a list gets on. The list is newest first, and a cursor names an event, so events that come meanwhile
// neither shift nor hide what follows; but a list that turned in a circle would never end.
type walk struct {
	seen   map[string]bool // every cursor: one a page
	newest time.Time       // nothing younger may follow
}

func (w *walk) next(p page) (string, error) {
	if len(p.events) == 0 {
		return "", us.Odd("a page is empty and says that more follow")
	}
	last := p.events[len(p.events)-1]
	if w.seen[last.ID] || last.Created.After(w.newest) {
		return "", us.Odd("the list of events does not get on: a page ends where an earlier one did, or later")
	}
	w.seen[last.ID], w.newest = true, last.Created
	return last.ID, nil
}

type page struct {
	events []Event
	more   bool
}

// idForm is what an event's id looks like; it goes into the next request and into messages.
var idForm = regexp.MustCompile(`^evt_[A-Za-z0-9_]{1,250}$`)

func (c *Client) readPage(body []byte) (page, error) {
	var p page
	list, err := ask.ParseObject(body)
	if err != nil {
		return p, us.Odd("the list of events is " + err.Error())
	}
	kind, err := list.Text("object")
	if err != nil || kind != "list" {
		return p, us.Odd("the answer is no list")
	}
	if p.more, err = list.Flag("has_more"); err != nil {
		return p, us.Odd("the list of events does not say whether more follow")
	}
	elements, err := ask.ParseList(list["data"])
	if err != nil {
		return p, us.Odd("the list of events holds no list")
	}
	for _, raw := range elements {
		e, err := c.readEvent(raw)
		if err != nil {
			return p, err
		}
		p.events = append(p.events, e)
	}
	return p, nil
}

// readEvent reads no more of an event than the list needs; what it means is the webhook's reader to say.
func (c *Client) readEvent(raw []byte) (Event, error) {
	e := Event{Raw: raw}
	o, err := ask.ParseObject(raw)
	if err != nil {
		return e, us.Odd("an event of the list is " + err.Error())
	}
	if e.ID, err = o.Text("id"); err != nil || !idForm.MatchString(e.ID) {
		return e, us.Odd("an event of the list has no id")
	}
	if e.Created, err = second(o, "created"); err != nil {
		return e, us.Odd("event " + e.ID + ": " + err.Error())
	}
	live, err := o.Flag("livemode")
	switch {
	case err != nil:
		return e, us.Odd("event " + e.ID + ": " + err.Error())
	case live != c.cfg.Live:
		return e, us.Fault(ask.Foreign, "the API key lists events of the other environment: "+environment(live))
	case len(raw) > maxEvent:
		return e, us.Fault(ask.TooLarge, fmt.Sprintf("event %s is longer than %d bytes", e.ID, maxEvent))
	}
	return e, nil
}

func environment(live bool) string {
	if live {
		return "live"
	}
	return "test"
}
