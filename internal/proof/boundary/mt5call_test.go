package boundary

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/mt5"
)

// H1: the server executes, and the connection dies before the answer is there. net/http's own client sends such a GET
// again; here the server's journal holds one deal, and the outcome is unknown.
func TestH1_ServerExecutesThenTheConnectionDies_OneDealAndUnknown(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(x exchange){
		"reset":                   func(x exchange) { x.reset() },
		"end of stream":           func(x exchange) { x.finish(false) },
		"end of stream, with TLS": func(x exchange) { x.finish(true) },
		"half an answer, reset":   func(x exchange) { x.send([]byte("HTTP/1.1 200 OK\r\nContent-Le")); x.reset() },
		"half an answer, end":     func(x exchange) { x.send([]byte("HTTP/1.1 200 OK\r\nContent-Le")); x.finish(true) },
		"408, end": func(x exchange) {
			x.send([]byte("HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"))
			x.finish(true)
		},
		"503 with Retry-After":      func(x exchange) { x.send([]byte("HTTP/1.1 503 X\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n")) },
		"425 too early":             func(x exchange) { x.send([]byte("HTTP/1.1 425 Too Early\r\nContent-Length: 0\r\n\r\n")) },
		"421 on another connection": func(x exchange) { x.send([]byte("HTTP/1.1 421 Misdirected Request\r\nContent-Length: 0\r\n\r\n")) },
		"401 with a challenge": func(x exchange) {
			x.send([]byte("HTTP/1.1 401 X\r\nWWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\n\r\n"))
		},
		"407 with a challenge": func(x exchange) {
			x.send([]byte("HTTP/1.1 407 X\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n"))
		},
		"403 after it was executed":  func(x exchange) { x.send([]byte("HTTP/1.1 403 X\r\nContent-Length: 0\r\n\r\n")) },
		"bytes that are not of HTTP": func(x exchange) { x.send([]byte("\x15\x03\x03\x00\x02\x01\x00")); x.finish(false) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.on("trade/balance", func(x exchange) bool {
				x.execute()
				end(x)
				return false
			})
			r.unknown(1)
		})
	}
}

// Whatever part of the answer arrives, "applied" is said of the whole answer alone.
func TestBalance_AnswerCutAtEveryByte_IsUnknown(t *testing.T) {
	t.Parallel()
	for name, shape := range map[string]func([]byte) []byte{
		"with a length": func(b []byte) []byte { return b },
		"in chunks":     chunked,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			// Every byte of the body, and of the header every seventh, but all near its end.
			whole, body := 0, 0
			for cut := 0; whole == 0 || cut <= whole; cut++ {
				if cut < body-8 && cut%7 != 0 {
					continue
				}
				r.on("trade/balance", func(x exchange) bool {
					answer := shape(x.execute())
					whole, body = len(answer), bytes.Index(answer, []byte("\r\n\r\n"))+4
					x.send(answer[:min(cut, whole)])
					if cut%2 == 0 {
						x.reset()
					} else {
						x.finish(cut%4 == 1)
					}
					return false
				})
				r.ready()
				_, got, n := r.balance()
				// A reset may overtake what was sent before it, so that even a whole answer can be lost.
				if n != 1 || got.Outcome != credit.OutcomeUnknown && (cut < whole || got.Outcome != credit.OutcomeApplied) {
					t.Errorf("%d bytes of %d: outcome %q, executed %d times", cut, whole, got.Outcome, n)
				}
			}
			r.session.Drop("the connection of the last call")
			r.on("trade/balance", func(x exchange) bool { return x.send(shape(x.execute())) })
			r.ready()
			if _, got, _ := r.balance(); got.Outcome != credit.OutcomeApplied {
				t.Errorf("the whole answer: %+v", got)
			}
		})
	}
}

// chunked is the same answer in chunks of 16 bytes.
func chunked(answer []byte) []byte {
	head, body, _ := bytes.Cut(answer, []byte("\r\n\r\n"))
	var out bytes.Buffer
	for line := range bytes.SplitSeq(head, []byte("\r\n")) {
		if !bytes.HasPrefix(bytes.ToLower(line), []byte("content-length:")) {
			fmt.Fprintf(&out, "%s\r\n", line)
		}
	}
	out.WriteString("Transfer-Encoding: chunked\r\n\r\n")
	for len(body) > 0 {
		n := min(16, len(body))
		fmt.Fprintf(&out, "%x\r\n%s\r\n", n, body[:n])
		body = body[n:]
	}
	out.WriteString("0\r\n\r\n")
	return out.Bytes()
}

// The server closes an idle connection: seen before a byte of the call has left, it is "not sent", and nobody dials.
func TestRetryTrap_IdleConnectionThatWasClosedIsNotSent(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(x exchange){
		"reset": exchange.reset, "end of stream": func(x exchange) { x.finish(false) }, "end with TLS": func(x exchange) { x.finish(true) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			ended := make(chan struct{})
			r.on("deal/get", func(x exchange) bool {
				x.send(x.execute())
				if name != "reset" {
					close(ended) // finish waits for the client's end
				}
				end(x)
				if name == "reset" {
					close(ended)
				}
				return false
			})
			_, _ = r.session.Deal(t.Context(), 1)
			<-ended
			_, got, n := r.balance()
			// Between the word "ended" and the end itself the call may just have left: then nobody executes it.
			if n != 0 || got.Outcome != credit.OutcomeNotSent && got.Outcome != credit.OutcomeUnknown {
				t.Errorf("%+v, executed %d times", got, n)
			}
			if got.Outcome == credit.OutcomeNotSent && len(r.calls("trade/balance")) != 0 {
				t.Error("not sent, and the server got it")
			}
		})
	}
}

// The race of keep-alive: the server hangs up just when the call comes. Sent and not executed: unknown, never repeated.
func TestRetryTrap_ServerHangsUpOnTheFirstBytesOfTheCall(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(net.Conn){
		"reset": func(c net.Conn) { exchange{down: c}.reset() }, "end of stream": func(c net.Conn) { exchange{down: c}.finish(true) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.ahead = func(c net.Conn) bool { end(c); return false }
			_, got, n := r.balance()
			if got.Outcome != credit.OutcomeUnknown || n != 0 {
				t.Errorf("%+v, executed %d times", got, n)
			}
			r.mu.Lock()
			r.ahead = nil
			r.mu.Unlock()
			r.ready()
			if _, got, _ := r.balance(); got.Outcome != credit.OutcomeApplied {
				t.Errorf("the next call on a new connection: %+v", got)
			}
		})
	}
}

// A redirect to itself, and one to somebody else. Neither is followed, of calls as of reads.
func TestRedirectTrap_IsNeverFollowed(t *testing.T) {
	t.Parallel()
	var visits atomic.Int64
	other := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { visits.Add(1) }))
	t.Cleanup(other.Close)
	for _, status := range []int{300, 301, 302, 303, 305, 307, 308} {
		for _, to := range []string{"/api/trade/balance?login=1", "", other.URL + "/api/trade/balance"} {
			for _, execute := range []bool{true, false} {
				t.Run(fmt.Sprint(status, " ", to != "", strings.HasPrefix(to, "https"), execute), func(t *testing.T) {
					t.Parallel()
					r := newRig(t)
					away := func(x exchange) bool {
						if execute && x.endpoint() == "trade/balance" {
							x.execute()
						}
						target := to
						if target == "" {
							target = x.request.RequestURI // itself, whole
						}
						return x.send(fmt.Appendf(nil, "HTTP/1.1 %d Moved\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n", status, target))
					}
					r.on("deal/get", away)
					if d, err := r.session.Deal(t.Context(), 1); err == nil {
						t.Errorf("a redirect was read as deal %+v", d)
					}
					r.ready()
					if n := len(r.calls("deal/get")); n > 2 {
						t.Errorf("a read was asked %d times", n)
					}
					r.on("trade/balance", away)
					want := 0
					if execute {
						want = 1
					}
					r.unknown(want)
				})
			}
		}
	}
	t.Cleanup(func() {
		if n := visits.Load(); n != 0 {
			t.Errorf("the other server was visited %d times", n)
		}
	})
}

// Proxies from the environment are none of the client's business: a proxy may repeat a call.
func TestProxiesFromTheEnvironment_AreIgnored(t *testing.T) {
	trap, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var visits atomic.Int64
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := trap.Accept()
			if err != nil {
				return
			}
			visits.Add(1)
			_ = c.Close()
		}
	}()
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		t.Setenv(name, "http://"+trap.Addr().String())
	}
	t.Setenv("NO_PROXY", "")
	t.Setenv("no_proxy", "")
	r := newRig(t)
	if _, got, n := r.balance(); got.Outcome != credit.OutcomeApplied || n != 1 {
		t.Errorf("%+v", got)
	}
	_ = trap.Close()
	<-done
	if n := visits.Load(); n != 0 {
		t.Errorf("the proxy was visited %d times", n)
	}
}

// An answer that is there before the request is whole cannot be its answer: it belongs to something else, or to nobody.
func TestAnswerBeforeTheRequestIsComplete_IsNotTaken(t *testing.T) {
	t.Parallel()
	came := make(chan struct{})
	r := newRig(t, func(c *mt5.Config) {
		c.Step = func(_ context.Context, name string) {
			if name == credit.StepPartlyWritten {
				<-came
			}
		}
	})
	r.ahead = func(c net.Conn) bool {
		const booked = `{"retcode":"0 Done","answer":{"Ticket":"4294967301"}}`
		_, _ = fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(booked), booked)
		close(came)
		return true
	}
	r.on("trade/balance", func(exchange) bool { return false })
	_, got, n := r.balance()
	if got.Outcome != credit.OutcomeUnknown || n != 0 {
		t.Errorf("%+v, executed %d times", got, n)
	}
}

// The client's time-outs hold against a server that goes on sending, one byte at a time.
func TestSlowAnswers_EndWithTheCallsTimeoutAndAreUnknown(t *testing.T) {
	t.Parallel()
	for name, shape := range map[string]func(answer []byte) (once, drip []byte){
		"slow header":    func(a []byte) (once, drip []byte) { return nil, a },
		"slow body":      func(a []byte) (once, drip []byte) { i := bytes.Index(a, []byte("\r\n\r\n")) + 4; return a[:i], a[i:] },
		"slow last byte": func(a []byte) (once, drip []byte) { return a[:len(a)-1], nil },
		"endless header": func([]byte) (once, drip []byte) {
			return []byte("HTTP/1.1 200 OK\r\nX: "), bytes.Repeat([]byte("a"), 10_000)
		},
		"nothing at all":  func([]byte) (once, drip []byte) { return nil, nil },
		"endless interim": func([]byte) (once, drip []byte) { return nil, bytes.Repeat([]byte("\r\n"), 10_000) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, impatient)
			r.on("trade/balance", func(x exchange) bool {
				once, drip := shape(x.execute())
				x.send(once)
				dripping(x.down, drip)
				return false
			})
			begin := time.Now()
			_, got, n := r.balance()
			// The bound is loose for crowded machines; without the client's time-out the drip would last minutes.
			if took := time.Since(begin); took > 15*time.Second {
				t.Errorf("the call took %v", took)
			}
			if got.Outcome != credit.OutcomeUnknown || n != 1 {
				t.Errorf("%+v, executed %d times", got, n)
			}
		})
	}
}

// dripping sends a byte every 20 ms until all are sent, and then waits until the client hangs up.
func dripping(c net.Conn, text []byte) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for i := range text {
		if _, err := c.Write(text[i : i+1]); err != nil {
			return
		}
		<-tick.C
	}
	_, _ = io.Copy(io.Discard, c)
}
