package fakemt5

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// session is an authenticated manager. It is bound to its connection, to its cookie,
// or both, as Wire.Session says at the time of a request.
type session struct {
	manager Manager
	conn    uint64
	cookie  string
	started time.Time
	used    time.Time
}

// sessions holds the live sessions. Safe for concurrent use.
type sessions struct {
	clock Clock
	idle  time.Duration

	mu   sync.Mutex
	live []*session
}

// add makes a session and ends the one its connection had. Where the manager has most already (0: any number), its
// oldest one ends, or without replace nothing is added and add returns false.
func (s *sessions) add(m Manager, conn uint64, cookie string, most int, replace bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.Now()
	s.live = slices.DeleteFunc(s.live, func(o *session) bool { return o.conn == conn || now.Sub(o.used) >= s.idle })
	own := func(o *session) bool { return o.manager.Login == m.Login }
	count := 0
	for _, o := range s.live {
		if own(o) {
			count++
		}
	}
	if most > 0 && count >= most {
		if !replace {
			return false
		}
		oldest := slices.IndexFunc(s.live, own)
		s.live = slices.Delete(s.live, oldest, oldest+1)
	}
	s.live = append(s.live, &session{manager: m, conn: conn, cookie: cookie, started: now, used: now})
	return true
}

// find returns the session that a request belongs to under the binding.
func (s *sessions) find(binding string, conn uint64, cookie string) (session, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.Now()
	s.live = slices.DeleteFunc(s.live, func(o *session) bool { return now.Sub(o.used) >= s.idle })
	for _, o := range s.live {
		byConn, byCookie := o.conn == conn, cookie != "" && o.cookie == cookie
		hit := byConn
		switch binding {
		case "cookie":
			hit = byCookie
		case "either":
			hit = byConn || byCookie
		case "both":
			hit = byConn && byCookie
		}
		if hit {
			o.used = now
			return *o, true
		}
	}
	return session{}, false
}

// kill ends every session that the condition names and returns how many.
func (s *sessions) kill(which func(session) bool) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := len(s.live)
	s.live = slices.DeleteFunc(s.live, func(o *session) bool { return which(*o) })
	return before - len(s.live)
}

// list returns copies in order of their connections.
func (s *sessions) list() []session {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]session, len(s.live))
	for i, o := range s.live {
		out[i] = *o
	}
	slices.SortFunc(out, func(a, b session) int { return cmp.Compare(a.conn, b.conn) })
	return out
}
