package api

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"creditonce/credit"
)

func TestErrorsOfTheBook_AreAnsweredWithoutTheirText(t *testing.T) {
	t.Parallel()
	const secret = "s3cret inside"
	for name, tc := range map[string]struct {
		err    error
		status int
		code   string
	}{
		"mismatch":  {credit.ErrMismatch, 422, "idempotency_key_reused"},
		"invalid":   {credit.ErrInvalid, 400, "invalid_request"},
		"duplicate": {&credit.DuplicateError{Rule: secret, Holder: 7}, 409, "already_taken"},
		"conflict":  {credit.ErrConflict, 409, "conflict"},
		"busy":      {credit.ErrBusy, 503, "busy"},
		"cancelled": {context.Canceled, 503, "busy"},
		"too late":  {context.DeadlineExceeded, 503, "busy"},
		"stopped":   {credit.ErrStopped, 500, "internal"},
		"any other": {errors.New(secret), 500, "internal"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := setup(t)
			p.book.fail = fmt.Errorf("%s: %w", secret, tc.err)
			calls := []call{
				post("k", plainDeposit),
				put("1001", `{"client":"c","currency":"USD","digits":2}`),
				{method: http.MethodGet, path: "/v1/servers/main/accounts/1001", key: lookKey},
				{method: http.MethodGet, path: "/v1/deposits/0123456789012345678901", key: pageKey},
			}
			for _, c := range calls {
				w := p.do(c)
				wantProblem(t, w, tc.status, tc.code)
				if strings.Contains(w.Body.String(), "s3cret") {
					t.Errorf("%s %s shows the inside: %s", c.method, c.path, w.Body)
				}
				if got := w.Header().Get("Retry-After"); (got != "") != (tc.status == 503) {
					t.Errorf("Retry-After %q with status %d", got, tc.status)
				}
				s := p.seen.last(t)
				if !errors.Is(s.Err, tc.err) || s.Status != tc.status || s.Code != tc.code || s.RequestID == "" || s.Key == "" {
					t.Errorf("observed %+v, want the chain", s)
				}
			}
		})
	}
}

// panicking fails where no error was expected.
type panicking struct{ Deposits }

func (panicking) View(context.Context, string) (credit.DepositView, error) { panic("s3cret") }

func TestPanic_IsAnsweredAndReportedAsADefect(t *testing.T) {
	t.Parallel()
	p := setup(t)
	p.api = p.restart(func(c *Config) { c.Deposits = panicking{p.book} })
	w := p.do(call{method: http.MethodGet, path: "/v1/deposits/0123456789012345678901", key: pageKey})
	wantProblem(t, w, http.StatusInternalServerError, "internal")
	var defect *PanicError
	if s := p.seen.last(t); !errors.As(s.Err, &defect) || defect.Value != "s3cret" || len(defect.Stack) == 0 {
		t.Fatalf("observed %+v", s)
	}
	if strings.Contains(defect.Error(), "s3cret") || strings.Contains(w.Body.String(), "s3cret") {
		t.Error("the panic's value is shown")
	}
}

// aborting asks net/http to cut the connection.
type aborting struct{ Deposits }

func (aborting) View(context.Context, string) (credit.DepositView, error) {
	panic(http.ErrAbortHandler)
}

func TestAbort_IsLeftToTheServer(t *testing.T) {
	t.Parallel()
	p := setup(t)
	p.api = p.restart(func(c *Config) { c.Deposits = aborting{p.book} })
	defer func() {
		if err, ok := recover().(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
			t.Errorf("recovered %v", err)
		}
	}()
	p.do(call{method: http.MethodGet, path: "/v1/deposits/0123456789012345678901", key: pageKey})
}

func TestWithoutRandomBits_NothingIsMade(t *testing.T) {
	t.Parallel()
	p := setup(t)
	p.api = p.restart(func(c *Config) { c.Rand = iotest.ErrReader(errors.New("no entropy")) })
	c := post("k", plainDeposit)
	c.header["X-Request-ID"] = "r-1"
	wantProblem(t, p.do(c), http.StatusInternalServerError, "internal")
	if _, writes := p.book.counts(); writes != 0 {
		t.Errorf("%d writes", writes)
	}
}

func TestRequestIDIsTakenOrDrawn(t *testing.T) {
	t.Parallel()
	p := setup(t)
	for sent, taken := range map[string]bool{
		"req-1": true, "a:b/c+d=e@f~g._": true, strings.Repeat("x", 64): true,
		strings.Repeat("x", 65): false, "two words": false, "<b>": false, "a\tb": false, "é": false, `"`: false,
	} {
		w := p.do(call{method: http.MethodGet, path: "/v1/deposits/none", key: pageKey, header: map[string]string{"X-Request-ID": sent}})
		wantProblem(t, w, http.StatusNotFound, "not_found")
		got := w.Header().Get("X-Request-ID")
		if (got == sent) != taken || p.seen.last(t).RequestID != got {
			t.Errorf("sent %q, answered %q", sent, got)
		}
		if !taken && len(got) != 22 {
			t.Errorf("drawn id %q, want 22 characters", got)
		}
	}
}

func TestUnknownAddressAndMethod_AreProblems(t *testing.T) {
	t.Parallel()
	p := setup(t)
	for path, code := range map[string]string{
		"/": "no_route", "/v1": "no_route", "/v1/servers/main/accounts": "no_route", "/webhooks/stripe-eu": "no_route",
		"/V1/deposits": "no_route", "//v1/deposits": "no_route", "/v1/deposits/": "no_route",
		"/v1/deposits/0123456789012345678901/credits": "no_route", "/v1/deposits/0123456789012345678901/credit/": "no_route",
	} {
		r := call{method: http.MethodGet, path: "/", key: payKey}.request()
		r.URL.Path = path
		wantProblem(t, serve(p.api, r), http.StatusNotFound, code)
		if s := p.seen.last(t); code == "no_route" && (s.Route != "" || s.Key != "pay") {
			t.Errorf("%s: observed %+v", path, s)
		}
	}
	for path, allow := range map[string]string{"/v1/deposits": "GET, POST", "/v1/deposits/0123456789012345678901/credit": "GET", "/v1/servers/main/accounts/1": "GET, PUT"} {
		for _, method := range []string{http.MethodDelete, http.MethodPatch, http.MethodHead, http.MethodTrace, "BREW"} {
			w := p.do(call{method: method, path: path, key: payKey})
			wantProblem(t, w, http.StatusMethodNotAllowed, "method_not_allowed")
			for m := range strings.SplitSeq(allow, ", ") {
				if !strings.Contains(w.Header().Get("Allow"), m) {
					t.Errorf("%s %s: Allow %q lacks %s", method, path, w.Header().Get("Allow"), m)
				}
			}
		}
	}
	p.do(call{method: http.MethodPost, path: "/webhooks/stripe-eu", body: "{}"})
	if calls, _ := p.book.counts(); calls != 0 {
		t.Errorf("the book was asked %d times", calls)
	}
}

// listen serves the portal on loopback, through Server.
func listen(t *testing.T, p *portal) net.Addr {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := Server(p.api)
	stopped := make(chan error, 1)
	go func() { stopped <- srv.Serve(l) }()
	t.Cleanup(func() {
		_ = srv.Close()
		if err := <-stopped; !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("serve: %v", err)
		}
	})
	return l.Addr()
}

// talk writes raw bytes on a new connection, says that no more will come, and reads the first answer.
func talk(t *testing.T, addr net.Addr, raw string) *http.Response {
	t.Helper()
	conn, err := net.Dial("tcp", addr.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if _, err := io.WriteString(conn, raw); err != nil {
		t.Fatal(err)
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatalf("read the answer: %v", err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

const rawHead = "POST /v1/deposits HTTP/1.1\r\nHost: api\r\nAuthorization: Bearer co_pay\r\nIdempotency-Key: k\r\nContent-Type: application/json\r\n"

func TestDepositOverTheWire(t *testing.T) {
	t.Parallel()
	p := setup(t)
	resp := talk(t, listen(t, p), fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", rawHead, len(plainDeposit), plainDeposit))
	if resp.StatusCode != http.StatusCreated {
		t.Fatalf("status %s", resp.Status)
	}
}

func TestEndlessBody_IsRefusedAndItsConnectionClosed(t *testing.T) {
	t.Parallel()
	p := setup(t)
	for name, raw := range map[string]string{
		// One byte too many, and all are there: without a limit that net/http knows of the connection would stay.
		"barely":    fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", rawHead, maxBody+1, strings.Repeat(" ", maxBody+1)),
		"announced": fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", rawHead, 10*maxBody, strings.Repeat(" ", maxBody+1)),
		"chunked":   fmt.Sprintf("%sTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", rawHead, maxBody+1, strings.Repeat(" ", maxBody+1)),
	} {
		resp := talk(t, listen(t, p), raw)
		if resp.StatusCode != http.StatusRequestEntityTooLarge || !resp.Close {
			t.Errorf("%s: status %s, connection closed %t", name, resp.Status, resp.Close)
		}
	}
	if calls, _ := p.book.counts(); calls != 0 {
		t.Errorf("the book was asked %d times", calls)
	}
}

// The whole JSON object has arrived, and still the request has not.
func TestCutBody_IsRefusedAndWritesNothing(t *testing.T) {
	t.Parallel()
	p := setup(t)
	resp := talk(t, listen(t, p), fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", rawHead, len(plainDeposit)+1, plainDeposit))
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusBadRequest || !strings.Contains(string(body), `"body_incomplete"`) {
		t.Errorf("status %s: %s", resp.Status, body)
	}
	if calls, _ := p.book.counts(); calls != 0 {
		t.Errorf("the book was asked %d times", calls)
	}
}

func TestOversizedHeader_IsRefused(t *testing.T) {
	t.Parallel()
	p := setup(t)
	// net/http allows 4 KiB above MaxHeaderBytes; a little more is read and answered, much more is cut off.
	raw := strings.Replace(rawHead, "\r\n\r\n", "", 1) + "X-Pad: " + strings.Repeat("x", 20<<10) + "\r\n\r\n"
	if resp := talk(t, listen(t, p), raw); resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("status %s", resp.Status)
	}
	if calls, _ := p.book.counts(); calls != 0 {
		t.Errorf("the book was asked %d times", calls)
	}
}

func TestServerHasEveryLimit(t *testing.T) {
	t.Parallel()
	s := Server(http.NotFoundHandler())
	if s.ReadHeaderTimeout != 5*time.Second || s.ReadTimeout != 10*time.Second || s.WriteTimeout != 20*time.Second ||
		s.IdleTimeout != 60*time.Second || s.MaxHeaderBytes != 16<<10 {
		t.Errorf("limits %+v", s)
	}
	if !s.Protocols.HTTP1() || s.Protocols.HTTP2() || s.Protocols.UnencryptedHTTP2() {
		t.Errorf("protocols %s, want HTTP/1 only", s.Protocols)
	}
}

// slowBody is a body that does not arrive in time.
type slowBody struct{ io.Reader }

func TestBodyThatFails_WritesNothing(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{"too slow": &net.OpError{Op: "read", Err: timeoutError{}}, "reset": errors.New("connection reset")} {
		p := setup(t)
		r := post("k", plainDeposit).request()
		r.Body = io.NopCloser(slowBody{io.MultiReader(strings.NewReader(plainDeposit), iotest.ErrReader(err))})
		wantProblem(t, serve(p.api, r), http.StatusBadRequest, "body_incomplete")
		if calls, _ := p.book.counts(); calls != 0 {
			t.Errorf("%s: the book was asked %d times", name, calls)
		}
	}
}

type timeoutError struct{}

func (timeoutError) Error() string   { return "i/o timeout" }
func (timeoutError) Timeout() bool   { return true }
func (timeoutError) Temporary() bool { return true }
