package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/labstack/echo/v4"

	"creditonce/credit"
)

// depositList is one page of deposits. Next is the cursor of what follows; null at the end.
type depositList struct {
	Items []recordBody `json:"items"`
	Next  *string      `json:"next"`
}

// creditList is one page of credits.
type creditList struct {
	Items []creditBody `json:"items"`
	Next  *string      `json:"next"`
}

// accountList is one page of logins.
type accountList struct {
	Items []accountBody `json:"items"`
	Next  *string       `json:"next"`
}

func (a *API) listDeposits(c echo.Context, _ Key, q query) error {
	place, err := placeOf(c.Path(), q)
	if err != nil {
		return err
	}
	amounts, err := q.amounts()
	if err != nil {
		return fmt.Errorf("read the amounts: %w", err)
	}
	now := a.cfg.Now().UTC()
	page, err := a.cfg.Deposits.ListDeposits(requestContext(c), credit.DepositQuery{
		State: credit.DepositState(q["state"]), Now: now, Client: q["client"], Server: q["server"], Login: q.login(),
		Provider: q["provider"], Created: q.span("created"), Credited: amounts, After: place, Limit: q.limit(),
	})
	if err != nil {
		return fmt.Errorf("list deposits: %w", misplaced(err, place))
	}
	list := depositList{Items: []recordBody{}, Next: cursorOf(c.Path(), q, page.Next)}
	for _, v := range page.Items {
		list.Items = append(list.Items, recordOnWire(v, now))
	}
	return sendValue(c, list)
}

func (a *API) listCredits(c echo.Context, _ Key, q query) error {
	place, err := placeOf(c.Path(), q)
	if err != nil {
		return err
	}
	amounts, err := q.amounts()
	if err != nil {
		return fmt.Errorf("read the amounts: %w", err)
	}
	page, err := a.cfg.Deposits.ListCredits(requestContext(c), credit.CreditQuery{
		State: credit.State(q["state"]), Client: q["client"], Server: q["server"], Login: q.login(), Provider: q["provider"],
		Created: q.span("created"), Updated: q.span("updated"), Amount: amounts, After: place, Limit: q.limit(),
	})
	if err != nil {
		return fmt.Errorf("list credits: %w", misplaced(err, place))
	}
	list := creditList{Items: []creditBody{}, Next: cursorOf(c.Path(), q, page.Next)}
	for _, row := range page.Items {
		list.Items = append(list.Items, a.creditOnWire(row))
	}
	return sendValue(c, list)
}

func (a *API) listAccounts(c echo.Context, _ Key, q query) error {
	place, err := placeOf(c.Path(), q)
	if err != nil {
		return err
	}
	page, err := a.cfg.Accounts.ListAccounts(requestContext(c), credit.AccountQuery{
		Client: q["client"], Server: q["server"], Login: q.login(), Currency: q["currency"],
		Created: q.span("created"), Updated: q.span("updated"), After: place, Limit: q.limit(),
	})
	if err != nil {
		return fmt.Errorf("list accounts: %w", misplaced(err, place))
	}
	list := accountList{Items: []accountBody{}, Next: cursorOf(c.Path(), q, page.Next)}
	for _, account := range page.Items {
		list.Items = append(list.Items, accountOnWire(account))
	}
	return sendValue(c, list)
}

// misplaced names the cursor where the store did not know the place: the rest of a query is checked before.
func misplaced(err error, place []byte) error {
	if place != nil && errors.Is(err, credit.ErrInvalid) {
		return kindCursor.about("cursor", "the cursor cannot be read; begin again without it").from(err)
	}
	return err
}

// sendValue writes a success.
func sendValue(c echo.Context, value any) error {
	body, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("render %T: %w", value, err)
	}
	return send(c, http.StatusOK, body)
}
