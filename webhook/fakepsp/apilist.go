package fakepsp

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// keptFor is how far back events are listed (docs.stripe.com/api/events/list).
const keptFor = 30 * 24 * time.Hour

// eventQuery is what a list of events is asked for.
type eventQuery struct {
	filters []func(Event) bool
	page    pageQuery
}

// listEvents answers GET /v1/events: newest first, limit 1 to 100 with 10 by default, cursors that name an event
// (docs.stripe.com/api/events/list, docs.stripe.com/api/pagination).
func (a *api) listEvents(w http.ResponseWriter, r *http.Request, f APIFaults) *apiProblem {
	q, problem := a.readQuery(r.URL.Query(), f)
	if problem != nil {
		return problem
	}
	found := selected(a.events(), q.filters)
	slices.Reverse(found)
	slices.SortStableFunc(found, func(x, y Event) int { return int(y.Created.Unix() - x.Created.Unix()) })
	shown, more, problem := cut(q.page, found, "event", f.Twice, func(e Event) string { return e.ID })
	if problem != nil {
		return problem
	}
	data := make([]json.RawMessage, 0, len(shown))
	for _, e := range shown {
		data = append(data, a.listed(e))
	}
	var out bytes.Buffer
	out.WriteString("{\n  \"object\": \"list\",\n  \"data\": [")
	for i, raw := range data {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString("\n    ")
		out.Write(raw)
	}
	out.WriteString("\n  ],\n  \"has_more\": " + strconv.FormatBool(more) + ",\n  \"url\": \"/v1/events\"\n}\n")
	_, _ = w.Write(out.Bytes()) // a caller that has gone has nobody to be told
	return nil
}

func (a *api) readQuery(values url.Values, f APIFaults) (eventQuery, *apiProblem) {
	var q eventQuery
	if problem := q.page.read(values); problem != nil {
		return q, problem
	}
	kept := keptFor
	if f.Kept > 0 {
		kept = f.Kept
	}
	now := a.now()
	q.filters = append(q.filters, func(e Event) bool { return now.Sub(e.Created) <= kept && now.Sub(e.Created) >= f.Lag })
	for name, given := range values {
		value := given[len(given)-1]
		var problem *apiProblem
		switch {
		case q.page.takes(name):
		case name == "type":
			q.filters = append(q.filters, func(e Event) bool { return matches(value, e.Type) })
		case name == "delivery_success":
			q.filters = append(q.filters, func(e Event) bool { return (a.open(e.ID) == 0) == (value == "true") })
		case name == "created" || strings.HasPrefix(name, "created["):
			var within func(time.Time) bool
			if within, problem = timeRange("created", name, value, name != "created"); problem == nil {
				q.filters = append(q.filters, func(e Event) bool { return within(e.Created) })
			}
		case strings.HasPrefix(name, "types["):
			problem = q.types(values)
		default:
			problem = invalid(name, "Received unknown parameter: "+name)
		}
		if problem != nil {
			return q, problem
		}
	}
	if values.Get("type") != "" && slices.ContainsFunc(keysOf(values), func(n string) bool { return strings.HasPrefix(n, "types[") }) {
		return q, invalid("types", "You may pass either type or types, but not both.")
	}
	return q, nil
}

func keysOf(values url.Values) []string {
	var names []string
	for name := range values {
		names = append(names, name)
	}
	return names
}

// types takes types[] and types[0] alike: at most 20.
func (q *eventQuery) types(values url.Values) *apiProblem {
	var all []string
	for name, given := range values {
		if strings.HasPrefix(name, "types[") {
			all = append(all, given...)
		}
	}
	if len(all) > 20 {
		return invalid("types", "You may pass at most 20 types.")
	}
	q.filters = append(q.filters, func(e Event) bool {
		return slices.ContainsFunc(all, func(pattern string) bool { return matches(pattern, e.Type) })
	})
	return nil
}

// matches compares with an event's name, or with a group of them by * (docs.stripe.com/api/events/list).
func matches(pattern, name string) bool {
	head, group := strings.CutSuffix(pattern, "*")
	return name == pattern || group && strings.HasPrefix(name, head)
}
