package fakemt5

import (
	"crypto/md5"
	"crypto/subtle"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
)

const (
	minVersion    = 484
	versionAccess = "3661" // build that the server claims
)

// challenge is what auth/start leaves on a connection until auth/answer takes it.
type challenge struct {
	login uint64
	rand  []byte
	made  time.Time
}

// passwordHash is H of mt5-webapi.md §2: MD5 of the MD5 of the UTF-16LE password and "WebAPI".
func passwordHash(password string) []byte {
	var text []byte
	for _, unit := range utf16.Encode([]rune(password)) {
		text = binary.LittleEndian.AppendUint16(text, unit)
	}
	inner := md5.Sum(text)
	outer := md5.Sum(append(inner[:], "WebAPI"...))
	return outer[:]
}

// randAnswer is how either side proves that it knows the password.
func randAnswer(hash, random []byte) string {
	sum := md5.Sum(append(append([]byte(nil), hash...), random...))
	return hex.EncodeToString(sum[:])
}

func (s *Server) authStart(req *request) reply {
	version, err := strconv.Atoi(req.params.Get("version"))
	if err != nil {
		return s.authRefused(retParams)
	}
	if version < minVersion {
		return s.authRefused(retClientOld)
	}
	agent := req.params.Get("agent")
	login, loginErr := strconv.ParseUint(req.params.Get("login"), 10, 64)
	if agent == "" || strings.ContainsAny(agent, " \t") || loginErr != nil || req.params.Get("type") != "manager" {
		return s.authRefused(retParams)
	}
	random, err := s.randomBytes(16)
	if err != nil {
		return codeReply(retError)
	}
	req.conn.mu.Lock()
	req.conn.pending = &challenge{login: login, rand: random, made: s.cfg.Clock.Now()}
	req.conn.mu.Unlock()
	return reply{top: object{
		{"version_access", number(versionAccess)},
		{"srv_rand", hex.EncodeToString(random)},
	}}
}

// authAnswer takes the challenge whatever happens: srv_rand is good for one answer.
func (s *Server) authAnswer(req *request) reply {
	req.conn.mu.Lock()
	ch := req.conn.pending
	req.conn.pending = nil
	req.conn.mu.Unlock()
	if ch == nil || s.cfg.Clock.Now().Sub(ch.made) > s.cfg.AuthTimeout {
		return s.authRefused(retAccountInvalid)
	}
	clientRand, err := hex.DecodeString(req.params.Get("cli_rand"))
	if err != nil || len(clientRand) != 16 {
		return s.authRefused(retParams)
	}
	m, known := s.manager(ch.login)
	hash := passwordHash(m.Password)
	given := strings.ToLower(req.params.Get("srv_rand_answer"))
	right := subtle.ConstantTimeCompare([]byte(given), []byte(randAnswer(hash, ch.rand))) == 1
	if !known || !right {
		return s.authRefused(retAccountInvalid)
	}
	if m.Refuse != 0 {
		return s.authRefused(m.Refuse)
	}
	cookie := ""
	if s.wire().Session != "connection" {
		random, err := s.randomBytes(16)
		if err != nil {
			return codeReply(retError)
		}
		cookie = hex.EncodeToString(random)
	}
	if refused := s.admit(m, req.conn.id, cookie); refused != nil {
		return *refused
	}
	return reply{cookie: cookie, top: object{
		{"version_access", number(versionAccess)},
		{"version_trade", number(versionAccess)},
		{"cli_rand_answer", randAnswer(hash, clientRand)},
	}}
}

// admit makes the session, unless the manager has as many as the wire allows.
func (s *Server) admit(m Manager, conn uint64, cookie string) (refused *reply) {
	wire := s.wire()
	if s.sessions.add(m, conn, cookie, wire.MaxSessions, wire.SessionOverflow == "oldest") {
		return nil
	}
	r := Refusal(wire.SessionOverflow).reply()
	return &r
}

func (s *Server) authRefused(code int) reply {
	rep := codeReply(code)
	rep.status = s.wire().AuthRefused
	return rep
}

func (s *Server) manager(login uint64) (Manager, bool) {
	for _, m := range s.cfg.World.Managers {
		if m.Login == login {
			return m, true
		}
	}
	return Manager{}, false
}

func (s *Server) randomBytes(n int) ([]byte, error) {
	b := make([]byte, n)
	s.randMu.Lock()
	defer s.randMu.Unlock()
	if _, err := io.ReadFull(s.cfg.Rand, b); err != nil {
		return nil, fmt.Errorf("read %d random bytes: %w", n, err)
	}
	return b, nil
}

func (s *Server) testAccess(*request) reply { return reply{} }

// quit ends the session; the connection stays.
func (s *Server) quit(req *request) reply {
	s.sessions.kill(func(o session) bool {
		return o.conn == req.session.conn && o.cookie == req.session.cookie
	})
	return reply{}
}
