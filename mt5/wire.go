package mt5

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"strings"
	"time"
)

// wire is one TLS connection that speaks HTTP/1.1, one request at a time. It writes requests itself instead of
// using http.Transport: that one silently sends a GET, or a POST with nothing written yet, again on another
// connection (Traps 1, 2). Here a request is one pass over one connection, and the type cannot dial.
type wire struct {
	under   *watched
	secure  *tls.Conn
	in      *bufio.Reader
	base    *url.URL
	jar     http.CookieJar // servers may set a cookie at auth/answer (§1.1); it lives and dies with the connection
	lastUse time.Duration  // boot time of the last answer
	spent   bool           // nothing may be asked on it any more
}

func newWire(under *watched, secure *tls.Conn, address string) (*wire, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, fmt.Errorf("make the cookie jar: %w", err)
	}
	return &wire{
		under: under, secure: secure, in: bufio.NewReaderSize(secure, 16<<10), jar: jar,
		base: &url.URL{Scheme: "https", Host: strings.TrimSuffix(address, ":443")},
	}, nil
}

// order is one request. The parameters always travel in the query, also of a POST (§1.1).
type order struct {
	method   string
	endpoint string // below /api/
	params   url.Values
	agent    string
	timeout  time.Duration
	guard    func() error // checked at every write; nil: none
	partly   func()       // called when a part has been written; nil: it is written in one piece
	wrote    func()       // called when all has been written
}

// answer is what came back, whole.
type answer struct {
	status int
	body   []byte
}

// The ways in which an exchange ends without an answer. Texts of the network are not passed on.
var (
	errClosed  = errors.New("the server closed the connection")
	errTimeout = errors.New("no answer in time")
	errExtra   = errors.New("bytes came that nobody had asked for")
	errCutHTTP = errors.New("the answer is cut off or not HTTP")
)

// exchange sends the order once and reads its answer. After any error, and after an answer that ends the
// connection, the wire is spent.
func (w *wire) exchange(ctx context.Context, o order) (answer, error) {
	w.under.mark(o.guard)
	if w.spent {
		return answer{}, errClosed
	}
	request, err := w.render(o)
	if err != nil {
		return answer{}, err
	}
	if err := w.quiet(); err != nil {
		w.spent = true
		return answer{}, err
	}
	limited, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	stop := context.AfterFunc(limited, func() { _ = w.under.SetDeadline(time.Unix(1, 0)) })
	a, err := w.pass(request, o)
	if !stop() || err != nil {
		// The deadline has been set, or may be set at any moment: the connection is of no use.
		w.spent = true
	}
	if err != nil {
		return a, plainly(limited, err)
	}
	return a, nil
}

// render is the request as bytes. net/http's own writer keeps header injection out.
func (w *wire) render(o order) ([]byte, error) {
	u := *w.base
	u.Path = "/api/" + o.endpoint
	// A space as %20: a plus sign is read as a space only where form encoding is expected (Traps 6).
	u.RawQuery = strings.ReplaceAll(o.params.Encode(), "+", "%20")
	r, err := http.NewRequest(o.method, u.String(), nil)
	if err != nil {
		return nil, errors.New("the request cannot be written as HTTP") // the cause would quote the URL
	}
	r.Header.Set("Accept", "*/*")
	r.Header.Set("Connection", "keep-alive")
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("User-Agent", o.agent)
	for _, c := range w.jar.Cookies(&u) {
		r.AddCookie(c)
	}
	var b bytes.Buffer
	if err := r.Write(&b); err != nil {
		return nil, errors.New("the request cannot be written as HTTP")
	}
	return b.Bytes(), nil
}

// quiet makes sure that nothing waits to be read before a request: an answer that comes by itself, or late,
// would be taken for the answer to it (Traps 15). It also sees a connection that the server has closed, while
// nothing of the request has left yet. The first request on a connection may find TLS session tickets, which
// reading consumes.
func (w *wire) quiet() error {
	w.under.probing = true
	_, err := w.in.Peek(1)
	w.under.probing = false
	switch {
	case err == nil:
		return errExtra
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil
	}
	return errClosed
}

// pass writes the request and reads the answer.
func (w *wire) pass(request []byte, o order) (answer, error) {
	if o.partly != nil {
		// Half a header is nothing that a server could execute.
		half := len(request) / 2
		if _, err := w.secure.Write(request[:half]); err != nil {
			return answer{}, err
		}
		o.partly()
		// What has come by now cannot be the answer to a request that is not whole.
		if err := w.quiet(); err != nil {
			return answer{}, err
		}
		request = request[half:]
	}
	if _, err := w.secure.Write(request); err != nil {
		return answer{}, err
	}
	w.under.guard = nil
	if o.wrote != nil {
		o.wrote()
	}
	return w.read(o.method)
}

// read takes one whole answer: its length must be marked, and met exactly.
func (w *wire) read(method string) (answer, error) {
	if _, err := w.in.Peek(1); err != nil {
		return answer{}, err // ReadResponse would not tell a closed connection from a cut answer
	}
	resp, err := http.ReadResponse(w.in, &http.Request{Method: method, URL: w.base})
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	a := answer{status: resp.StatusCode}
	chunked := len(resp.TransferEncoding) > 0
	if a.status < http.StatusOK || resp.ContentLength < 0 && !chunked {
		return a, errCutHTTP
	}
	if a.body, err = io.ReadAll(resp.Body); err != nil {
		return answer{status: a.status}, err
	}
	w.jar.SetCookies(w.base, resp.Cookies())
	w.spent = resp.Close
	if err := w.quiet(); errors.Is(err, errExtra) {
		return a, err
	}
	return a, nil
}

// plainly says what went wrong without the network's own text, which may hold anything.
func plainly(ctx context.Context, err error) error {
	var closed *net.OpError
	switch {
	case errors.Is(err, errLate), errors.Is(err, errExtra), errors.Is(err, errTooLong), errors.Is(err, errCutHTTP):
		return err
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return errTimeout
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, io.EOF), errors.As(err, &closed), errors.Is(err, io.ErrClosedPipe):
		return errClosed
	}
	return errCutHTTP
}

// reset ends the connection without a TLS good-bye: with linger 0 the kernel drops what has not left.
func (w *wire) reset() {
	w.spent = true
	_ = w.under.Close()
}
