package mt5

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"creditonce/credit"
)

const (
	// controlReach is how far a narrow query reaches to both sides of the deal it wants: deal times are whole
	// seconds, and that a window includes its ends is said by one source only (§1.3).
	controlReach = 1
	// controlPages bounds the narrow query on a login that trades a lot within these seconds.
	controlPages = 20
)

// errLater says that a deal of the window is shown that was not listed: it may have come in since, so the list
// has to be read on before it counts.
var errLater = errors.New("a deal in the window was not listed")

// control proves that this session shows what is there (design §7): the deal we know is found by a narrow
// query; knowing none, the last row of the login's whole history is readable; or the history is empty, and
// MT5's own sums of it are zero. Without such a proof "no deals" may mean anything. A window without any row
// must pass the second one too: codes 1 and 13 count as "none", and a server in trouble may give them as well.
func (s *Session) control(ctx context.Context, q credit.LookQuery, win window, g *gathered) (string, error) {
	if q.Control == nil {
		return s.lastRow(ctx, q.Login, win, g)
	}
	passed, err := s.findKnown(ctx, q.Login, *q.Control, win, g)
	if err == nil && g.rows == 0 {
		_, err = s.lastRow(ctx, q.Login, win, g)
	}
	return passed, err
}

// lastRow reads the last deal of the whole history. Where it lies in the window, it must be among those read.
func (s *Session) lastRow(ctx context.Context, login uint64, win window, g *gathered) (string, error) {
	whole := listing{s, login, window{to: win.to}}
	n, err := whole.total(ctx)
	switch {
	case err != nil:
		return "", err
	case n < g.rows:
		return "", fmt.Errorf("the whole history has %d deals, the window has %d", n, g.rows)
	case n == 0:
		return s.emptyHistory(ctx, whole)
	}
	page, err := whole.page(ctx, n-1, 1)
	switch {
	case err != nil:
		return "", err
	case len(page) != 1:
		return "", fmt.Errorf("the last of %d deals is not shown", n)
	case page[0].login != login:
		return "", errForeign
	case win.holds(page[0].time) && !g.holds(page[0].ticket):
		return "", fmt.Errorf("%w: deal %d", errLater, page[0].ticket)
	}
	return fmt.Sprintf("last row of the whole history, deal %d", page[0].ticket), nil
}

func (s *Session) findKnown(ctx context.Context, login uint64, known credit.Anchor, win window, g *gathered) (string, error) {
	src := listing{s, login, window{max(known.ServerTime-controlReach, 0), known.ServerTime + controlReach}}
	for p := range controlPages {
		page, err := src.page(ctx, p*s.cfg.PageLimit, s.cfg.PageLimit)
		if err != nil {
			return "", err
		}
		for _, r := range page {
			if r.login != login {
				return "", errForeign
			}
			if r.ticket != known.Ticket {
				continue
			}
			if win.holds(r.time) && !g.holds(r.ticket) {
				return "", fmt.Errorf("%w: deal %d", errLater, r.ticket)
			}
			return fmt.Sprintf("narrow query for deal %d", r.ticket), nil
		}
		if len(page) < s.cfg.PageLimit {
			break
		}
	}
	return "", fmt.Errorf("deal %d, which MT5 showed before, is not shown", known.Ticket)
}

// emptyHistory accepts a login without any deal when no row is shown and MT5's audit of the account agrees:
// balance and credit are 0, as they stand and by history. fixflag is 0, always: 1 would change the balance
// (§1.3, Traps 17).
func (s *Session) emptyHistory(ctx context.Context, whole listing) (string, error) {
	page, err := whole.page(ctx, 0, s.cfg.PageLimit)
	if err != nil {
		return "", err
	}
	if len(page) > 0 {
		return "", fmt.Errorf("the history has 0 deals by count and %d by page", len(page))
	}
	e, err := s.get(ctx, "user/check_balance", url.Values{"login": {number(whole.login)}, "fixflag": {"0"}})
	if err != nil {
		return "", err
	}
	var sums struct {
		Balance, Credit struct{ User, History scalar }
	}
	if err := fields(e.answer, &sums); err != nil {
		return "", s.odd(err)
	}
	for _, sum := range []scalar{sums.Balance.User, sums.Balance.History, sums.Credit.User, sums.Credit.History} {
		switch {
		case sum.text == "":
			return "", s.odd(errGarbled)
		case strings.Trim(sum.text, "-.0") != "":
			return "", errors.New("the account has money and no deal is shown")
		}
	}
	return "empty history, balance check 0/0", nil
}
