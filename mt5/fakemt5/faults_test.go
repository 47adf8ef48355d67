package fakemt5

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

// faulty starts a server with one rule and a session.
func faulty(t *testing.T, r Rule) (*Server, *ManualClock, *Control, *wireClient) {
	t.Helper()
	s, clock, ctl := startTest(t, nil)
	c := login(t, s)
	if _, err := ctl.Fault(within(t), r); err != nil {
		t.Fatal(err)
	}
	return s, clock, ctl, c
}

// send starts a deposit whose answer is read later.
func (c *wireClient) send(amount, comment string) {
	c.t.Helper()
	kv := pairs([]string{"login", "500123", "type", "2", "balance", amount, "comment", comment})
	if err := c.write("POST", "trade/balance", kv, ""); err != nil {
		c.t.Fatal(err)
	}
}

// booked returns what clients booked.
func booked(s *Server) []JournalEntry {
	var out []JournalEntry
	for _, e := range s.Journal() {
		if e.Source == SourceAPI {
			out = append(out, e)
		}
	}
	return out
}

func TestApplyThenDrop_BooksAndResetsWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	s, _, ctl, c := faulty(t, Rule{Where: "trade/balance", Kind: ApplyThenDrop, Count: 1})
	c.send("5", "x")
	if g, err := c.read(); err == nil {
		t.Fatalf("an answer came: %s", g.body)
	} else if !strings.Contains(err.Error(), "reset") {
		t.Errorf("no reset: %v", err)
	}
	if got, err := ctl.Journal(within(t)); err != nil || len(booked(s)) != 1 || len(got) != len(s.Journal()) {
		t.Errorf("journal %v, %v", got, err)
	}
}

func TestDropBefore_BooksNothing(t *testing.T) {
	t.Parallel()
	s, _, _, c := faulty(t, Rule{Where: "trade/balance", Kind: DropBefore, Count: 1})
	c.send("5", "x")
	if g, err := c.read(); err == nil {
		t.Fatalf("an answer came: %s", g.body)
	}
	if len(booked(s)) != 0 {
		t.Error("booked")
	}
	if g := login(t, s).deposit("5", "x"); g.code != 0 {
		t.Errorf("the rule is spent, yet: %s", g.body)
	}
}

func TestApplyThenDelay_BooksAtOnceAndAnswersLater(t *testing.T) {
	t.Parallel()
	s, clock, _, c := faulty(t, Rule{Where: "trade/balance", Kind: ApplyThenDelay, Delay: Duration(25 * time.Second)})
	c.send("5", "x")
	if err := clock.AwaitTimer(within(t), 25*time.Second); err != nil {
		t.Fatal(err)
	}
	if len(booked(s)) != 1 {
		t.Error("not booked before the delay")
	}
	clock.Advance(25 * time.Second)
	if g, err := c.read(); err != nil || g.code != 0 {
		t.Errorf("%v %s", err, g.body)
	}
}

func TestSlowAnswer_BooksOnlyAfterTheDelay(t *testing.T) {
	t.Parallel()
	s, clock, _, c := faulty(t, Rule{Where: "trade/balance", Kind: SlowAnswer, Delay: Duration(3 * time.Second)})
	c.send("5", "x")
	if err := clock.AwaitTimer(within(t), 3*time.Second); err != nil {
		t.Fatal(err)
	}
	if len(booked(s)) != 0 {
		t.Error("booked before the delay")
	}
	clock.Advance(3 * time.Second)
	if g, err := c.read(); err != nil || g.code != 0 || len(booked(s)) != 1 {
		t.Errorf("%v %s", err, g.body)
	}
}

func TestHoldThenExecute_BooksAfterTheClientIsGone(t *testing.T) {
	t.Parallel()
	s, clock, ctl, c := faulty(t, Rule{Where: "trade/balance", CommentPrefix: "dep:", Kind: HoldThenExecute, Delay: Duration(5 * time.Minute)})
	c.send("5", "dep:AAAA")
	ctx := within(t)
	if err := clock.AwaitTimer(ctx, 5*time.Minute); err != nil {
		t.Fatal(err)
	}
	_ = c.conn.Close()
	for {
		live, err := ctl.Sessions(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if len(live) == 0 {
			break
		}
	}
	if len(booked(s)) != 0 {
		t.Fatal("booked early")
	}
	clock.Advance(5 * time.Minute)
	got := booked(s)
	if len(got) != 1 || got[0].Comment != "dep:AAAA" || !got[0].UTC.Equal(testStart.Add(5*time.Minute)) || got[0].Dealer != testManager {
		t.Errorf("%+v", got)
	}
}

func TestHoldThenExecute_AnswersAClientThatWaits(t *testing.T) {
	t.Parallel()
	_, clock, _, c := faulty(t, Rule{Where: "trade/balance", Kind: HoldThenExecute, Delay: Duration(time.Second)})
	c.send("5", "x")
	if err := clock.AwaitTimer(within(t), time.Second); err != nil {
		t.Fatal(err)
	}
	clock.Advance(time.Second)
	if g, err := c.read(); err != nil || g.code != 0 {
		t.Errorf("%v %s", err, g.body)
	}
}

func TestHeldRequest_DiesWithTheServer(t *testing.T) {
	t.Parallel()
	s, clock, _, c := faulty(t, Rule{Where: "trade/balance", Kind: HoldThenExecute, Delay: Duration(time.Second)})
	c.send("5", "x")
	if err := clock.AwaitTimer(within(t), time.Second); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	clock.Advance(time.Minute)
	if len(booked(s)) != 0 || !c.dead() {
		t.Error("executed after Close, or the connection lives")
	}
}

func TestNeverExecute_SwallowsTheRequest(t *testing.T) {
	t.Parallel()
	s, _, ctl, c := faulty(t, Rule{Where: "trade/balance", Kind: NeverExecute, Count: 1})
	c.send("5", "x")
	ctx := within(t)
	for {
		all, err := ctl.Faults(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if all[0].Hits == 1 {
			break
		}
	}
	_ = c.conn.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
	if g, err := c.read(); err == nil {
		t.Errorf("an answer came: %s", g.body)
	}
	if len(booked(s)) != 0 {
		t.Error("booked")
	}
}

func TestCodes_BeforeAndAfterApplying(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		kind   Kind
		code   int
		booked int
	}{
		{RefuseCode, 10006, 0}, {CodeBeforeApply, 7, 0}, {CodeAfterApply, 10012, 1}, {CodeAfterApply, 9, 1},
	} {
		s, _, _, c := faulty(t, Rule{Where: "trade/balance", Kind: tt.kind, Code: tt.code})
		g := c.deposit("5", "x")
		if _, present := g.fields["answer"]; g.code != tt.code || present || len(booked(s)) != tt.booked {
			t.Errorf("%s: %s, booked %d", tt.kind, g.body, len(booked(s)))
		}
	}
}

func TestHTTPStatus_WithAndWithoutBodyExecutedOrNot(t *testing.T) {
	t.Parallel()
	yes := true
	for _, tt := range []struct {
		rule   Rule
		body   string
		booked int
	}{
		{Rule{Status: 502}, "", 0},
		{Rule{Status: 503, Body: "<html>busy</html>"}, "<html>busy</html>", 0},
		{Rule{Status: 500, Body: "oops", Execute: &yes}, "oops", 1},
		{Rule{Status: 404, Execute: &yes}, `{"retcode":"0 Done","answer":{"Ticket":"4294967299"}}`, 1},
	} {
		tt.rule.Where, tt.rule.Kind = "trade/balance", HTTPStatus
		s, _, _, c := faulty(t, tt.rule)
		if g := c.deposit("5", "x"); g.status != tt.rule.Status || g.body != tt.body || len(booked(s)) != tt.booked {
			t.Errorf("%d: %d %q, booked %d", tt.rule.Status, g.status, g.body, len(booked(s)))
		}
	}
}

func TestSpoiledBodies_AreExecuted(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		rule Rule
		good func(got, error) bool
	}{
		{"garbled", Rule{Kind: GarbledBody}, func(g got, err error) bool { return err == nil && g.fields == nil && g.body != "" }},
		{"garbled by text", Rule{Kind: GarbledBody, Body: "[]]"}, func(g got, err error) bool { return err == nil && g.body == "[]]" }},
		{"empty", Rule{Kind: EmptyBody}, func(g got, err error) bool { return err == nil && g.body == "" && g.status == 200 }},
		{"cut", Rule{Kind: CutBody}, func(g got, err error) bool { return err != nil && strings.HasPrefix(g.body, `{"retcode"`) }},
	} {
		no := false
		for _, execute := range []*bool{nil, &no} {
			tt.rule.Where, tt.rule.Execute = "trade/balance", execute
			s, _, _, c := faulty(t, tt.rule)
			want := 1
			if execute != nil {
				want = 0
			}
			c.send("5", "x")
			if g, err := c.read(); !tt.good(g, err) || len(booked(s)) != want {
				t.Errorf("%s: %q, %v, booked %d", tt.name, g.body, err, len(booked(s)))
			}
		}
	}
}

func TestTickets_MissingAndWrong(t *testing.T) {
	t.Parallel()
	s, _, _, c := faulty(t, Rule{Where: "trade/balance", Kind: NoTicket})
	if g := c.deposit("5", "x"); g.body != `{"retcode":"0 Done"}` || len(booked(s)) != 1 {
		t.Errorf("%s", g.body)
	}
	s, _, ctl, c := faulty(t, Rule{Where: "trade/balance", Kind: WrongTicket, Count: 1})
	ticket := c.deposit("5", "x").ticket(t)
	if g := c.get("deal/get", "ticket", ticket); g.code != 13 || len(booked(s)) != 1 {
		t.Errorf("ticket %s: %s", ticket, g.body)
	}
	if _, err := ctl.Fault(within(t), Rule{Where: "deal/get", Kind: WrongTicket, Ticket: 9}); err != nil {
		t.Fatal(err)
	}
	right := strconv.FormatUint(booked(s)[0].Ticket, 10)
	if g := c.get("deal/get", "ticket", right); g.answer(t)["Deal"] != "9" {
		t.Errorf("%s", g.body)
	}
}

func TestWrongLogin_InTheAnswerOrInTheBook(t *testing.T) {
	t.Parallel()
	s, _, ctl, c := faulty(t, Rule{Where: "deal/*", Login: testLogin, Kind: WrongLogin, Other: 42})
	ticket := c.deposit("5", "x").ticket(t)
	if g := c.get("deal/get", "ticket", ticket); g.answer(t)["Login"] != "42" {
		t.Errorf("deal of the login: %s", g.body)
	}
	if rows := c.history("500123").rows(t); rows[0]["Login"] != "42" || len(rows) != 2 {
		t.Errorf("%v", rows)
	}
	if rows := c.history("500124").rows(t); rows[0]["Login"] != "500124" {
		t.Errorf("another login: %v", rows)
	}
	yes, ctx := true, within(t)
	if err := ctl.ClearFaults(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := ctl.Fault(ctx, Rule{Where: "trade/balance", Kind: WrongLogin, Other: testLogin + 1, Count: 1}); err != nil {
		t.Fatal(err)
	}
	g := c.deposit("6", "y").answer(t)
	if e := booked(s)[1]; e.Login != testLogin || g["Login"] != "500124" || g["Ticket"] == strconv.FormatUint(e.Ticket, 10) {
		t.Errorf("%v, booked %+v", g, e)
	}
	if _, err := ctl.Fault(ctx, Rule{Where: "trade/balance", Kind: WrongLogin, Other: testLogin + 1, Execute: &yes, Count: 1}); err != nil {
		t.Fatal(err)
	}
	c.deposit("7", "z")
	if e := booked(s)[2]; e.Login != testLogin+1 || e.Minor != 7 || e.Currency != "JPY" {
		t.Errorf("%+v", e)
	}
}

func TestDealVisibleAfter_HidesOnlyTheDealsItHits(t *testing.T) {
	t.Parallel()
	_, clock, _, c := faulty(t, Rule{Where: "trade/balance", Kind: VisibleAfter, Delay: Duration(time.Minute), Count: 1})
	late := c.deposit("5", "x").ticket(t)
	soon := c.deposit("6", "y").ticket(t)
	if a, b := c.get("deal/get", "ticket", late), c.get("deal/get", "ticket", soon); a.code != 13 || b.code != 0 {
		t.Errorf("%s, %s", a.body, b.body)
	}
	clock.Advance(time.Minute)
	if a := c.get("deal/get", "ticket", late); a.code != 0 {
		t.Errorf("%s", a.body)
	}
}

func TestAlteredCommentAndAmount_StoredOrOnlyShown(t *testing.T) {
	t.Parallel()
	s, _, ctl, c := faulty(t, Rule{Where: "trade/balance", Kind: CommentAltered, Prefix: "[", Case: "upper", Suffix: "]"})
	ctx := within(t)
	if _, err := ctl.Fault(ctx, Rule{Where: "trade/balance", Kind: AmountAltered, Delta: -100}); err != nil {
		t.Fatal(err)
	}
	c.deposit("5", "dep:a")
	if e := booked(s)[0]; e.Comment != "[DEP:A]" || e.Minor != 4_00 || e.Amount != "4.00" {
		t.Errorf("stored: %+v", e)
	}
	if err := ctl.ClearFaults(ctx); err != nil {
		t.Fatal(err)
	}
	for _, r := range []Rule{{Where: "deal/get", Kind: CommentAltered, Case: "lower"}, {Where: "deal/get", Kind: AmountAltered, Delta: 1}} {
		if _, err := ctl.Fault(ctx, r); err != nil {
			t.Fatal(err)
		}
	}
	e := booked(s)[0]
	shown := c.get("deal/get", "ticket", strconv.FormatUint(e.Ticket, 10)).answer(t)
	if shown["Comment"] != "[dep:a]" || shown["Profit"] != "4.01" || booked(s)[0].Minor != 4_00 {
		t.Errorf("shown: %v", shown)
	}
}

func TestSessionLost_AnswersAsDeadNowAndNext(t *testing.T) {
	t.Parallel()
	yes := true
	for want, execute := range map[int]*bool{0: nil, 1: &yes} {
		s, _, _, c := faulty(t, Rule{Where: "trade/balance", Kind: SessionLost, Count: 1, Execute: execute})
		if g := c.deposit("5", "x"); g.status != 403 || len(booked(s)) != want {
			t.Errorf("%d %s, booked %d", g.status, g.body, len(booked(s)))
		}
		if g := c.get("test/access"); g.status != 403 {
			t.Errorf("next: %d", g.status)
		}
		if g := c.auth(testManager, testPassword); g.code != 0 {
			t.Errorf("auth again: %s", g.body)
		}
	}
}

func TestDesync_AnswersTheRequestBefore(t *testing.T) {
	t.Parallel()
	s, _, _, c := faulty(t, Rule{Where: "*", Kind: Desync, Skip: 1})
	before := c.get("user/get", "login", "500123").body
	if g := c.deposit("5", "x"); g.body != before || len(booked(s)) != 1 {
		t.Errorf("%s", g.body)
	}
	if g := c.get("test/access"); !strings.Contains(g.body, "Ticket") {
		t.Errorf("the deposit's answer does not follow: %s", g.body)
	}
}

func TestDuplicateExecute_BooksTwice(t *testing.T) {
	t.Parallel()
	s, _, _, c := faulty(t, Rule{Where: "trade/balance", Kind: DuplicateExec, Count: 1})
	ticket := c.deposit("5", "x").answer(t)["Ticket"]
	got := booked(s)
	if len(got) != 2 || got[0].Comment != got[1].Comment || strconv.FormatUint(got[0].Ticket, 10) != ticket {
		t.Errorf("%v: %+v", ticket, got)
	}
}
