package api

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"
)

const (
	headerRequestID = "X-Request-ID"
	headerReplayed  = "Idempotency-Replayed"

	// retryAfter is what a busy answer asks to wait: the store's queue drains in far less.
	retryAfter = 2 * time.Second

	maxRequestID = 64
)

// PanicError is a panic in a handler: a defect. The caller was answered 500, and may repeat with the same key.
type PanicError struct {
	Value any
	Stack []byte
}

// Error implements error. The value stays out of it, since nobody can promise what it holds.
func (e *PanicError) Error() string { return fmt.Sprintf("panic of type %T", e.Value) }

// answered surrounds every request, those without a route included: it gives it an id, turns errors and panics
// into problems, and tells the Observer.
func (a *API) answered(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		h := c.Response().Header()
		id, err := a.requestID(c.Request().Header)
		h.Set(headerRequestID, id)
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		if err == nil {
			err = contained(next, c)
		}
		served := Served{RequestID: id, Method: c.Request().Method, Err: err}
		if c.Response().Committed {
			// Only the connection can have failed now: the answer is on its way, whole or cut.
			err = nil
		}
		if err != nil {
			p := toProblem(err)
			served.Code = p.kind.code
			a.sendProblem(c, p, id)
		}
		served.Status, served.Replayed = c.Response().Status, h.Get(headerReplayed) == "true"
		served.Route, _ = c.Get(contextRoute).(string)
		if key, ok := c.Get(contextKey).(Key); ok {
			served.Key = key.Name
		}
		a.cfg.Observer.Served(requestContext(c), served)
		return nil
	}
}

// contained runs the handler and returns its panic as an error. http.ErrAbortHandler is net/http's own signal.
func contained(next echo.HandlerFunc, c echo.Context) (err error) {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		if e, ok := v.(error); ok && errors.Is(e, http.ErrAbortHandler) {
			panic(v)
		}
		err = &PanicError{Value: v, Stack: debug.Stack()}
	}()
	return next(c)
}

// sendProblem writes a problem. An error of the write means that the caller has gone.
func (a *API) sendProblem(c echo.Context, p *problem, id string) {
	body, err := json.Marshal(p.document(id))
	if err != nil {
		body = nil // cannot happen: the document is texts and numbers
	}
	if p.kind.status == http.StatusServiceUnavailable {
		c.Response().Header().Set("Retry-After", strconv.Itoa(int(retryAfter/time.Second)))
	}
	_ = c.Blob(p.kind.status, mediaProblem, body)
}

// requestID takes the caller's id where it can stand in a log and in a URI as it is, and draws one else.
func (a *API) requestID(header http.Header) (string, error) {
	if id := header.Get(headerRequestID); plainID(id) {
		return id, nil
	}
	return a.draw()
}

func plainID(id string) bool {
	for i := range len(id) {
		switch b := id[i]; {
		case b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z', b >= '0' && b <= '9':
		case b == '-', b == '_', b == '.', b == '~', b == ':', b == '/', b == '+', b == '=', b == '@':
		default:
			return false
		}
	}
	return id != "" && len(id) <= maxRequestID
}

// draw returns 128 random bits as 22 characters of the URL alphabet.
func (a *API) draw() (string, error) {
	var bits [16]byte
	if _, err := io.ReadFull(a.cfg.Rand, bits[:]); err != nil {
		return "", fmt.Errorf("draw 128 random bits: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(bits[:]), nil
}
