package credit

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// bubbleClock runs on a synctest bubble's fake time. The wall clock can be stepped and the machine suspended.
type bubbleClock struct {
	mu     sync.Mutex
	origin time.Time
	wall   time.Duration // steps of the wall clock so far
	slept  time.Duration // time suspended: the boot clock went on, timers and the monotonic clock did not
}

func (c *bubbleClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.wall + c.slept).UTC()
}

func (c *bubbleClock) Boot() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return 90*time.Minute + time.Since(c.origin) + c.slept
}

func (c *bubbleClock) Wait(ctx context.Context, until time.Duration, wake <-chan struct{}) error {
	timer := time.NewTimer(until - c.Boot())
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-wake:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *bubbleClock) step(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wall += d
}

func (c *bubbleClock) suspend(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.slept += d
}

// recorder is an Observer that keeps what it is told and can act at a step.
type recorder struct {
	mu    sync.Mutex
	steps []string
	notes []Note
	at    func(Step)
}

func (r *recorder) Step(_ context.Context, s Step) {
	r.mu.Lock()
	r.steps = append(r.steps, s.Name)
	r.mu.Unlock()
	if r.at != nil {
		r.at(s)
	}
}

func (r *recorder) Note(_ context.Context, n Note) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notes = append(r.notes, n)
}

func (r *recorder) noted(what string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, note := range r.notes {
		if note.What == what {
			n++
		}
	}
	return n
}

const (
	testServer   = "main"
	testIdentity = "ExampleBroker-Live"
	testLogin    = uint64(5001)
)

// world is one process of the deposit path: reception, keeper and one lane on a book and a fake MT5.
type world struct {
	t         *testing.T
	clock     *bubbleClock
	book      *memBook
	mt5       *fakeMT5
	see       *recorder
	timing    Timing
	process   Process
	lane      *Lane
	reception *Reception
	wake      chan struct{}
	cancel    context.CancelFunc
	done      chan error
	running   bool
	tokens    int
	names     int
}

// inWorld runs a scenario in a bubble of fake time, and checks the book at its end.
func inWorld(t *testing.T, scenario func(w *world)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, book: newMemBook(), see: &recorder{}, timing: DefaultTiming()}
		w.clock = &bubbleClock{origin: time.Now()}
		w.mt5 = &fakeMT5{clock: w.clock, book: w.book, hidden: map[uint64]bool{}}
		time.Sleep(365 * 24 * time.Hour) // the bubble starts at midnight of a year's first day
		w.newProcess()
		defer func() { // also after a Fatal: a bubble must end without goroutines
			w.stop()
			w.book.check(t)
		}()
		scenario(w)
	})
}

// newProcess makes the parts of a fresh process on the same book and MT5; nothing runs yet.
func (w *world) newProcess() {
	w.names++
	w.process = Process{ID: fmt.Sprintf("process-%d", w.names), Started: w.clock.Boot(), At: w.clock.Now()}
	w.wake = make(chan struct{}, 1)
	w.lane = &Lane{
		Server: testServer, Shards: 1, Book: w.book, Session: w.mt5, Clock: w.clock, Observer: w.see,
		Process: w.process, Timing: w.timing, Live: &LiveCalls{}, Wake: w.wake,
		Token: func() string { w.tokens++; return fmt.Sprintf("token-%d", w.tokens) },
	}
	w.reception = &Reception{
		Book: w.book, Clock: w.clock, Observer: w.see, Process: w.process, HeldGrace: w.timing.HeldGrace,
		Wake: func(string) {
			select {
			case w.wake <- struct{}{}:
			default:
			}
		},
	}
}

// start sweeps as a process start does and runs the loops.
func (w *world) start() {
	w.t.Helper()
	var ctx context.Context
	ctx, w.cancel = context.WithCancel(context.Background())
	w.lane.Timing, w.running = w.timing, true
	keeper := &Keeper{Book: w.book, Clock: w.clock, Observer: w.see, Process: w.process, Timing: w.timing}
	if err := keeper.Start(ctx); err != nil {
		w.t.Fatalf("keeper start: %v", err)
	}
	w.done = make(chan error, 2)
	go func() { w.done <- keeper.Run(ctx) }()
	go func() { w.done <- w.lane.Run(ctx) }()
}

// stop ends the loops and waits for them; they must not fail.
func (w *world) stop() {
	w.t.Helper()
	if !w.running {
		return
	}
	w.cancel()
	for range 2 {
		if err := <-w.done; err != nil {
			w.t.Errorf("a loop ended with: %v", err)
		}
	}
	w.running = false
}

// pass lets time go by and waits until everything due has been done. What the scenario wrote before it is seen by
// the loops (both take the clock's mutex), so scripts may be changed between two passes.
func (w *world) pass(d time.Duration) {
	w.t.Helper()
	w.clock.Boot()
	time.Sleep(d)
	synctest.Wait()
}

// deposit registers the login of the client and a deposit of so many cents.
func (w *world) deposit(code string, cents int64, login uint64) {
	w.t.Helper()
	a := Account{Server: testServer, Identity: testIdentity, Login: login, Client: "client-1", Currency: "USD", Digits: 2}
	if err := w.book.PutAccount(a, "test", w.clock.Now()); err != nil {
		w.t.Fatalf("put account: %v", err)
	}
	n, rules := wish(w.clock.Now(), code, usd(cents), login)
	rules.Schedule = w.process.Schedule(w.clock)
	if _, err := w.book.MakeDeposit(n, rules); err != nil {
		w.t.Fatalf("make deposit: %v", err)
	}
}

// receive takes an event in.
func (w *world) receive(e Event) Receipt {
	w.t.Helper()
	r, err := w.reception.Receive(context.Background(), e)
	if err != nil {
		w.t.Fatalf("receive: %v", err)
	}
	return r
}

// paid makes a deposit of 500.00 USD on the login, receives its payment and returns the row's id.
func (w *world) paid(login uint64, n int) ID {
	w.t.Helper()
	code := codeOf(n)
	w.deposit(code, 50000, login)
	r := w.receive(paidEvent(n, w.clock.Now(), code, usd(50000)))
	return r.Rows[0].After.ID
}

func (w *world) row(id ID) Credit {
	w.book.mu.Lock()
	defer w.book.mu.Unlock()
	return w.book.rows[id]
}

// edit changes the book directly, as another part of the service would.
func (w *world) edit(change func(b *memBook)) {
	w.book.mu.Lock()
	defer w.book.mu.Unlock()
	change(w.book)
}

func (w *world) wantState(id ID, want State) Credit {
	w.t.Helper()
	row := w.row(id)
	if row.State != want {
		w.t.Fatalf("credit %d is %s, want %s; history: %s", id, row.State, want, w.moves(id))
	}
	return row
}

// moves lists the names of the row's moves.
func (w *world) moves(id ID) string {
	w.book.mu.Lock()
	defer w.book.mu.Unlock()
	var names []string
	for _, e := range w.book.history[id] {
		names = append(names, e.Move)
	}
	return strings.Join(names, ", ")
}

// openTasks lists the kinds of the open tasks, in the order of their opening.
func (w *world) openTasks() string {
	w.book.mu.Lock()
	defer w.book.mu.Unlock()
	var kinds []string
	for _, t := range w.book.tasks {
		if t.IsOpen() {
			kinds = append(kinds, string(t.Kind))
		}
	}
	return strings.Join(kinds, ", ")
}

func (w *world) wantTasks(want string) {
	w.t.Helper()
	if got := w.openTasks(); got != want {
		w.t.Errorf("open tasks %q, want %q", got, want)
	}
}

func (w *world) wantCalls(calls, deals int) {
	w.t.Helper()
	if c, d := w.mt5.callCount(), w.mt5.count(); c != calls || d != deals {
		w.t.Errorf("%d calls and %d deals, want %d and %d; order: %v", c, d, calls, deals, w.mt5.took())
	}
}
