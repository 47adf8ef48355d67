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

// maxAccountDigits is the most decimal places of an account's currency: as the configuration allows for a server.
const maxAccountDigits = 8

// accountBody is an account on the wire.
type accountBody struct {
	Server    string    `json:"server"`
	Login     string    `json:"login"`
	Client    string    `json:"client"`
	Currency  string    `json:"currency"`
	Digits    int       `json:"digits"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// accountWish is a registration as the portal sends it.
type accountWish struct {
	Client   string `json:"client"`
	Currency string `json:"currency"`
	Digits   int    `json:"digits"`
}

func readAccount(root *object) (accountWish, []fault) {
	f, faults := newFields(root)
	w := accountWish{
		Client:   f.text("client", isPrintable),
		Currency: f.text("currency", isCurrency),
		Digits:   f.integer("digits", 0, maxAccountDigits),
	}
	f.end()
	return w, *faults
}

func (a *API) putAccount(c echo.Context, key Key, _ query) error {
	server, login, faults := accountAddress(c)
	root, err := readObject(c)
	if err != nil {
		return err
	}
	w, more := readAccount(root)
	if faults = append(faults, more...); len(faults) > 0 {
		return invalid(faults)
	}
	account := credit.Account{Server: server, Login: login, Client: w.Client, Currency: w.Currency, Digits: w.Digits}
	stored, created, err := a.cfg.Accounts.Put(requestContext(c), account, actor(key))
	if err != nil {
		return fmt.Errorf("put account %d on %s: %w", login, server, err)
	}
	status := http.StatusOK
	if created {
		status = http.StatusCreated
	}
	body, err := renderAccount(stored)
	if err != nil {
		return err
	}
	return send(c, status, body)
}

func (a *API) getAccount(c echo.Context, _ Key, _ query) error {
	server, login, faults := accountAddress(c)
	if len(faults) > 0 {
		return invalid(faults)
	}
	account, err := a.cfg.Accounts.Get(requestContext(c), server, login)
	if errors.Is(err, credit.ErrNotFound) {
		return kindNotFound.because("the login is not registered on this server").from(err)
	}
	if err != nil {
		return fmt.Errorf("get account %d on %s: %w", login, server, err)
	}
	body, err := renderAccount(account)
	if err != nil {
		return err
	}
	return sendTagged(c, body)
}

// accountAddress reads the path. Only the strict forms pass, so it does not matter how echo decodes the path.
func accountAddress(c echo.Context) (server string, login uint64, faults []fault) {
	server = c.Param("server")
	if code, detail := isLabel(server); code != "" {
		faults = append(faults, fault{"server", code, detail})
	}
	login, err := parseLogin(c.Param("login"))
	if err != nil {
		code, detail := isLogin("")
		faults = append(faults, fault{"login", code, detail})
	}
	return server, login, faults
}

func accountOnWire(a credit.Account) accountBody {
	return accountBody{
		Server: a.Server, Login: number(a.Login), Client: a.Client,
		Currency: a.Currency, Digits: a.Digits, CreatedAt: a.CreatedAt.UTC(), UpdatedAt: a.UpdatedAt.UTC(),
	}
}

func renderAccount(a credit.Account) ([]byte, error) {
	body, err := json.Marshal(accountOnWire(a))
	if err != nil {
		return nil, fmt.Errorf("render account %d on %s: %w", a.Login, a.Server, err)
	}
	return body, nil
}

// actorPrefix marks in histories what was done through a key.
const actorPrefix = "api/"

// actor is how histories name who acted through a key.
func actor(key Key) string { return actorPrefix + key.Name }
