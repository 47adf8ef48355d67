package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// Load is one step's load on a webhook listener, made by a child process.
type Load struct {
	Addr        string        `json:"addr"`
	CAFile      string        `json:"ca_file,omitempty"` // TLS where it is given
	Path        string        `json:"path"`
	Secret      string        `json:"secret"`
	Run         string        `json:"run"`            // makes the payments of this load distinct from others'
	Connections int           `json:"connections"`    // each sends its next event once the last is answered
	Rate        int           `json:"rate,omitempty"` // instead: so many a second in all, whatever the answers take
	Span        time.Duration `json:"span"`
	Codes       []string      `json:"codes,omitempty"` // instead of Span: one payment for each of these deposits
	Minor       int64         `json:"minor"`           // the amount
}

// Loaded is what a load saw.
type Loaded struct {
	Sent     int           `json:"sent"`
	Accepted int           `json:"accepted"` // answered 200
	Busy     int           `json:"busy"`     // answered 503
	Other    int           `json:"other"`    // any other answer
	Span     time.Duration `json:"span"`
	P50      time.Duration `json:"p50"`
	P99      time.Duration `json:"p99"`
	CPU      time.Duration `json:"cpu"` // of the child; set by the parent
}

// warmUp is the part of a closed loop that is not counted: connections are made, and the first batches are small.
const warmUp = 200 * time.Millisecond

// runLoad makes the load. It fails where a connection breaks: a load with holes measures nothing.
func runLoad(ctx context.Context, l Load) (Loaded, error) {
	t := &tally{load: l, maker: &maker{secret: l.Secret, run: l.Run}}
	if l.Rate > 0 {
		return t.paced(ctx)
	}
	conns, err := dialAll(l)
	defer closeAll(conns)
	if err != nil {
		return Loaded{}, err
	}
	t.begun = time.Now()
	if len(l.Codes) == 0 {
		t.from, t.until = t.begun.Add(warmUp), t.begun.Add(warmUp+l.Span)
	}
	var wg sync.WaitGroup
	for i, c := range conns {
		wg.Go(func() { t.closedLoop(ctx, c, i) })
	}
	wg.Wait()
	return t.end(ctx)
}

func dialAll(l Load) (conns []*connection, err error) {
	for range l.Connections {
		c, err := dial(l.Addr, l.CAFile)
		if err != nil {
			return conns, err
		}
		conns = append(conns, c)
	}
	return conns, nil
}

func closeAll(conns []*connection) {
	for _, c := range conns {
		c.close()
	}
}

// tally is a load under way.
type tally struct {
	load        Load
	maker       *maker
	begun       time.Time
	from, until time.Time // what is counted; zero: everything

	mu   sync.Mutex
	out  Loaded
	took []time.Duration
	err  error
}

func (t *tally) closedLoop(ctx context.Context, c *connection, number int) {
	random := rand.New(rand.NewPCG(uint64(number), 0x5eed))
	var mine Loaded
	var took []time.Duration
	for i := number; ctx.Err() == nil; i += t.load.Connections {
		code := ""
		if len(t.load.Codes) > 0 {
			if i >= len(t.load.Codes) {
				break
			}
			code = t.load.Codes[i]
		}
		body, signature := t.maker.event(random, code, t.load.Minor, time.Now())
		at := time.Now()
		if !t.until.IsZero() && !at.Before(t.until) {
			break
		}
		status, err := c.post(t.load.Path, body, signature)
		if err != nil {
			t.fail(err)
			return
		}
		if answered := time.Now(); !at.Before(t.from) && (t.until.IsZero() || answered.Before(t.until)) {
			mine.count(status)
			took = append(took, answered.Sub(at))
		}
	}
	t.join(mine, took)
}

// paced sends at fixed moments, each on a connection that is free, and counts from the moment that was planned: a
// service that falls behind is not spared the events that it made wait.
func (t *tally) paced(ctx context.Context) (Loaded, error) {
	free := make(chan *connection, 256)
	random := rand.New(rand.NewPCG(1, 0x5eed))
	var wg sync.WaitGroup
	t.begun = time.Now()
	for i := range int(t.load.Span.Seconds() * float64(t.load.Rate)) {
		planned := t.begun.Add(time.Duration(i) * time.Second / time.Duration(t.load.Rate))
		body, signature := t.maker.event(random, "", t.load.Minor, time.Now())
		if pause(ctx, time.Until(planned)) != nil {
			break
		}
		wg.Go(func() { t.one(free, planned, body, signature) })
	}
	wg.Wait()
	close(free)
	for c := range free {
		c.close()
	}
	return t.end(ctx)
}

func (t *tally) one(free chan *connection, planned time.Time, body []byte, signature string) {
	var c *connection
	select {
	case c = <-free:
	default:
		var err error
		if c, err = dial(t.load.Addr, t.load.CAFile); err != nil {
			t.fail(err)
			return
		}
	}
	sent := time.Now()
	if sent.Before(planned) {
		planned = sent
	}
	status, err := c.post(t.load.Path, body, signature)
	if err != nil {
		t.fail(err)
		c.close()
		return
	}
	var mine Loaded
	mine.count(status)
	t.join(mine, []time.Duration{time.Since(planned)})
	select {
	case free <- c:
	default:
		c.close()
	}
}

func (l *Loaded) count(status int) {
	l.Sent++
	switch status {
	case 200:
		l.Accepted++
	case 503:
		l.Busy++
	default:
		l.Other++
	}
}

func (t *tally) join(mine Loaded, took []time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.out.Sent += mine.Sent
	t.out.Accepted += mine.Accepted
	t.out.Busy += mine.Busy
	t.out.Other += mine.Other
	t.took = append(t.took, took...)
}

func (t *tally) fail(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err == nil {
		t.err = err
	}
}

func (t *tally) end(ctx context.Context) (Loaded, error) {
	if err := ctx.Err(); err != nil {
		return Loaded{}, err
	}
	if t.err != nil {
		return Loaded{}, fmt.Errorf("load: %w", t.err)
	}
	t.out.Span = time.Since(t.begun)
	if !t.until.IsZero() {
		t.out.Span = t.load.Span
	}
	t.out.P50, t.out.P99 = quantiles(t.took)
	return t.out, nil
}
