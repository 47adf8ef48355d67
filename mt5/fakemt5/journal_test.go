package fakemt5

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// watchedFile is a journal file whose Sync can be held or made to fail.
type watchedFile struct {
	journalFile
	mu       sync.Mutex
	syncing  chan struct{} // receives when Sync begins, if not nil
	release  chan struct{} // Sync waits for it, if not nil
	syncErr  error
	writeErr error
	cutErr   error
}

func (w *watchedFile) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.writeErr != nil {
		n, _ := w.journalFile.Write(b[:len(b)/2])
		return n, w.writeErr
	}
	return w.journalFile.Write(b)
}

func (w *watchedFile) Sync() error {
	if w.syncing != nil {
		w.syncing <- struct{}{}
		<-w.release
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.syncErr != nil {
		return w.syncErr
	}
	return w.journalFile.Sync()
}

func (w *watchedFile) Truncate(n int64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cutErr != nil {
		return w.cutErr
	}
	return w.journalFile.Truncate(n)
}

func (w *watchedFile) set(change func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change()
}

// startWatched runs a server whose journal file is watched after the start.
func startWatched(t *testing.T) (*Server, *watchedFile, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "mt5.journal")
	s, _, _ := startTest(t, func(c *Config) { c.Journal = path })
	w := &watchedFile{journalFile: s.book.journal.file}
	s.book.journal.file = w
	return s, w, path
}

func TestJournal_IsSyncedBeforeTheAnswerLeaves(t *testing.T) {
	t.Parallel()
	s, w, path := startWatched(t)
	c := login(t, s)
	w.syncing, w.release = make(chan struct{}), make(chan struct{})
	c.send("5", "dep:x")
	<-w.syncing
	if got, err := ReadJournal(path); err != nil || got[len(got)-1].Comment != "dep:x" {
		t.Errorf("not written before the sync: %v, %v", got, err)
	}
	// Neither an answer nor a visible deal may exist while the sync runs.
	if v, _ := s.book.find(testLogin); v.balance != 100_00 {
		t.Errorf("balance %d before the sync", v.balance)
	}
	_ = c.conn.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
	if _, err := c.in.Peek(1); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("an answer before the sync: %v", err)
	}
	close(w.release)
	_ = c.conn.SetReadDeadline(time.Time{})
	if g, err := c.read(); err != nil || g.code != 0 {
		t.Errorf("after the sync: %v %s", err, g.body)
	}
}

func TestJournal_HoldsTheWholeEntryWhenTheAnswerIsRead(t *testing.T) {
	t.Parallel()
	s, _, path := startWatched(t)
	c := login(t, s)
	c.deposit("26.5", strings.Repeat("x", 40))
	got, err := ReadJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	e := got[len(got)-1]
	want := JournalEntry{
		Ticket: 1<<32 + 3, Login: testLogin, Action: 2, Amount: "26.50", Minor: 26_50, Digits: 2, Currency: "EUR",
		Comment: strings.Repeat("x", 31), Dealer: testManager, ServerMsc: testStart.UnixMilli() + 7_200_000,
		ServerTime: "2026.01.14 14:00:00", UTC: testStart, Conn: 1, Request: 3, Source: SourceAPI,
	}
	if !reflect.DeepEqual(e, want) {
		t.Errorf("entry %+v\nwant  %+v", e, want)
	}
}

func TestJournal_HoldsTheEntryAfterApplyThenDrop(t *testing.T) {
	t.Parallel()
	s, _, path := startWatched(t)
	c := login(t, s)
	if _, err := s.faults.add(Rule{Where: "trade/balance", Kind: ApplyThenDrop}, s.endpoints); err != nil {
		t.Fatal(err)
	}
	c.send("5", "x")
	if _, err := c.read(); err == nil {
		t.Fatal("an answer came")
	}
	if got, err := ReadJournal(path); err != nil || got[len(got)-1].Minor != 5_00 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestRestart_KeepsHistoryMoneyEditsAndTickets(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "mt5.journal")
	setup := func(c *Config) { c.Journal = path }
	s, _, ctl := startTest(t, setup)
	c, ctx := login(t, s), within(t)
	c.deposit("5", "first")
	c.get("trade/balance", "login", "500123", "type", "3", "balance", "9", "comment", "credit")
	added, err := ctl.AddDeal(ctx, ManualDeal{Login: testLogin, Action: 2, Amount: "-1", Comment: "by hand"})
	if err != nil {
		t.Fatal(err)
	}
	gone, err := ctl.AddDeal(ctx, ManualDeal{Login: testLogin, Action: 7, Amount: "2"})
	if err != nil {
		t.Fatal(err)
	}
	comment := "edited"
	if _, err := ctl.EditDeal(ctx, DealEdit{Ticket: added.Ticket, Comment: &comment}); err != nil {
		t.Fatal(err)
	}
	if err := ctl.DeleteDeal(ctx, gone.Ticket); err != nil {
		t.Fatal(err)
	}
	if err := ctl.AddGroup(ctx, Group{Name: `late\usd`, Currency: "USD", Digits: 2}); err != nil {
		t.Fatal(err)
	}
	if _, err := ctl.AddAccount(ctx, Account{Login: 9, Group: `late\usd`, Balance: 1_00, SeedDeals: 10}); err != nil {
		t.Fatal(err)
	}
	before, journal := c.history("500123").body, s.Journal()
	accounts, err := ctl.Accounts(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s, _, ctl = startTest(t, setup)
	if got, err := ctl.Accounts(within(t)); err != nil || !reflect.DeepEqual(got, accounts) {
		t.Errorf("accounts %+v\nbefore   %+v, %v", got, accounts, err)
	}
	c = login(t, s)
	if after := c.history("500123").body; after != before || !strings.Contains(after, "edited") {
		t.Errorf("history changed:\n%s\n%s", before, after)
	}
	if !reflect.DeepEqual(s.Journal(), journal) {
		t.Errorf("journal changed: %d and %d entries", len(journal), len(s.Journal()))
	}
	c.deposit("1", "next")
	if got := s.Journal(); got[len(got)-1].Ticket <= got[len(got)-2].Ticket || len(got) != len(journal)+1 {
		t.Errorf("ticket does not grow: %+v", got[len(got)-2:])
	}
}

func TestTornLastLine_IsCutOffAndOtherDamageRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "mt5.journal")
	setup := func(c *Config) { c.Journal = path }
	s, _, _ := startTest(t, setup)
	want := len(s.Journal())
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(whole, `{"seq":99,"ev`...), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadJournal(path); err != nil || len(got) != want {
		t.Errorf("%d entries, %v", len(got), err)
	}
	s, _, _ = startTest(t, setup)
	login(t, s).deposit("1", "after the tear")
	if got, err := ReadJournal(path); err != nil || len(got) != want+1 {
		t.Errorf("%d entries, %v", len(got), err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(whole), "\n")
	// The last account with money is two lines; without the second the first is nothing.
	half := strings.Join(lines[:6], "")
	if !strings.Contains(lines[5], `"more":true,"event":"account"`) {
		t.Fatalf("line 6 is no account with an opening deal: %s", lines[5])
	}
	if err := os.WriteFile(path, []byte(half), 0o600); err != nil {
		t.Fatal(err)
	}
	s, _, _ = startTest(t, setup)
	if v, ok := s.book.find(testLogin + 1); !ok || v.balance != 5000 {
		t.Errorf("the account of a torn change: %+v", v)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"missing line": strings.Join(append(lines[:1:1], lines[2:]...), ""),
		"doubled line": lines[0] + string(whole),
		"not JSON":     "x\n" + string(whole),
		"odd event":    string(whole) + `{"seq":` + strconv.Itoa(len(lines)) + `,"event":"odd","login":1}` + "\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		cfg := testConfig(NewManualClock(testStart))
		cfg.Journal = path
		if s, err := Start(t.Context(), cfg); err == nil {
			t.Errorf("%s: started", name)
			_ = s.Close()
		}
	}
}

func TestFullDisk_RefusesAndLeavesNoTrace(t *testing.T) {
	t.Parallel()
	s, w, path := startWatched(t)
	c := login(t, s)
	w.set(func() { w.writeErr = io.ErrShortWrite })
	if g := c.deposit("5", "x"); g.code != 5 {
		t.Errorf("%s", g.body)
	}
	w.set(func() { w.writeErr, w.syncErr = nil, errors.New("no space") })
	if g := c.deposit("5", "x"); g.code != 5 {
		t.Errorf("%s", g.body)
	}
	w.set(func() { w.syncErr = nil })
	if g := c.deposit("6", "y"); g.code != 0 {
		t.Errorf("%s", g.body)
	}
	got, err := ReadJournal(path)
	if err != nil || len(got) != 3 || got[2].Comment != "y" || len(s.Journal()) != 3 {
		t.Errorf("%v, %v", got, err)
	}
	if user := c.get("user/get", "login", "500123").answer(t); user["Balance"] != "106.00" {
		t.Errorf("balance %v", user["Balance"])
	}
	w.set(func() { w.writeErr, w.cutErr = io.ErrShortWrite, errors.New("worse") })
	c.deposit("7", "z")
	w.set(func() { w.writeErr, w.cutErr = nil, nil })
	if g := c.deposit("8", "z"); g.code != 5 {
		t.Errorf("a journal in an unknown state takes entries: %s", g.body)
	}
}

func TestReadJournal_NeedsTheFile(t *testing.T) {
	t.Parallel()
	if _, err := ReadJournal(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
