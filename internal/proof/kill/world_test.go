package kill

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"creditonce/internal/proof/faultpoints"
	"creditonce/internal/proof/faultproxy"
	"creditonce/internal/stage"
	"creditonce/mt5/fakemt5"
	"creditonce/webhook/fakepsp"
)

// startTime bounds how long a process may take until it is ready, on a slow and busy machine.
const startTime = 30 * time.Second

// world is one work folder with the processes of it.
type world struct {
	*folder
	programs programs
	launch   *stage.Launcher
	log      *os.File

	mt5Child, pspChild, serve *stage.Child
	line                      *faultproxy.Proxy
	mt5                       *fakemt5.Control
	psp                       *fakepsp.Control
	portal                    *portal

	mu       sync.Mutex
	deposits []*deposit
	panics   []string // lines of the log that speak of a bug
}

// openWorld starts everything but the program itself.
func openWorld(ctx context.Context, p programs, dir string, from *stage.Ports, launch *stage.Launcher, seed uint64) (*world, error) {
	f, err := makeFolder(dir, from)
	if err != nil {
		return nil, err
	}
	w := &world{folder: f, programs: p, launch: launch}
	return w, w.open(ctx, seed)
}

func (w *world) open(ctx context.Context, seed uint64) (err error) {
	if w.log, err = os.OpenFile(w.path("serve.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
		return err
	}
	if w.mt5Child, err = w.startFake(ctx, []string{
		"fakemt5", "--listen", stage.Loopback(w.ports.mt5), "--control", stage.Loopback(w.ports.mt5Control), "--world", w.path("world.json"),
		"--password-file", w.path("secrets", "mt5-manager"), "--ca-out", w.path("tls", "mt5-ca.pem"),
		"--key-file", w.path("tls", "mt5.key"), "--journal", w.path("mt5.jsonl"),
	}); err != nil {
		return err
	}
	if w.pspChild, err = w.startFake(ctx, []string{
		"fakepsp", "--url", "https://" + stage.Loopback(w.ports.webhooks) + "/webhooks/" + pspLabel, "--ca-file", w.path("tls", "webhooks-ca.pem"),
		"--secret-file", w.path("secrets", "webhook"), "--control", stage.Loopback(w.ports.pspControl), "--journal", w.path("provider.jsonl"),
		"--seed", fmt.Sprint(seed), "--repeat", "30", "--reorder", "50", "--max-delay", "300ms", "--backoff-max", "400ms",
	}); err != nil {
		return err
	}
	w.mt5, w.psp = fakemt5.NewControl(stage.Loopback(w.ports.mt5Control)), fakepsp.NewControl(stage.Loopback(w.ports.pspControl))
	if w.line, err = faultproxy.Start(stage.Loopback(w.ports.line), stage.Loopback(w.ports.mt5)); err != nil {
		return err
	}
	w.portal, err = newPortal(stage.Loopback(w.ports.api), w.keys.accounts, w.keys.deposits)
	return err
}

func (w *world) startFake(ctx context.Context, args []string) (*stage.Child, error) {
	ready := make(chan struct{})
	var once sync.Once
	c, err := stage.Start(w.launch, stage.Spec{
		Name: args[0], Executable: w.programs.plain, Args: args, Stdout: func(string) { once.Do(func() { close(ready) }) },
	})
	if err != nil {
		return nil, err
	}
	return c, c.Ready(ctx, startTime, ready)
}

// start starts the program, with a fault point or as it is shipped, and waits until it serves. A program that a fault
// point has ended before is no error.
func (w *world) start(ctx context.Context, point string) error {
	program, env := w.programs.plain, []string(nil)
	if point != "" {
		program, env = w.programs.tagged, []string{faultpoints.Variable + "=" + point}
	}
	ready := make(chan struct{})
	var once sync.Once
	c, err := stage.Start(w.launch, stage.Spec{
		Name: "serve", Executable: program, Args: []string{"serve", "--config", w.path("config.yaml")}, Env: env,
		Stderr: func(line string) {
			w.hear(line)
			if strings.Contains(line, `"message":"serving"`) {
				once.Do(func() { close(ready) })
			}
		},
	})
	if err != nil {
		return err
	}
	w.serve = c
	err = c.Ready(ctx, startTime, ready)
	var early *stage.StartError
	if point != "" && errors.As(err, &early) && early.Code == -1 {
		return nil
	}
	return err
}

// hear keeps the program's log, and what in it can only be a bug.
func (w *world) hear(line string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	// The log is for people who look afterwards; a full disk must not stop the harness.
	_, _ = fmt.Fprintln(w.log, line)
	if strings.HasPrefix(line, "panic:") || strings.HasPrefix(line, "fatal error:") || strings.Contains(line, `"level":"panic"`) {
		w.panics = append(w.panics, line)
	}
}

// note writes a line of the harness's own into the program's log, so that one file tells the story.
func (w *world) note(format string, args ...any) {
	w.hear("== " + time.Now().UTC().Format("15:04:05.000") + " " + fmt.Sprintf(format, args...))
}

// signal sends a signal to the program.
func (w *world) signal(s syscall.Signal) error {
	if err := w.serve.Process().Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("send %s to serve: %w", s, err)
	}
	return nil
}

// stop ends the program in order.
func (w *world) stop() error {
	if !w.serve.Running() {
		return fmt.Errorf("serve ended by itself with exit code %d:\n%s", w.serve.Code(), w.serve.Last())
	}
	code, err := w.serve.Stop(15 * time.Second)
	if err == nil && code != 0 {
		err = fmt.Errorf("serve ended with exit code %d when it was asked to stop:\n%s", code, w.serve.Last())
	}
	return err
}

// close ends everything. The folder stays.
func (w *world) close() error {
	var errs []error
	for _, c := range []*stage.Child{w.serve, w.pspChild, w.mt5Child} {
		if c != nil && c.Running() {
			_ = c.Process().Signal(syscall.SIGCONT) // one that is stopped cannot stop in order
			_, err := c.Stop(10 * time.Second)
			errs = append(errs, err)
		}
	}
	if w.line != nil {
		errs = append(errs, w.line.Close())
	}
	if w.log != nil {
		errs = append(errs, w.log.Close())
	}
	return errors.Join(errs...)
}

// pause waits, or returns the end of ctx.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// until polls a condition of running processes.
func until(ctx context.Context, limit time.Duration, holds func(context.Context) bool) bool {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for !holds(ctx) {
		if pause(ctx, 20*time.Millisecond) != nil {
			return false
		}
	}
	return true
}
