package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"creditonce/credit"
)

// routeMakeDeposit scopes idempotency keys. It is stored: it must not change with the path.
const routeMakeDeposit = "POST /v1/deposits"

// depositBody is a deposit on the wire: what a return page may show (design §2), and no more. The stored first
// answers have this form too.
type depositBody struct {
	Code      string        `json:"code"`
	State     string        `json:"state"`
	Server    string        `json:"server"`
	Login     string        `json:"login"`
	Paid      moneyBody     `json:"paid"`
	Credited  moneyBody     `json:"credited"`
	CreatedAt time.Time     `json:"created_at"`
	ExpiresAt time.Time     `json:"expires_at"`
	ClosedAt  time.Time     `json:"closed_at,omitzero"`
	Warnings  []warningBody `json:"warnings,omitempty"` // only when the deposit is made
	DryRun    bool          `json:"dry_run,omitempty"`
}

// recordBody is a deposit for the portal's own eyes: lists and the story of a deposit show it, no return page does.
type recordBody struct {
	depositBody
	Client   string `json:"client"`
	Provider string `json:"provider"`
}

func recordOnWire(v credit.DepositView, now time.Time) recordBody {
	return recordBody{depositOnWire(v, now), v.Deposit.Client, v.Deposit.Provider}
}

// warningBody is something that is allowed and may surprise.
type warningBody struct {
	Code   string `json:"code"`
	Detail string `json:"detail"`
}

// limitPerLoginDay names the limit, as the configuration does.
const limitPerLoginDay = "per_login_day"

// moneyBody is money on the wire. Minor is text because readers cut large numbers to 53 bits.
type moneyBody struct {
	Amount   string `json:"amount"`
	Currency string `json:"currency"`
	Minor    string `json:"minor"`
	Exponent int    `json:"exponent"`
}

func (a *API) makeDeposit(c echo.Context, key Key, q query) error {
	dry := q["dry_run"] == "true"
	idem, err := idempotencyKey(c.Request().Header)
	if err != nil && (!dry || !errors.Is(err, errKeyMissing)) {
		return err
	}
	root, err := readObject(c)
	if err != nil {
		return err
	}
	w, faults := readWish(root)
	if len(faults) > 0 {
		return invalid(faults)
	}
	hash, err := w.hash()
	if err != nil {
		return err
	}
	d, doubt, err := a.form(c, w, key)
	if err != nil {
		return err
	}
	wanted := credit.NewDeposit{
		Key:       credit.IdempotencyKey{Route: routeMakeDeposit, Owner: key.Name, Key: idem},
		InputHash: hash, Deposit: d, Render: renderUnless(doubt, dry), DryRun: dry,
	}
	if dry { // a stored answer would hide the checks
		wanted.Key = credit.IdempotencyKey{}
	}
	answer, err := a.cfg.Deposits.Open(requestContext(c), wanted)
	if err != nil {
		return fmt.Errorf("make a deposit for login %s on %s: %w", w.Login, w.Server, clearer(err, doubt))
	}
	if answer.Replay {
		c.Response().Header().Set(headerReplayed, "true")
	}
	return send(c, answer.Status, answer.Body)
}

// form makes the domain's deposit of a wish. doubt is why an amount does not fit the exponent that the account or
// the provider has now. It is not returned as the error, because the request may be the repetition of one that was
// fine when it first came: only the deciding transaction knows, so the doubt travels there inside Render.
func (a *API) form(c echo.Context, w wish, key Key) (d credit.Deposit, doubt *problem, err error) {
	login, err := parseLogin(w.Login)
	if err != nil {
		return d, nil, fmt.Errorf("read the login: %w", err)
	}
	d = credit.Deposit{Code: w.Code, Owner: key.Name, Client: w.Client, Server: w.Server, Login: login, Provider: w.Provider}
	if d.Code == "" {
		if d.Code, err = a.draw(); err != nil {
			return d, nil, err
		}
	}
	if d.ExpiresAt, err = w.expiry(a.cfg.Now(), a.cfg.DepositLife); err != nil {
		return d, nil, fmt.Errorf("read the expiry: %w", err)
	}
	if w.Rate != nil {
		if d.Rate, err = credit.ParseRate(w.Rate.Value); err != nil {
			return d, nil, err
		}
		if d.RateAt, err = parseTime(w.Rate.At); err != nil {
			return d, nil, fmt.Errorf("read the rate's time: %w", err)
		}
		d.RateFrom = w.Rate.Source
	}
	credited, err := a.credited(c, w, login)
	if err != nil {
		return d, nil, err
	}
	paid := a.paid(w)
	if d.Credited, err = credited.amount(w.Credited); err != nil {
		return d, nil, err
	}
	if d.Paid, err = paid.amount(w.Paid); err != nil {
		return d, nil, err
	}
	if credited.doubt != nil {
		return d, credited.doubt, nil
	}
	return d, paid.doubt, nil
}

// reading is an amount in its right exponent, or the doubt about it, or neither where the domain will refuse.
type reading struct {
	exact credit.Amount
	doubt *problem
}

// amount falls back to the amount as it was sent.
func (r reading) amount(m moneyWish) (credit.Amount, error) {
	if r.exact.IsSet() {
		return r.exact, nil
	}
	return m.asSent()
}

// credited reads the amount by the account's digits. An account that is missing, foreign or in another currency
// is the domain's to refuse; nothing of a foreign account may show in a doubt.
func (a *API) credited(c echo.Context, w wish, login uint64) (reading, error) {
	account, err := a.cfg.Accounts.Get(requestContext(c), w.Server, login)
	switch {
	case errors.Is(err, credit.ErrNotFound), errors.Is(err, credit.ErrRefused):
		return reading{}, nil
	case err != nil:
		return reading{}, fmt.Errorf("get account %d on %s: %w", login, w.Server, err)
	case account.Client != w.Client, account.Currency != w.Credited.Currency:
		return reading{}, nil
	}
	if exact, ok := w.Credited.exact(account.Digits); ok {
		return reading{exact: exact}, nil
	}
	return reading{doubt: kindPlaces.about("credited.amount", "the account has %d decimal places", account.Digits)}, nil
}

// paid reads the amount by the provider's exponent table.
func (a *API) paid(w wish) reading {
	exponent, known := a.cfg.PaidExponent(w.Provider, w.Paid.Currency)
	if !known {
		return reading{doubt: kindUnknownCurrency.about("paid.currency", "the provider does not take this currency")}
	}
	if exact, ok := w.Paid.exact(exponent); ok {
		return reading{exact: exact}
	}
	return reading{doubt: kindPlaces.about("paid.amount", "the provider writes this currency with %d decimal places", exponent)}
}

// clearer prefers the doubt where the domain refused only what follows from it.
func clearer(err error, doubt *problem) error {
	var refused *credit.RefusedError
	if doubt != nil && errors.As(err, &refused) && (refused.Code == "wrong_currency" || refused.Code == "conversion_differs") {
		return doubt.from(err)
	}
	return err
}

// renderUnless makes the answer of a new deposit, or refuses it at the last moment. The state is the one at the
// deposit's creation, so that the answer does not depend on when it is rendered.
func renderUnless(doubt *problem, dry bool) func(credit.DepositView) (credit.Answer, error) {
	return func(v credit.DepositView) (credit.Answer, error) {
		if doubt != nil {
			return credit.Answer{}, doubt
		}
		made := depositOnWire(v, v.Deposit.CreatedAt)
		if v.OverDay {
			made.Warnings = []warningBody{{limitPerLoginDay, "paid now, it would take the login over its limit of the UTC day and wait for a person"}}
		}
		made.DryRun = dry
		body, err := renderDeposit(made)
		if dry {
			return credit.Answer{Status: http.StatusOK, Body: body}, err
		}
		return credit.Answer{Status: http.StatusCreated, Body: body}, err
	}
}

func (a *API) getDeposit(c echo.Context, _ Key, _ query) error {
	code := c.Param("code")
	if !credit.ValidCode(code) {
		return noDeposit(nil)
	}
	view, err := a.cfg.Deposits.View(requestContext(c), code)
	if errors.Is(err, credit.ErrNotFound) {
		return noDeposit(err)
	}
	if err != nil {
		return fmt.Errorf("view a deposit: %w", err)
	}
	body, err := renderDeposit(depositOnWire(view, a.cfg.Now().UTC()))
	if err != nil {
		return err
	}
	return sendTagged(c, body)
}

func (a *API) closeDeposit(c echo.Context, key Key, _ query) error {
	code := c.Param("code")
	if !credit.ValidCode(code) {
		return noDeposit(nil)
	}
	view, err := a.cfg.Deposits.Close(requestContext(c), code, key.Name)
	if errors.Is(err, credit.ErrNotFound) {
		return noDeposit(err)
	}
	if err != nil {
		return fmt.Errorf("close a deposit: %w", err)
	}
	body, err := renderDeposit(depositOnWire(view, a.cfg.Now().UTC()))
	if err != nil {
		return err
	}
	return send(c, http.StatusOK, body)
}

func noDeposit(cause error) error {
	return kindNotFound.because("there is no deposit with this code").from(cause)
}

func depositOnWire(v credit.DepositView, now time.Time) depositBody {
	d := v.Deposit
	paid, credited := d.Paid, d.Credited
	if r := v.Row; r != nil && r.Amount.IsSet() && r.Paid.IsSet() && goesOn(r.State) {
		// People may have released another amount than was asked for: what counts now is what was received, and what it
		// is credited with.
		paid, credited = r.Paid, r.Amount
	}
	return depositBody{
		Code: d.Code, State: string(v.State(now)),
		Server: d.Server, Login: number(d.Login),
		Paid: onWire(paid), Credited: onWire(credited),
		CreatedAt: d.CreatedAt.UTC(), ExpiresAt: d.ExpiresAt.UTC(), ClosedAt: d.ClosedAt.UTC(),
	}
}

// goesOn tells whether a row in the state is on its way to MT5, or there: its amount is settled.
func goesOn(s credit.State) bool {
	return s == credit.Pending || s.Open() || s == credit.Done
}

func renderDeposit(d depositBody) ([]byte, error) {
	body, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("render deposit %s: %w", d.Code, err)
	}
	return body, nil
}

func onWire(a credit.Amount) moneyBody {
	return moneyBody{Amount: a.Decimal(), Currency: a.Currency(), Minor: a.Units().String(), Exponent: a.Exponent()}
}
