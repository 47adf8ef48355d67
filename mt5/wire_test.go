package mt5

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"creditonce/credit"
	"creditonce/mt5/fakemt5"
)

const booked = `{"retcode":"0 Done","answer":{"Ticket":"4294967301"}}`

func TestWire_TheCallIsOnePostWithoutBodyAndWithAllInTheQuery(t *testing.T) {
	t.Parallel()
	s, r := against(t, func(c net.Conn, r *http.Request) bool {
		return r.ContentLength == 0 && send(c, httpAnswer(200, booked))
	})
	if got := r.session.Balance(t.Context(), r.call()); got.Outcome != credit.OutcomeApplied || got.Ticket != 4294967301 {
		t.Fatalf("%+v", got)
	}
	last := len(s.lines) - 1
	comment := strings.ReplaceAll(string(reference), ":", "%3A")
	if want := "/api/trade/balance?balance=500.00&check_margin=1&comment=" + comment + "&login=500123&type=2"; s.lines[last] != want {
		t.Errorf("line %s, want %s", s.lines[last], want)
	}
	h := s.headers[last]
	if h.Get("Idempotency-Key") != "" || h.Get("X-Idempotency-Key") != "" || h.Get("Content-Length") != "0" || h.Get("User-Agent") != DefaultAgent {
		t.Errorf("headers %v", h)
	}
}

func TestWire_AServerThatExecutesAndResetsSeesOnePost(t *testing.T) {
	t.Parallel()
	s, r := against(t, func(c net.Conn, _ *http.Request) bool {
		_ = c.(*tls.Conn).NetConn().(*net.TCPConn).SetLinger(0)
		return false
	})
	got := r.session.Balance(t.Context(), r.call())
	if got.Outcome != credit.OutcomeUnknown || got.Answered {
		t.Errorf("%+v", got)
	}
	r.ready()
	if calls := s.seenAt("trade/balance"); !slices.Equal(calls, []string{"1 POST /api/trade/balance"}) {
		t.Errorf("calls %v", calls)
	}
}

func TestWire_ALateAnswerIsNeverTakenForTheNext(t *testing.T) {
	t.Parallel()
	late := make(chan struct{})
	s, r := against(t, func(c net.Conn, r *http.Request) bool {
		if r.URL.Path == "/api/trade/balance" {
			<-late
			return send(c, httpAnswer(200, booked))
		}
		return send(c, httpAnswer(200, `{"retcode":"13 Not found"}`))
	}, onClient(impatient))
	got := r.session.Balance(t.Context(), r.call())
	if got.Outcome != credit.OutcomeUnknown || !strings.Contains(got.Detail, errTimeout.Error()) {
		t.Errorf("%+v", got)
	}
	close(late)
	if _, err := r.session.Deal(t.Context(), 4294967301); err == nil {
		t.Error("the late answer was taken for a deal")
	}
	if reads := s.seenAt("deal/get"); !slices.Equal(reads, []string{"2 GET /api/deal/get"}) {
		t.Errorf("reads %v, want one on the second connection", reads)
	}
}

func TestH9_OddAnswersToACallAreUnknownAndEndTheConnection(t *testing.T) {
	t.Parallel()
	whole := httpAnswer(200, booked)
	for name, text := range map[string]string{
		"two answers":        whole + whole,
		"a byte too much":    whole + "x",
		"longer than said":   strings.Replace(whole, "{", "{ ", 1),
		"shorter than said":  strings.TrimSuffix(whole, "}"),
		"no length":          "HTTP/1.1 200 OK\r\n\r\n" + booked,
		"no HTTP":            booked,
		"interim":            "HTTP/1.1 100 Continue\r\n\r\n",
		"chunks cut":         "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"ret",
		"endless header":     "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("a", maxAnswer),
		"too long":           fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", maxAnswer+1) + strings.Repeat(" ", maxAnswer+1),
		"key twice":          httpAnswer(200, `{"retcode":"0 Done","answer":{"Ticket":"1","ticket":"2"}}`),
		"ticket no number":   httpAnswer(200, `{"retcode":"0 Done","answer":{"Ticket":"abc"}}`),
		"ticket zero":        httpAnswer(200, `{"retcode":"0 Done","answer":{"Ticket":0}}`),
		"ticket as fraction": httpAnswer(200, `{"retcode":"0 Done","answer":{"Ticket":1.5}}`),
		"ticket as list":     httpAnswer(200, `{"retcode":"0 Done","answer":{"Ticket":["1"]}}`),
		"two documents":      httpAnswer(200, booked+booked),
		"refusal of another": httpAnswer(200, `{"retcode":"10019 No money","answer":{"Login":"7"}}`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, r := against(t, func(c net.Conn, _ *http.Request) bool { send(c, text); return false })
			got := r.session.Balance(t.Context(), r.call())
			if got.Outcome != credit.OutcomeUnknown || r.session.wire != nil {
				t.Errorf("%+v, connection %v", got, r.session.wire != nil)
			}
		})
	}
}

func TestWire_FormsThatAreWhole(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"number":       httpAnswer(200, `{"retcode":0,"answer":{"ticket":4294967301}}`),
		"chunks":       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(booked), booked),
		"10009":        httpAnswer(200, `{"RetCode":"10009 Done","Answer":{"TICKET":"4294967301","Login":"500123"}}`),
		"then closes":  strings.Replace(httpAnswer(200, booked), "Content", "Connection: close\r\nContent", 1),
		"extra fields": httpAnswer(200, `{"retcode":"0","x":[1,{"Ticket":5}],"answer":{"Ticket":"4294967301","y":{}}}`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, r := against(t, func(c net.Conn, _ *http.Request) bool { return send(c, text) })
			got := r.session.Balance(t.Context(), r.call())
			if got.Outcome != credit.OutcomeApplied || got.Ticket != 4294967301 {
				t.Errorf("%+v", got)
			}
			if gone := r.session.wire == nil; gone != (name == "then closes") {
				t.Errorf("connection gone: %v", gone)
			}
		})
	}
}

func TestWire_UnaskedBytesAndClosedConnectionsAreSeenBeforeACall(t *testing.T) {
	t.Parallel()
	for name, after := range map[string]func(c net.Conn) bool{
		"unasked answer": func(c net.Conn) bool { return send(c, httpAnswer(200, booked)) },
		"closed":         func(net.Conn) bool { return false },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			done := make(chan struct{})
			s, r := against(t, func(c net.Conn, _ *http.Request) bool {
				send(c, httpAnswer(200, `{"retcode":"0 Done"}`))
				keep := after(c)
				if !keep {
					_ = c.Close()
				}
				close(done)
				return keep
			})
			r.clock.Advance(DefaultPingEvery)
			if err := r.session.Ping(t.Context()); err != nil && name == "closed" {
				t.Fatal(err)
			}
			<-done
			got := r.session.Balance(t.Context(), r.call())
			if got.Outcome != credit.OutcomeNotSent || len(s.seenAt("trade/balance")) != 0 {
				t.Errorf("%+v, calls %v", got, s.seenAt("trade/balance"))
			}
		})
	}
}

func TestWire_CookieGoesBackOnTheSameConnectionOnly(t *testing.T) {
	t.Parallel()
	for _, session := range []string{"connection", "cookie", "either", "both"} {
		r := newRig(t, onWire(func(w *fakemt5.Wire) { w.Session = session }))
		if _, err := r.session.Account(t.Context(), testLogin); err != nil {
			t.Errorf("%s: %v", session, err)
		}
		r.session.Drop("test")
		if _, err := r.session.Account(t.Context(), testLogin); err != nil {
			t.Errorf("%s: %v", session, err)
		}
	}
}

func TestNotSent_MeansZeroBytes(t *testing.T) {
	t.Parallel()
	late := func(r *rig) credit.Call { c := r.call(); c.Deadline = r.clock.Boot(); return c }
	wrong := func(change func(*credit.Call)) func(*rig) credit.Call {
		return func(r *rig) credit.Call { c := r.call(); change(&c); return c }
	}
	for name, call := range map[string]func(*rig) credit.Call{
		"deadline passed":  late,
		"no deadline":      wrong(func(c *credit.Call) { c.Deadline = 0 }),
		"no login":         wrong(func(c *credit.Call) { c.Login = 0 }),
		"no amount":        wrong(func(c *credit.Call) { c.Amount = credit.Amount{} }),
		"no reference":     wrong(func(c *credit.Call) { c.Reference = "" }),
		"long reference":   wrong(func(c *credit.Call) { c.Reference += "0123456789" }),
		"strange comment":  wrong(func(c *credit.Call) { c.Reference = "a|b=c" }),
		"unicode comment":  wrong(func(c *credit.Call) { c.Reference = "día" }),
		"newline comment":  wrong(func(c *credit.Call) { c.Reference = "a\r\nb" }),
		"blank comment":    wrong(func(c *credit.Call) { c.Reference = "  " }),
		"backslash inside": wrong(func(c *credit.Call) { c.Reference = `a\b` }),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.ready()
			got := r.session.Balance(t.Context(), call(r))
			if got.Outcome != credit.OutcomeNotSent || got.Detail == "" || got.Answered {
				t.Errorf("%+v", got)
			}
			if counters, err := r.control.Counters(t.Context()); err != nil || counters["trade/balance"].Requests != 0 {
				t.Errorf("counters %v %v", counters, err)
			}
		})
	}
}

// The deadline passes between the checks and the write: the guard in Write is what stops the bytes.
func TestH2_DeadlinePassesBeforeTheFirstByte_NothingIsSent(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.ready()
	c := r.call()
	ticking := &tickingClock{testClock: r.clock, step: time.Second}
	r.session.cfg.Clock = ticking
	c.Deadline = r.clock.Boot() + 3*time.Second // unfit reads 1 s, the exchange's start 2 s, the guard 3 s
	got := r.session.Balance(t.Context(), c)
	if got.Outcome != credit.OutcomeNotSent || !strings.Contains(got.Detail, errLate.Error()) {
		t.Fatalf("%+v", got)
	}
	calls := r.seen.of("trade/balance")
	if len(calls) != 1 || calls[0].Bytes != 0 || calls[0].Requests != 0 || r.session.wire != nil {
		t.Errorf("exchanges %+v", calls)
	}
}

// tickingClock moves on each time it is read.
type tickingClock struct {
	testClock
	step, gone time.Duration
}

func (c *tickingClock) Boot() time.Duration {
	c.gone += c.step
	return c.testClock.Boot() + c.gone
}

// The process stalls after half of the request: the rest is never sent, and the half cannot be executed.
func TestBalance_StalledHalfwayIsUnknownAndNeverExecuted(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.ready()
	var steps []string
	r.session.cfg.Step = func(_ context.Context, name string) {
		steps = append(steps, name)
		if name == credit.StepPartlyWritten {
			r.clock.Advance(3 * time.Second)
		}
	}
	got := r.session.Balance(t.Context(), r.call())
	if got.Outcome != credit.OutcomeUnknown || !strings.Contains(got.Detail, errLate.Error()) {
		t.Errorf("%+v", got)
	}
	if n := len(r.executed()); n != 0 || !slices.Equal(steps, []string{credit.StepPartlyWritten}) {
		t.Errorf("%d deals, steps %v", n, steps)
	}
}

func TestBalance_StepsComeInOrder(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.ready()
	var steps []string
	r.session.cfg.Step = func(_ context.Context, name string) { steps = append(steps, name) }
	if got := r.session.Balance(t.Context(), r.call()); got.Outcome != credit.OutcomeApplied {
		t.Fatalf("%+v", got)
	}
	if !slices.Equal(steps, []string{credit.StepPartlyWritten, credit.StepWritten}) {
		t.Errorf("steps %v", steps)
	}
}

func TestBalance_ACallerThatGivesUpMidwayGetsUnknown(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.ready()
	r.fault(fakemt5.Rule{Where: "trade/balance", Kind: fakemt5.ApplyThenDelay, Delay: fakemt5.Duration(time.Hour)})
	c, cancel := context.WithCancel(t.Context())
	r.session.cfg.Step = func(_ context.Context, name string) {
		if name == credit.StepWritten {
			cancel()
		}
	}
	if got := r.session.Balance(c, r.call()); got.Outcome != credit.OutcomeUnknown || r.session.wire != nil {
		t.Errorf("%+v", got)
	}
	if got := r.session.Balance(c, r.call()); got.Outcome != credit.OutcomeNotSent {
		t.Errorf("after giving up: %+v", got)
	}
}
