//go:build unix && !linux

package demo

import (
	"errors"
	"os"
	"syscall"
)

// attributes puts the child into a process group of its own, so that Ctrl-C reaches the demo alone. That it ends with
// the demo rests on its standard input here.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

const canStarve = false

func starve(*os.Process) error { return errors.New("this system cannot limit another process's files") }
