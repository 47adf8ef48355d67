//go:build unix && !linux

package stage

import (
	"errors"
	"os"
	"syscall"
)

// attributes puts the child into a process group of its own, so that Ctrl-C reaches the parent alone. That it ends with
// the parent rests on its standard input here.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// CanStarve tells that Starve works here.
const CanStarve = false

// Starve is an error here.
func Starve(*os.Process) error { return errors.New("this system cannot limit another process's files") }
