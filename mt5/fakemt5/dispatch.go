package fakemt5

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

const maxBody = 1 << 20

// request is one call of an endpoint.
type request struct {
	endpoint string // path below /api/
	params   url.Values
	conn     *connection
	seq      uint64 // server-wide number of the request
	session  session
	tamper   tamper
}

// tamper is what faults do to the execution of a balance operation.
type tamper struct {
	comment      func(string) string
	amount       func(minor int64, digits int) int64
	bookOn       uint64 // book on this login instead
	visibleAfter Duration
	copies       int // further executions of the same operation
}

// reply is an answer before it is encoded.
type reply struct {
	status int  // HTTP status, 200 when 0
	noBody bool // nothing after the headers
	code   int
	top    object // fields beside retcode
	answer any
	has    bool // answer is present, be it null
	cookie string
	hangUp bool // close the connection instead of answering
}

func codeReply(code int) reply { return reply{code: code} }

func answerReply(v any) reply { return reply{answer: v, has: true} }

// endpoint is a handler and whether it needs a session.
type endpoint struct {
	serve func(*Server, *request) reply
	open  bool
}

func endpoints() map[string]endpoint {
	return map[string]endpoint{
		"auth/start":             {(*Server).authStart, true},
		"auth/answer":            {(*Server).authAnswer, true},
		"test/access":            {(*Server).testAccess, false},
		"quit":                   {(*Server).quit, false},
		"trade/balance":          {(*Server).tradeBalance, false},
		"deal/get":               {(*Server).dealGet, false},
		"deal/get_total":         {(*Server).dealGetTotal, false},
		"deal/get_page":          {(*Server).dealGetPage, false},
		"deal/get_batch":         {(*Server).dealGetBatch, false},
		"user/get":               {(*Server).userGet, false},
		"user/logins":            {(*Server).userLogins, false},
		"user/account/get":       {(*Server).accountGet, false},
		"user/account/get_batch": {(*Server).accountGetBatch, false},
		"user/check_balance":     {(*Server).checkBalance, false},
		"group/get":              {(*Server).groupGet, false},
		"time/server":            {(*Server).timeServer, false},
		"time/get":               {(*Server).timeGet, false},
		"common/get":             {(*Server).commonGet, false},
	}
}

// serveWire answers one request of the wire.
func (s *Server) serveWire(w http.ResponseWriter, r *http.Request) {
	s.handlers.Add(1)
	defer s.handlers.Done()
	c, ok := r.Context().Value(connKey{}).(*connection)
	if !ok {
		panic(http.ErrAbortHandler) // accept gives every connection one
	}
	s.conns.begin(c)
	if s.conns.floods(c, s.wire().MaxPerSecond) {
		c.reset()
		panic(http.ErrAbortHandler)
	}
	name, status := strings.TrimPrefix(r.URL.Path, "/api/"), 0
	params, err := readParams(r)
	switch {
	case err != nil:
		status = http.StatusBadRequest
	case name == r.URL.Path:
		status = http.StatusNotFound
	case r.Method != http.MethodGet && r.Method != http.MethodPost:
		status = http.StatusMethodNotAllowed
	}
	if status != 0 {
		s.conns.end(c)
		w.WriteHeader(status)
		return
	}
	req := &request{endpoint: name, params: params, conn: c, seq: s.requests.Add(1)}
	s.counters.add(name)
	out := s.process(r.Context(), r, req)
	s.conns.end(c)
	s.send(w, req, out)
}

// process finds the session, draws the faults and runs the request.
func (s *Server) process(ctx context.Context, r *http.Request, req *request) outcome {
	wire := s.wire()
	ep, known := s.endpoints[req.endpoint]
	cookie := ""
	if found, err := r.Cookie(wire.CookieName); err == nil {
		cookie = found.Value
	}
	live := ep.open
	if found, ok := s.sessions.find(wire.Session, req.conn.id, cookie); ok {
		req.session, live = found, true
	}
	if !live {
		return outcome{reply: s.deadSession()}
	}
	if !known {
		return outcome{reply: reply{status: http.StatusNotFound, noBody: true}}
	}
	return s.run(ctx, req, ep, s.faults.draw(req, s.ownerOf))
}

func (s *Server) deadSession() reply {
	how := s.wire().DeadSession
	if how == "close" {
		return reply{hangUp: true}
	}
	return how.reply()
}

// ownerOf is the login of the ticket that a request asks for, for faults by login.
func (s *Server) ownerOf(ticket string) uint64 {
	n, err := strconv.ParseUint(ticket, 10, 64)
	if err != nil {
		return 0
	}
	e, _ := s.book.deal(n)
	return e.Login
}

// readParams takes the query, a form body and the fields of a JSON body together.
// It reads the whole body: only then net/http notices a client that goes away.
func readParams(r *http.Request) (url.Values, error) {
	params, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, fmt.Errorf("read query: %w", err)
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return nil, fmt.Errorf("read body: %w", err)
	}
	if len(body) > maxBody {
		return nil, errors.New("read body: too long")
	}
	body = bytes.TrimSpace(body)
	if len(body) == 0 {
		return params, nil
	}
	if body[0] == '{' {
		return params, addJSON(params, body)
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, fmt.Errorf("read form: %w", err)
	}
	for key, values := range form {
		params[key] = append(params[key], values...)
	}
	return params, nil
}

// addJSON adds the fields of a JSON body; arrays become comma lists, as in a query.
func addJSON(params url.Values, body []byte) error {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var fields map[string]any
	if err := dec.Decode(&fields); err != nil {
		return fmt.Errorf("read JSON body: %w", err)
	}
	for key, value := range fields {
		list, isList := value.([]any)
		if !isList {
			list = []any{value}
		}
		texts := make([]string, len(list))
		for i, item := range list {
			texts[i] = fmt.Sprint(item)
		}
		params.Add(strings.ToLower(key), strings.Join(texts, ","))
	}
	return nil
}

// list splits a comma list parameter; nil when it is absent.
func (r *request) list(name string) []string {
	value := r.params.Get(name)
	if value == "" {
		return nil
	}
	return strings.Split(value, ",")
}

// number reads an unsigned parameter.
func (r *request) number(name string) (uint64, bool) {
	n, err := strconv.ParseUint(r.params.Get(name), 10, 64)
	return n, err == nil
}

// encodeReply is the body of an answer.
func (s *Server) encodeReply(rep reply) []byte {
	wire := s.wire()
	body := object{{"retcode", strconv.Itoa(rep.code) + " " + retText(rep.code)}}
	body = append(body, rep.top...)
	if rep.has {
		body = append(body, field{"answer", rep.answer})
	} else if rep.code != retDone && wire.ErrorAnswer == "null" {
		body = append(body, field{"answer", nil})
	}
	return wire.encoder().encode(body)
}
