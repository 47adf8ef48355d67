package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"creditonce/credit"
	"creditonce/internal/admin"
	"creditonce/store"
)

const (
	// stopsEvery is how often it is looked for reasons for which nothing is credited.
	stopsEvery = 2 * time.Second
	// stopsCalm is how long a reason must be gone before its task closes: one that comes and goes is one task.
	stopsCalm = time.Minute
	// witnessEvery is how often the witness is written although nothing is claimed, so that people hear of a fault before the next payment.
	witnessEvery = time.Minute
	// sessionGrace is how long an MT5 server may be away before people get a task: servers restart.
	sessionGrace = 5 * time.Minute
)

// standstill knows for what reasons nothing is credited: it shows them to status and gives each that nobody hears of otherwise one task for as
// long as it lasts.
type standstill struct {
	app   *App
	every time.Duration
	told  credit.Standstills // of the one loop

	mu    sync.Mutex
	since map[string]time.Time // when each was seen first
	tried time.Duration        // the witness, on the boot clock
}

func newStandstill(a *App) *standstill {
	s := &standstill{app: a, every: stopsEvery, told: credit.Standstills{Calm: stopsCalm}}
	if a.cfg.Demo {
		s.every, s.told.Calm = stopsEvery/10, demoWindow
	}
	return s
}

// run looks until ctx ends or the store stops.
func (s *standstill) run(ctx context.Context) error {
	if err := s.resume(ctx); err != nil {
		return err
	}
	for s.app.clock.Wait(ctx, s.app.clock.Boot()+s.every, nil) == nil {
		if err := s.look(ctx); errors.Is(err, credit.ErrStopped) {
			return fmt.Errorf("standstill: %w", err)
		} else if err != nil && ctx.Err() == nil {
			s.app.log.Warn().Err(err).Msg("the task of a standstill is not written yet; the next look does")
		}
	}
	return nil
}

// resume finds the tasks that an earlier process opened.
func (s *standstill) resume(ctx context.Context) error {
	for after, more := credit.TaskID(0), true; more && ctx.Err() == nil; {
		page, err := s.app.store.Tasks(ctx, store.TaskQuery{OpenOnly: true, After: after, Limit: 500})
		if errors.Is(err, credit.ErrStopped) {
			return fmt.Errorf("standstill: %w", err)
		}
		more = err == nil && len(page) > 0 // what cannot be read, the sentinel tells of
		for _, t := range page {
			after = t.ID
			s.told.Resume(t)
		}
	}
	return nil
}

// look tries a witness that is due, and writes the tasks that follow from what stops the service now.
func (s *standstill) look(ctx context.Context) error {
	s.tryWitness(ctx)
	settings, err := s.app.store.Settings(ctx)
	if err != nil {
		return err
	}
	stops := s.stops(settings)
	open, closing := s.told.Decide(stops, s.app.clock.Boot(), s.app.clock.Now())
	if len(open)+len(closing) == 0 {
		return nil
	}
	opened, err := s.app.store.ChangeStore(ctx, func(now credit.Settings) (credit.StoreChange, error) {
		return credit.StoreChange{Settings: now, Open: open, Close: closing}, nil
	})
	if err != nil {
		return err
	}
	s.told.Written(open, closing)
	credit.Announce(ctx, s.app.observer, nil, opened, nil)
	for _, c := range closing {
		s.app.log.Info().Str("entity", c.Key.Entity).Msg("a standstill is over")
	}
	return nil
}

// tryWitness writes the witness once a minute, and at each look as long as it cannot be written; never before the first claim may be made.
func (s *standstill) tryWitness(ctx context.Context) {
	boot := s.app.clock.Boot()
	if s.app.cfg.Store.Witness == "" || boot < s.app.claimsFrom() {
		return
	}
	before := s.app.store.Refusing().Witness
	if before == nil && boot < s.tried+witnessEvery {
		return
	}
	s.tried = boot
	err := s.app.store.TryWitness(ctx) // its end and its fault show in Refusing
	after := s.app.store.Refusing().Witness
	switch {
	case before == nil && after != nil:
		s.app.log.Error().Err(err).Msg("the witness cannot be written: nothing is credited until it can")
	case before != nil && after == nil:
		s.app.log.Info().Msg("the witness can be written again")
		for label := range s.app.wakes {
			s.app.wake(label)
		}
	}
}

// stops lists the reasons of now, those for everybody first. It is safe for concurrent use.
func (s *standstill) stops(settings credit.Settings) []credit.Stop {
	out := append(settings.Stops(), s.ofStore()...)
	out = append(out, s.ofServers()...)
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := map[string]time.Time{}
	for i := range out {
		at, known := s.since[out[i].Key]
		switch {
		case !out[i].Since.IsZero():
			at = out[i].Since
		case !known:
			at = s.app.clock.Now()
		}
		seen[out[i].Key], out[i].Since = at, at
	}
	s.since = seen
	return out
}

// ofStore are the reasons that this process has: its start, the witness, the room.
func (s *standstill) ofStore() []credit.Stop {
	var out []credit.Stop
	if wait := s.app.claimsFrom() - s.app.clock.Boot(); wait > 0 {
		out = append(out, credit.Stop{Key: "start", Since: s.app.process.At, Why: s.app.store.Standing().Wait, Told: true,
			Next: fmt.Sprintf("it ends by itself in %s; see what became of the witness (store.witness)", wait.Round(time.Second))})
	}
	refusing := s.app.store.Refusing()
	if refusing.Witness != nil {
		out = append(out, credit.Stop{Key: "witness", Why: "the witness of the store cannot be written: " + refusing.Witness.Error(),
			Next: "see that the disk of " + s.app.cfg.Store.Witness + " is there and has room, and that the service's user may write the file; crediting goes on by itself. " +
				"Do not remove the file and do not point the configuration to another one"})
	}
	if refusing.Room != "" {
		why, next := refusing.Room, "make room on the disk of data_dir, or raise space.max_store and restart; crediting goes on by itself"
		if refusing.Intake {
			why += "; webhooks are refused too, and the providers send them again later"
		}
		out = append(out, credit.Stop{Key: "disk", Why: why, Next: next})
	}
	return out
}

// ofServers are the MT5 servers of which a session cannot be asked: the logins that fall to it wait.
func (s *standstill) ofServers() []credit.Stop {
	all := map[string]int{}
	away := map[string][]admin.Session{}
	for _, x := range s.app.observer.board.sessions() {
		if all[x.Server]++; !x.Ready {
			away[x.Server] = append(away[x.Server], x)
		}
	}
	var out []credit.Stop
	for _, label := range slices.Sorted(maps.Keys(away)) {
		first := away[label][0]
		why := "no session can be asked: " + first.Reason
		if n := len(away[label]); n < all[label] {
			why = fmt.Sprintf("%d of %d sessions cannot be asked, and the logins that fall to them wait: %s", n, all[label], first.Reason)
		}
		out = append(out, credit.Stop{Key: "mt5/" + label, Server: label, Why: why, Grace: sessionGrace,
			Next: "see that the server can be reached and takes the manager (network, addresses, password, allowed address, rights, clock): creditonce doctor tells more. Sessions open by themselves"})
	}
	return out
}

// stopped says to the lanes why the store takes no claim.
func (a *App) stopped() string { return a.store.Refusing().Claims() }

// shown is what status tells.
func (s *standstill) shown(settings credit.Settings) []admin.Stop {
	out := []admin.Stop{}
	for _, x := range s.stops(settings) {
		out = append(out, admin.StopOf(x))
	}
	return out
}
