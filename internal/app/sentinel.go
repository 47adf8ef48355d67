package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"creditonce/credit"
	"creditonce/internal/invariant"
	"creditonce/store"
)

const (
	// sentinelEvery is how often the sentinel looks.
	sentinelEvery = 2 * time.Minute
	// sentinelRows bounds how many moved rows, and how many open ones of each state at the start, one look judges;
	// sentinelRound how many of all rows its slow round goes on by, sentinelEvents how many events.
	sentinelRows   = 3000
	sentinelRound  = 500
	sentinelEvents = 1000
	// sentinelPiece is how many rows or events one snapshot holds: a few milliseconds' worth.
	sentinelPiece = 50
)

// sentinelBook is what the sentinel needs of the store.
type sentinelBook interface {
	excerpts
	reconExcerpts
	Counts(ctx context.Context) (store.Counts, error)
	ChangeStore(ctx context.Context, change func(credit.Settings) (credit.StoreChange, error)) ([]credit.Task, error)
}

// sentinel judges what the store holds while the service runs: what has changed since it last looked, and, slowly, everything.
// What cannot be puts the mode to hold and opens one task; intake goes on (design §12). One goroutine runs it.
type sentinel struct {
	book    sentinelBook
	clock   credit.Clock
	log     zerolog.Logger
	process credit.Process
	timing  credit.Timing
	heard   *heard

	started bool
	event   credit.EventID // the newest that was judged
	round   credit.ID      // the slow round's place
	recon   reconRound
	pending []credit.Breach // found, and the store could not be told
}

func (a *App) newSentinel() *sentinel {
	a.observer.heard.wake = make(chan struct{}, 1)
	return &sentinel{book: a.store, clock: a.clock, log: a.log, process: a.process, timing: a.timing, heard: &a.observer.heard}
}

// judgeFirst is the look before anything may be claimed; what it finds decides in which mode the service starts.
func (a *App) judgeFirst(ctx context.Context) (err error) {
	if err = a.sentinel.look(ctx); err == nil {
		a.settings, err = a.store.Settings(ctx)
	}
	return err
}

// run looks until ctx ends or the store stops. The first look has been made.
func (s *sentinel) run(ctx context.Context) error {
	for s.clock.Wait(ctx, s.clock.Boot()+sentinelEvery, s.heard.wake) == nil {
		if err := s.look(ctx); err != nil {
			return err
		}
	}
	return nil
}

// look judges once. Only the end of the store is returned: what could not be read now is read the next time.
func (s *sentinel) look(ctx context.Context) error {
	err := s.gather(ctx)
	if err == nil && len(s.pending) > 0 {
		err = s.hold(ctx)
	}
	switch {
	case err == nil, ctx.Err() != nil:
		return nil //nolint:nilerr // a stop ends the look, whatever it met
	case errors.Is(err, credit.ErrStopped):
		return fmt.Errorf("sentinel: %w", err)
	}
	s.log.Warn().Err(err).Msg("the store was not judged to the end; the next look does")
	return nil
}

// gather judges everything that is to be looked at now and adds what it finds to pending.
func (s *sentinel) gather(ctx context.Context) error {
	rows, odd := s.heard.take(sentinelRows)
	s.pending = append(s.pending, odd...)
	if !s.started {
		open, err := s.first(ctx)
		if err != nil {
			return err
		}
		rows, s.started = append(rows, open...), true
	}
	next, err := s.nextRound(ctx)
	if err == nil {
		rows = append(rows, next...)
		err = s.judgeRows(ctx, rows)
	}
	if err != nil {
		s.heard.again(rows)
		return err
	}
	if err := s.judgeEvents(ctx); err != nil {
		return err
	}
	found, err := s.recon.look(ctx, s.book)
	s.pending = append(s.pending, found...)
	return err
}

// nextRound lists where the slow round goes on; at the end of all rows it begins again.
func (s *sentinel) nextRound(ctx context.Context) (rows []credit.ID, err error) {
	next, err := s.book.Rows(ctx, credit.RowQuery{After: s.round, Limit: sentinelRound})
	if err == nil && len(next) == 0 && s.round > 0 {
		s.round = 0
		next, err = s.book.Rows(ctx, credit.RowQuery{Limit: sentinelRound})
	}
	if errors.Is(err, credit.ErrImpossible) {
		s.pending = append(s.pending, damaged(err))
		s.round += sentinelRound // numbers have no gaps: the round goes on behind the damage
		return nil, nil
	}
	for _, row := range next {
		rows, s.round = append(rows, row.ID), row.ID
	}
	return rows, err
}

// first finds where a process begins: the rows that are not settled, and the newest events.
func (s *sentinel) first(ctx context.Context) (rows []credit.ID, err error) {
	n, err := s.book.Counts(ctx)
	if err != nil {
		return nil, err
	}
	s.event = credit.EventID(max(0, n.Events-sentinelEvents))
	for _, state := range []credit.State{credit.Claimed, credit.Unknown, credit.Pending, credit.Failed, credit.Held} {
		open, err := s.book.Rows(ctx, credit.RowQuery{State: state, Limit: sentinelRows})
		if errors.Is(err, credit.ErrImpossible) {
			s.pending = append(s.pending, damaged(err))
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, row := range open {
			rows = append(rows, row.ID)
		}
	}
	return rows, nil
}

func (s *sentinel) judgeRows(ctx context.Context, rows []credit.ID) error {
	for from := 0; from < len(rows); from += sentinelPiece {
		piece := rows[from:min(from+sentinelPiece, len(rows))]
		j, err := judge(ctx, s.book, s.known(), store.ExcerptQuery{Rows: piece})
		s.pending = append(s.pending, j.breaches()...)
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *sentinel) judgeEvents(ctx context.Context) error {
	for n := 0; n < sentinelEvents; n += sentinelPiece {
		j, err := judge(ctx, s.book, s.known(), store.ExcerptQuery{EventsAfter: s.event, Events: sentinelPiece})
		s.pending = append(s.pending, j.breaches()...)
		if err != nil {
			return err
		}
		last := s.event
		for _, e := range j.excerpt.Events { // among them older ones, which the rows' histories name
			s.event = max(s.event, e.ID)
		}
		switch {
		case s.event == last && len(j.violations) > 0 && len(j.excerpt.Events) == 0: // damaged: one piece on
			s.event += sentinelPiece
		case s.event-last < sentinelPiece:
			return nil
		}
	}
	return nil
}

// known is what the service knows of itself: a look of this process can be measured by its own waits.
func (s *sentinel) known() invariant.World {
	return invariant.World{
		Now: s.clock.Now(), Quarantine: s.timing.Quarantine, SecondLook: s.timing.SecondLook, Lease: s.timing.Lease,
		Processes: []invariant.Process{{ID: s.process.ID, Started: s.process.Started}},
	}
}

// hold tells the store what was found: the mode and the task in one transaction. Each breach is told once.
func (s *sentinel) hold(ctx context.Context) error {
	var fresh []credit.Breach
	opened, err := s.book.ChangeStore(ctx, func(now credit.Settings) (change credit.StoreChange, err error) {
		change, fresh, err = credit.HoldForBreaches(now, s.pending, s.clock.Now())
		return change, err
	})
	if errors.Is(err, credit.ErrConflict) { // people know of all of it
		s.pending = nil
		return nil
	}
	if err != nil {
		return err
	}
	s.pending = nil
	e := s.log.Error().Int("breaches", len(fresh)).Str("invariant", fresh[0].Name).Str("breach", fresh[0].Text)
	if len(opened) > 0 {
		e.Uint64("task_id", uint64(opened[0].ID))
	}
	e.Msg("an invariant is broken: the mode is hold, nothing is called; webhooks go on")
	return nil
}
