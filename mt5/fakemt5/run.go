package fakemt5

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// outcome is how a request ends on the wire.
type outcome struct {
	reply  reply
	silent bool // no answer; the connection is closed or gone
	reset  bool // TCP reset instead of an answer
	body   func([]byte) []byte
	cut    bool
	desync bool
	twice  bool
}

// run carries a request through its plan: before, execute, after.
func (s *Server) run(ctx context.Context, req *request, ep endpoint, p plan) outcome {
	if p.dropBefore {
		return outcome{reset: true}
	}
	if p.killSession {
		s.sessions.kill(func(o session) bool {
			return o.conn == req.session.conn && o.cookie == req.session.cookie
		})
	}
	if p.swallow {
		s.awaitGone(ctx)
		return outcome{silent: true}
	}
	if p.wait > 0 && !s.sleep(ctx, p.wait.std()) {
		return outcome{silent: true}
	}
	rep, here := s.held(ctx, req, ep, p)
	if !here || (p.delay > 0 && !s.sleep(ctx, p.delay.std())) {
		return outcome{silent: true}
	}
	if p.killSession {
		rep = s.deadSession()
	}
	return outcome{reply: rep, reset: p.dropAfter, body: p.body, cut: p.cut, desync: p.desync, twice: p.twice}
}

// held executes at once, or from the server's own timer when the plan says so: that
// one fires whether or not the client is still there.
func (s *Server) held(ctx context.Context, req *request, ep endpoint, p plan) (rep reply, here bool) {
	if p.hold == 0 {
		return s.execute(req, ep, p), true
	}
	done := make(chan reply, 1)
	s.timers.after(p.hold.std(), func() { done <- s.execute(req, ep, p) })
	select {
	case rep = <-done:
		return rep, true
	case <-ctx.Done():
	case <-s.stopping:
	}
	return reply{}, false
}

// execute does the work of the endpoint, unless the plan forbids it, and lets the
// faults alter the answer.
func (s *Server) execute(req *request, ep endpoint, p plan) reply {
	var rep reply
	if p.execute {
		rep = ep.serve(s, req)
		s.counters.executed(req.endpoint)
	}
	for _, alter := range p.alter {
		alter(s, req, &rep)
	}
	for _, f := range p.after {
		f(s, req)
	}
	return rep
}

// sleep waits on the server's clock; false when the client or the server went away.
func (s *Server) sleep(ctx context.Context, d time.Duration) bool {
	done := make(chan struct{})
	t := s.cfg.Clock.AfterFunc(d, func() { close(done) })
	select {
	case <-done:
		return true
	case <-ctx.Done():
	case <-s.stopping:
	}
	t.Stop()
	return false
}

// awaitGone returns when the client or the server has gone away.
func (s *Server) awaitGone(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-s.stopping:
	}
}

// send writes the outcome to the connection. It panics with http.ErrAbortHandler,
// which net/http understands, where the connection must end without an answer.
func (s *Server) send(w http.ResponseWriter, req *request, out outcome) {
	if out.reset {
		req.conn.reset()
	}
	if out.reset || out.silent || out.reply.hangUp {
		panic(http.ErrAbortHandler)
	}
	rep := out.reply
	var body []byte
	if !rep.noBody {
		body = s.encodeReply(rep)
	}
	if out.body != nil {
		body = out.body(body)
	}
	if previous := req.conn.keep(body); out.desync && previous != nil {
		body = previous
	}
	if rep.cookie != "" {
		http.SetCookie(w, &http.Cookie{Name: s.wire().CookieName, Value: rep.cookie, Path: "/", Secure: true, HttpOnly: true})
	}
	if len(body) > 0 {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	status := rep.status
	if paired := s.wire().CodeStatus[rep.code]; status == 0 || (status == http.StatusOK && paired != 0) {
		status = max(paired, http.StatusOK)
	}
	w.WriteHeader(status)
	if !out.cut {
		_, _ = w.Write(body)
		if out.twice {
			again(w, req.conn, status, body)
		}
		return
	}
	_, _ = w.Write(body[:len(body)/2])
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// again sends the same answer once more, past net/http, which knows of one answer only: whoever uses the connection
// next finds an answer that nobody asked for.
func again(w http.ResponseWriter, c *connection, status int, body []byte) {
	if http.NewResponseController(w).Flush() != nil {
		return
	}
	_, _ = fmt.Fprintf(c.net, "HTTP/1.1 %d %s\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: %d\r\n\r\n%s",
		status, http.StatusText(status), len(body), body)
}
