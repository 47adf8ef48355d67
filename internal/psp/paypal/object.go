package paypal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"time"
)

var errNotObject = errors.New("not one JSON object with each member once")

// object is one JSON object by the exact names of its members, each value's bytes as they came. encoding/json into a
// struct would take "ID" for "id", and the last of two.
type object map[string]json.RawMessage

func parseObject(raw []byte) (object, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, errNotObject
	}
	out := object{}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, errNotObject
		}
		text, ok := name.(string)
		if _, twice := out[text]; twice || !ok {
			return nil, errNotObject
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, errNotObject
		}
		out[text] = value
	}
	if _, err := dec.Token(); err != nil {
		return nil, errNotObject
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errNotObject
	}
	return out, nil
}

func (o object) text(name string) (string, error) {
	raw := o[name]
	if len(raw) == 0 || raw[0] != '"' {
		return "", fmt.Errorf("%s is not a text", name)
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err
}

func (o object) has(name string) bool { raw := o[name]; return len(raw) > 0 && string(raw) != "null" }

// reader reads members of an object and remembers the first that is not what it must be; what follows reads as nothing.
type reader struct {
	o   object
	err error
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// text reads a text that must be there.
func (r *reader) text(name string) string {
	s, err := r.o.text(name)
	if err != nil {
		r.fail(err)
		return ""
	}
	return s
}

// textIfAny reads a text that may be missing or null.
func (r *reader) textIfAny(name string) string {
	if !r.o.has(name) {
		return ""
	}
	return r.text(name)
}

// mostCounted bounds PayPal's own counts (openapi reporting_transactions_v1, page).
const mostCounted = 1<<31 - 1

// count reads a number from 0 on.
func (r *reader) count(name string) int {
	n, err := strconv.ParseUint(string(r.o[name]), 10, 31)
	if err != nil || n > mostCounted {
		r.fail(fmt.Errorf("%s is not a count", name))
		return 0
	}
	return int(n)
}

// identifier reads letters and digits, at most 24 of them (openapi reporting_transactions_v1, transaction_info).
func (r *reader) identifier(name string, needed bool) string {
	text := r.textIfAny(name)
	if text == "" && !needed || idForm.MatchString(text) {
		return text
	}
	r.fail(fmt.Errorf("%s is not letters and digits", name))
	return ""
}

var idForm = regexp.MustCompile(`^[A-Za-z0-9]{1,24}$`)

// moment reads a time with its offset; PayPal writes both +02:00 and +0200.
func (r *reader) moment(name string) time.Time {
	text := r.text(name)
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05Z0700"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC()
		}
	}
	r.fail(fmt.Errorf("%s is not a time with an offset", name))
	return time.Time{}
}

var (
	currencyForm = regexp.MustCompile(`^[A-Z]{3}$`)
	// valueForm is PayPal's own (openapi reporting_transactions_v1, money), with at most 32 characters.
	valueForm = regexp.MustCompile(`^-?([0-9]+|[0-9]*\.[0-9]+)$`)
)

// money reads an amount with its currency.
func (r *reader) money(name string) Money {
	o, err := parseObject(r.o[name])
	if err != nil {
		r.fail(fmt.Errorf("%s is %w", name, err))
		return Money{}
	}
	inner := reader{o: o}
	m := Money{Currency: inner.text("currency_code"), Value: inner.text("value")}
	if inner.err != nil || !currencyForm.MatchString(m.Currency) || len(m.Value) > 32 || !valueForm.MatchString(m.Value) {
		r.fail(fmt.Errorf("%s is not an amount of a currency", name))
		return Money{}
	}
	return m
}
