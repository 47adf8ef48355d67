package mt5

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"creditonce/credit"
)

// row is a deal as a list shows it, checked as far as every deal needs it. Money is read only of balance deals.
type row struct {
	ticket uint64
	login  uint64
	action int
	time   int64 // seconds on the server's own clock
	dealer uint64
	profit string
	note   string
}

// The actions of balance deals: balance, credit, charge, correction, bonus (§5).
const (
	actionFirst = 2
	actionLast  = 6
)

func (r row) isBalance() bool { return r.action >= actionFirst && r.action <= actionLast }

// dealFields are the fields of a deal that count here (§5); the others are skipped.
type dealFields struct {
	Deal, Login, Dealer, Action, Time, Profit, Comment scalar
}

func (f dealFields) row() (row, error) {
	ticket, err1 := f.Deal.uint()
	login, err2 := f.Login.uint()
	action, err3 := f.Action.uint()
	at, err4 := f.Time.int()
	var dealer uint64
	var err5 error
	if f.Dealer.text != "" {
		dealer, err5 = f.Dealer.uint()
	}
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil || ticket == 0 || action > 1<<20 {
		return row{}, fmt.Errorf("%w: a deal lacks a number", errGarbled)
	}
	return row{
		ticket: ticket, login: login, action: int(action), time: at, dealer: dealer,
		profit: f.Profit.text, note: f.Comment.text,
	}, nil
}

// deal is the row with its money, in the account's currency.
func (r row) deal(currency string, digits int) (credit.Deal, error) {
	amount, err := dealAmount(r.profit, currency, digits)
	if err != nil {
		return credit.Deal{}, fmt.Errorf("deal %d: %w", r.ticket, err)
	}
	return credit.Deal{
		Ticket: r.ticket, Login: r.login, Action: r.action, Amount: amount, Comment: r.note,
		Dealer: r.dealer, ServerTime: r.time,
	}, nil
}

// dealAmount reads the amount of a balance deal, which stands in Profit (§5). Places beyond the account's
// digits are kept where they are not zero, in an amount of more places: such a deal is nothing that we made,
// and it must not make a look impossible.
func dealAmount(text, currency string, digits int) (credit.Amount, error) {
	whole, places, _ := strings.Cut(text, ".")
	if len(places) > digits {
		places = places[:digits] + strings.TrimRight(places[digits:], "0")
		text = whole
		if places != "" {
			text += "." + places
		}
	}
	return credit.ParseAmount(text, currency, max(digits, len(places)))
}

// parseRows reads a list of deals. Absent, null and [] are all no rows; whether that can be believed is not
// decided here.
func parseRows(raw json.RawMessage) ([]row, error) {
	if raw == nil {
		return nil, nil
	}
	var list []dealFields
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, errGarbled
	}
	rows := make([]row, len(list))
	for i, f := range list {
		var err error
		if rows[i], err = f.row(); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// single takes the one element out of a list of one: newer servers answer some questions with a list (§1.3).
func single(raw json.RawMessage) json.RawMessage {
	var list []json.RawMessage
	if bytes.HasPrefix(raw, []byte("[")) && json.Unmarshal(raw, &list) == nil && len(list) == 1 {
		return list[0]
	}
	return raw
}

// Deal implements credit.Session: deal/get, and the login's currency where this connection has not seen it.
func (s *Session) Deal(ctx context.Context, ticket uint64) (credit.Deal, error) {
	if err := s.enter(); err != nil {
		return credit.Deal{}, err
	}
	defer s.leave()
	var d credit.Deal
	err := s.twice(ctx, func() (err error) {
		d, err = s.readDeal(ctx, ticket)
		return err
	})
	if err != nil {
		return credit.Deal{}, s.failed(fmt.Sprintf("read deal %d", ticket), err)
	}
	return d, nil
}

func (s *Session) readDeal(ctx context.Context, ticket uint64) (credit.Deal, error) {
	e, err := s.get(ctx, "deal/get", url.Values{"ticket": {number(ticket)}})
	if err != nil {
		return credit.Deal{}, missing(err)
	}
	var f dealFields
	if err := fields(single(e.answer), &f); err != nil {
		return credit.Deal{}, s.odd(err)
	}
	r, err := f.row()
	if err != nil {
		return credit.Deal{}, s.odd(err)
	}
	if r.ticket != ticket {
		return credit.Deal{}, s.odd(errForeign)
	}
	a, err := s.currencyOf(ctx, r.login)
	switch {
	case errors.Is(err, credit.ErrNotFound):
		// That the login is not found says nothing about the deal, so the error must not say "not found".
		return credit.Deal{}, fmt.Errorf("read the currency of login %d: MT5 does not know the login", r.login)
	case err != nil:
		return credit.Deal{}, fmt.Errorf("read the currency of login %d: %w", r.login, err)
	}
	return r.deal(a.Currency, a.Digits)
}
