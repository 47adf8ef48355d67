//go:build !linux

package bench

import "time"

// processorTime is not known here.
func processorTime(int) (time.Duration, bool) { return 0, false }

// anonymousMemory is not known here.
func anonymousMemory(int) (int64, bool) { return 0, false }

// peakMemory is not known here.
func peakMemory() int64 { return 0 }

// lowPriority is not asked for here.
func lowPriority() {}
