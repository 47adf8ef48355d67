package credit

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// pullActor is who the records name for what a pull has decided.
const pullActor = "pull"

// EventList is a provider's own list of events (design §5.6).
type EventList interface {
	// Kept is how long the provider lists an event.
	Kept() time.Duration
	// Pull hands take every event that the provider dates from from to to, in any order, an event perhaps twice. until is
	// the end of what the list can be complete to by the provider's clock, at most to. A nil error says that everything
	// which the provider lists of the window was handed over; an [ErrExpired], that this holds but for what is too old to
	// be listed. A [*PullRefusal] says what a person must do. An error of take ends the pull and is returned.
	Pull(ctx context.Context, from, to time.Time, take func(Event) error) (until time.Time, err error)
}

// PullBook is what a Puller needs of the store.
type PullBook interface {
	Settings(ctx context.Context) (Settings, error)
	// Change decides on the settings and the tasks about the store in one transaction and writes them. change is pure and
	// may run more than once; its error is returned as it is, and nothing is written.
	Change(ctx context.Context, change func(Settings) (StoreChange, error)) (Result, error)
}

// Puller pulls one provider's list at intervals and takes in what no webhook brought; after a restore or takeover it pulls
// the gap first. Webhooks are the fast path, the pull is the safe one.
type Puller struct {
	Provider string // label
	List     EventList
	Book     PullBook
	Receive  func(context.Context, Event) (Receipt, error) // the accept path of the webhooks
	Clock    Clock
	Observer Observer
	Every    time.Duration

	expired int // number of the restore whose gap is older than what is listed: it was pulled as far as that goes
}

// Run pulls at once and then at intervals, until ctx ends or the store stops. It returns nil when ctx ended it.
func (p *Puller) Run(ctx context.Context) error {
	for {
		err := p.round(ctx)
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // the end of ctx is a clean stop, whatever the round met
		case errors.Is(err, ErrStopped):
			return fmt.Errorf("pull of provider %s: %w", p.Provider, err)
		case err != nil: // a full queue or disk: the next round tries again
			p.Observer.Note(ctx, Note{What: "pull not finished", Err: fmt.Errorf("provider %s: %w", p.Provider, err), Retry: p.Every})
		}
		if p.Clock.Wait(ctx, p.Clock.Boot()+p.Every, nil) != nil {
			return nil //nolint:nilerr // Wait fails when ctx ends, which is a clean stop
		}
	}
}

// round pulls the gap of a restore where one is open, then the last window. The gap comes first: what it brings is no sign
// of lost webhooks.
func (p *Puller) round(ctx context.Context) error {
	s, err := p.Book.Settings(ctx)
	if err != nil {
		return err
	}
	for _, g := range s.OpenGaps() {
		if g.Provider != p.Provider || p.expired == s.Restore.Number {
			continue
		}
		if went, err := p.gap(ctx, g, s.Restore.Number); !went || err != nil {
			return err
		}
	}
	now := p.Clock.Now()
	// The youngest events are left to the next round: their webhooks are under way.
	from, bounded := pullWindow(s, p.Provider, now, p.List.Kept())
	return p.end(ctx, p.pull(ctx, from, now.Add(-min(time.Minute, p.Every/5)), bounded))
}

// gap pulls what may be missing since the restore; went tells that the list was read as far as it goes.
func (p *Puller) gap(ctx context.Context, g Gap, restore int) (went bool, err error) {
	r := p.pull(ctx, g.From, p.Clock.Now(), false)
	r.missed = 0 // it came while the store was away, or was lost with its end
	if r.err != nil && !errors.Is(r.err, ErrExpired) {
		return false, p.end(ctx, r)
	}
	done, err := p.Book.Change(ctx, func(s Settings) (StoreChange, error) { return gapRead(s, r) })
	switch {
	case errors.Is(err, ErrInvalid): // the provider's clock has not reached the restore yet
		p.Observer.Note(ctx, Note{What: "the gap is not complete yet", Err: err, Retry: p.Every})
		return true, nil
	case err != nil:
		return false, err
	case r.err != nil:
		p.expired = restore
	default:
		p.Observer.Note(ctx, Note{What: "the gap of provider " + p.Provider + " is pulled"})
	}
	Announce(ctx, p.Observer, nil, done.Opened, done.Closed)
	return true, nil
}

// pull takes one window in. Its result says whether everything was.
func (p *Puller) pull(ctx context.Context, from, to time.Time, bounded bool) pullResult {
	r := pullResult{provider: p.Provider, from: from, to: to}
	if to.Before(from) { // the store is new, or the clock here is slow: what there is by the provider's clock, and no progress
		to, r.to = from.Add(p.List.Kept()), from
	}
	until, err := p.List.Pull(ctx, from, to, func(e Event) error {
		r.events++
		receipt, err := p.Receive(ctx, e)
		if err == nil && !receipt.Repeat && !cameDifferently(receipt) {
			r.missed++
			p.Observer.Note(ctx, Note{What: "event found by the pull only", Event: &e})
		}
		return err
	})
	r.at, r.err = p.Clock.Now(), err
	if until.Before(r.to) {
		r.to = until
	}
	if clockIsFast(from, until, p.List.Kept(), bounded, err) {
		r.err = fmt.Errorf("the clock of this machine is fast: it says %s, and the provider's %s, so the window that was asked for has not come yet or seemed too old",
			timeText(r.at), timeText(until))
	}
	return r
}

// cameDifferently tells that the event was here already, with other facts.
func cameDifferently(r Receipt) bool {
	for _, t := range r.Opened {
		if t.Kind == TaskEventDiffers {
			return true
		}
	}
	return false
}

// end writes what the pull changes. A store that is stopping, or a caller that is, is no problem of the provider's.
func (p *Puller) end(ctx context.Context, r pullResult) error {
	if r.err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if errors.Is(r.err, ErrStopped) || errors.Is(r.err, ErrBusy) {
			return r.err
		}
		p.Observer.Note(ctx, Note{What: "the provider's list is not complete", Err: fmt.Errorf("provider %s: %w", p.Provider, r.err), Retry: p.Every})
	}
	done, err := p.Book.Change(ctx, func(s Settings) (StoreChange, error) { return pullEnded(s, r, 2*p.Every), nil })
	if err != nil {
		return err
	}
	Announce(ctx, p.Observer, nil, done.Opened, done.Closed)
	return nil
}
