package stage

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

// Child is one process. It is always reaped. Safe for concurrent use.
type Child struct {
	name   string
	cmd    *exec.Cmd
	stdin  io.Closer // held open for the child's whole life
	exited chan struct{}
	code   int // once exited

	mu   sync.Mutex
	tail []string // the last lines of stderr, for an error message
}

// Spec says what to start and who hears it. Both callbacks are called from one goroutine each, line by line.
type Spec struct {
	Name       string // for messages
	Executable string
	Args       []string
	Env        []string // beside this process's own
	Stdout     func(line string)
	Stderr     func(line string)
}

// tailLines is how much of a dead child's stderr an error repeats.
const tailLines = 6

// Start starts a program as a child that ends with this process, and does not wait until it is ready.
func Start(l *Launcher, spec Spec) (*Child, error) {
	cmd := exec.Command(spec.Executable, spec.Args...)
	cmd.Env = append(append(os.Environ(), spec.Env...), ChildVariable+"=1")
	cmd.SysProcAttr = attributes()
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.Name, err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.Name, err)
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.Name, err)
	}
	c := &Child{name: spec.Name, cmd: cmd, stdin: stdin, exited: make(chan struct{})}
	if err := l.start(cmd); err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.Name, err)
	}
	go c.reap(stdout, stderr, spec)
	return c, nil
}

// reap reads both outputs to their end before it waits: Wait closes the pipes.
func (c *Child) reap(stdout, stderr io.Reader, spec Spec) {
	var reading sync.WaitGroup
	reading.Go(func() { eachLine(stdout, spec.Stdout) })
	reading.Go(func() {
		eachLine(stderr, func(line string) {
			c.remember(line)
			if spec.Stderr != nil {
				spec.Stderr(line)
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

func (c *Child) remember(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tail = append(c.tail, line); len(c.tail) > tailLines {
		c.tail = c.tail[1:]
	}
}

// Exited is closed once the child has been reaped.
func (c *Child) Exited() <-chan struct{} { return c.exited }

// Code is the exit code once Exited is closed; -1 when a signal ended the child.
func (c *Child) Code() int { return c.code }

// Process is the child's process, for signals and limits; it may have ended.
func (c *Child) Process() *os.Process { return c.cmd.Process }

// Last returns the end of what the child said on stderr.
func (c *Child) Last() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.tail, "\n")
}

// Running tells that the child has not been reaped.
func (c *Child) Running() bool {
	select {
	case <-c.exited:
		return false
	default:
		return true
	}
}

// Kill is kill -9: the child gets no chance to do anything more. It returns when the child is reaped.
func (c *Child) Kill() {
	_ = c.cmd.Process.Kill() // fails only when the child is gone already
	<-c.exited
}

// Stop asks the child to end in order, and kills it when it has not within grace. It returns the exit code.
func (c *Child) Stop(grace time.Duration) (int, error) {
	if !c.Running() {
		return c.code, nil
	}
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		c.Kill() // a system without SIGTERM
		return c.code, nil
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-c.exited:
		return c.code, nil
	case <-timer.C:
		c.Kill()
		return c.code, fmt.Errorf("%s did not stop within %s and was killed", c.name, grace)
	}
}

// Wait waits until the child has ended by itself and returns its exit code.
func (c *Child) Wait(ctx context.Context, limit time.Duration) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	select {
	case <-c.exited:
		return c.code, nil
	case <-ctx.Done():
		return 0, fmt.Errorf("wait for %s to end: %w", c.name, ctx.Err())
	}
}

// Ready waits until signal is closed. A child that ends first is an error that repeats its last words.
func (c *Child) Ready(ctx context.Context, limit time.Duration, signal <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	select {
	case <-signal:
		return nil
	case <-c.exited:
		return &StartError{Name: c.name, Code: c.code, words: c.Last()}
	case <-ctx.Done():
		return fmt.Errorf("wait for %s to be ready: %w\n%s", c.name, ctx.Err(), c.Last())
	}
}

// StartError is a child that ended before it was ready.
type StartError struct {
	Name  string
	Code  int // exit code; -1: ended by a signal
	words string
}

// Error repeats the child's last words: they say what to do.
func (e *StartError) Error() string {
	return fmt.Sprintf("%s ended before it was ready, with exit code %d:\n%s", e.Name, e.Code, e.words)
}

// PortTaken tells that another program was faster: other ports will do.
func PortTaken(err error) bool {
	var e *StartError
	return errors.As(err, &e) && (strings.Contains(e.words, "address already in use") || strings.Contains(e.words, "is taken") ||
		strings.Contains(e.words, "Only one usage of each socket address"))
}
