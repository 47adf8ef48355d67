package api

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"

	"github.com/labstack/echo/v4"
)

// maxBody is far above any request of this API.
const maxBody = 64 << 10

// readObject reads the one JSON object of a request. Its errors are problems.
func readObject(c echo.Context) (*object, error) {
	r := c.Request()
	if err := checkContentType(r.Header); err != nil {
		return nil, err
	}
	// MaxBytesReader over net/http's own writer: only then is the connection of an endless body closed
	// (security.md §6.3). Echo's BodyLimit and echo's wrapped writer both leave it open.
	body, err := io.ReadAll(http.MaxBytesReader(c.Response().Writer, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, kindTooLarge.because("send at most %d bytes", maxBody)
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, io.ErrUnexpectedEOF):
		return nil, kindBodyCut.because("send the whole body, faster").from(err)
	case err != nil:
		return nil, kindBodyCut.because("the body cannot be read").from(err)
	}
	return parseObject(body)
}

func checkContentType(header http.Header) error {
	if len(header.Values("Content-Encoding")) > 0 {
		return kindEncoding.because("send the body as it is, without Content-Encoding")
	}
	values := header.Values("Content-Type")
	if len(values) != 1 {
		return kindMediaType.because("send one header Content-Type: application/json")
	}
	media, params, err := mime.ParseMediaType(values[0])
	if err != nil || media != "application/json" {
		return kindMediaType.because("send Content-Type: application/json")
	}
	for name, value := range params {
		if name != "charset" || !strings.EqualFold(value, "utf-8") {
			return kindMediaType.because("JSON is UTF-8: send Content-Type: application/json without parameters")
		}
	}
	return nil
}

// maxIdempotencyKey is the longest key, in bytes.
const maxIdempotencyKey = 255

// errKeyMissing marks the one fault of an idempotency key that a dry run may have.
var errKeyMissing = errors.New("no idempotency key")

// idempotencyKey reads the caller's key: 1 to 255 printable ASCII characters, taken as they are.
func idempotencyKey(header http.Header) (string, error) {
	values := header.Values("Idempotency-Key")
	if len(values) == 0 || (len(values) == 1 && values[0] == "") {
		return "", kindKeyMissing.because("send an Idempotency-Key that is new for each deposit and the same for each repetition").from(errKeyMissing)
	}
	key := values[0]
	printable := true
	for i := range len(key) {
		printable = printable && key[i] >= ' ' && key[i] <= '~'
	}
	if len(values) > 1 || len(key) > maxIdempotencyKey || !printable {
		return "", kindKeyBad.because("send one Idempotency-Key of at most %d printable ASCII characters", maxIdempotencyKey)
	}
	return key, nil
}
