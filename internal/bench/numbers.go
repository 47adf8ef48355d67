package bench

import (
	"slices"
	"time"
)

// quantiles sorts the times and returns the middle and the 99th of a hundred; zero without any.
func quantiles(took []time.Duration) (p50, p99 time.Duration) {
	if len(took) == 0 {
		return 0, 0
	}
	slices.Sort(took)
	return took[len(took)/2], took[min(len(took)-1, len(took)*99/100)]
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// medianBy is the row whose value is the median; the lower of the middle two. There must be at least one.
func medianBy[T any](rows []T, value func(T) float64) T {
	sorted := slices.SortedFunc(slices.Values(rows), func(a, b T) int {
		switch d := value(a) - value(b); {
		case d < 0:
			return -1
		case d > 0:
			return 1
		}
		return 0
	})
	return sorted[(len(sorted)-1)/2]
}
