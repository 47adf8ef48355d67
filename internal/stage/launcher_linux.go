package stage

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes puts the child into a process group of its own, so that Ctrl-C reaches the parent alone and the parent
// decides in which order things end; and lets the kernel kill it when the parent dies.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// CanStarve tells that Starve works here.
const CanStarve = true

// Starve makes every further write to a file by the process fail, from now on and without touching the file system:
// no file may grow beyond one byte. A Go program sees the write's error (EFBIG), as it would see a full disk's.
func Starve(p *os.Process) error {
	one := unix.Rlimit{Cur: 1, Max: 1}
	if err := unix.Prlimit(p.Pid, unix.RLIMIT_FSIZE, &one, nil); err != nil {
		return fmt.Errorf("take the disk away from process %d: %w", p.Pid, err)
	}
	return nil
}
