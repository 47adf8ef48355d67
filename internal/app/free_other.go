//go:build !linux

package app

import "errors"

// freeBytes is known on Linux only.
func freeBytes(string) (uint64, error) {
	return 0, errors.New("free space is measured on Linux only")
}
