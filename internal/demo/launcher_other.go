//go:build !unix

package demo

import (
	"errors"
	"os"
	"syscall"
)

// attributes has nothing to ask for here; that a child ends with the demo rests on its standard input.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

const canStarve = false

func starve(*os.Process) error { return errors.New("this system cannot limit another process's files") }
