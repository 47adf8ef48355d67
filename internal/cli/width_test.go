package cli

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func listedIn(columns int, summary string) string {
	var out strings.Builder
	rows := []struct{ about, summary string }{{"payment/psp/acct_office/pi_" + strings.Repeat("7", 24), summary}, {"credit/1", "short"}}
	type row = struct{ about, summary string }
	err := writeTable(screen{&out, columns}, rows, []column[row]{
		{head: "about", narrow: true, most: 28, value: func(r row) string { return r.about }},
		{head: "summary", value: func(r row) string { return r.summary }},
	})
	if err != nil {
		return err.Error()
	}
	return out.String()
}

func TestTable_IsCutToItsTerminalAndNowhereElse(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("the statement says 21.00 USD, the credit 20.00 USD; ", 4) + "end"
	pi := "pi_" + strings.Repeat("7", 24)
	for name, test := range map[string]struct {
		columns int
		whole   bool // both are
	}{
		"a pipe": {0, true}, "a very wide terminal": {300, true}, "a wide one": {180, false}, "a usual one": {100, false}, "a small one": {60, false},
	} {
		text := listedIn(test.columns, long)
		if whole := strings.Contains(text, pi) && strings.Contains(text, "end\n"); whole != test.whole {
			t.Errorf("%s: everything is there: %t\n%s", name, whole, text)
		}
		for line := range strings.Lines(text) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); test.columns > 0 && n > test.columns {
				t.Errorf("%s: a line has %d characters: %s", name, n, line)
			}
		}
	}
	if a, b := listedIn(180, long), listedIn(100, long); len(a) <= len(b) {
		t.Error("a wide terminal shows no more than a usual one")
	}
}

func TestTasks_AreListedWholeInAPipe(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	l.settled()
	l.ends(ExitFound, "carl", "recon run --day "+l.day(2))
	got := l.as("carl", "tasks", "list")
	if got.code != ExitDone || strings.Contains(got.stdout, "…") {
		t.Fatalf("%+v", got)
	}
	for _, want := range []string{"payment/stripe/acct_office/pi_lost", "settled_without_credit"} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("%q is not in\n%s", want, got.stdout)
		}
	}
}
