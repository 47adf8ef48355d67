package mt5

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"creditonce/credit"
)

// How far the window of a look is wider than what is asked for (design §7): deals carry the server's own wall
// clock, whose zone and daylight saving move (Traps 8).
const (
	widenBefore = 48 * time.Hour
	widenAfter  = 24 * time.Hour
)

// window is a span of the server's own clock in seconds.
type window struct{ from, to int64 }

func (w window) holds(at int64) bool { return at >= w.from && at <= w.to }

// listing is a login's deals in a window, as a source.
type listing struct {
	s     *Session
	login uint64
	win   window
}

func (l listing) params() url.Values {
	return url.Values{
		"login": {number(l.login)},
		"from":  {strconv.FormatInt(l.win.from, 10)}, "to": {strconv.FormatInt(l.win.to, 10)},
	}
}

// total asks for the number of deals. The login is known to exist wherever this is used, so every documented
// or seen form of "none" counts as 0 (Traps 11); the page that is always asked for afterwards must agree.
func (l listing) total(ctx context.Context) (int, error) {
	raw, none, err := l.ask(ctx, "deal/get_total", l.params())
	if err != nil || none {
		return 0, err
	}
	var answer struct{ Total scalar }
	if err := fields(raw, &answer); err != nil {
		return 0, l.s.odd(err)
	}
	n, err := answer.Total.uint()
	if err != nil || n > 1<<40 {
		return 0, l.s.odd(errGarbled)
	}
	return int(n), nil
}

// page asks for rows. No rows are returned for every form of "none"; whoever asked compares with the total.
func (l listing) page(ctx context.Context, offset, n int) ([]row, error) {
	p := l.params()
	p.Set("offset", strconv.Itoa(offset))
	p.Set("total", strconv.Itoa(n))
	raw, none, err := l.ask(ctx, "deal/get_page", p)
	if err != nil {
		return nil, err
	}
	l.s.step(ctx, credit.StepLookPage)
	if none {
		return nil, nil
	}
	rows, err := parseRows(raw)
	if err != nil {
		return nil, l.s.odd(err)
	}
	return rows, nil
}

// ask makes a list read; none tells that the answer is a form of "there are none": success without content,
// code 1 or code 13 (Traps 11).
func (l listing) ask(ctx context.Context, endpoint string, p url.Values) (raw json.RawMessage, none bool, err error) {
	e, err := l.s.get(ctx, endpoint, p)
	var code *codeError
	switch {
	case errors.As(err, &code) && (code.code == codeNothing || code.code == codeNotFound):
		return nil, true, nil
	case err != nil:
		return nil, false, err
	case e.answer == nil, isEmptyList(e.answer):
		return nil, true, nil
	}
	return e.answer, false, nil
}

func isEmptyList(raw json.RawMessage) bool {
	var list []json.RawMessage
	return json.Unmarshal(raw, &list) == nil && len(list) == 0
}

// Look implements credit.Session: a complete lookup as design §7 defines it, or the reason why there is none.
// All of it happens on one session; when that is lost midway the look is made once more.
func (s *Session) Look(ctx context.Context, q credit.LookQuery) credit.Sighting {
	if err := s.enter(); err != nil {
		return incomplete(err)
	}
	defer s.leave()
	return s.look(ctx, q)
}

func (s *Session) look(ctx context.Context, q credit.LookQuery) credit.Sighting {
	var sighting credit.Sighting
	err := s.twice(ctx, func() (err error) {
		sighting, err = s.lookOnce(ctx, q)
		return err
	})
	switch {
	case errors.Is(err, errForeign):
		s.drop(err.Error())
		return incomplete(err)
	case errors.Is(err, credit.ErrNotFound):
		sighting = incomplete(fmt.Errorf("MT5 says that login %d does not exist", q.Login))
		sighting.LoginMissing = true
		return sighting
	case err != nil:
		return incomplete(err)
	}
	return sighting
}

func incomplete(err error) credit.Sighting { return credit.Sighting{Reason: err.Error()} }

// lookOnce looks on the session that is there.
func (s *Session) lookOnce(ctx context.Context, q credit.LookQuery) (credit.Sighting, error) {
	account, err := s.readAccount(ctx, q.Login)
	if err != nil {
		return credit.Sighting{}, err
	}
	win := s.windowOf(q)
	g, err := gather(ctx, listing{s, q.Login, win}, q.Login, s.cfg.PageLimit)
	if err != nil {
		return credit.Sighting{}, err
	}
	return s.conclude(ctx, q, account, win, g)
}

// windowOf is the window on the server's clock: from 48 h before the earliest moment of interest to 24 h after
// the server's now. A zero Earliest means the whole history.
func (s *Session) windowOf(q credit.LookQuery) window {
	w := window{to: s.clock.now(s.cfg.Clock.Boot()) + int64(widenAfter/time.Second)}
	if !q.Earliest.IsZero() {
		w.from = max(q.Earliest.Add(s.clock.offset-widenBefore).Unix(), 0)
	}
	return w
}

// conclude passes the positive control and makes the sighting. Money is read here, so a balance deal whose
// amount cannot be read makes the look incomplete.
func (s *Session) conclude(
	ctx context.Context, q credit.LookQuery, account credit.AccountState, win window, g *gathered,
) (credit.Sighting, error) {
	control, err := s.controlAndReadOn(ctx, q, win, g)
	if err != nil {
		return credit.Sighting{}, fmt.Errorf("positive control: %w", err)
	}
	sighting := credit.Sighting{
		Complete: true, Rows: g.rows, Offset: s.clock.offset, Control: control,
		From: s.utc(win.from), Until: s.utc(win.to),
		Cursor: &cursor{session: s, generation: s.generation, account: account, earliest: q.Earliest, win: win, read: g},
	}
	for _, r := range g.balance {
		d, err := r.deal(account.Currency, account.Digits)
		if err != nil {
			return credit.Sighting{}, err
		}
		sighting.Deals = append(sighting.Deals, d)
	}
	if g.rows > 0 {
		sighting.Newest = &credit.Anchor{Ticket: g.newest.ticket, ServerTime: g.newest.time}
	}
	return sighting, nil
}

// controlAndReadOn passes the positive control, and reads the list on where that shows a deal that was not in it.
func (s *Session) controlAndReadOn(ctx context.Context, q credit.LookQuery, win window, g *gathered) (passed string, err error) {
	for range mostPasses {
		if passed, err = s.control(ctx, q, win, g); !errors.Is(err, errLater) {
			return passed, err
		}
		if err := g.follow(ctx, listing{s, q.Login, win}, s.cfg.PageLimit); err != nil {
			return "", err
		}
	}
	return "", err
}

func (s *Session) utc(server int64) time.Time {
	return time.Unix(server, 0).UTC().Add(-s.clock.offset)
}

// cursor is what Relook needs of an earlier look. It is never changed after it was made.
type cursor struct {
	session    *Session
	generation uint64
	account    credit.AccountState
	earliest   time.Time
	win        window
	read       *gathered
}

// Relook implements credit.Session. It goes on from an earlier complete sighting of the same session on the
// same connection: nothing in front may have changed, what came after is read, and the positive control is
// passed again. In every other case it looks from the beginning.
func (s *Session) Relook(ctx context.Context, q credit.LookQuery, before credit.Sighting) credit.Sighting {
	if err := s.enter(); err != nil {
		return incomplete(err)
	}
	defer s.leave()
	c, ok := before.Cursor.(*cursor)
	if !ok || !before.Complete || c.session != s || c.account.Login != q.Login || q.Earliest.Before(c.earliest) {
		return s.look(ctx, q)
	}
	if err := s.ready(ctx); err != nil {
		return incomplete(err)
	}
	if c.generation != s.generation {
		return s.look(ctx, q)
	}
	sighting, err := s.goOn(ctx, q, c)
	if err == nil {
		return sighting
	}
	if errors.Is(err, errForeign) {
		s.drop(err.Error())
	}
	return s.look(ctx, q)
}

func (s *Session) goOn(ctx context.Context, q credit.LookQuery, c *cursor) (credit.Sighting, error) {
	win := window{from: c.win.from, to: s.windowOf(q).to}
	g := c.read.clone()
	src := listing{s, q.Login, win}
	if err := g.sameFirst(ctx, src); err != nil {
		return credit.Sighting{}, err
	}
	if err := g.follow(ctx, src, s.cfg.PageLimit); err != nil {
		return credit.Sighting{}, err
	}
	q.Earliest = c.earliest // the window still begins there
	return s.conclude(ctx, q, c.account, win, g)
}
