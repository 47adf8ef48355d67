package fakepsp

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// payout is Stripe's object (docs.stripe.com/api/payouts/object).
type payout struct {
	ID                   string            `json:"id"`
	Object               string            `json:"object"`
	Amount               int64             `json:"amount"`
	ArrivalDate          int64             `json:"arrival_date"`
	Automatic            bool              `json:"automatic"`
	BalanceTransaction   string            `json:"balance_transaction"`
	Created              int64             `json:"created"`
	Currency             string            `json:"currency"`
	Description          string            `json:"description"`
	Destination          string            `json:"destination"`
	FailureCode          *string           `json:"failure_code"`
	Livemode             bool              `json:"livemode"`
	Metadata             map[string]string `json:"metadata"`
	Method               string            `json:"method"`
	ReconciliationStatus string            `json:"reconciliation_status"`
	SourceType           string            `json:"source_type"`
	Status               string            `json:"status"`
	Type                 string            `json:"type"`
}

// payoutObject shows a payout; list replaces what is said about its list of transactions, when it is not empty.
func payoutObject(p Payout, list string) payout {
	out := payout{
		ID: p.ID, Object: "payout", Amount: p.Amount, ArrivalDate: p.Arrival.Unix(), Automatic: p.Automatic, BalanceTransaction: "txn_" + p.ID,
		Created: p.Created.Unix(), Currency: p.Currency, Description: "STRIPE PAYOUT", Destination: "ba_1Example", Metadata: map[string]string{},
		Method: "standard", ReconciliationStatus: "completed", SourceType: "card", Status: p.Status, Type: "bank_account",
	}
	switch {
	case !p.Automatic:
		out.ReconciliationStatus = "not_applicable"
	case list != "":
		out.ReconciliationStatus = list
	}
	return out
}

// balanceTransaction is Stripe's object (docs.stripe.com/api/balance_transactions/object).
type balanceTransaction struct {
	ID                string      `json:"id"`
	Object            string      `json:"object"`
	Amount            int64       `json:"amount"`
	AvailableOn       int64       `json:"available_on"`
	Created           int64       `json:"created"`
	Currency          string      `json:"currency"`
	Description       *string     `json:"description"`
	ExchangeRate      any         `json:"exchange_rate"` // always null: nothing is converted here
	Fee               int64       `json:"fee"`
	FeeDetails        []feeDetail `json:"fee_details"`
	Net               int64       `json:"net"`
	ReportingCategory string      `json:"reporting_category"`
	Source            any         `json:"source"`
	Status            string      `json:"status"`
	Type              string      `json:"type"`
}

type feeDetail struct {
	Amount      int64   `json:"amount"`
	Application *string `json:"application"`
	Currency    string  `json:"currency"`
	Description string  `json:"description"`
	Type        string  `json:"type"`
}

// usualDelay is what the fake says of the time until a transaction may be paid out.
const usualDelay = 48 * time.Hour

func (a *api) transactionObject(t transaction, expand bool) balanceTransaction {
	out := balanceTransaction{
		ID: t.ID, Object: "balance_transaction", Amount: t.Amount, AvailableOn: t.Created.Add(usualDelay).Truncate(24 * time.Hour).Unix(), Created: t.Created.Unix(),
		Currency: t.Currency, Fee: t.Fee, FeeDetails: []feeDetail{}, Net: t.Amount - t.Fee, ReportingCategory: t.Category, Source: t.source,
		Status: "pending", Type: t.Type,
	}
	if t.Fee != 0 {
		out.FeeDetails = append(out.FeeDetails, feeDetail{Amount: t.Fee, Currency: t.Currency, Description: "Stripe processing fees", Type: "stripe_fee"})
	}
	if t.payout != "" || !a.now().Before(time.Unix(out.AvailableOn, 0)) {
		out.Status = "available"
	}
	if expand {
		out.Source = t.Source
	}
	return out
}

// listPayouts answers GET /v1/payouts: most recently created first (docs.stripe.com/api/payouts/list).
func (a *api) listPayouts(w http.ResponseWriter, r *http.Request, f APIFaults) *apiProblem {
	var q pageQuery
	var keep []func(Payout) bool
	for name, given := range r.URL.Query() {
		value := given[len(given)-1]
		field, _, ranged := strings.Cut(name, "[")
		switch {
		case q.takes(name):
			continue
		case name == "status":
			keep = append(keep, func(p Payout) bool { return p.Status == value })
		case field == "arrival_date" || field == "created":
			within, problem := timeRange(field, name, value, ranged)
			if problem != nil {
				return problem
			}
			keep = append(keep, func(p Payout) bool {
				if field == "created" {
					return within(p.Created)
				}
				return within(p.Arrival)
			})
		default:
			return invalid(name, "Received unknown parameter: "+name)
		}
	}
	found := selected(a.payouts(), keep)
	slices.Reverse(found)
	list := ""
	if f.Unlisted {
		list = "in_progress"
	}
	return answerPage(w, r, &q, found, f, "payout", func(p Payout) string { return p.ID }, func(p Payout) any { return payoutObject(p, list) })
}

// listTransactions answers GET /v1/balance_transactions: most recent first; payout= for automatic payouts only, the payout's own transaction
// among them (docs.stripe.com/api/balance_transactions/list).
func (a *api) listTransactions(w http.ResponseWriter, r *http.Request, f APIFaults) *apiProblem {
	var q pageQuery
	var keep []func(transaction) bool
	expand := false
	for name, given := range r.URL.Query() {
		value := given[len(given)-1]
		_, _, ranged := strings.Cut(name, "[")
		switch {
		case q.takes(name):
			continue
		case name == "payout":
			if !slices.ContainsFunc(a.payouts(), func(p Payout) bool { return p.ID == value && p.Automatic }) {
				return invalid("payout", "Balance transaction history can only be filtered on automatic transfers, not manual.")
			}
			keep = append(keep, func(t transaction) bool { return t.payout == value })
		case name == "type":
			keep = append(keep, func(t transaction) bool { return t.Type == value })
		case name == "currency":
			keep = append(keep, func(t transaction) bool { return t.Currency == value })
		case name == "source":
			keep = append(keep, func(t transaction) bool { return t.source == value })
		case name == "created" || strings.HasPrefix(name, "created["):
			within, problem := timeRange("created", name, value, ranged)
			if problem != nil {
				return problem
			}
			keep = append(keep, func(t transaction) bool { return within(t.Created) })
		case strings.HasPrefix(name, "expand["):
			if value != "data.source" {
				return invalid(name, "This property cannot be expanded ("+value+").")
			}
			expand = true
		default:
			return invalid(name, "Received unknown parameter: "+name)
		}
	}
	found := selected(a.movements(), keep)
	slices.Reverse(found)
	if n := min(f.Withheld, len(found)); n > 0 {
		found = found[:len(found)-n]
	}
	return answerPage(w, r, &q, found, f, "balance_transaction", func(t transaction) string { return t.ID },
		func(t transaction) any { return a.transactionObject(t, expand) })
}

// selected are the elements that every filter keeps.
func selected[T any](all []T, keep []func(T) bool) []T {
	return slices.DeleteFunc(all, func(e T) bool {
		return slices.ContainsFunc(keep, func(f func(T) bool) bool { return !f(e) })
	})
}

// answerPage reads the cursors, cuts the page out of the list and writes it.
func answerPage[T any](
	w http.ResponseWriter, r *http.Request, q *pageQuery, all []T, f APIFaults, what string, id func(T) string, show func(T) any,
) *apiProblem {
	if problem := q.read(r.URL.Query()); problem != nil {
		return problem
	}
	shown, more, problem := cut(*q, all, what, f.Twice, id)
	if problem != nil {
		return problem
	}
	data := make([]any, 0, len(shown))
	for _, e := range shown {
		data = append(data, show(e))
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	// A caller that has gone has nobody to be told.
	_ = enc.Encode(map[string]any{"object": "list", "data": data, "has_more": more, "url": r.URL.Path})
	return nil
}

// timeRange reads one bound of a time: field itself, or field[gt], [gte], [lt], [lte].
func timeRange(field, name, value string, ranged bool) (func(time.Time) bool, *apiProblem) {
	at, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return nil, invalid(field, "Invalid integer: "+value)
	}
	compare, known := map[string]func(int64) bool{
		field:           func(t int64) bool { return t == at },
		field + "[gt]":  func(t int64) bool { return t > at },
		field + "[gte]": func(t int64) bool { return t >= at },
		field + "[lt]":  func(t int64) bool { return t < at },
		field + "[lte]": func(t int64) bool { return t <= at },
	}[name]
	if !known || ranged != (name != field) {
		return nil, invalid(name, "Received unknown parameter: "+name)
	}
	return func(t time.Time) bool { return compare(t.Unix()) }, nil
}

// pageQuery is the part of a request that says which page of a list is wanted (docs.stripe.com/api/pagination).
type pageQuery struct {
	limit         int
	after, before string
}

// takes tells that a parameter belongs to the paging.
func (q *pageQuery) takes(name string) bool {
	return name == "limit" || name == "starting_after" || name == "ending_before"
}

func (q *pageQuery) read(values url.Values) *apiProblem {
	q.limit, q.after, q.before = 10, values.Get("starting_after"), values.Get("ending_before")
	if text := values.Get("limit"); values.Has("limit") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 100 {
			return invalid("limit", "Invalid limit: must be 1 to 100")
		}
		q.limit = n
	}
	return nil
}

// cut takes the page out of the list; twice makes it begin with what the page before ended with.
func cut[T any](q pageQuery, all []T, what string, twice bool, id func(T) string) (shown []T, more bool, problem *apiProblem) {
	place := func(cursor string) int { return slices.IndexFunc(all, func(e T) bool { return id(e) == cursor }) }
	from := 0
	if q.after != "" {
		i := place(q.after)
		if i < 0 {
			return nil, false, missing("starting_after", what, q.after)
		}
		if from = i + 1; twice {
			from = i
		}
	}
	if q.before != "" {
		i := place(q.before)
		if i < 0 {
			return nil, false, missing("ending_before", what, q.before)
		}
		from := max(0, i-q.limit)
		return all[from:i], from > 0, nil
	}
	to := min(len(all), from+q.limit)
	return all[from:to], to < len(all), nil
}

func missing(param, what, id string) *apiProblem {
	p := invalid(param, "No such "+what+": '"+id+"'")
	p.Code = "resource_missing"
	return p
}
