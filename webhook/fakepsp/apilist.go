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
	limit   int
	after   string
	before  string
}

// listEvents answers GET /v1/events: newest first, limit 1 to 100 with 10 by default, cursors that name an event
// (docs.stripe.com/api/events/list, docs.stripe.com/api/pagination).
func (a *api) listEvents(w http.ResponseWriter, r *http.Request, f APIFaults) *apiProblem {
	q, problem := a.readQuery(r.URL.Query(), f)
	if problem != nil {
		return problem
	}
	found := slices.DeleteFunc(a.events(), func(e Event) bool {
		return slices.ContainsFunc(q.filters, func(keep func(Event) bool) bool { return !keep(e) })
	})
	slices.Reverse(found)
	slices.SortStableFunc(found, func(x, y Event) int { return int(y.Created.Unix() - x.Created.Unix()) })
	shown, more, problem := q.page(found, f.Twice)
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

// page cuts the page out of the list.
func (q eventQuery) page(all []Event, twice bool) (shown []Event, more bool, problem *apiProblem) {
	place := func(id string) int { return slices.IndexFunc(all, func(e Event) bool { return e.ID == id }) }
	from, to := 0, len(all)
	if q.after != "" {
		i := place(q.after)
		if i < 0 {
			return nil, false, missing("starting_after", q.after)
		}
		if from = i + 1; twice {
			from = i
		}
	}
	if q.before != "" {
		i := place(q.before)
		if i < 0 {
			return nil, false, missing("ending_before", q.before)
		}
		from, to = max(0, i-q.limit), i
		return all[from:to], from > 0, nil
	}
	to = min(to, from+q.limit)
	return all[from:to], to < len(all), nil
}

func missing(param, id string) *apiProblem {
	p := invalid(param, "No such event: '"+id+"'")
	p.Code = "resource_missing"
	return p
}

func (a *api) readQuery(values url.Values, f APIFaults) (eventQuery, *apiProblem) {
	q := eventQuery{limit: 10}
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
		case name == "limit":
			n, err := strconv.Atoi(value)
			if err != nil || n < 1 || n > 100 {
				problem = invalid("limit", "Invalid limit: must be 1 to 100")
			}
			q.limit = n
		case name == "starting_after":
			q.after = value
		case name == "ending_before":
			q.before = value
		case name == "type":
			q.filters = append(q.filters, func(e Event) bool { return matches(value, e.Type) })
		case name == "delivery_success":
			q.filters = append(q.filters, func(e Event) bool { return (a.open(e.ID) == 0) == (value == "true") })
		case name == "created" || strings.HasPrefix(name, "created["):
			problem = q.created(name, value)
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

func (q *eventQuery) created(name, value string) *apiProblem {
	at, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return invalid("created", "Invalid integer: "+value)
	}
	compare, known := map[string]func(int64) bool{
		"created":      func(t int64) bool { return t == at },
		"created[gt]":  func(t int64) bool { return t > at },
		"created[gte]": func(t int64) bool { return t >= at },
		"created[lt]":  func(t int64) bool { return t < at },
		"created[lte]": func(t int64) bool { return t <= at },
	}[name]
	if !known {
		return invalid(name, "Received unknown parameter: "+name)
	}
	q.filters = append(q.filters, func(e Event) bool { return compare(e.Created.Unix()) })
	return nil
}
