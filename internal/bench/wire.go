package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"
)

// wireDeposits is how many deposits are made for each second of the measurement; where a machine credits more, the
// measurement ends early.
const wireDeposits = 600

// wire pays deposits of a service of its own and counts how many rows a second become done, by its own log.
func (r *run) wire(ctx context.Context, mt5 *mt5Part) (err error) {
	s, err := r.openHouse(ctx, filepath.Join(r.dir, "wire"), mt5, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	n := int(wireDeposits * r.Span.Seconds())
	r.say("%d deposits, then rows from pending to done at the fake MT5 server, %d sessions", n, sessions)
	codes, err := makeDeposits(ctx, s, n)
	if err != nil {
		return err
	}
	t := s.target()
	done, err := r.Send(ctx, Load{Addr: t.Addr, Path: t.Path, Secret: t.Secret, Run: runName(), Connections: 64, Codes: codes, Minor: minor})
	if err != nil {
		return err
	}
	if done.Accepted != n {
		return fmt.Errorf("of %d payments of deposits %d were accepted", n, done.Accepted)
	}
	rate, err := s.doneRate(ctx, n, r.Span)
	r.out.Wire = Credited{Sessions: sessions, PerSecond: rate, AcceptPerSecond: float64(n) / done.Span.Seconds()}
	return err
}

func makeDeposits(ctx context.Context, s *service, n int) ([]string, error) {
	err := inParallel(ctx, min(n, wireAccounts), func(ctx context.Context, i int) error {
		return s.register(ctx, firstLogin+uint64(i))
	})
	if err != nil {
		return nil, err
	}
	codes := make([]string, n)
	err = inParallel(ctx, n, func(ctx context.Context, i int) (err error) {
		codes[i], err = s.deposit(ctx, firstLogin+uint64(i%wireAccounts), fmt.Sprint("wire-", i))
		return err
	})
	return codes, err
}

// inParallel calls do for 0 to n-1, sixteen at a time, until one fails.
func inParallel(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(16)
	for i := range n {
		work.Go(func() error { return do(ctx, i) })
	}
	return work.Wait()
}

// doneRate counts the rows that become done from now on, once the payments are all in, until the span is over or all
// n are done.
func (s *service) doneRate(ctx context.Context, n int, span time.Duration) (float64, error) {
	all := 0
	count := func() (int, error) {
		lines, err := s.log.lines()
		for _, line := range lines {
			if bytes.Contains(line, []byte(`"to":"done"`)) && bytes.Contains(line, []byte(`"message":"row moved"`)) {
				all++
			}
		}
		return all, err
	}
	first, err := count()
	if err != nil {
		return 0, err
	}
	begun := time.Now()
	for {
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return 0, err
		}
		now, err := count()
		if err != nil {
			return 0, err
		}
		took := time.Since(begun)
		if now >= n && now > first || took >= span {
			if now == first {
				return 0, fmt.Errorf("no row became done within %v: %s", span, s.lastWords())
			}
			return float64(now-first) / took.Seconds(), nil
		}
	}
}
