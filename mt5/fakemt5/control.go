package fakemt5

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log" //nolint:depguard // net/http takes no other kind of logger; it is silenced here
	"net"
	"net/http"
	"strconv"
	"time"
)

// controlPort is the plain HTTP side door. It binds to loopback only: whoever
// reaches it rules the server.
type controlPort struct {
	listener net.Listener
	web      *http.Server
}

func openControl(s *Server, addr string) (*controlPort, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("control address: %w", err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("control address %q is not loopback", addr)
	}
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen for control: %w", err)
	}
	c := &controlPort{listener: ln, web: &http.Server{
		Handler: s.controlRoutes(), ErrorLog: log.New(io.Discard, "", 0), ReadHeaderTimeout: 10 * time.Second,
	}}
	go func() { _ = c.web.Serve(ln) }()
	return c, nil
}

func (c *controlPort) addr() string { return c.listener.Addr().String() }

func (c *controlPort) close() error { return c.web.Close() }

// controlRoutes lists the control calls. A body that does not fit its call, or asks
// for something impossible, gets 400 and {"error": ...} and changes nothing.
func (s *Server) controlRoutes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /info", answer(s.ctlInfo))
	mux.HandleFunc("GET /faults", answer(func() ([]Rule, error) { return s.faults.list(), nil }))
	mux.HandleFunc("POST /faults", call(func(r Rule) (Rule, error) { return s.faults.add(r, s.endpoints) }))
	mux.HandleFunc("DELETE /faults", byNumber("id", func(id uint64) (Count, error) { return Count{s.faults.clear(int64(id))}, nil }))
	mux.HandleFunc("GET /groups", answer(func() ([]Group, error) { return s.book.groupList(), nil }))
	mux.HandleFunc("POST /groups", call(func(g Group) (Group, error) { return g, s.book.putGroup(g) }))
	mux.HandleFunc("GET /accounts", answer(s.ctlAccounts))
	mux.HandleFunc("POST /accounts", call(s.ctlPutAccount))
	mux.HandleFunc("POST /accounts/change", call(s.ctlChangeAccount))
	mux.HandleFunc("DELETE /accounts", byNumber("login", func(login uint64) (Count, error) { return Count{1}, s.book.removeAccount(login) }))
	mux.HandleFunc("GET /deals", byNumber("login", s.ctlDeals))
	mux.HandleFunc("POST /deals", call(s.ctlAddDeal))
	mux.HandleFunc("POST /deals/edit", call(s.ctlEditDeal))
	mux.HandleFunc("POST /deals/seed", call(s.ctlSeed))
	mux.HandleFunc("DELETE /deals", byNumber("ticket", func(ticket uint64) (Count, error) { return Count{1}, s.book.deleteDeal(ticket) }))
	mux.HandleFunc("GET /sessions", answer(s.ctlSessions))
	mux.HandleFunc("DELETE /sessions", byNumber("login", s.ctlKillSessions))
	mux.HandleFunc("DELETE /connections", answer(func() (Count, error) { return Count{s.conns.resetAll()}, nil }))
	mux.HandleFunc("GET /zone", answer(func() (Zone, error) { return s.wall.currentZone(), nil }))
	mux.HandleFunc("PUT /zone", call(s.ctlZone))
	mux.HandleFunc("POST /clock", call(s.ctlShift))
	mux.HandleFunc("GET /wire", answer(func() (Wire, error) { return s.wire(), nil }))
	mux.HandleFunc("PATCH /wire", call(s.ctlWire))
	mux.HandleFunc("GET /counters", answer(func() (map[string]Counter, error) { return s.counters.all(), nil }))
	mux.HandleFunc("GET /journal", answer(func() ([]JournalEntry, error) { return s.Journal(), nil }))
	return mux
}

// answer serves a call without input.
func answer[Out any](f func() (Out, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		out, err := f()
		writeControl(w, out, err)
	}
}

// call serves a call with a JSON body.
func call[In, Out any](f func(In) (Out, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var in In
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err == nil {
			err = decodeStrict(body, &in)
		}
		if err != nil {
			writeControl(w, nil, fmt.Errorf("read the body: %w", err))
			return
		}
		out, err := f(in)
		writeControl(w, out, err)
	}
}

// byNumber serves a call with one number in the query; absent means 0.
func byNumber[Out any](name string, f func(uint64) (Out, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var n uint64
		for key, values := range r.URL.Query() {
			var err error
			if n, err = strconv.ParseUint(values[0], 10, 64); err != nil || key != name {
				writeControl(w, nil, fmt.Errorf("query: want %s=NUMBER and nothing else", name))
				return
			}
		}
		out, err := f(n)
		writeControl(w, out, err)
	}
}

// controlError is the body of a refused control call.
type controlError struct {
	Error string `json:"error"`
}

func writeControl(w http.ResponseWriter, out any, err error) {
	w.Header().Set("Content-Type", "application/json")
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		out = controlError{err.Error()}
	}
	// A client that hangs up does not read the answer; there is nobody to tell.
	_ = json.NewEncoder(w).Encode(out)
}

// Count says how many things a control call touched.
type Count struct {
	Count int `json:"count"`
}

// Info is where and what a server is.
type Info struct {
	Server      string    `json:"server"`
	Addr        string    `json:"addr"`
	CertPEM     string    `json:"cert_pem"`
	Fingerprint string    `json:"fingerprint"`
	UTC         time.Time `json:"utc"`         // the server's idea of it, shift included
	ServerTime  string    `json:"server_time"` // on its wall clock
	Connections uint64    `json:"connections"` // accepted so far: the number of the newest
}

func (s *Server) ctlInfo() (Info, error) {
	now := s.wall.utc()
	return Info{
		Server: s.cfg.World.Server, Addr: s.Addr(), CertPEM: string(s.CertPEM()), Fingerprint: s.Fingerprint(),
		UTC: now, ServerTime: serverText(s.wall.serverMsc(now)), Connections: s.conns.accepted(),
	}, nil
}

// AccountState is an account as it stands now; amounts are minor units.
type AccountState struct {
	Login    uint64 `json:"login"`
	Group    string `json:"group"`
	Currency string `json:"currency"`
	Digits   int    `json:"digits"`
	Balance  int64  `json:"balance"`
	Credit   int64  `json:"credit"`
	Margin   int64  `json:"margin"`
	Deals    int    `json:"deals"` // visible or not
}

func (s *Server) ctlAccounts() ([]AccountState, error) {
	out := []AccountState{}
	for _, v := range s.book.list() {
		out = append(out, s.accountOut(v))
	}
	return out, nil
}

func (s *Server) accountOut(v view) AccountState {
	w := allTime(v.Login)
	w.limit = 0
	_, n := s.book.dealsIn(w)
	return AccountState{
		Login: v.Login, Group: v.Group, Currency: v.group.Currency, Digits: v.group.Digits,
		Balance: v.balance, Credit: v.credit, Margin: v.Margin, Deals: n,
	}
}

func (s *Server) accountNow(login uint64) (AccountState, error) {
	v, ok := s.book.find(login)
	if !ok {
		return AccountState{}, fmt.Errorf("unknown login %d", login)
	}
	return s.accountOut(v), nil
}

func (s *Server) ctlPutAccount(a Account) (AccountState, error) {
	if err := s.book.putAccount(a); err != nil {
		return AccountState{}, err
	}
	return s.accountNow(a.Login)
}

// SessionInfo is one live session.
type SessionInfo struct {
	Conn    uint64    `json:"conn"`
	Login   uint64    `json:"login"` // of the manager
	Started time.Time `json:"started"`
	Used    time.Time `json:"used"`
}

func (s *Server) ctlSessions() ([]SessionInfo, error) {
	out := []SessionInfo{}
	for _, o := range s.sessions.list() {
		out = append(out, SessionInfo{Conn: o.conn, Login: o.manager.Login, Started: o.started.UTC(), Used: o.used.UTC()})
	}
	return out, nil
}

// ctlKillSessions ends the sessions of one manager, or all for 0. Connections stay open.
func (s *Server) ctlKillSessions(login uint64) (Count, error) {
	return Count{s.sessions.kill(func(o session) bool { return login == 0 || o.manager.Login == login })}, nil
}

func (s *Server) ctlZone(z Zone) (Zone, error) {
	if err := z.validate(); err != nil {
		return Zone{}, err
	}
	s.wall.setZone(z)
	return z, nil
}

// Shift moves the server's idea of UTC; timers do not notice. By is added to the
// shifts before; Total in the answer is their sum.
type Shift struct {
	By    Duration `json:"by"`
	Total Duration `json:"total,omitempty"`
}

func (s *Server) ctlShift(in Shift) (Shift, error) {
	if in.Total != 0 {
		return Shift{}, errors.New("clock: total is an answer, give by")
	}
	return Shift{By: in.By, Total: Duration(s.wall.addShift(in.By.std()))}, nil
}

// ctlWire changes the fields that are given and leaves the others.
func (s *Server) ctlWire(patch json.RawMessage) (Wire, error) {
	if !bytes.HasPrefix(bytes.TrimSpace(patch), []byte("{")) {
		return Wire{}, errors.New("wire: want an object")
	}
	return s.changeWire(func(w *Wire) error { return decodeStrict(patch, w) })
}
