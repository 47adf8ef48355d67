package arena

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"creditonce/internal/invariant"
	"creditonce/internal/proof/faultpoints"
	"creditonce/internal/proof/faultproxy"
	"creditonce/internal/stage"
	"creditonce/mt5/fakemt5"
	"creditonce/webhook/fakepsp"
)

// startTime bounds how long a process may take until it is ready, on a slow and busy machine.
const startTime = 30 * time.Second

// World is one work folder with the processes of it. Its methods are for one goroutine, Load excepted.
type World struct {
	*folder
	o   Options
	log *os.File

	mt5Child, pspChild *stage.Child
	// Serve is the program, as it was started last.
	Serve *stage.Child
	// Line is the proxy between the program and MT5.
	Line   *faultproxy.Proxy
	MT5    *fakemt5.Control
	PSP    *fakepsp.Control
	portal *portal

	mu       sync.Mutex
	deposits []*deposit
	allowed  int      // that Load may still begin
	panics   []string // lines of the log that speak of a bug
	doubts   int
	restores []restore // one at most
}

// Options are what a world is made of. All are required.
type Options struct {
	Programs
	Dir    string // its work folder, which is made
	Ports  *stage.Ports
	Launch *stage.Launcher
	Seed   uint64 // of the provider's ids and disorder
	Timing Timing
}

// Open makes the folder and starts everything but the program itself. A world that is returned must be closed, also with
// an error.
func Open(ctx context.Context, o Options) (*World, error) {
	f, err := makeFolder(o.Dir, o.Ports, o.Timing)
	if err != nil {
		return nil, err
	}
	w := &World{folder: f, o: o}
	return w, w.open(ctx)
}

func (w *World) open(ctx context.Context) (err error) {
	if w.log, err = os.OpenFile(w.Path("serve.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
		return err
	}
	if w.mt5Child, err = w.startFake(ctx, []string{
		"fakemt5", "--listen", stage.Loopback(w.ports.mt5), "--control", stage.Loopback(w.ports.mt5Control), "--world", w.Path("world.json"),
		"--password-file", w.Path("secrets", "mt5-manager"), "--ca-out", w.Path("tls", "mt5-ca.pem"),
		"--key-file", w.Path("tls", "mt5.key"), "--journal", w.Path("mt5.jsonl"),
	}); err != nil {
		return err
	}
	if w.pspChild, err = w.startFake(ctx, []string{
		"fakepsp", "--url", "https://" + stage.Loopback(w.ports.webhooks) + "/webhooks/" + Provider, "--ca-file", w.Path("tls", "webhooks-ca.pem"),
		"--secret-file", w.Path("secrets", "webhook"), "--control", stage.Loopback(w.ports.pspControl), "--journal", w.Path("provider.jsonl"),
		"--seed", fmt.Sprint(w.o.Seed), "--repeat", "30", "--reorder", "50", "--max-delay", "300ms", "--backoff-max", "400ms",
	}); err != nil {
		return err
	}
	w.MT5, w.PSP = fakemt5.NewControl(stage.Loopback(w.ports.mt5Control)), fakepsp.NewControl(stage.Loopback(w.ports.pspControl))
	if w.Line, err = faultproxy.Start(stage.Loopback(w.ports.line), stage.Loopback(w.ports.mt5)); err != nil {
		return err
	}
	w.portal, err = newPortal(stage.Loopback(w.ports.api), w.keys.accounts, w.keys.deposits)
	return err
}

func (w *World) startFake(ctx context.Context, args []string) (*stage.Child, error) {
	ready := make(chan struct{})
	var once sync.Once
	c, err := stage.Start(w.o.Launch, stage.Spec{
		Name: args[0], Executable: w.o.Plain, Args: args, Stdout: func(string) { once.Do(func() { close(ready) }) },
	})
	if err != nil {
		return nil, err
	}
	return c, c.Ready(ctx, startTime, ready)
}

// Life says how the program is started.
type Life struct {
	Config string   // name of the configuration in the work folder; empty: config.yaml
	Point  string   // a fault point, see package faultpoints; empty: none, and the program as it is shipped
	Tagged bool     // the program with the tag faultpoints also without a point
	Wrap   []string // the command that starts the program, such as strace with its options
}

// Start starts the program and waits until it serves. A program that its fault point has ended before is no error.
func (w *World) Start(ctx context.Context, l Life) error {
	c, err := w.Launch(ctx, l)
	if c != nil {
		w.Serve = c
	}
	return err
}

// Launch is Start for a further instance: the World does not keep it, and whoever asked for it ends it. It is returned
// with an error too, when it was started.
func (w *World) Launch(ctx context.Context, l Life) (*stage.Child, error) {
	if l.Config == "" {
		l.Config = "config.yaml"
	}
	program, env := w.o.Plain, []string(nil)
	if l.Point != "" || l.Tagged {
		program, env = w.o.Tagged, []string{faultpoints.Variable + "=" + l.Point}
	}
	command := append(append([]string(nil), l.Wrap...), program, "serve", "--config", w.Path(l.Config))
	ready := make(chan struct{})
	var once sync.Once
	c, err := stage.Start(w.o.Launch, stage.Spec{
		Name: "serve", Executable: command[0], Args: command[1:], Env: env,
		Stderr: func(line string) {
			w.hear(line)
			if strings.Contains(line, `"message":"serving"`) {
				once.Do(func() { close(ready) })
			}
		},
	})
	if err != nil {
		return nil, err
	}
	err = c.Ready(ctx, startTime, ready)
	var early *stage.StartError
	if l.Point != "" && errors.As(err, &early) && early.Code == -1 {
		err = nil
	}
	return c, err
}

// Command runs another command of the program to its end, with the configuration of the first instance. Its error repeats
// what the command said.
func (w *World) Command(ctx context.Context, args ...string) error {
	out, err := exec.CommandContext(ctx, w.o.Plain, append(args, "--config", w.Path("config.yaml"))...).CombinedOutput()
	w.Note("creditonce %s\n%s", strings.Join(args, " "), out)
	if err != nil {
		return fmt.Errorf("creditonce %s: %w: %s", args[0], err, out)
	}
	return nil
}

// hear keeps the program's log, and what in it can only be a bug.
func (w *World) hear(line string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.log != nil {
		// The log is for people who look afterwards; a full disk must not stop the harness.
		_, _ = fmt.Fprintln(w.log, line)
	}
	if strings.HasPrefix(line, "panic:") || strings.HasPrefix(line, "fatal error:") || strings.Contains(line, `"level":"panic"`) {
		w.panics = append(w.panics, line)
	}
	if strings.Contains(line, "the store is in doubt") {
		w.doubts++
	}
}

// Note writes a line of the harness's own into the program's log, so that one file tells the story.
func (w *World) Note(format string, args ...any) {
	w.hear("== " + time.Now().UTC().Format("15:04:05.000") + " " + fmt.Sprintf(format, args...))
}

// Signal sends a signal to the program.
func (w *World) Signal(s syscall.Signal) error {
	if err := w.Serve.Process().Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("send %s to serve: %w", s, err)
	}
	return nil
}

// outlived is what the program says when a call outlives the time that a stop may take: the row stays claimed and is unknown
// at the next start, as after a kill. Over a half-open line that happens.
const outlived = "let calls under way finish: not finished in time"

// Stop ends the program in order; anything but a clean end, or a call that outlives the stop, is an error.
func (w *World) Stop() error {
	if !w.Serve.Running() {
		return fmt.Errorf("serve ended by itself with exit code %d:\n%s", w.Serve.Code(), w.Serve.Last())
	}
	code, err := w.Serve.Stop(15 * time.Second)
	if err == nil && code == 1 && strings.Contains(w.Serve.Last(), outlived) {
		return nil
	}
	if err == nil && code != 0 {
		err = fmt.Errorf("serve ended with exit code %d when it was asked to stop:\n%s", code, w.Serve.Last())
	}
	return err
}

// Close ends everything, also when called again. The folder stays.
func (w *World) Close() error {
	var errs []error
	for _, c := range []*stage.Child{w.Serve, w.pspChild, w.mt5Child} {
		if c != nil && c.Running() {
			_ = c.Process().Signal(syscall.SIGCONT) // one that is stopped cannot stop in order
			_, err := c.Stop(10 * time.Second)
			errs = append(errs, err)
		}
	}
	if w.Line != nil {
		errs = append(errs, w.Line.Close())
	}
	if w.log != nil {
		errs = append(errs, w.log.Close())
		w.log = nil
	}
	return errors.Join(errs...)
}

// Pause waits, or returns the end of ctx.
func Pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Until polls a condition of running processes until it holds; false when it does not within limit.
func Until(ctx context.Context, limit time.Duration, holds func(context.Context) bool) bool {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for !holds(ctx) {
		if Pause(ctx, 20*time.Millisecond) != nil {
			return false
		}
	}
	return true
}

// Register registers every login.
func (w *World) Register(ctx context.Context) error {
	for i := range AccountCount {
		if err := w.portal.register(ctx, AccountAt(i)); err != nil {
			return fmt.Errorf("register a login: %w", err)
		}
	}
	return nil
}

// Doubts is how often an instance has said that its store is in doubt.
func (w *World) Doubts() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.doubts
}

// PutBack notes that an older store was put back just now, by the command or by hand. Nothing may be running that calls MT5
// or takes events; a call that was made before may still be carried out.
func (w *World) PutBack(ctx context.Context, command bool) error {
	info, err := w.MT5.Info(ctx)
	var now invariant.World
	if err = errors.Join(err, w.readProvider(&now)); err != nil {
		return fmt.Errorf("note the restore: %w", err)
	}
	w.restores = append(w.restores, restore{invariant.Restore{At: time.Now().UTC(), Command: command, Sent: len(now.Sent)}, info.Connections})
	return nil
}

// restore is an older store that was put back, with the number of the newest connection to MT5 of before.
type restore struct {
	invariant.Restore
	conn uint64
}

// ResendAll lets the provider send every event once more, as a firm asks it to after a restore.
func (w *World) ResendAll(ctx context.Context) error {
	events, err := w.PSP.Events(ctx)
	for _, e := range events {
		if _, again := w.PSP.Resend(ctx, fakepsp.ResendRequest{Event: e.ID}); again != nil {
			err = errors.Join(err, again)
		}
	}
	return err
}

// Deposits is how many deposits were begun.
func (w *World) Deposits() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.deposits)
}

// longestRest bounds Rest however slowly a machine gets on.
const longestRest = 5 * time.Minute

// Rest waits until every event has its 2xx and every deposit is at rest: credited, or in front of a person. A row that a
// person sees may still settle itself, so those must stay as they are for longer than a quarantine. It gives up when for
// stuck nothing has changed, and tells what is not at rest; whether that is wrong is for Judge to judge.
func (w *World) Rest(ctx context.Context, stuck time.Duration) (open string) {
	rests, before, since := map[string]bool{}, "", time.Now()
	Until(ctx, longestRest, func(ctx context.Context) bool {
		var asked string
		open, asked = w.openEnds(ctx, rests)
		if open+asked != before {
			before, since = open+asked, time.Now()
		}
		quiet := time.Since(since)
		return !w.Serve.Running() || quiet > stuck || open == "" && (asked == "" || quiet > w.timing.Quarantine+time.Second)
	})
	return open
}

// openEnds names what is not at rest, and the deposits that a person is asked about.
func (w *World) openEnds(ctx context.Context, rests map[string]bool) (open, asked string) {
	if !w.Serve.Running() {
		return "serve has ended", ""
	}
	if st, err := w.PSP.Status(ctx); err != nil || st.Outstanding > 0 {
		return fmt.Sprintf("%d deliveries have no 2xx (%v)", st.Outstanding, err), ""
	}
	w.mu.Lock()
	deposits := append([]*deposit(nil), w.deposits...)
	w.mu.Unlock()
	return w.openDeposits(ctx, rests, deposits...)
}

// openDeposits names the deposits that are not at rest, and those that a person is asked about and need not have been. rests
// holds those that were seen at rest for good before.
func (w *World) openDeposits(ctx context.Context, rests map[string]bool, deposits ...*deposit) (open, asked string) {
	for _, d := range deposits {
		w.mu.Lock()
		paid, code := len(d.payments) > 0, d.code
		w.mu.Unlock()
		if rests[code] || !paid { // nothing ever becomes of a deposit that its client gave up
			continue
		}
		switch state := w.portal.state(ctx, code); {
		case state == "credited", state == "review" && d.way == wrongAmount:
			rests[code] = true
		case state == "review", state == gone && len(w.restores) > 0: // gone with the newer store
			asked += code + ", "
		default:
			open += fmt.Sprintf("%s (%s) is %q, ", code, d.way, state)
		}
	}
	return open, asked
}
