package demo

import (
	"os/exec"
	"runtime"
	"sync"
)

// ChildVariable tells a command that it is a child of a demo: it ends when its standard input ends, because that is
// held open by the demo and nobody else.
const ChildVariable = "CREDITONCE_DEMO_CHILD"

// launcher starts processes from one thread that lives as long as the launcher. Where the system can kill a child
// with its parent, what it watches is the thread that made the child, not the process.
type launcher struct {
	jobs chan func()
	once sync.Once
}

func newLauncher() *launcher {
	l := &launcher{jobs: make(chan func())}
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		for job := range l.jobs {
			job()
		}
	}()
	return l
}

// start is cmd.Start on the launcher's thread.
func (l *launcher) start(cmd *exec.Cmd) error {
	result := make(chan error, 1)
	l.jobs <- func() { result <- cmd.Start() }
	return <-result
}

// close ends the thread. Every child must be gone by then.
func (l *launcher) close() { l.once.Do(func() { close(l.jobs) }) }
