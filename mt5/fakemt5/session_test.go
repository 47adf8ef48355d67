package fakemt5

import (
	"testing"
	"time"
)

func TestSession_BelongsToItsConnection(t *testing.T) {
	t.Parallel()
	s, _, ctl := startTest(t, nil)
	c := login(t, s)
	if g := dial(t, s).get("user/get", "login", "500123"); g.status != 403 || g.body != "" {
		t.Errorf("another connection: %d %q", g.status, g.body)
	}
	live, err := ctl.Sessions(within(t))
	if err != nil || len(live) != 1 || live[0].Login != testManager {
		t.Fatalf("sessions: %v, %v", live, err)
	}
	if g := c.get("quit"); g.code != 0 {
		t.Errorf("quit: %s", g.body)
	}
	if g := c.get("test/access"); g.status != 403 {
		t.Errorf("after quit: %d %s", g.status, g.body)
	}
	if g := c.auth(testManager, testPassword); g.code != 0 {
		t.Errorf("auth again on the same connection: %s", g.body)
	}
}

func TestSession_EndsWithItsConnection(t *testing.T) {
	t.Parallel()
	s, _, ctl := startTest(t, nil)
	c := login(t, s)
	_ = c.conn.Close()
	ctx := within(t)
	for {
		live, err := ctl.Sessions(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if len(live) == 0 {
			return
		}
	}
}

func TestIdleConnection_ClosesAfter180Seconds(t *testing.T) {
	t.Parallel()
	s, clock, _ := startTest(t, nil)
	c, silent := login(t, s), dial(t, s)
	clock.Advance(179 * time.Second)
	if g := c.get("test/access"); g.code != 0 {
		t.Fatalf("ping after 179 s: %s", g.body)
	}
	clock.Advance(179 * time.Second)
	if !silent.dead() {
		t.Error("a connection without a request outlives 180 s")
	}
	if g := c.get("test/access"); g.code != 0 {
		t.Fatalf("the ping did not restart the time: %s", g.body)
	}
	clock.Advance(180 * time.Second)
	if !c.dead() {
		t.Error("the connection outlives 180 s without a packet")
	}
}

func TestDeadSession_AnswersAsTheWireSays(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		how    Refusal
		status int
		code   int
		body   bool
	}{
		{"403 -", 403, -1, false}, {"401 -", 401, -1, false}, {"403 8", 403, 8, true}, {"1001", 200, 1001, true},
	} {
		s, _, ctl := startTest(t, func(c *Config) { c.World.Wire.DeadSession = tt.how })
		c := login(t, s)
		if err := ctl.KillSessions(within(t), 0); err != nil {
			t.Fatal(err)
		}
		if g := c.deposit("1", "x"); g.status != tt.status || g.code != tt.code || (g.body != "") != tt.body {
			t.Errorf("%s: %d %q", tt.how, g.status, g.body)
		}
		if n := apiDeals(s); n != 0 {
			t.Errorf("%s: a dead session booked %d deals", tt.how, n)
		}
	}
}

func TestDeadSession_CanCloseTheConnection(t *testing.T) {
	t.Parallel()
	s, _, _ := startTest(t, func(c *Config) { c.World.Wire.DeadSession = "close" })
	if g, err := dial(t, s).try("test/access"); err == nil {
		t.Errorf("got %d %q", g.status, g.body)
	}
}

func TestCookieBinding_FollowsTheWire(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		binding                        string
		cookieElsewhere, connNoCookie  bool
		survivesConnection, setsCookie bool
	}{
		{"connection", false, true, false, false},
		{"cookie", true, false, true, true},
		{"either", true, true, true, true},
		{"both", false, false, false, true},
	} {
		t.Run(tt.binding, func(t *testing.T) {
			t.Parallel()
			s, _, _ := startTest(t, func(c *Config) { c.World.Wire.Session = tt.binding })
			c := login(t, s)
			if (c.jar != "") != tt.setsCookie {
				t.Fatalf("cookie %q", c.jar)
			}
			if g := c.get("test/access"); g.code != 0 {
				t.Fatalf("with both: %d %s", g.status, g.body)
			}
			other := dial(t, s)
			other.jar = c.jar
			if g := other.get("test/access"); (g.code == 0) != tt.cookieElsewhere {
				t.Errorf("cookie on another connection: %d %s", g.status, g.body)
			}
			jar := c.jar
			c.jar = ""
			if g := c.get("test/access"); (g.code == 0) != tt.connNoCookie {
				t.Errorf("connection without the cookie: %d %s", g.status, g.body)
			}
			_ = c.conn.Close()
			next := dial(t, s)
			next.jar = jar
			if g := next.get("test/access"); (g.code == 0) != tt.survivesConnection {
				t.Errorf("cookie after the connection ended: %d %s", g.status, g.body)
			}
		})
	}
}

func TestCookieSession_DiesOfIdleness(t *testing.T) {
	t.Parallel()
	s, clock, _ := startTest(t, func(c *Config) { c.World.Wire.Session = "cookie" })
	jar := login(t, s).jar
	clock.Advance(180 * time.Second)
	next := dial(t, s)
	next.jar = jar
	if g := next.get("test/access"); g.status != 403 {
		t.Errorf("%d %s", g.status, g.body)
	}
}

// apiDeals counts what clients booked, from the journal.
func apiDeals(s *Server) int {
	n := 0
	for _, e := range s.Journal() {
		if e.Source == SourceAPI {
			n++
		}
	}
	return n
}

func TestUnknownPaths_DoNotExist(t *testing.T) {
	t.Parallel()
	s, _, _ := startTest(t, nil)
	c := login(t, s)
	if g := c.get("deal/update"); g.status != 404 {
		t.Errorf("unknown endpoint: %d", g.status)
	}
	if err := c.write("PUT", "test/access", nil, ""); err != nil {
		t.Fatal(err)
	}
	if g, err := c.read(); err != nil || g.status != 405 {
		t.Errorf("PUT: %d, %v", g.status, err)
	}
	if _, err := c.conn.Write([]byte("GET /trade_balance?login=1 HTTP/1.1\r\nHost: x\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	if g, err := c.read(); err != nil || g.status != 404 {
		t.Errorf("old REST name: %d, %v", g.status, err)
	}
}

func TestHeldRequest_IsNotIdle(t *testing.T) {
	t.Parallel()
	_, clock, _, c := faulty(t, Rule{Where: "trade/balance", Kind: ApplyThenDelay, Delay: Duration(400 * time.Second)})
	c.send("5", "x")
	if err := clock.AwaitTimer(within(t), 400*time.Second); err != nil {
		t.Fatal(err)
	}
	clock.Advance(400 * time.Second)
	if g, err := c.read(); err != nil || g.code != 0 {
		t.Errorf("%v %s", err, g.body)
	}
}
