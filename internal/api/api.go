package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
)

// Config is what an API is made of. Everything is required save Keys: without keys every request is answered 401.
type Config struct {
	Deposits Deposits
	Accounts Accounts
	Keys     []Key
	// PaidExponent is the number of decimal places in which a provider writes a currency; false for a provider or
	// a currency that is not known.
	PaidExponent func(provider, currency string) (exponent int, known bool)
	// DepositLife is how long a deposit can be paid when the request names no expiry.
	DepositLife time.Duration
	// Now is the wall clock.
	Now func() time.Time
	// Rand gives the bits of deposit codes and request ids; it is safe for concurrent use, as crypto/rand.Reader.
	Rand     io.Reader
	Observer Observer
}

// API serves the portal's routes. Make one with New; it is safe for concurrent use.
type API struct {
	cfg  Config
	keys keyring
	echo *echo.Echo
}

// New makes the API. It refuses a configuration that lacks a part, and keys that are not usable: without a name,
// name or hash twice, without a hash, an unknown scope, or accounts:write together with deposits:write, since a
// stolen checkout key must not be able to re-own a login (design §5).
func New(cfg Config) (*API, error) {
	if cfg.Deposits == nil || cfg.Accounts == nil || cfg.PaidExponent == nil || cfg.Now == nil || cfg.Rand == nil || cfg.Observer == nil {
		return nil, errors.New("make the portal's API: a part of its configuration is missing")
	}
	if cfg.DepositLife <= 0 {
		return nil, fmt.Errorf("make the portal's API: deposit life %s: want more than 0", cfg.DepositLife)
	}
	keys, err := newKeyring(cfg.Keys)
	if err != nil {
		return nil, fmt.Errorf("make the portal's API: %w", err)
	}
	a := &API{cfg: cfg, keys: keys, echo: echo.New()}
	a.echo.HideBanner, a.echo.HidePort = true, true
	a.echo.Logger.SetOutput(io.Discard) // what is worth telling goes to the Observer
	a.echo.Use(a.answered)
	for _, r := range a.routes() {
		a.echo.Add(r.method, r.path, a.guard(r))
	}
	return a, nil
}

// ServeHTTP implements http.Handler.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.echo.ServeHTTP(w, r) }

// route is one line of the access table: a key with any one of the scopes may use it.
type route struct {
	method string
	path   string
	scopes []string
	handle func(c echo.Context, key Key) error
}

// routes is the whole API; what is not here is answered 404 or 405.
func (a *API) routes() []route {
	return []route{
		{http.MethodPut, "/v1/servers/:server/accounts/:login", []string{ScopeAccountsWrite}, a.putAccount},
		{http.MethodGet, "/v1/servers/:server/accounts/:login", []string{ScopeAccountsRead, ScopeAccountsWrite}, a.getAccount},
		{http.MethodPost, "/v1/deposits", []string{ScopeDepositsWrite}, a.makeDeposit},
		{http.MethodGet, "/v1/deposits/:code", []string{ScopeDepositsRead}, a.getDeposit},
	}
}

// guard lets a request reach its handler only with a key that has the scope, and without a query: an ignored
// parameter could be one that the caller relies on, such as a dry run.
func (a *API) guard(r route) echo.HandlerFunc {
	return func(c echo.Context) error {
		c.Set(contextRoute, r.path)
		key, ok := a.keys.find(c.Request().Header)
		if !ok {
			c.Response().Header().Set("WWW-Authenticate", "Bearer")
			return kindUnauthorized.because("send a valid API key as: Authorization: Bearer co_...")
		}
		c.Set(contextKey, key.Name)
		if !key.mayAny(r.scopes) {
			return kindForbidden.because("this API key does not have the scope %s", r.scopes[0])
		}
		if c.Request().URL.RawQuery != "" || c.Request().URL.ForceQuery {
			return kindUnknownParameter.because("this call takes no query parameters")
		}
		return r.handle(c, key)
	}
}

// Server makes the http.Server of an API, with every limit set (security.md §6.2): HTTP/1.1 only, headers up to
// 16 KiB within 5 s, a whole request within 10 s, an answer within 20 s, idle connections for 60 s. The caller
// sets Addr, TLSConfig and ErrorLog as needed.
func Server(handler http.Handler) *http.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Server{
		Handler:           handler,
		Protocols:         protocols,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      20 * time.Second,
		IdleTimeout:       60 * time.Second,
		MaxHeaderBytes:    16 << 10,
	}
}

// Where the guard leaves the route's pattern and the name of the API key for the Observer.
const (
	contextRoute = "creditonce.route"
	contextKey   = "creditonce.key"
)

// send writes a success. Answers are about money: nothing on the way may keep them.
func send(c echo.Context, status int, body []byte) error {
	return c.Blob(status, "application/json", body)
}

func requestContext(c echo.Context) context.Context { return c.Request().Context() }
