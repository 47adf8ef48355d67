//go:build !unix

package stage

import (
	"errors"
	"os"
	"syscall"
)

// attributes has nothing to ask for here; that a child ends with the parent rests on its standard input.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

// CanStarve tells that Starve works here.
const CanStarve = false

// Starve is an error here.
func Starve(*os.Process) error { return errors.New("this system cannot limit another process's files") }
