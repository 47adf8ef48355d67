package demo

import (
	"strings"
	"testing"
	"time"
)

// steppedClock goes on by a tenth of a second with each look at it.
func steppedClock() func() time.Time {
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	return func() time.Time { at = at.Add(100 * time.Millisecond); return at }
}

func testBoard() *board {
	now := steppedClock()
	return newBoard(now, now(), nil)
}

func feed(t *testing.T, b *board, lines ...string) {
	t.Helper()
	for _, text := range lines {
		l, ok := readLogLine(text)
		if !ok {
			t.Fatalf("cannot read %s", text)
		}
		b.log(l)
	}
}

func ways(b *board) []string {
	rows, _, _, _, _ := b.snapshot()
	var out []string
	for _, r := range rows {
		out = append(out, r.Code+": "+strings.Join(r.Way, " "))
	}
	return out
}

func someDeposit(code string) *deposit {
	return &deposit{code: code, login: 50001, credited: money{50000, "USD", 2}}
}

func TestBoard_FollowsARowThroughItsLife(t *testing.T) {
	t.Parallel()
	b := testBoard()
	b.opened(someDeposit("A"))
	b.paidAt("A")
	feed(t, b,
		`{"level":"info","message":"row moved","credit_id":1,"deposit":"A","login":50001,"from":"","to":"pending"}`,
		`{"level":"debug","message":"row moved","credit_id":1,"deposit":"A","from":"pending","to":"pending"}`,
		`{"level":"info","message":"row moved","credit_id":1,"deposit":"A","from":"pending","to":"claimed","attempt":1}`,
		`{"level":"info","message":"row moved","credit_id":1,"deposit":"A","from":"claimed","to":"unknown","attempt":1,"reason":"no answer"}`,
		`{"level":"info","message":"row moved","credit_id":1,"deposit":"A","from":"unknown","to":"done","attempt":1,"deal":4294968011}`,
	)
	if got := ways(b); len(got) != 1 || got[0] != "A: open paid pending claimed unknown done" {
		t.Fatalf("got %q", got)
	}
	rows, latest, c, first, _ := b.snapshot()
	if rows[0].Ticket != 4294968011 || rows[0].Attempt != 1 || c != (counts{Paid: 1, Credited: 1}) || first == 0 || len(latest) != 2 {
		t.Errorf("rows %+v counts %+v first %s news %+v", rows, c, first, latest)
	}
}

func TestBoard_SecondPaymentOfADepositHasItsOwnLine(t *testing.T) {
	t.Parallel()
	b := testBoard()
	b.opened(someDeposit("A"))
	b.paidAt("A")
	feed(t, b,
		`{"level":"info","message":"row moved","credit_id":1,"deposit":"A","from":"","to":"pending"}`,
		`{"level":"info","message":"row moved","credit_id":2,"deposit":"A","from":"","to":"held","reason":"second part"}`,
		`{"level":"warn","message":"task opened","task":"held","entity":"credit/2","summary":"a row waits"}`,
	)
	if got := strings.Join(ways(b), "; "); got != "A: open paid pending; A: paid held" {
		t.Errorf("got %q", got)
	}
	if _, _, c, _, _ := b.snapshot(); c.Paid != 2 || c.Tasks != 1 {
		t.Errorf("counts %+v", c)
	}
	feed(t, b, `{"level":"info","message":"task closed","task":"held","entity":"credit/2","summary":"a row waits"}`)
	if _, _, c, _, _ := b.snapshot(); c.Tasks != 0 {
		t.Errorf("counts after the task was closed %+v", c)
	}
}

func TestBoard_PaymentBeforeItsDepositKeepsOrder(t *testing.T) {
	t.Parallel()
	b := testBoard()
	b.paidAt("A")
	feed(t, b, `{"level":"info","message":"row moved","credit_id":1,"deposit":"A","from":"","to":"held","reason":"no deposit"}`)
	b.opened(someDeposit("A"))
	if got := ways(b); got[0] != "A: open paid held" {
		t.Errorf("got %q", got)
	}
}

// When serve is killed between a commit and its log line, the API still knows.
func TestBoard_IsCorrectedByTheAPI(t *testing.T) {
	t.Parallel()
	b := testBoard()
	b.opened(someDeposit("A"))
	b.settled("A", "crediting")
	b.settled("A", "credited")
	b.settled("A", "credited")
	b.settled("unheard-of", "credited")
	if got := ways(b); got[0] != "A: open done" {
		t.Errorf("got %q", got)
	}
}

func TestBoard_CountsRepeatsInOneLine(t *testing.T) {
	t.Parallel()
	b := testBoard()
	for range 3 {
		feed(t, b, `{"level":"info","message":"event repeated","type":"charge.succeeded"}`)
	}
	if _, latest, _, _, _ := b.snapshot(); len(latest) != 1 || !strings.HasSuffix(latest[0].Text, "nothing done: 3") {
		t.Errorf("got %+v", latest)
	}
}

func TestLogLines_ThatAreNotServes_AreLeftOut(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "panic: runtime error", "{not json", `{"login":"text"}`, "[]"} {
		if l, ok := readLogLine(text); ok {
			t.Errorf("%q was read as %+v", text, l)
		}
	}
}

func TestBoard_SaysOnceWhatIsHeld(t *testing.T) {
	t.Parallel()
	b := testBoard()
	feed(t, b,
		`{"level":"info","message":"row moved","credit_id":1,"deposit":"A","from":"","to":"held","reason":"held: no_deposit"}`,
		`{"level":"info","message":"row moved","credit_id":2,"deposit":"B","login":50001,"from":"","to":"held","reason":"held: amount"}`,
	)
	_, latest, _, _, _ := b.snapshot()
	if len(latest) != 2 || latest[0].Text != "a payment without a known deposit is held: no_deposit" || latest[1].Text != "login 50001 is held: amount" {
		t.Errorf("got %+v", latest)
	}
}

func TestBill_CountsWithoutAScreen(t *testing.T) {
	t.Parallel()
	var printed strings.Builder
	now := steppedClock()
	bill := newOutput(Options{Progress: &printed}).openBill(scenarios()[1:2], now(), now)
	b := testBoard()
	bill.started(0, b)
	feed(t, b,
		`{"level":"info","message":"row moved","credit_id":1,"deposit":"A","login":50001,"from":"","to":"pending"}`,
		`{"level":"info","message":"row moved","credit_id":1,"deposit":"A","from":"pending","to":"claimed","attempt":1}`,
		`{"level":"info","message":"row moved","credit_id":1,"deposit":"A","from":"claimed","to":"done","attempt":1,"deal":7}`,
	)
	bill.ended(0, Result{OK: true, Seconds: 0.5}, nil)
	lines := strings.Split(strings.TrimSpace(printed.String()), "\n")
	if got := strings.Fields(lines[len(lines)-1]); strings.Join(got[1:], " ") != "as it must 1 0 0 0.5" {
		t.Errorf("got %q", lines)
	}
	if !strings.HasPrefix(lines[len(lines)-2], "scenario ") {
		t.Errorf("no heading: %q", lines)
	}
}
