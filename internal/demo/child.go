package demo

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// child is one process of a show. It is always reaped; exited is closed when it is.
type child struct {
	name   string
	cmd    *exec.Cmd
	stdin  io.Closer // held open for the child's whole life
	exited chan struct{}
	code   int // once exited; -1 when a signal ended it

	mu   sync.Mutex
	tail []string // the last lines of stderr, for an error message
}

// childSpec says what to start and who hears it. Both callbacks are called from one goroutine each, line by line.
type childSpec struct {
	name   string
	args   []string
	stdout func(line string)
	stderr func(line string)
}

// tailLines is how much of a dead child's stderr an error repeats.
const tailLines = 6

// startChild starts this program as a child with the given arguments.
func startChild(l *launcher, o Options, spec childSpec) (*child, error) {
	cmd := exec.Command(o.Executable, spec.args...)
	cmd.Env = append(os.Environ(), ChildVariable+"=1")
	cmd.SysProcAttr = attributes()
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.name, err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.name, err)
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.name, err)
	}
	c := &child{name: spec.name, cmd: cmd, stdin: stdin, exited: make(chan struct{})}
	if err := l.start(cmd); err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.name, err)
	}
	go c.reap(stdout, stderr, spec)
	return c, nil
}

// reap reads both outputs to their end before it waits: Wait closes the pipes.
func (c *child) reap(stdout, stderr io.Reader, spec childSpec) {
	var reading sync.WaitGroup
	reading.Go(func() { eachLine(stdout, spec.stdout) })
	reading.Go(func() {
		eachLine(stderr, func(line string) {
			c.remember(line)
			if spec.stderr != nil {
				spec.stderr(line)
			}
		})
	})
	reading.Wait()
	// The error only repeats the exit code, which ProcessState holds.
	_ = c.cmd.Wait()
	c.code = c.cmd.ProcessState.ExitCode()
	close(c.exited)
}

// eachLine hands over every whole or last line; what nobody wants to hear is still read, so that the child never blocks.
func eachLine(r io.Reader, hear func(string)) {
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadString('\n')
		if line = strings.TrimRight(line, "\r\n"); line != "" && hear != nil {
			hear(line)
		}
		if err != nil {
			return
		}
	}
}

func (c *child) remember(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tail = append(c.tail, line); len(c.tail) > tailLines {
		c.tail = c.tail[1:]
	}
}

// last returns the end of what the child said on stderr.
func (c *child) last() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.tail, "\n")
}

// running tells that the child has not been reaped.
func (c *child) running() bool {
	select {
	case <-c.exited:
		return false
	default:
		return true
	}
}

// kill is kill -9: the child gets no chance to do anything more. It returns when the child is reaped.
func (c *child) kill() {
	_ = c.cmd.Process.Kill() // fails only when the child is gone already
	<-c.exited
}

// stop asks the child to end in order, and kills it when it has not within grace. It returns the exit code.
func (c *child) stop(grace time.Duration) (int, error) {
	if !c.running() {
		return c.code, nil
	}
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		c.kill() // a system without SIGTERM
		return c.code, nil
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-c.exited:
		return c.code, nil
	case <-timer.C:
		c.kill()
		return c.code, fmt.Errorf("%s did not stop within %s and was killed", c.name, grace)
	}
}

// wait waits until the child has ended by itself and returns its exit code.
func (c *child) wait(ctx context.Context, limit time.Duration) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	select {
	case <-c.exited:
		return c.code, nil
	case <-ctx.Done():
		return 0, fmt.Errorf("wait for %s to end: %w", c.name, ctx.Err())
	}
}

// ready waits until signal is closed. A child that ends first is an error that repeats its last words.
func (c *child) ready(ctx context.Context, limit time.Duration, signal <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	select {
	case <-signal:
		return nil
	case <-c.exited:
		return &startError{name: c.name, code: c.code, words: c.last()}
	case <-ctx.Done():
		return fmt.Errorf("wait for %s to be ready: %w\n%s", c.name, ctx.Err(), c.last())
	}
}

// startError is a child that ended before it was ready.
type startError struct {
	name  string
	code  int
	words string
}

// Error repeats the child's last words: they say what to do.
func (e *startError) Error() string {
	return fmt.Sprintf("%s ended before it was ready, with exit code %d:\n%s", e.name, e.code, e.words)
}

// portTaken tells that another program was faster: other ports will do.
func portTaken(err error) bool {
	var e *startError
	return errors.As(err, &e) && (strings.Contains(e.words, "address already in use") || strings.Contains(e.words, "is taken") ||
		strings.Contains(e.words, "Only one usage of each socket address"))
}
