//go:build unix

package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// terminalSize gives columns and rows, or zeros where the terminal does not tell.
func terminalSize(f *os.File) (columns, rows int) {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, 0
	}
	return int(size.Col), int(size.Row)
}
