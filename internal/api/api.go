package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"

	"creditonce/credit"
)

// Config is what an API is made of. Everything is required save Keys: without keys every request is answered 401.
type Config struct {
	Deposits Deposits
	Accounts Accounts
	Keys     []Key
	// PaidExponent is the number of decimal places in which a provider writes a currency; false for a provider or
	// a currency that is not known.
	PaidExponent func(provider, currency string) (exponent int, known bool)
	// DayLimit is the most that a login may be credited in one UTC day, by account currency; false: no limit.
	DayLimit func(currency string) (credit.Amount, bool)
	// Rate is the limit of requests of each key, and of each address without one.
	Rate Rate
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
	keys atomic.Pointer[keyring]
	echo *echo.Echo

	limiter  *limiter
	document func() ([]byte, error) // the OpenAPI document, made when it is asked for first
}

// New makes the API. It refuses a configuration that lacks a part, and keys that are not usable: without a name,
// name or hash twice, without a hash, an unknown scope, or accounts:write together with deposits:write, since a
// stolen checkout key must not be able to re-own a login (design §5).
func New(cfg Config) (*API, error) {
	if cfg.Deposits == nil || cfg.Accounts == nil || cfg.PaidExponent == nil || cfg.DayLimit == nil || cfg.Now == nil || cfg.Rand == nil || cfg.Observer == nil {
		return nil, errors.New("make the portal's API: a part of its configuration is missing")
	}
	if cfg.DepositLife <= 0 {
		return nil, fmt.Errorf("make the portal's API: deposit life %s: want more than 0", cfg.DepositLife)
	}
	if cfg.Rate.PerSecond < 1 || cfg.Rate.Burst < 1 {
		return nil, fmt.Errorf("make the portal's API: rate of %d a second, %d at once: want 1 or more of each", cfg.Rate.PerSecond, cfg.Rate.Burst)
	}
	keys, err := newKeyring(cfg.Keys)
	if err != nil {
		return nil, fmt.Errorf("make the portal's API: %w", err)
	}
	a := &API{cfg: cfg, echo: echo.New(), limiter: newLimiter(cfg.Rate), document: sync.OnceValues(Document)}
	a.keys.Store(&keys)
	a.echo.HideBanner, a.echo.HidePort = true, true
	a.echo.Logger.SetOutput(io.Discard) // what is worth telling goes to the Observer
	a.echo.Use(a.answered, a.limited)
	for _, r := range a.routes() {
		a.echo.Add(r.method, r.path, a.guard(r))
	}
	return a, nil
}

// SetKeys replaces all keys at once; requests that come after it are judged by the new ones. It refuses what New refuses.
func (a *API) SetKeys(keys []Key) error {
	ring, err := newKeyring(keys)
	if err != nil {
		return fmt.Errorf("change the keys of the portal's API: %w", err)
	}
	a.keys.Store(&ring)
	return nil
}

// ServeHTTP implements http.Handler.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.echo.ServeHTTP(w, r) }

// guard lets a request reach its handler only with a key that has the scope, and with a query that the call knows.
func (a *API) guard(r route) echo.HandlerFunc {
	return func(c echo.Context) error {
		c.Set(contextRoute, r.path)
		key, known := c.Get(contextKey).(Key)
		switch {
		case r.open():
		case !known:
			c.Response().Header().Set("WWW-Authenticate", "Bearer")
			return kindUnauthorized.because("send a valid API key as: Authorization: Bearer co_...")
		case !key.mayAny(r.scopes):
			return kindForbidden.because("this API key does not have the scope %s", r.scopes[0])
		}
		q, err := readQuery(c.Request().URL, r.query)
		if err != nil {
			return err
		}
		return r.handle(c, key, q)
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

// Where the route's pattern and the API key stand while a request is answered.
const (
	contextRoute = "creditonce.route"
	contextKey   = "creditonce.key"
)

// send writes a success. Answers are about money: nothing on the way may keep them.
func send(c echo.Context, status int, body []byte) error {
	return c.Blob(status, mediaJSON, body)
}

func requestContext(c echo.Context) context.Context { return c.Request().Context() }
