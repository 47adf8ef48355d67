package fakepsp

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// poster sends one body with its signature header and returns the status of the answer.
type poster func(ctx context.Context, body []byte, signature string) (int, error)

// courier carries deliveries to the receiver: each is tried until its 2xx is on disk, at most
// `slots` at a time, each attempt with a fresh timestamp and signature. A journal error ends every
// delivery: an answer that cannot be recorded must not count.
type courier struct {
	post    poster
	secrets []string
	backoff Backoff
	seed    uint64
	now     func() time.Time
	journal *journal
	slots   chan struct{}
	onTried func(Attempt)

	ctx  context.Context
	stop context.CancelFunc
	wg   sync.WaitGroup

	mu      sync.Mutex
	open    int
	changed chan struct{} // closed and replaced when open reaches 0 or err is set
	err     error
}

// carry begins the deliveries. Their dispatch records must be on disk already.
func (c *courier) carry(e Event, dispatches []Dispatch) {
	c.mu.Lock()
	c.open += len(dispatches)
	c.mu.Unlock()
	for _, d := range dispatches {
		c.wg.Go(func() {
			if err := c.deliver(e, d); err != nil {
				c.fail(err)
			}
		})
	}
}

// deliver returns nil when the 2xx is on disk or the courier was stopped; what is not delivered then
// goes on at the next start. It returns an error only from the journal.
func (c *courier) deliver(e Event, d Dispatch) error {
	wait := d.Wait
	for number := 1; ; number++ {
		if !c.pause(wait) || !c.take() {
			return nil
		}
		acknowledged, err := c.try(e, d.Delivery, number)
		<-c.slots
		if err != nil {
			return err
		}
		if acknowledged {
			c.finish()
			return nil
		}
		wait = c.backoff.after(c.seed, e.ID, d.Delivery, number)
	}
}

func (c *courier) try(e Event, delivery, number int) (bool, error) {
	begin := c.now()
	a := Attempt{Event: e.ID, Delivery: delivery, Number: number, SignedAt: begin.Unix(), Started: true}
	if _, err := c.journal.append(Record{Attempt: &a}); err != nil {
		return false, err
	}
	status, err := c.post(c.ctx, e.Body, SignAll(c.secrets, e.Body, begin))
	a.Started, a.Status, a.Took = false, status, c.now().Sub(begin)
	if err != nil {
		a.Status, a.Error = 0, err.Error()
	}
	a.Acknowledged = a.Status >= 200 && a.Status <= 299
	result := a
	if err := c.journal.commit(Record{Attempt: &result}); err != nil {
		return false, err
	}
	c.onTried(a)
	return a.Acknowledged, nil
}

func (c *courier) take() bool {
	select {
	case c.slots <- struct{}{}:
		return true
	case <-c.ctx.Done():
		return false
	}
}

func (c *courier) pause(d time.Duration) bool {
	if d <= 0 {
		return c.ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-c.ctx.Done():
		return false
	}
}

func (c *courier) finish() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open--; c.open == 0 {
		c.wake()
	}
}

func (c *courier) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = fmt.Errorf("deliver events: %w", err)
		c.wake()
	}
	c.stop()
}

func (c *courier) wake() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// outstanding is the number of deliveries whose 2xx is not on disk yet.
func (c *courier) outstanding() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.open
}

// drain returns nil once no delivery is outstanding, or the journal's error, or ctx's.
func (c *courier) drain(ctx context.Context) error {
	for {
		c.mu.Lock()
		open, err, changed := c.open, c.err, c.changed
		c.mu.Unlock()
		if err != nil {
			return err
		}
		if open == 0 {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("wait for %d deliveries: %w", open, ctx.Err())
		}
	}
}

func (c *courier) close() {
	c.stop()
	c.wg.Wait()
}
