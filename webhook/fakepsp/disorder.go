package fakepsp

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"time"
)

// Disorder says how far the delivery of events strays from once and in order. The zero value
// delivers each event once and at once.
type Disorder struct {
	// Repeat is the percentage of events that are delivered twice; a fifth of these three times.
	Repeat int `json:"repeat_percent"`
	// Reorder is the percentage of deliveries that are held back, by up to MaxDelay, so that later
	// events overtake them.
	Reorder int `json:"reorder_percent"`
	// MaxDelay bounds how long a delivery is held back. Repeats always wait up to MaxDelay.
	MaxDelay time.Duration `json:"max_delay_ns"`
}

// Backoff is the pause between attempts: First after the first failure, doubled after each further
// one up to Max, less up to a quarter of it, drawn from the seed.
type Backoff struct {
	First time.Duration
	Max   time.Duration
}

// waits draws how long each delivery of one event is held back. It depends on nothing but its
// arguments, so that equal seeds and events give equal disorder however goroutines are scheduled.
// copies above 0 fixes how many deliveries there are.
func (d Disorder) waits(seed uint64, event string, copies int) []time.Duration {
	draw := drawFor(seed, event, 0)
	if copies == 0 {
		copies = 1
		if draw.IntN(100) < d.Repeat {
			copies = 2
			if draw.IntN(5) == 0 {
				copies = 3
			}
		}
	}
	out := make([]time.Duration, copies)
	for i := range out {
		if d.MaxDelay > 0 && (i > 0 || draw.IntN(100) < d.Reorder) {
			out[i] = time.Duration(draw.Int64N(int64(d.MaxDelay) + 1))
		}
	}
	return out
}

// after returns the pause after the failed attempt number n of a delivery.
func (b Backoff) after(seed uint64, event string, delivery, n int) time.Duration {
	pause := b.First
	for range n - 1 {
		if pause *= 2; pause >= b.Max {
			pause = b.Max
			break
		}
	}
	jitter := drawFor(seed, event, delivery<<20+n)
	return pause - time.Duration(jitter.Int64N(int64(pause)/4+1))
}

func drawFor(seed uint64, event string, purpose int) *rand.Rand {
	buf := binary.BigEndian.AppendUint64(nil, seed)
	buf = binary.BigEndian.AppendUint64(buf, uint64(purpose))
	sum := sha256.Sum256(append(buf, event...))
	return rand.New(rand.NewChaCha8(sum))
}
