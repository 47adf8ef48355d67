//go:build !linux

package app

import "time"

var processStart = time.Now()

// bootTime is the monotonic clock since process start. It may stop while the machine is suspended, which only
// makes waits longer; values are never compared across processes.
func bootTime() time.Duration { return time.Since(processStart) }
