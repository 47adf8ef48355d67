package cli

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"creditonce/internal/admin"
)

// noSchedule keeps the daily run out of a test, whatever the minute is.
const noSchedule = "schedules: {reconcile: \"0 0 29 2 *\"}\n"

// ledger is an office with days that are over.
type ledger struct {
	*office
	today time.Time // midnight, UTC
}

func newLedger(t *testing.T) *ledger {
	t.Helper()
	return &ledger{office: newOfficeWith(t, true, noSchedule, nil), today: time.Now().UTC().Truncate(24 * time.Hour)}
}

// day is the business day of so many days ago.
func (l *ledger) day(ago int) string { return l.today.AddDate(0, 0, -ago).Format(time.DateOnly) }

const sheetHead = "balance_transaction_id,created_utc,available_on_utc,currency,gross,fee,net,reporting_category,source_id,charge_id,payment_intent_id\n"

// row is one line of a statement, at noon of a day.
func (l *ledger) row(ago int, category, payment string) string {
	at := l.day(ago) + " 12:00:00"
	return fmt.Sprintf("txn_%s,%s,%s,usd,42.00,1.00,41.00,%s,ch_%s,ch_%s,%s\n", payment, at, at, category, payment, payment, payment)
}

// statement puts a file into the office and returns its path.
func (l *ledger) statement(name string, rows ...string) string {
	l.t.Helper()
	l.file(name, sheetHead+strings.Join(rows, ""))
	return filepath.Join(l.dir, name)
}

// settled has a statement that reaches the day before yesterday, with a payment that nobody knows.
func (l *ledger) settled() {
	l.t.Helper()
	l.ok("carl", "recon", "import", l.statement("november.csv", l.row(2, "charge", "pi_lost")), "--provider", "stripe")
}

// ends wants the command to end with a code, and every word on the standard output.
func (l *ledger) ends(code int, user, line string, says ...string) result {
	l.t.Helper()
	got := l.as(user, strings.Fields(line)...)
	for _, text := range says {
		if got.code != code || !strings.Contains(got.stdout, text) {
			l.t.Fatalf("%s: creditonce %s: exit %d, want %d and %q\n%s\n%s", user, line, got.code, code, text, got.stdout, got.stderr)
		}
	}
	if got.code != code {
		l.t.Fatalf("%s: creditonce %s: exit %d, want %d\n%s\n%s", user, line, got.code, code, got.stdout, got.stderr)
	}
	return got
}

func TestReconRun_EndsByWhatItFinds(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	l.ends(ExitNoAnswer, "carl", "recon run --day "+l.day(3), "incomplete; of what could be compared", "not complete: settlements of stripe: the statements reach nowhere",
		"creditonce recon import FILE --provider stripe")
	l.settled()
	l.ends(ExitDone, "carl", "recon run --day "+l.day(3), "everything agrees", l.day(3)+"T00:00:00Z (included)", l.day(2)+"T00:00:00Z (not included)", "zone           UTC")
	got := l.ends(ExitFound, "carl", "recon run --day "+l.day(2), "1 difference, with its task", "settled_without_credit  1", "creditonce recon report --run 3 --format html --out report.html")
	if strings.Contains(got.stderr, "creditonce:") {
		t.Errorf("on stderr stands more than progress: %q", got.stderr)
	}
	l.ends(ExitFound, "ben", "recon run --from "+l.day(3)+" --to "+l.day(2), "business days  "+l.day(3)+" to "+l.day(2), "1 difference")
	if text := l.ok("dora", "tasks", "list"); strings.Count(text, "settled_without_credit") != 1 {
		t.Errorf("four runs opened\n%s", text)
	}
	var run admin.ReconRun
	l.read(l.ends(ExitFound, "anna", "recon run -o json --day "+l.day(2)).stdout, &run)
	if run.ID != 5 || string(run.First) != l.day(2) || run.By != "anna" || run.Differences() != 1 || len(run.Sources) != 3 || run.Outcome.Lines != 1 {
		t.Errorf("%+v", run)
	}
	// Without days it takes what is due: yesterday, which the statement does not reach.
	l.ends(ExitNoAnswer, "carl", "recon run", "business days  "+l.day(1), "NO", "not complete: settlements of stripe: the statements reach "+l.day(2)+" 12:00 UTC")
	if text := l.ok("dora", "tasks", "list"); strings.Count(text, "recon_incomplete") != 1 || strings.Count(text, "settled_without_credit") != 1 {
		t.Errorf("tasks\n%s", text)
	}
	if text := l.ok("dora", "audit", "list", "-o", "csv"); !strings.Contains(text, "recon.run") || !strings.Contains(text, "recon.import") {
		t.Errorf("audit:\n%s", text)
	}
}

func TestReconRun_WithoutMT5IsNoAnswer(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	l.settled()
	l.ends(ExitFound, "carl", "recon run --day "+l.day(2), "1 difference")
	if err := l.mt5.Close(); err != nil {
		t.Fatal(err)
	}
	got := l.ends(ExitNoAnswer, "carl", "recon run --day "+l.day(2), "not complete: deals of main: MT5 cannot be reached", "of what could be compared: 1 difference")
	if strings.Contains(got.stdout, "not complete: settlements") {
		t.Errorf("%s", got.stdout)
	}
	l.ends(ExitNoAnswer, "dora", "recon report --run 2", "MT5 cannot be reached")
}

func TestRecon_RefusesWhoMayNotAndDaysThatAreNotOver(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	l.refused(ExitRefused, "is not over", "carl", "recon", "run", "--day", l.day(0))
	l.refused(ExitRefused, "is not over", "carl", "recon", "run", "--from", l.day(2), "--to", l.day(-1))
	l.refused(ExitRefused, "operator", "dora", "recon", "run")
	l.refused(ExitRefused, "operator", "dora", "recon", "import", l.statement("x.csv", l.row(2, "charge", "pi_1")), "--provider", "stripe")
	for _, line := range []string{"recon run", "recon list", "recon statements", "recon report", "recon sign 1", "recon withdraw 1 --reason=x"} {
		l.refused(ExitRefused, "belongs to no person", "eve", strings.Fields(line)...)
	}
	if got := l.as("dora", "recon", "list"); got.code != ExitDone || got.stdout != "" || !strings.Contains(got.stderr, "nothing to list") {
		t.Errorf("a refused run left something: %+v", got)
	}
}

func TestRecon_WrongCommandLinesAreSaidBeforeTheServiceIsLookedFor(t *testing.T) {
	t.Parallel()
	there := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(there, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for line, says := range map[string]string{
		"recon run --day monday":                             `write it as YYYY-MM-DD`,
		"recon run --day 2026-02-30":                         "there is no such date",
		"recon run --day 0001-01-01":                         "the year must be",
		"recon run --from 2026-11-01":                        "--from and --to go together",
		"recon run --to 2026-11-01":                          "--from and --to go together",
		"recon run --from 2026-11-02 --to 2026-11-01":        "is after the last one",
		"recon run --day 2026-11-01 --to 2026-11-02":         "give the one or the others",
		"recon run 2026-11-01":                               "see: creditonce recon run --help",
		"recon run -o csv":                                   "no CSV",
		"recon import x.csv":                                 "give --provider",
		"recon import --provider stripe":                     "accepts 1 arg",
		"recon report --day 2026-11-01 --run 3":              "give one",
		"recon report --day 2026-13-01":                      "there is no such date",
		"recon report --run 0":                               "no number of a run",
		"recon report --run x":                               "no number of a run",
		"recon report --format pdf":                          "give one of: text, html, csv, totals-csv, xlsx, json",
		"recon report --format html --out " + there:          "is there already",
		"recon sign":                                         "accepts 1 arg",
		"recon withdraw --reason=x":                          "accepts 1 arg",
		"recon withdraw x --reason=y":                        "no number of a statement",
		"recon withdraw 3":                                   "no --reason",
		"recon list --limit -1 --socket /nonexistent/a.sock": "0 for all",
	} {
		got := run(strings.Fields(line)...)
		if got.code != ExitUsage || !strings.Contains(got.stderr, says) || got.stdout != "" {
			t.Errorf("%s: %+v, want exit 2 and %q", line, got, says)
		}
	}
	got := runWith(func(p *Process) { p.Terminal = true }, "recon", "report", "--format", "xlsx")
	if got.code != ExitUsage || !strings.Contains(got.stderr, "--out report.xlsx") {
		t.Errorf("a workbook on a terminal: %+v", got)
	}
}

// tap counts what is read of it.
type tap struct {
	io.Reader
	read int
}

func (r *tap) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	r.read += n
	return n, err
}

func TestReconImport_TakesAWholeStatementOrNothing(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	good := l.statement("november.csv", l.row(2, "charge", "pi_1"), l.row(2, "charge", "pi_2"))
	for name, test := range map[string]struct {
		code int
		says string
		line []string
	}{
		"no provider of that name": {ExitUsage, `no provider "adyen"; it has stripe`, []string{good, "--provider", "adyen"}},
		"no such file":             {ExitUsage, "no such file", []string{filepath.Join(l.dir, "none.csv"), "--provider", "stripe"}},
		"a folder":                 {ExitUsage, "is no file", []string{l.dir, "--provider", "stripe"}},
		"an amount that is none":   {ExitUsage, "bad.csv, line 3: ", []string{l.statement("bad.csv", l.row(2, "charge", "pi_1"), strings.Replace(l.row(2, "charge", "pi_2"), "42.00", "4x.00", 1)), "--provider", "stripe"}},
		"a row that is cut":        {ExitUsage, "cut.csv, line 3: ", []string{l.statement("cut.csv", l.row(2, "charge", "pi_1"), "txn_2,"+l.day(2)), "--provider", "stripe"}},
	} {
		got := l.as("carl", append([]string{"recon", "import"}, test.line...)...)
		if got.code != test.code || !strings.Contains(got.stderr, test.says) || got.stdout != "" {
			t.Errorf("%s: %+v, want exit %d and %q", name, got, test.code, test.says)
		}
	}
	if got := l.ok("dora", "recon", "statements"); got != "" {
		t.Fatalf("a refused file left\n%s", got)
	}
	l.ends(ExitDone, "carl", "recon import "+good+" --provider stripe", "statement  1", "rows: 2, new: 2, known from earlier statements: 0", "reaches    "+l.day(2)+" 12:00 UTC")
	l.ends(ExitDone, "anna", "recon import "+good+" --provider stripe", "statement  1", "imported before, on ", "by carl; nothing was changed")
	// The next one overlaps, has a row of a kind that nobody knows, and comes through a pipe.
	more := sheetHead + l.row(2, "charge", "pi_2") + l.row(1, "lottery", "pi_3")
	got := l.with("carl", func(p *Process) { p.Stdin = strings.NewReader(more) }, "recon", "import", "-", "--provider", "stripe")
	for _, says := range []string{"standard input", "rows: 2, new: 1, known from earlier statements: 1", "line 3", "lottery"} {
		if got.code != ExitFound || !strings.Contains(got.stdout, says) {
			t.Fatalf("%+v, want exit 3 and %q", got, says)
		}
	}
	var answer admin.ImportAnswer
	again := l.with("carl", func(p *Process) { p.Stdin = strings.NewReader(more) }, "recon", "import", "-", "--provider", "stripe", "-o", "json")
	l.read(again.stdout, &answer)
	if again.code != ExitDone || !answer.Before || answer.Statement.ID != 2 || len(answer.Statement.Statement.Problems) != 1 {
		t.Errorf("again: %+v", again)
	}
	l.statementsAre(2)
}

// statementsAre looks at the list of statements in every form.
func (l *ledger) statementsAre(n int) {
	l.t.Helper()
	text := l.ok("dora", "recon", "statements", "--provider", "stripe")
	if strings.Count(text, "\n") != n+1 || !strings.Contains(text, "REACHES UTC") || strings.Index(text, "standard input") > strings.Index(text, "november.csv") {
		l.t.Errorf("statements:\n%s", text)
	}
	records, err := csv.NewReader(strings.NewReader(l.ok("dora", "recon", "statements", "-o", "csv"))).ReadAll()
	if err != nil || len(records) != n+1 || strings.Join(records[0], " ") != "statement provider rows new reaches imported_at by sha256 withdrawn_by file" || len(records[1][7]) != 64 {
		l.t.Errorf("csv: %v %q", err, records)
	}
	var items struct{ Items []admin.ReconStatement }
	l.read(l.ok("dora", "recon", "statements", "-o", "json"), &items)
	if len(items.Items) != n || int(items.Items[0].ID) != n {
		l.t.Errorf("%+v", items)
	}
	if got := l.as("dora", "recon", "statements", "--limit", "1"); strings.Count(got.stdout, "\n") != 2 || !strings.Contains(got.stderr, "goes on after 1 entry") {
		l.t.Errorf("one of them: %+v", got)
	}
	if got := l.as("dora", "recon", "statements", "--limit", fmt.Sprint(n)); got.stderr != "" {
		l.t.Errorf("all of them: %+v", got)
	}
	l.refused(ExitUsage, `no provider "adyen"`, "dora", "recon", "statements", "--provider", "adyen")
}

// Who may not import, or names no provider, is told so before a file of many gigabytes is sent.
func TestReconImport_SendsNothingThatIsRefusedAnyhow(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	for user, provider := range map[string]string{"dora": "stripe", "carl": "adyen"} {
		long := &tap{Reader: io.LimitReader(zeros{}, 64<<20)}
		got := l.with(user, func(p *Process) { p.Stdin = long }, "recon", "import", "-", "--provider", provider)
		if (got.code != ExitRefused && got.code != ExitUsage) || long.read > 1<<20 {
			t.Errorf("%s: %d bytes were sent; %+v", user, long.read, got)
		}
	}
}

// heard is a writer that a test waits on.
type heard struct {
	mu    sync.Mutex
	text  bytes.Buffer
	wants string
	said  chan struct{}
	once  sync.Once
}

func (h *heard) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.text.Write(b)
	if strings.Contains(h.text.String(), h.wants) {
		h.once.Do(func() { close(h.said) })
	}
	return len(b), nil
}

func TestReconImport_TellsHowFarItIs(t *testing.T) {
	t.Parallel()
	for watched, want := range map[bool]string{false: "receive the file\n", true: "\rreceive the file"} {
		t.Run(fmt.Sprintf("terminal=%v", watched), func(t *testing.T) {
			t.Parallel()
			l := newLedger(t)
			out, in := io.Pipe()
			h := &heard{wants: want, said: make(chan struct{})}
			go func() { // whoever exports the file takes until the step was told
				select {
				case <-h.said:
				case <-time.After(20 * time.Second):
				}
				_, err := io.WriteString(in, sheetHead+l.row(2, "charge", "pi_1"))
				_ = in.CloseWithError(err)
			}()
			got := l.with("carl", func(p *Process) { p.Stdin, p.Stderr, p.Watched = out, h, watched }, "recon", "import", "-", "--provider", "stripe")
			h.mu.Lock()
			defer h.mu.Unlock()
			if got.code != ExitDone || !strings.Contains(h.text.String(), want) || strings.Contains(got.stdout, "receive") {
				t.Errorf("exit %d, stderr %q, stdout %q", got.code, h.text.String(), got.stdout)
			}
			if watched && !strings.HasSuffix(h.text.String(), " \r") {
				t.Errorf("the line is left on the terminal: %q", h.text.String())
			}
		})
	}
}

func TestProgress_StaysOnOneRowAndIsOneLineAStepElsewhere(t *testing.T) {
	t.Parallel()
	long := "read the deals of MT5 server " + strings.Repeat("x", 70) + ", login by login"
	steps := []admin.ProgressAnswer{
		{Busy: true, Step: "read credit rows", Done: 500}, {Busy: true, Step: "read credit rows", Done: 1000},
		{Busy: true, Step: long, Done: 3, Total: 12}, {Busy: true, Step: long, Done: 12, Total: 12}, {Busy: true, Step: "compare the lists"},
	}
	var screen, file bytes.Buffer
	drawn, printed := progressView{w: &screen, terminal: true}, progressView{w: &file}
	for _, p := range steps {
		drawn.show(p)
		printed.show(p)
	}
	drawn.end()
	printed.end()
	if want := "read credit rows\n" + long + "\ncompare the lists\n"; file.String() != want {
		t.Errorf("lines %q, want %q", file.String(), want)
	}
	parts := strings.Split(screen.String(), "\r")
	for i, part := range parts {
		if n := len([]rune(part)); n > 79 {
			t.Errorf("part %d has %d columns: %q", i, n, part)
		}
	}
	if len(parts) != 8 || !strings.HasSuffix(parts[2], "read credit rows: 1000") || !strings.HasSuffix(parts[3], "… [####............] 3 of 12") ||
		!strings.HasSuffix(parts[4], " [################] 12 of 12") || strings.TrimSpace(parts[6]) != "" {
		t.Errorf("screen %q", parts)
	}
}
