//go:build !linux

package store

import (
	"errors"
	"fmt"
)

// freeSpace is not known here: floors then need Options.Free.
func freeSpace(dir string) (uint64, error) {
	return 0, fmt.Errorf("free space of %s: %w", dir, errors.ErrUnsupported)
}
