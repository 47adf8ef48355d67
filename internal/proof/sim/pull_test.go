package sim

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"creditonce/credit"
	"creditonce/internal/invariant"
)

// listKept is how long the provider lists an event, and listLate how late an event may come to be listed: within the overlap
// of two pulls, as the product may rely on (design §5.6).
const (
	listKept = 30 * 24 * time.Hour
	listLate = 50 * time.Minute
)

// errPage is a page of the provider's list that cannot be read.
var errPage = errors.New("the list answered 500")

// listed is an event as the provider's list shows it.
type listed struct {
	*delivery
	created time.Duration // world; the list's order
	shown   time.Duration // world; from when on the list has it
}

// list puts an event on the provider's list, which has an id once and shows nothing of tests and other merchants.
func (s *sim) list(d *delivery, created time.Duration) {
	if !d.facts.Live || d.facts.Merchant != "" || slices.ContainsFunc(s.listing, func(e listed) bool { return e.key == d.key }) {
		return
	}
	e := listed{d, created, created}
	if s.strikes(listShowsLate) {
		if e.shown += s.spread(time.Second, listLate); s.oneIn(2) {
			e.shown = created + s.between(0, listLate)
		}
		s.count(listedLate)
	}
	s.listing = append(s.listing, e)
	slices.SortStableFunc(s.listing, func(a, b listed) int { return cmp.Compare(b.created, a.created) }) // newest first
}

// loses draws whether the webhook of an event is lost for good: only where a list is pulled that has the event.
func (s *sim) loses(d *delivery) bool {
	return s.pulls && s.strikes(webhookLost) && slices.ContainsFunc(s.listing, func(e listed) bool { return e.delivery == d })
}

// eventList is the provider's list as one process reads it, page by page, with gates between the pages.
type eventList struct{ p *process }

var _ credit.EventList = eventList{}

// Kept implements credit.EventList.
func (eventList) Kept() time.Duration { return listKept }

// Pull implements credit.EventList. The provider has its own clock, and what is created meanwhile comes before the cursor.
func (l eventList) Pull(ctx context.Context, from, to time.Time, take func(credit.Event) error) (time.Time, error) {
	p, s := l.p, l.p.sim
	until := s.begun.Add(s.now).UTC()
	if to.Before(until) {
		until = to
	}
	expired := from.Before(p.clock().Now().Add(-listKept))
	in := func(e listed) bool {
		at := s.begun.Add(e.created)
		return e.shown <= s.now && !at.Before(from) && !at.After(to)
	}
	for after := -1; ; {
		s.sleep(s.spread(50*time.Millisecond, 20*time.Second), "page")
		switch {
		case ctx.Err() != nil:
			return until, ctx.Err()
		case s.now < s.listDown || s.strikes(listPageFails):
			s.count(listPageFailed)
			return until, errPage
		}
		page, last := s.page(in, after, 1+s.rng.IntN(4))
		for _, e := range page {
			if err := l.hand(ctx, e, take); err != nil {
				return until, err
			}
		}
		if after = last; last < 0 {
			break
		}
	}
	if expired {
		return until, credit.ErrExpired
	}
	return until, nil
}

// page is what follows the event with the number after in the list; last is -1 when nothing does. A cursor is an event, not a
// place: the list may have grown before it.
func (s *sim) page(in func(listed) bool, after, n int) (page []listed, last int) {
	begin := 0
	if after >= 0 {
		begin = 1 + slices.IndexFunc(s.listing, func(e listed) bool { return e.number == after })
	}
	for _, e := range s.listing[begin:] {
		if !in(e) {
			continue
		}
		if len(page) == n {
			return page, page[n-1].number
		}
		page = append(page, e)
	}
	return page, -1
}

// hand gives one event to the product, as the reader of the list does: under the id of the event, whatever brought it before.
func (l eventList) hand(ctx context.Context, e listed, take func(credit.Event) error) error {
	s, w := l.p.sim, l.p.sim.world()
	first := !e.acked
	w.Sent = append(w.Sent, invariant.Delivery{Provider: l.p.label, MessageKey: e.key, Pulled: true, At: s.begun.Add(s.now).UTC(), Facts: e.facts})
	if err := take(l.p.event(e.delivery)); err != nil {
		return err
	}
	s.dirty = true
	switch {
	case first && e.lost:
		s.count(pulledAlone)
		e.acked = true // nobody will send it, and it is stored: [book.Accept] has said so
	case first && !e.acked:
		s.count(pulledFirst)
	case first:
		s.count(pullRaced)
	}
	return nil
}

// puller pulls the list at intervals, in the process under test.
func (p *process) puller() *credit.Puller {
	return &credit.Puller{
		Provider: p.label, List: eventList{p}, Book: p.book, Receive: p.reception().Receive, Clock: exactClock{p.clock()},
		Observer: observer{p}, Every: p.sim.pullEvery,
	}
}

// exactClock is the clock of a loop that asks something outside the store: its turn comes when it says, not when the store has
// something for it.
type exactClock struct{ clock }

// Wait parks the actor.
func (c exactClock) Wait(ctx context.Context, until time.Duration, wake <-chan struct{}) error {
	s := c.p.sim
	s.steps++
	s.current.until, s.current.idle, s.current.wake, s.current.ctx = until, 0, wake, ctx
	s.park(s.current, "wait for the next pull")
	return ctx.Err()
}

// loseList lets the provider's list fail for a while.
func (s *sim) loseList() {
	s.listDown = s.now + s.spread(time.Minute, 3*time.Hour)
	s.note("the provider's list fails until %v", s.listDown)
}

// Change implements credit.PullBook.
func (b *book) Change(ctx context.Context, change func(credit.Settings) (credit.StoreChange, error)) (res credit.Result, err error) {
	err = b.commit("change", "changed", func() error {
		r, err := b.DB.Change(ctx, change)
		if err == nil {
			b.p.file.changed(nil, r.Opened, r.Closed)
			b.p.file.world.Settings, err = b.Settings(background)
		}
		res = r
		return err
	})
	return res, err
}
