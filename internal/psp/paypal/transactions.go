package paypal

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"creditonce/internal/psp/ask"
)

const (
	// longestWindow is the longest time of one request (openapi reporting_transactions_v1, end_date).
	longestWindow = 31 * 24 * time.Hour
	// delay is how long a transaction may take to be listed (openapi reporting_transactions_v1, notes).
	delay = 3 * time.Hour
	// readings is how often a window is read when it changes meanwhile.
	readings = 3
)

// Money is an amount as PayPal writes it: a plain decimal in major units, negative where money left the account.
type Money struct {
	Currency string // upper case
	Value    string // "" where there is none
}

// Transaction is one movement of the account's balance (openapi reporting_transactions_v1, transaction_info), without what PayPal knows of
// the other side.
type Transaction struct {
	ID            string // not unique: one transaction may stand for several events
	Reference     string // a related, earlier transaction; "" without one
	ReferenceType string // TXN, ODR, SUB, PAP; "" without Reference
	Event         string // T-code
	Status        string // S settled, P pending, D denied, V settled and given back wholly since
	Initiated     time.Time
	Updated       time.Time
	Amount        Money // gross
	Fee           Money // a cost is negative; without Value where there was none
	Invoice       string
	Custom        string
}

// Transactions hands take every transaction that changed the balance from from on and before until, in PayPal's order. account is
// the merchant account id that PayPal's answers must name; page gets each answer as it came, before its transactions are handed over; nil:
// nobody wants it.
//
// It returns nil only for a whole list: each part of at most 31 days was read on pages that agree about its size, named nothing twice, and was
// gathered by PayPal after its end (transactions are up to three hours late). Else the error is a *[ask.Fault], take's own, or ctx's. A
// part is in memory until it is whole: at most 10,000 transactions.
func (c *Client) Transactions(ctx context.Context, account string, from, until time.Time, page func([]byte), take func(Transaction) error) error {
	if page == nil {
		page = func([]byte) {}
	}
	if now := c.cfg.Now(); !now.After(until) {
		return us.Fault(Late, "the time that is asked for has not ended yet")
	}
	for from.Before(until) {
		end := until
		if last := from.Add(longestWindow); last.Before(until) {
			end = last
		}
		w, err := c.window(ctx, account, from, end)
		if f := ask.FaultOf(err); f != nil && f.Code == tooManyListed {
			if end = from.Add(end.Sub(from) / 2).Truncate(time.Second); !end.After(from) {
				return f
			}
			// The rest is asked for afterwards; a half is read like any other part.
			if err = c.Transactions(ctx, account, from, end, page, take); err != nil {
				return err
			}
			from = end
			continue
		}
		if err != nil {
			return err
		}
		for i, body := range w.answers {
			page(body)
			for _, t := range w.pages[i] {
				if err := take(t); err != nil {
					return err
				}
			}
		}
		from = end
	}
	return nil
}

// window is one part of a list, read whole.
type window struct {
	answers [][]byte
	pages   [][]Transaction
}

// window reads a part until nothing changes meanwhile. Pages are numbers, not cursors: what comes or goes between two of them shifts the rest.
func (c *Client) window(ctx context.Context, account string, from, until time.Time) (window, error) {
	for n := 1; ; n++ {
		w, err := c.reading(ctx, account, from, until)
		if f := ask.FaultOf(err); f == nil || f.Reason != Changed || n == readings {
			return w, err
		}
		if err := c.cfg.Wait(ctx, ask.FirstPause<<n); err != nil {
			return window{}, err
		}
	}
}

func changed(what string) *ask.Fault {
	return us.Fault(Changed, "the list changed while it was read ("+what+"); pull again later")
}

func (c *Client) reading(ctx context.Context, account string, from, until time.Time) (window, error) {
	query := url.Values{
		"start_date": {from.UTC().Format(time.RFC3339)}, "end_date": {until.Add(-time.Millisecond).UTC().Format("2006-01-02T15:04:05.000Z")},
		"fields": {"transaction_info"}, "page_size": {strconv.Itoa(perPage)},
	}
	var w window
	var first sheet
	seen := map[Transaction]bool{}
	for number := 1; ; number++ {
		query.Set("page", strconv.Itoa(number))
		a, err := c.get(ctx, "/v1/reporting/transactions", query)
		if err != nil {
			return window{}, err
		}
		s, err := readSheet(a.Body)
		if err != nil {
			return window{}, us.Odd(err.Error())
		}
		if number == 1 {
			if first = s; first.items > mostListed {
				return window{}, &ask.Fault{Provider: us, Reason: ask.TooLarge, Code: tooManyListed, Problem: tooMany}
			}
		}
		if err := c.check(s, first, number, account, until); err != nil {
			return window{}, err
		}
		for _, t := range s.transactions {
			if seen[t] {
				return window{}, changed("transaction " + t.ID + " came twice")
			}
			seen[t] = true
		}
		w.answers, w.pages = append(w.answers, a.Body), append(w.pages, s.transactions)
		if number >= first.pages {
			break
		}
	}
	if len(seen) != first.items {
		return window{}, changed(fmt.Sprintf("%d transactions came, and PayPal counts %d", len(seen), first.items))
	}
	return w, nil
}

// check sees that a page is the one that was asked for and belongs to the others.
func (c *Client) check(s, first sheet, number int, account string, until time.Time) error {
	pages := (s.items + perPage - 1) / perPage
	switch {
	case s.account != "" && s.account != account:
		return us.Fault(ask.Foreign, "the app reads another account than the configuration names")
	case s.refreshed.IsZero() && c.cfg.Now().Before(until.Add(delay)):
		return us.Fault(Late, "PayPal lists transactions up to three hours late: ask again after "+until.Add(delay).UTC().Format(time.DateTime)+" UTC")
	case !s.refreshed.IsZero() && s.refreshed.Before(until):
		return us.Fault(Late, "PayPal has gathered transactions until "+s.refreshed.Format(time.DateTime)+" UTC only: ask again later")
	case s.items != first.items || s.pages != first.pages:
		return changed("PayPal counts another number of transactions")
	case s.number != number:
		return us.Odd("a page has another number than the one that was asked for")
	case s.pages != pages && (s.items > 0 || s.pages > 1):
		return us.Odd("the number of pages does not fit the number of transactions")
	case len(s.transactions) > perPage, number < pages && len(s.transactions) != perPage:
		return changed("a page has another length than it must have")
	}
	return nil
}

// sheet is one answer of the transaction search.
type sheet struct {
	account      string
	refreshed    time.Time // UTC; zero where PayPal does not say
	number       int
	pages, items int
	transactions []Transaction
}

func readSheet(body []byte) (sheet, error) {
	r := read(ask.ParseObject(body))
	s := sheet{number: r.count("page"), pages: r.count("total_pages"), items: r.count("total_items"), account: r.identifier("account_number", false)}
	if r.Object.Has("last_refreshed_datetime") {
		s.refreshed = r.moment("last_refreshed_datetime")
	}
	if r.Err != nil {
		return sheet{}, fmt.Errorf("a page of transactions: %w", r.Err)
	}
	elements, err := ask.ParseList(r.Object["transaction_details"])
	if err != nil && s.items > 0 {
		return sheet{}, errors.New("a page of transactions holds no list of them")
	}
	for _, element := range elements {
		t, err := readTransaction(element)
		if err != nil {
			return sheet{}, err
		}
		s.transactions = append(s.transactions, t)
	}
	return s, nil
}

func readTransaction(raw []byte) (Transaction, error) {
	outer, err := ask.ParseObject(raw)
	if err != nil {
		return Transaction{}, fmt.Errorf("a transaction is %w", err)
	}
	r := read(ask.ParseObject(outer["transaction_info"]))
	t := Transaction{ID: r.identifier("transaction_id", true)}
	if r.Err != nil {
		return t, fmt.Errorf("a transaction: %w", r.Err)
	}
	t.Reference, t.ReferenceType = r.identifier("paypal_reference_id", false), r.identifier("paypal_reference_id_type", false)
	t.Event, t.Status = r.identifier("transaction_event_code", true), r.identifier("transaction_status", true)
	t.Initiated, t.Updated = r.moment("transaction_initiation_date"), r.moment("transaction_updated_date")
	t.Amount = r.money("transaction_amount")
	if r.Object.Has("fee_amount") {
		t.Fee = r.money("fee_amount")
	}
	t.Invoice, t.Custom = r.TextIfAny("invoice_id"), r.TextIfAny("custom_field")
	switch {
	case r.Err != nil:
		return t, fmt.Errorf("transaction %s: %w", t.ID, r.Err)
	case len(t.Invoice) > 127 || len(t.Custom) > 127*4:
		return t, fmt.Errorf("transaction %s: its invoice or custom text is too long", t.ID)
	}
	return t, nil
}
