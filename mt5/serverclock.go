package mt5

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Offsets are whole quarters of an hour from UTC−12 to UTC+14, with an hour for daylight saving. More means
// that one of the two clocks is wrong.
const (
	offsetStep = 15 * time.Minute
	offsetMost = 15 * time.Hour
)

// daylightSaving is how far a change of the clock may move an offset.
const daylightSaving = time.Hour

// compareOffset reports a server whose zone has moved since it was probed.
func (s *Session) compareOffset(now time.Duration) {
	o, wants := s.cfg.Observer.(OffsetObserver)
	if known := s.cfg.Offset; wants && known != nil && (now-*known).Abs() > daylightSaving {
		o.OffsetMoved(s.cfg.Label, s.index, *known, now)
	}
}

// serverClock is the server's wall clock as one session measured it.
type serverClock struct {
	generation uint64 // of the session; 0: never measured
	at         time.Duration
	server     int64 // seconds on the server's own clock at boot time at
	offset     time.Duration
}

func (c serverClock) fresh(generation uint64, now, limit time.Duration) bool {
	return c.generation == generation && now-c.at <= limit
}

// now is the server's clock. It goes on by the boot clock, so a jump of our own wall clock does not move it.
func (c serverClock) now(boot time.Duration) int64 {
	return c.server + int64((boot-c.at)/time.Second)
}

// measure reads the server's clock (§1.3, Traps 8): its wall time in seconds, as if it were UTC.
func (s *Session) measure(ctx context.Context) error {
	e, err := s.get(ctx, "time/server", nil)
	if err != nil {
		return s.failed("read the server's clock", err)
	}
	var answer struct{ Time scalar }
	if err := fields(e.answer, &answer); err != nil {
		return s.failed("read the server's clock", err)
	}
	text, _, _ := strings.Cut(answer.Time.text, " ")
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil || seconds <= 0 {
		return s.failed("read the server's clock", errGarbled)
	}
	offset := time.Unix(seconds, 0).Sub(s.cfg.Clock.Now()).Round(offsetStep)
	if offset.Abs() > offsetMost {
		return s.failed("read the server's clock", fmt.Errorf("it is %s away from UTC; correct this machine's clock or the server's", offset))
	}
	s.clock = serverClock{generation: s.generation, at: s.cfg.Clock.Boot(), server: seconds, offset: offset}
	s.compareOffset(offset)
	return nil
}
