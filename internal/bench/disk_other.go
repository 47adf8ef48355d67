//go:build !linux

package bench

import "os"

// syncData is a whole sync where there is no fdatasync, as in the store's own engine.
func syncData(f *os.File) error { return f.Sync() }
