package demo

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

var update = flag.Bool("update", false, "write the pictures of testdata anew")

// busyFrame has a row in every stage of its life.
func busyFrame() frame {
	f := frame{
		Scenario: "timeout-not-applied",
		Story:    "MT5 swallows the call: after the quarantine two complete looks prove that there is no deal, and it is called once more.",
		Counts:   counts{Paid: 6, Credited: 2, Unknown: 1, Tasks: 1}, First: 1234 * time.Millisecond, Since: 7 * time.Second,
		News: []news{
			{At: 100 * time.Millisecond, Who: "demo", Text: "started in creditonce-demo-1: serve, a fake MT5 server, a simulated provider"},
			{At: 1100 * time.Millisecond, Who: "serve", Text: "login 50003 is unknown: the outcome of the call is unknown: 292 bytes were sent, then: no answer in time", Loud: true},
			{At: 2 * time.Second, Who: "serve", Text: "known events acknowledged again, nothing done: 12"},
		},
	}
	for i, way := range []string{
		"open", "open paid", "open paid pending claimed", "open paid pending claimed unknown",
		"open paid pending claimed done", "open paid pending claimed unknown pending claimed done", "open paid held",
	} {
		r := boardRow{Code: fmt.Sprintf("Code%dxxxxxxxxxxxxxxxxx", i), Login: 50001 + uint64(i), Amount: fmt.Sprintf("%d00.01 USD", i+1), Way: strings.Fields(way), touched: i}
		if strings.Contains(way, "claimed") {
			r.Attempt = strings.Count(way, "claimed")
		}
		if r.State() == "done" {
			r.Ticket = 4294968000 + uint64(i)
		}
		f.Rows = append(f.Rows, r)
	}
	return f
}

func golden(t *testing.T, name string, lines []string) {
	t.Helper()
	got := strings.Join(lines, "\n") + "\n"
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if want := string(mustRead(t, path)); got != want {
		t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
	}
}

func TestPicture_At80And120Columns(t *testing.T) {
	t.Parallel()
	waiting := busyFrame()
	waiting.Hints = []string{"It goes on until Ctrl-C. Folder: /tmp/demo", "API at http://127.0.0.1:1"}
	golden(t, "show-80x24.txt", render(busyFrame(), 80, 24, palette{}))
	golden(t, "show-120x35.txt", render(busyFrame(), 120, 35, palette{}))
	golden(t, "hints-80x24.txt", render(waiting, 80, 24, palette{}))
	golden(t, "colour-80x24.txt", render(busyFrame(), 80, 24, palette{on: true}))
	golden(t, "all-80.txt", renderBill(someBill(), 9*time.Second, 80, palette{}))
}

func someBill() []billLine {
	return []billLine{
		{Name: "duplicate-webhook", Started: true, Ended: true, Counts: counts{Credited: 3}, Result: Result{OK: true, Seconds: 0.31}},
		{Name: "timeout-applied", Started: true, Ended: true, Counts: counts{Credited: 3}, Result: Result{Doubled: 1, Seconds: 1.25, Problems: []string{"deposit abc was credited 2 times"}}},
		{Name: "late-execution", Started: true, Ended: true, Err: errors.New("start serve: no such file")},
		{Name: "busy-login", Started: true, Counts: counts{Credited: 4, Unknown: 1}},
		{Name: "paid-twice"},
	}
}

var escapes = regexp.MustCompile("\x1b\\[[0-9;]*m")

func TestPicture_FitsEveryScreen(t *testing.T) {
	t.Parallel()
	f := busyFrame()
	for i := range 60 {
		r := f.Rows[i%7]
		r.touched = 10 + i
		f.Rows = append(f.Rows, r)
	}
	for width := narrowest; width <= 160; width++ {
		for _, height := range []int{lowest, 24, 40, 80} {
			lines := render(f, width, height, palette{on: true})
			if len(lines) > height {
				t.Fatalf("%d lines on a screen of %d", len(lines), height)
			}
			for _, l := range lines {
				if n := utf8.RuneCountInString(escapes.ReplaceAllString(l, "")); n > width {
					t.Fatalf("a line of %d on a screen of %d columns: %q", n, width, l)
				}
			}
		}
	}
}

func TestPicture_KeepsTheRowsThatChangedLast(t *testing.T) {
	t.Parallel()
	var rows []boardRow
	for i := range 10 {
		rows = append(rows, boardRow{Code: fmt.Sprint(i), Way: []string{"done"}, touched: (i * 7) % 10})
	}
	shown, hidden := newest(rows, 4)
	if len(shown) != 3 || len(hidden) != 7 {
		t.Fatalf("shown %d hidden %d", len(shown), len(hidden))
	}
	for _, r := range shown {
		if r.touched < 7 {
			t.Errorf("row %s, changed at %d, is shown", r.Code, r.touched)
		}
	}
}

func TestPlainLines_WhereThereIsNoTerminal(t *testing.T) {
	t.Parallel()
	o, progress := testOptions(t, 1)
	out := newOutput(o)
	b := newBoard(steppedClock(), time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC), out.hear)
	sc, _ := scenarioNamed("timeout-applied")
	v := out.open(sc, b)
	b.opened(someDeposit("A"))
	b.paidAt("A")
	feed(t, b, `{"level":"info","message":"row moved","credit_id":1,"deposit":"A","login":50001,"from":"","to":"pending"}`)
	b.warn("demo", "kill -9 serve\nat once")
	v.close()
	got := progress.String()
	for _, want := range []string{banner, sc.story, "quarantine 3s", "credit 1, login 50001, 500.00 USD: open → paid → pending\n", "kill -9 serve at once\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	if strings.Contains(got, "\x1b") {
		t.Errorf("escape sequences in\n%q", got)
	}
}

func TestLivePicture_IsDrawnOverInPlace(t *testing.T) {
	t.Parallel()
	o, progress := testOptions(t, 1)
	o.Screen = Screen{Live: true}
	out := newOutput(o)
	out.draw([]string{"one", "two"})
	out.draw([]string{"three"})
	out.release()
	if got, want := progress.String(), "one\x1b[K\ntwo\x1b[K\n\x1b[J\x1b[2Fthree\x1b[K\n\x1b[J"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAllWithoutTerminal_KeepsTheOrderOfTheBill(t *testing.T) {
	t.Parallel()
	o, progress := testOptions(t, 1)
	scenes := scenarios()[1:4]
	b := newOutput(o).openBill(scenes, time.Now(), time.Now)
	for _, i := range []int{2, 0, 1} {
		b.started(i, testBoard())
		b.ended(i, Result{OK: true}, nil)
	}
	b.close()
	at := -1
	for _, sc := range scenes {
		next := strings.Index(progress.String(), sc.name)
		if next <= at {
			t.Fatalf("%s is out of order in\n%s", sc.name, progress)
		}
		at = next
	}
}
