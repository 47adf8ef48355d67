package stage

import (
	"os/exec"
	"runtime"
	"sync"
)

// ChildVariable tells a command that it is a child of a demo or a test: it ends when its standard input ends, because that
// is held open by its parent and nobody else.
const ChildVariable = "CREDITONCE_DEMO_CHILD"

// Launcher starts processes from one thread that lives as long as it does. Where the system can kill a child
// with its parent, what it watches is the thread that made the child, not the process.
type Launcher struct {
	jobs chan func()
	once sync.Once
}

// NewLauncher starts the thread. Close it when every child is gone.
func NewLauncher() *Launcher {
	l := &Launcher{jobs: make(chan func())}
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		for job := range l.jobs {
			job()
		}
	}()
	return l
}

// start is cmd.Start on that thread.
func (l *Launcher) start(cmd *exec.Cmd) error {
	result := make(chan error, 1)
	l.jobs <- func() { result <- cmd.Start() }
	return <-result
}

// Close ends the thread. Every child must be gone by then.
func (l *Launcher) Close() { l.once.Do(func() { close(l.jobs) }) }
