package bench

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"
)

// A portal's return page asks for a deposit; so often it does here, and so many milliseconds it may wait.
const (
	lookupRate  = 50
	lookupLimit = 5.0
)

func runName() string { return rand.Text()[:8] }

// lookups asks for one deposit again and again while the widest closed loop delivers.
func (r *run) lookups(ctx context.Context, product *Product) error {
	s := product.service
	if err := s.register(ctx, firstLogin); err != nil {
		return err
	}
	code, err := s.deposit(ctx, firstLogin, "lookup")
	if err != nil {
		return err
	}
	var rows []Lookup
	for range r.Rounds {
		r.say("the portal's look at a deposit, while %d connections deliver", Connections[len(Connections)-1])
		row, err := r.lookup(ctx, s, code)
		if err != nil {
			return err
		}
		rows = append(rows, row)
	}
	r.out.Lookup = medianBy(rows, func(l Lookup) float64 { return l.P99 })
	return nil
}

func (r *run) lookup(ctx context.Context, s *service, code string) (Lookup, error) {
	idle, err := ask(ctx, s, code, max(r.Span, 3*time.Second))
	if err != nil {
		return Lookup{}, err
	}
	loading, cancel := context.WithCancel(ctx)
	defer cancel()
	span := max(r.Span, 3*time.Second)
	loaded := make(chan error, 1)
	go func() {
		_, err := r.MeasureAccept(loading, s.target(), Connections[len(Connections)-1], span)
		loaded <- err
	}()
	took, err := ask(ctx, s, code, span)
	if err != nil {
		cancel()
		<-loaded //nolint:errcheck // it was ended, and says so
		return Lookup{}, err
	}
	if err := <-loaded; err != nil {
		return Lookup{}, err
	}
	p50, p99 := quantiles(took)
	idle50, idle99 := quantiles(idle)
	return Lookup{
		P50: milliseconds(p50), P99: milliseconds(p99), IdleP50: milliseconds(idle50), IdleP99: milliseconds(idle99),
	}, nil
}

// ask looks at fixed moments within the span, after the load's own warm-up, and counts from the planned moment.
func ask(ctx context.Context, s *service, code string, span time.Duration) ([]time.Duration, error) {
	c, err := dial(s.api, "")
	if err != nil {
		return nil, err
	}
	defer c.close()
	begun := time.Now().Add(2 * warmUp)
	var took []time.Duration
	for i := range int((span - 2*warmUp).Seconds() * lookupRate) {
		planned := begun.Add(time.Duration(i) * time.Second / lookupRate)
		if err := pause(ctx, time.Until(planned)); err != nil {
			return nil, err
		}
		// A timer that fires late is this process's delay, not the service's; an answer that comes late is the service's.
		if now := time.Now(); len(took) == 0 || planned.Sub(begun) == 0 || now.Sub(planned) < time.Second/lookupRate {
			planned = now
		}
		status, err := c.get("/v1/deposits/"+code, s.house.key)
		if err != nil {
			return nil, err
		}
		if status != 200 {
			return nil, fmt.Errorf("the look at a deposit was answered %d", status)
		}
		took = append(took, time.Since(planned))
	}
	return took, nil
}
