package paypal

import (
	"fmt"
	"regexp"
	"strconv"
	"time"

	"creditonce/internal/psp/ask"
)

// reader reads what PayPal's objects hold.
type reader struct{ ask.Reader }

func read(o ask.Object, err error) reader { return reader{ask.Reader{Object: o, Err: err}} }

// mostCounted bounds PayPal's own counts (openapi reporting_transactions_v1, page).
const mostCounted = 1<<31 - 1

// count reads a number from 0 on.
func (r *reader) count(name string) int {
	n, err := strconv.ParseUint(string(r.Object[name]), 10, 31)
	if err != nil || n > mostCounted {
		return ask.Checked(&r.Reader, 0, fmt.Errorf("%s is not a count", name))
	}
	return ask.Checked(&r.Reader, int(n), nil)
}

// identifier reads letters and digits, at most 24 of them (openapi reporting_transactions_v1, transaction_info).
func (r *reader) identifier(name string, needed bool) string {
	text := r.TextIfAny(name)
	if text == "" && !needed || idForm.MatchString(text) {
		return text
	}
	return ask.Checked(&r.Reader, "", fmt.Errorf("%s is not letters and digits", name))
}

var idForm = regexp.MustCompile(`^[A-Za-z0-9]{1,24}$`)

// moment reads a time with its offset; PayPal writes both +02:00 and +0200.
func (r *reader) moment(name string) time.Time {
	text := r.Text(name)
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05Z0700"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC()
		}
	}
	return ask.Checked(&r.Reader, time.Time{}, fmt.Errorf("%s is not a time with an offset", name))
}

var (
	currencyForm = regexp.MustCompile(`^[A-Z]{3}$`)
	// valueForm is PayPal's own (openapi reporting_transactions_v1, money), with at most 32 characters.
	valueForm = regexp.MustCompile(`^-?([0-9]+|[0-9]*\.[0-9]+)$`)
)

// money reads an amount with its currency.
func (r *reader) money(name string) Money {
	o, err := ask.ParseObject(r.Object[name])
	if err != nil {
		return ask.Checked(&r.Reader, Money{}, fmt.Errorf("%s is %w", name, err))
	}
	inner := read(o, nil)
	m := Money{Currency: inner.Text("currency_code"), Value: inner.Text("value")}
	if inner.Err != nil || !currencyForm.MatchString(m.Currency) || len(m.Value) > 32 || !valueForm.MatchString(m.Value) {
		err = fmt.Errorf("%s is not an amount of a currency", name)
	}
	return ask.Checked(&r.Reader, m, err)
}
