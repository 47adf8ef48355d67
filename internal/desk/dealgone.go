package desk

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"creditonce/credit"
)

// Gone says that the newest deal known on a login does not exist at MT5 any more. Looks of the login cannot be proven
// complete by it, so another deal takes its place.
type Gone struct {
	Identity string // of the MT5 server
	Login    uint64
	Ticket   uint64
	Newest   *credit.Anchor // that MT5 shows instead; nil: none lately, and the next look finds one for itself
}

// LoginSubject is the subject of an act about a login of an MT5 server.
func LoginSubject(server string, login uint64) string {
	return "account/" + server + "/" + strconv.FormatUint(login, 10)
}

// Login is the login that the act is about, with the label of its MT5 server; 0 where it is about something else.
func (a Act) Login() (server string, login uint64) {
	rest, ok := strings.CutPrefix(a.Subject, "account/")
	i := strings.LastIndexByte(rest, '/')
	if !ok || i < 1 {
		return "", 0
	}
	n, err := strconv.ParseUint(rest[i+1:], 10, 64)
	if err != nil || a.Subject != LoginSubject(rest[:i], n) {
		return "", 0
	}
	return rest[:i], n
}

// askGone sees at MT5 that the deal of the act is gone, and that the login can be looked at without it.
func (s *Service) askGone(ctx context.Context, r *request, q *Query) error {
	server, login := r.act.Login()
	identity, known := s.cfg.Rules.Identities[server]
	ticket := r.act.Ticket()
	switch {
	case login == 0:
		return fmt.Errorf("%s is about a login, as account/main/500123: %w", r.act.Kind, credit.ErrInvalid)
	case ticket == 0:
		return fmt.Errorf("a ticket is a number above 0, not %q: %w", r.act.Params["ticket"], credit.ErrInvalid)
	case !known:
		return unknownServer(server, s.cfg.Rules)
	}
	deal, err := s.cfg.MT5.Deal(ctx, server, ticket)
	switch {
	case err == nil:
		return credit.Refuse("deal_there", "MT5 server %s has deal %d, so it is not gone: %s", server, ticket, dealText(deal))
	case !errors.Is(err, credit.ErrNotFound):
		return &NoAnswerError{server, err.Error()}
	}
	seen := s.cfg.MT5.Look(ctx, server, credit.LookQuery{Login: login, Earliest: s.cfg.Clock.Now()})
	switch {
	case seen.LoginMissing:
		return credit.Refuse("unknown_login", "MT5 server %s says that login %d does not exist", server, login)
	case !seen.Complete:
		return &NoAnswerError{server, seen.Reason}
	case seen.Newest != nil && seen.Newest.Ticket == ticket:
		return &NoAnswerError{server, fmt.Sprintf("it lists deal %d on login %d, and denies it when asked for it", ticket, login)}
	}
	q.Identity, r.newest = identity, seen.Newest
	return nil
}

// runGone decides that the newest deal known on a login is gone. A deal that a credit has was a payment: without it the
// client's money is gone as well, which no decision here may pass over.
func (d *deed) runGone() error {
	server, login := d.act.Login()
	ticket, known, row := d.act.Ticket(), d.found.Anchor, d.found.Holder
	switch {
	case row != 0:
		return credit.Refuse("deal_paid", "deal %d paid credit %d: with it gone, that money was taken back at MT5, and no command makes up for it. Find out who deleted it; "+
			"have the deal restored there, and the login goes on by itself. If it is to stay deleted, hold what waits on the login (creditonce credits hold), "+
			"book it at MT5 by hand, and take that deal with creditonce adopt-deal: looks then rely on it", ticket, row)
	case known == nil:
		return credit.Refuse("not_awaited", "no deal is known on login %d of %s, so nothing waits for deal %d", login, server, ticket)
	case known.Ticket != ticket:
		return credit.Refuse("not_awaited", "nothing waits for deal %d: looks of login %d on %s rely on deal %d", ticket, login, server, known.Ticket)
	}
	d.out.Gone = &Gone{Identity: d.rules.Identities[server], Login: login, Ticket: ticket, Newest: d.newest}
	return nil
}
