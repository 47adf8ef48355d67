package admin

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"
)

// maxBody bounds a request: the longest is a proposal's parameters with a reason.
const maxBody = 64 << 10

// readBody reads the one JSON object of a request strictly: nothing unknown, nothing after it.
func readBody(w http.ResponseWriter, r *http.Request, into any) error {
	if kind := r.Header.Get("Content-Type"); kind != "application/json" {
		return &Problem{"Cannot be understood", http.StatusUnsupportedMediaType, "content_type", "send the body as Content-Type: application/json"}
	}
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return &Problem{"Too large", http.StatusRequestEntityTooLarge, "too_large", "a request has at most 64 KiB; nothing was done"}
	case err != nil:
		return invalid("the body could not be read whole; nothing was done")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return invalid("the body: %v; nothing was done", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return invalid("the body holds more than one JSON object; nothing was done")
	}
	return nil
}

// query reads the parameters of a list: each at most once, none unknown, the first fault kept.
type query struct {
	values url.Values
	fault  error
}

func newQuery(r *http.Request, known ...string) *query {
	q := &query{}
	q.values, q.fault = url.ParseQuery(r.URL.RawQuery)
	for name, values := range q.values {
		switch {
		case !slices.Contains(known, name):
			q.fault = invalid("%q is no filter of this list", name)
		case len(values) > 1:
			q.fault = invalid("%s is given twice; give it once", name)
		}
	}
	return q
}

func (q *query) text(name string) string { return q.values.Get(name) }

func (q *query) flag(name string) bool {
	switch v := q.text(name); v {
	case "", "false":
		return false
	case "true":
		return true
	default:
		q.fault = invalid("%s is %q; write true or false", name, v)
		return false
	}
}

func (q *query) number(name string) uint64 {
	v := q.text(name)
	if v == "" {
		return 0
	}
	n, err := strconv.ParseUint(v, 10, 64)
	if err != nil {
		q.fault = invalid("%s is %q; write a whole number", name, v)
	}
	return n
}

func (q *query) time(name string) time.Time {
	v := q.text(name)
	if v == "" {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339, v)
	if err != nil {
		q.fault = invalid("%s is %q; write a time such as 2026-11-30T14:00:00Z", name, v)
	}
	return t.UTC()
}

const (
	pageSize = 100
	maxPage  = 500
)

func (q *query) limit() int {
	n := q.number("limit")
	if n == 0 {
		return pageSize
	}
	return int(min(n, maxPage))
}
