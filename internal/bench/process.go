package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// Programs says how a measurement starts its parts, which are commands of this very program.
type Programs struct {
	Executable string   // this program's own file
	Env        []string // beside the process's own: what tells a command that it ends when its standard input does
}

// LoadCommand is the word that makes the program a load: see [RunLoad].
const LoadCommand = "bench-load"

// RunLoad is the child's side of a load: it reads a [Load] as JSON from in, makes it, and writes a [Loaded] to out.
func RunLoad(ctx context.Context, in io.Reader, out io.Writer) error {
	var l Load
	if err := json.NewDecoder(in).Decode(&l); err != nil {
		return fmt.Errorf("read the load: %w", err)
	}
	done, err := runLoad(ctx, l)
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(done)
}

// Send makes the load in a child process and waits for it.
func (p Programs) Send(ctx context.Context, l Load) (Loaded, error) {
	cmd := exec.CommandContext(ctx, p.Executable, LoadCommand)
	cmd.Env = append(os.Environ(), p.Env...)
	text, err := json.Marshal(l)
	if err != nil {
		return Loaded{}, err
	}
	var out, problem bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(text), &out, &problem
	if err := cmd.Run(); err != nil {
		return Loaded{}, fmt.Errorf("the load's process: %w: %s", err, bytes.TrimSpace(problem.Bytes()))
	}
	var done Loaded
	if err := json.Unmarshal(out.Bytes(), &done); err != nil {
		return Loaded{}, fmt.Errorf("the load's answer: %w", err)
	}
	done.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return done, nil
}

// part is a child that serves until it is told to end. Its stderr goes to a file, as a service's log does.
type part struct {
	name   string
	cmd    *exec.Cmd
	stdin  io.Closer
	stdout *bufio.Reader
	log    string // path
	ended  chan struct{}
}

// start starts a command of this program. The part must be stopped.
func (p Programs) start(name, dir string, env []string, args ...string) (*part, error) {
	log, err := os.Create(filepath.Join(dir, name+".log"))
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	defer func() { _ = log.Close() }()
	cmd := exec.Command(p.Executable, args...)
	cmd.Env = append(append(os.Environ(), p.Env...), env...)
	cmd.Stderr = log
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	out, in, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	cmd.Stdout = in
	if err := errors.Join(cmd.Start(), in.Close()); err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", name, err), out.Close())
	}
	s := &part{name: name, cmd: cmd, stdin: stdin, stdout: bufio.NewReader(out), log: log.Name(), ended: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // the error repeats the exit code, which ProcessState holds
		_ = out.Close()
		close(s.ended)
	}()
	return s, nil
}

// stopWithin bounds the end of a part; after it the part is killed.
const stopWithin = 40 * time.Second

// stop ends the part by the end of its standard input and waits until it is gone.
func (s *part) stop() error {
	_ = s.stdin.Close()
	timer := time.NewTimer(stopWithin)
	defer timer.Stop()
	select {
	case <-s.ended:
	case <-timer.C:
		_ = s.cmd.Process.Kill()
		<-s.ended
		return fmt.Errorf("%s did not end within %v and was killed", s.name, stopWithin)
	}
	if code := s.cmd.ProcessState.ExitCode(); code != 0 {
		return fmt.Errorf("%s ended with code %d: %s", s.name, code, s.lastWords())
	}
	return nil
}

// lastWords is the end of the part's log, for an error.
func (s *part) lastWords() string {
	text, err := os.ReadFile(s.log)
	if err != nil {
		return err.Error()
	}
	const most = 400
	if len(text) > most {
		text = text[len(text)-most:]
	}
	return string(bytes.TrimSpace(text))
}

// logReader follows a part's log from its start.
type logReader struct {
	part *part
	file *os.File
	rest []byte
}

func (s *part) follow() (*logReader, error) {
	f, err := os.Open(s.log)
	if err != nil {
		return nil, fmt.Errorf("read the log of %s: %w", s.name, err)
	}
	return &logReader{part: s, file: f}, nil
}

func (r *logReader) close() { _ = r.file.Close() }

// lines returns the whole lines that were written since the last call.
func (r *logReader) lines() ([][]byte, error) {
	more, err := io.ReadAll(r.file)
	if err != nil {
		return nil, fmt.Errorf("read the log of %s: %w", r.part.name, err)
	}
	text := append(r.rest, more...)
	end := bytes.LastIndexByte(text, '\n') + 1
	r.rest = bytes.Clone(text[end:])
	return bytes.Split(text[:end], []byte("\n")), nil
}

// await polls the log until a line has the message, and decodes it.
func (r *logReader) await(ctx context.Context, message string, into any) error {
	mark := []byte(`"message":"` + message + `"`)
	for {
		lines, err := r.lines()
		if err != nil {
			return err
		}
		for _, line := range lines {
			if bytes.Contains(line, mark) {
				return json.Unmarshal(line, into)
			}
		}
		if err := pause(ctx, 2*time.Millisecond); err != nil {
			return err
		}
		select {
		case <-r.part.ended:
			return fmt.Errorf("%s ended early: %s", r.part.name, r.part.lastWords())
		default:
		}
	}
}

// pause waits, or returns ctx's error when that ends first.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
