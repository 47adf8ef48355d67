package demo

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	"creditonce/internal/stage"
	"creditonce/mt5/fakemt5"
	"creditonce/webhook/fakepsp"
)

// show is one run of one scenario in a folder of its own, with three processes of its own.
type show struct {
	o      Options
	scene  scenario
	n      int // deposits
	stage  *stageFolder
	launch *stage.Launcher
	begin  time.Time

	mt5Child, pspChild, serve *stage.Child
	log                       *os.File
	mt5                       *fakemt5.Control
	psp                       *fakepsp.Control
	portal                    *portal
	board                     *board

	rng      *rand.Rand
	cast     *caster
	deposits []*deposit
	payments int
	rules    []fakemt5.Rule // faults that must have struck
	nonce    string         // makes idempotency keys new in a folder that an earlier show used
	dealsAt  int            // entries in MT5's journal before this show
	report   string         // path of a reconciliation's report; empty: there is none

	mu       sync.Mutex
	problems []string
}

func newShow(o Options, sc scenario, st *stageFolder, launch *stage.Launcher, b *board) *show {
	n := o.Deposits
	if n == 0 {
		n = sc.deposits
	}
	rng := rand.New(rand.NewPCG(o.Seed, uint64(len(sc.name))))
	return &show{o: o, scene: sc, n: n, stage: st, launch: launch, begin: o.Now(), board: b, rng: rng, cast: newCaster(rng)}
}

// problem notes something that is not as it should be; the show goes on.
func (s *show) problem(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	s.mu.Lock()
	s.problems = append(s.problems, text)
	s.mu.Unlock()
	s.board.warn("demo", "not as it should be: %s", text)
}

// run plays the scenario to its end and returns the verdict. Whatever happens, every process is reaped and a
// temporary folder is gone when it returns. An error means that there is no verdict.
func (s *show) run(ctx context.Context) (result Result, err error) {
	defer func() { err = errors.Join(err, s.end()) }()
	if s.nonce, err = stage.DrawSecret(s.o.Random); err != nil {
		return Result{}, err
	}
	if err := s.raise(ctx); err != nil {
		return Result{}, err
	}
	watching, stopWatching := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() { s.watchJournal(watching) })
	err = s.perform(ctx)
	stopWatching()
	watch.Wait()
	if err != nil {
		return Result{}, err
	}
	if err := s.stopServe(); err != nil {
		return Result{}, err
	}
	// The verdict is about files that nobody writes any more.
	return s.judge(context.WithoutCancel(ctx))
}

// perform lets the scenario happen and waits until it has come to rest. The end of ctx cuts it short without being an
// error: the verdict then says what is missing.
func (s *show) perform(ctx context.Context) error {
	if err := s.scene.play(ctx, s); err != nil && ctx.Err() == nil {
		return fmt.Errorf("scenario %s: %w", s.scene.name, err)
	}
	s.settle(ctx)
	if ctx.Err() != nil {
		return nil //nolint:nilerr // a fault whose turn had not come is no fault of the run
	}
	s.checkFaults(context.WithoutCancel(ctx))
	if s.scene.stays && !s.o.Exit {
		s.stay(ctx)
	}
	return nil
}

// raise starts the three processes and registers the clients' logins. Ports that were lost to another program in the
// meantime are drawn anew, in a folder that is new itself.
func (s *show) raise(ctx context.Context) error {
	if s.stage.reused {
		if err := s.stage.ports.taken(); err != nil {
			return fmt.Errorf("open demo folder %s: %w", s.stage.dir, err)
		}
	}
	var err error
	for range 5 {
		if err = s.startAll(ctx); err == nil || !stage.PortTaken(err) || s.stage.reused {
			break
		}
		s.killAll()
		if err := s.stage.choosePorts(s.o); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	s.board.tell("demo", "started in %s: serve, a fake MT5 server, a simulated provider", shortPath(s.stage.dir))
	for i := range accountCount {
		if err := s.portal.putAccount(ctx, accountAt(i)); err != nil {
			return err
		}
	}
	return nil
}

// shortPath keeps long temporary folders readable.
func shortPath(dir string) string {
	if wd, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(wd, dir); err == nil && len(rel) < len(dir) {
			return rel
		}
	}
	return dir
}

func (s *show) startAll(ctx context.Context) error {
	var err error
	if s.log == nil {
		if s.log, err = os.OpenFile(s.stage.serveLog(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
			return fmt.Errorf("open serve's log: %w", err)
		}
	}
	if s.mt5Child, err = s.startFake(ctx, "fakemt5", s.stage.mt5Args()); err != nil {
		return err
	}
	s.mt5 = fakemt5.NewControl(s.stage.ports.mt5Control())
	if err := s.markJournal(); err != nil {
		return err
	}
	if s.pspChild, err = s.startFake(ctx, "fakepsp", s.stage.pspArgs(s.o.Seed, s.scene.disorder)); err != nil {
		return err
	}
	s.psp = fakepsp.NewControl(s.stage.ports.pspControl())
	if s.portal, err = newPortal(s.stage.ports.api(), s.stage.keys, s.o.Now); err != nil {
		return err
	}
	return s.startServe(ctx)
}

// startTime bounds how long a process may take until it is ready, on a slow and busy machine.
const startTime = 20 * time.Second

// startFake starts one of the two fakes and waits for the line in which it says where it listens.
func (s *show) startFake(ctx context.Context, name string, args []string) (*stage.Child, error) {
	ready := make(chan struct{})
	var once sync.Once
	c, err := stage.Start(s.launch, stage.Spec{
		Name: name, Executable: s.o.Executable, Args: args,
		Stdout: func(string) { once.Do(func() { close(ready) }) },
	})
	if err != nil {
		return nil, err
	}
	if err := c.Ready(ctx, startTime, ready); err != nil {
		c.Kill()
		return nil, err
	}
	return c, nil
}

// startServe starts serve, or starts it again, and waits until it serves.
func (s *show) startServe(ctx context.Context) error {
	ready := make(chan struct{})
	var once sync.Once
	c, err := stage.Start(s.launch, stage.Spec{
		Name: "serve", Executable: s.o.Executable, Args: []string{"serve", "--config", s.stage.config()},
		Stderr: func(line string) {
			// The log is for people who look afterwards; a full disk must not stop the show.
			_, _ = fmt.Fprintln(s.log, line)
			l, ok := readLogLine(line)
			if !ok {
				return
			}
			s.board.log(l)
			if l.Message == msgServing {
				once.Do(func() { close(ready) })
			}
		},
	})
	if err != nil {
		return err
	}
	s.serve = c
	if err := c.Ready(ctx, startTime, ready); err != nil {
		c.Kill()
		return err
	}
	return nil
}

// crash kills serve as kill -9 does.
func (s *show) crash() {
	s.board.warn("demo", "kill -9 serve")
	s.serve.Kill()
}

// stopServe ends serve in order: systemd would see exit code 0.
func (s *show) stopServe() error {
	code, err := s.serve.Stop(10 * time.Second)
	if err != nil {
		return err
	}
	if code != 0 {
		s.problem("serve ended with exit code %d:\n%s", code, s.serve.Last())
	}
	return nil
}

func (s *show) killAll() {
	for _, c := range []*stage.Child{s.serve, s.pspChild, s.mt5Child} {
		if c != nil {
			c.Kill()
		}
	}
	s.serve, s.pspChild, s.mt5Child = nil, nil, nil
}

// end stops what still runs, the provider first, and removes a temporary folder.
func (s *show) end() error {
	var errs []error
	for _, c := range []*stage.Child{s.pspChild, s.serve, s.mt5Child} {
		if c != nil {
			_, err := c.Stop(5 * time.Second)
			errs = append(errs, err)
		}
	}
	if s.log != nil {
		errs = append(errs, s.log.Close())
	}
	if !s.kept() {
		errs = append(errs, os.RemoveAll(s.stage.dir))
	}
	return errors.Join(errs...)
}

// kept tells that the folder outlives the show.
func (s *show) kept() bool { return s.o.Dir != "" || s.o.Keep }

// markJournal remembers how far MT5's journal goes before this show does anything.
func (s *show) markJournal() error {
	entries, err := fakemt5.ReadJournal(s.stage.mt5Journal())
	if err != nil {
		return err
	}
	s.dealsAt = len(entries)
	return nil
}

// watchJournal keeps the count of doubled deals on the board, from MT5's own journal.
func (s *show) watchJournal(ctx context.Context) {
	for pause(ctx, 250*time.Millisecond) == nil {
		entries, err := fakemt5.ReadJournal(s.stage.mt5Journal())
		if err != nil {
			continue // the verdict reads it again and reports
		}
		seen, doubled := map[string]bool{}, 0
		for _, e := range apiDeals(entries) {
			if seen[e.Comment] {
				doubled++
			}
			seen[e.Comment] = true
		}
		s.board.setDoubled(doubled)
	}
}
