package webhook

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"
)

// retryAfter is the Retry-After of a 503, in seconds. Providers have their own schedules (providers.md
// §1); a small value only tells proxies that this passes.
const retryAfter = 5

// failed makes the report of an error inside. The reference is all that the public learns.
func (l *Listener) failed(r Report, err error) Report {
	r.Outcome, r.Status, r.Err, r.Reference = Failed, http.StatusInternalServerError, err, l.cfg.Reference()
	return r
}

// answer writes the constant answer of the status. Nothing in it depends on the request but the
// reference of a failure. The 200 is flushed, so that it has left this process when the step
// "acknowledged" is named.
func (l *Listener) answer(c echo.Context, r Report) {
	if c.Response().Committed {
		return
	}
	body := `{"received":true}`
	switch {
	case r.Reference != "":
		body = `{"error":"internal error","reference":` + strconv.Quote(r.Reference) + `}`
	case r.Status != http.StatusOK:
		body = `{"error":` + strconv.Quote(http.StatusText(r.Status)) + `}`
	}
	h := c.Response().Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	if r.Status == http.StatusServiceUnavailable {
		h.Set("Retry-After", strconv.Itoa(retryAfter))
	}
	c.Response().WriteHeader(r.Status)
	// A write that fails means that the caller has gone; it gets the same answer when it tries again.
	_, _ = c.Response().Write([]byte(body))
	_ = http.NewResponseController(c.Response().Writer).Flush()
}

// unrouted answers what echo's router turned away: another path, another method.
func (l *Listener) unrouted(err error, c echo.Context) {
	r := Report{IP: c.RealIP(), Outcome: NoSuchRoute, Status: http.StatusNotFound}
	var routed *echo.HTTPError
	switch {
	case errors.As(err, &routed) && routed.Code == http.StatusMethodNotAllowed:
		r.Outcome, r.Status = WrongMethod, http.StatusMethodNotAllowed
	case !errors.As(err, &routed):
		r = l.failed(r, err)
	}
	l.answer(c, r)
	l.cfg.Observer.Webhook(c.Request().Context(), r)
}
