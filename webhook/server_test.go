package webhook_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"creditonce/webhook"
)

// pipes is a listener whose connections are net.Pipe pairs, so that time-outs run on fake time.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.done); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// served runs the listener on the server that Server returns and gives one connection to it.
func served(t *testing.T, r *rig) net.Conn {
	t.Helper()
	p := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
	srv := webhook.Server(r.listener.Handler())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = srv.Serve(p)
	}()
	client, server := net.Pipe()
	p.conns <- server
	t.Cleanup(func() { _ = client.Close(); _ = srv.Close(); <-ended })
	return client
}

func write(t *testing.T, c net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
}

func TestSlowBody_Is408AfterTheReadLimitAndChangesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		conn := served(t, r)
		begin := time.Now()
		write(t, conn, "POST /webhooks/toy-shop HTTP/1.1\r\nHost: x\r\nToy: good\r\nContent-Length: 100\r\n\r\nevt_1 ")
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		if took := time.Since(begin); resp.StatusCode != 408 || took != 10*time.Second {
			t.Errorf("status %d after %v, want 408 after 10s", resp.StatusCode, took)
		}
		synctest.Wait()
		if r.intake.calls() != 0 || r.observer.last(t).Outcome != webhook.TooSlow {
			t.Errorf("%d intake calls, report %+v", r.intake.calls(), r.observer.last(t))
		}
	})
}

func TestSlowBodies_DoNotKeepOthersOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *webhook.Config) { c.MaxInFlight = 1 })
		head := "POST /webhooks/toy-shop HTTP/1.1\r\nHost: x\r\nToy: good\r\nContent-Length: 100\r\n\r\nevt_1 "
		for range 7 {
			write(t, served(t, r), head)
		}
		synctest.Wait()
		if w := r.send("POST", "/webhooks/toy-shop", "evt_2", "Toy", "good"); w.Code != 200 {
			t.Errorf("beside seven slow bodies a good request got %d", w.Code)
		}
		write(t, served(t, r), head)
		synctest.Wait()
		if w := r.send("POST", "/webhooks/toy-shop", "evt_3", "Toy", "good"); w.Code != 503 || r.intake.calls() != 1 {
			t.Errorf("beside eight slow bodies of eight a request got %d after %d intake calls", w.Code, r.intake.calls())
		}
	})
}

func TestSlowHeader_IsHungUpOnAndChangesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		conn := served(t, r)
		begin := time.Now()
		write(t, conn, "POST /webhooks/toy-shop HTTP/1.1\r\nHost: x\r\nToy: go")
		answer, _ := io.ReadAll(conn)
		if took := time.Since(begin); took > 10*time.Second || strings.Contains(string(answer), " 2") {
			t.Errorf("after %v: %q", took, answer)
		}
		if r.intake.calls() != 0 {
			t.Error("half a header reached the intake")
		}
	})
}

func TestOversizedHeader_IsRefused(t *testing.T) {
	t.Parallel()
	srv := httptest.NewUnstartedServer(nil)
	r := newRig(t, nil)
	srv.Config = webhook.Server(r.listener.Handler())
	srv.Start()
	t.Cleanup(srv.Close)
	req, err := http.NewRequestWithContext(t.Context(), "POST", srv.URL+"/webhooks/toy-shop", strings.NewReader("evt_1"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Toy", "good")
	req.Header.Set("Padding", strings.Repeat("x", 32<<10))
	resp, err := srv.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge || r.intake.calls() != 0 {
		t.Errorf("status %d, %d intake calls", resp.StatusCode, r.intake.calls())
	}
}

func TestBrokenBody_Is400AndChangesNothing(t *testing.T) {
	t.Parallel()
	for name, tail := range map[string]string{
		"truncated":        "Content-Length: 100\r\n\r\nevt_1 the rest never comes",
		"truncated chunk":  "Transfer-Encoding: chunked\r\n\r\n64\r\nevt_1",
		"chunks cut":       "Transfer-Encoding: chunked\r\n\r\n5\r\nevt_1\r\n",
		"chunk is no size": "Transfer-Encoding: chunked\r\n\r\nzz\r\nevt_1\r\n",
	} {
		r := newRig(t, nil)
		srv := httptest.NewUnstartedServer(nil)
		srv.Config = webhook.Server(r.listener.Handler())
		srv.Start()
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", srv.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		write(t, conn, "POST /webhooks/toy-shop HTTP/1.1\r\nHost: x\r\nToy: good\r\n"+tail)
		if half, ok := conn.(*net.TCPConn); !ok || half.CloseWrite() != nil {
			t.Fatal("the connection cannot be half closed")
		}
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		body, _ := io.ReadAll(resp.Body)
		if err := errors.Join(resp.Body.Close(), conn.Close()); err != nil {
			t.Fatal(err)
		}
		srv.Close() // waits for the handler, which reports after it answered
		if resp.StatusCode != 400 || string(body) != `{"error":"Bad Request"}` {
			t.Errorf("%s: %d %s", name, resp.StatusCode, body)
		}
		if r.intake.calls() != 0 || r.observer.last(t).Outcome != webhook.Broken {
			t.Errorf("%s: %d intake calls, report %+v", name, r.intake.calls(), r.observer.last(t))
		}
	}
}

func TestServer_SpeaksHTTP1Only(t *testing.T) {
	t.Parallel()
	srv := webhook.Server(http.NotFoundHandler())
	if p := srv.Protocols; !p.HTTP1() || p.HTTP2() || p.UnencryptedHTTP2() {
		t.Errorf("protocols %v", p)
	}
	if srv.ReadHeaderTimeout == 0 || srv.ReadTimeout == 0 || srv.WriteTimeout == 0 || srv.IdleTimeout == 0 || srv.MaxHeaderBytes == 0 {
		t.Errorf("a limit is missing: %+v", srv)
	}
}
