package webhook

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"

	"github.com/labstack/echo/v4"
)

// readBody reads the body once and whole. On anything else it returns a Report with the answer.
// Bodies are never decompressed: a few bytes could become gigabytes (security.md §6.3).
func (l *Listener) readBody(c echo.Context, r Report) ([]byte, Report) {
	req := c.Request()
	if len(req.Header.Values("Content-Encoding")) > 0 {
		r.Outcome, r.Status = Encoded, http.StatusUnsupportedMediaType
		return nil, r
	}
	var body bytes.Buffer
	// A length that is only announced costs little memory.
	if n := min(req.ContentLength, l.cfg.MaxBody, 8<<10); n > 0 {
		body.Grow(int(n) + bytes.MinRead)
	}
	// MaxBytesReader also closes the connection afterwards; echo's BodyLimit does not.
	_, err := body.ReadFrom(http.MaxBytesReader(c.Response().Writer, req.Body, l.cfg.MaxBody))
	r.Bytes = body.Len()
	var large *http.MaxBytesError
	switch {
	case err == nil:
		return body.Bytes(), r
	case errors.As(err, &large):
		r.Outcome, r.Status = TooLarge, http.StatusRequestEntityTooLarge
	case timedOut(err):
		r.Outcome, r.Status = TooSlow, http.StatusRequestTimeout
	default:
		r.Outcome, r.Status = Broken, http.StatusBadRequest
	}
	r.Err = fmt.Errorf("read body: %w", err)
	return nil, r
}

func timedOut(err error) bool {
	var n net.Error
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &n) && n.Timeout()
}
