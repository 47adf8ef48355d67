package desk

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"creditonce/credit"
)

// mayDo refuses early what the transaction would refuse, so that nobody without the role makes us ask MT5.
func (s *Service) mayDo(ctx context.Context, a Actor, act Act, reason string) error {
	who, err := s.who(ctx, a)
	if err != nil {
		return err
	}
	if id := act.Credit(); id != 0 && act.Kind == RetryFailed {
		d, err := s.cfg.Book.Dossier(ctx, id)
		if err != nil {
			return err
		}
		act = act.ofState(Found{Dossier: &d})
	}
	line, err := act.allowed(who, reason)
	if err != nil {
		return err
	}
	return act.checked(line, true)
}

func (s *Service) mayConfirm(ctx context.Context, r request, p Proposal) error {
	people, err := s.cfg.Book.People(ctx)
	if err != nil {
		return err
	}
	who, err := whois(r.actor, people)
	if err != nil {
		return err
	}
	settings, err := s.cfg.Book.Settings(ctx)
	if err != nil {
		return err
	}
	f := Found{Settings: settings, People: people}
	if f.Keys, err = s.cfg.Book.Keys(ctx); err != nil {
		return err
	}
	if id := p.Act.Credit(); id != 0 {
		d, err := s.cfg.Book.Dossier(ctx, id)
		if err != nil {
			return err
		}
		f.Dossier = &d
	}
	_, err = p.confirmable(who, r.digest, r.at, f)
	return err
}

func (s *Service) who(ctx context.Context, a Actor) (Person, error) {
	people, err := s.cfg.Book.People(ctx)
	if err != nil {
		return Person{}, err
	}
	return whois(a, people)
}

// prepare asks outside the transaction what the decision inside it needs to know. handled tells that a look was all that
// was wanted, and that it is written.
func (s *Service) prepare(ctx context.Context, r *request, q *Query) (look *credit.LookEvidence, handled bool, err error) {
	id := r.act.Credit()
	switch r.act.Kind {
	case Resolve, CloseCredit:
		d, err := s.cfg.Book.Dossier(ctx, id)
		if err != nil {
			return nil, false, err
		}
		r.guard.Live = s.cfg.Live.Live(id)
		byLoop := r.act.Kind == Resolve && (d.Row.State == credit.Unknown || d.Row.State == credit.Pending)
		if r.act.Kind == CloseCredit {
			err = credit.MayClose(d.Row)
		} else if !byLoop {
			err = credit.MayExamine(d.Row)
		}
		if err != nil {
			return nil, false, err
		}
		if byLoop || d.Row.Login == 0 && r.act.Kind == CloseCredit {
			return nil, false, nil
		}
		look, err = s.examine(ctx, *r, d)
		r.guard.Now, r.guard.Live = s.mark(), s.cfg.Live.Live(id)
		return look, r.act.Kind == Resolve, err
	case Adopt, NotThisDeal:
		r.deal, err = s.deal(ctx, r.act)
	case DealGone:
		err = s.askGone(ctx, r, q)
	case Replay:
		q.Again, err = s.readAgain(ctx, r.act.Event())
		r.again = q.Again
	case ManualPay:
		q.Manual, err = s.manual(ctx, *r)
	default:
	}
	if id != 0 {
		r.guard.Live = s.cfg.Live.Live(id)
	}
	return nil, false, err
}

// deal reads the deal that an act names from the row's MT5 server.
func (s *Service) deal(ctx context.Context, act Act) (*credit.Deal, error) {
	id, ticket := act.Credit(), act.Ticket()
	d, err := s.cfg.Book.Dossier(ctx, id)
	if err != nil {
		return nil, err
	}
	may := credit.MayAdopt
	if act.Kind == NotThisDeal {
		may = credit.MayPassOver
	}
	if err := may(d.Row); err != nil {
		return nil, err
	}
	if ticket == 0 {
		return nil, fmt.Errorf("a ticket is a number above 0: %w", credit.ErrInvalid)
	}
	if d.Row.Login == 0 {
		return nil, credit.Refuse("no_login", "credit %d has no deposit record, so no login and no amount to compare a deal with", id)
	}
	deal, err := s.cfg.MT5.Deal(ctx, d.Row.Server, ticket)
	switch {
	case errors.Is(err, credit.ErrNotFound):
		return nil, credit.Refuse("wrong_deal", "MT5 server %s has no deal %d", d.Row.Server, ticket)
	case err != nil:
		return nil, &NoAnswerError{d.Row.Server, err.Error()}
	case deal.Ticket != ticket:
		return nil, &NoAnswerError{d.Row.Server, fmt.Sprintf("it answered with deal %d, asked for %d", deal.Ticket, ticket)}
	}
	return &deal, nil
}

// look asks MT5 for the row's deals and judges them.
func (s *Service) look(ctx context.Context, d credit.Dossier) (credit.Sighting, credit.Match, *credit.LookEvidence, error) {
	started := s.mark()
	seen := s.cfg.MT5.Look(ctx, d.Row.Server, credit.LookQuery{Login: d.Row.Login, Earliest: d.Row.EarliestTrace(), Control: d.Anchor})
	m, ev, err := credit.Weigh(ctx, s.cfg.Book, d.Row, started, seen)
	return seen, m, ev, err
}

// examine looks for a person and keeps the look on the row as evidence. Closing goes on only where the look agrees.
func (s *Service) examine(ctx context.Context, r request, d credit.Dossier) (*credit.LookEvidence, error) {
	seen, m, ev, err := s.look(ctx, d)
	if err != nil {
		return nil, err
	}
	who, err := s.who(ctx, r.actor)
	if err != nil {
		return nil, err
	}
	r.guard.Now, r.guard.Live = s.mark(), s.cfg.Live.Live(d.Row.ID)
	people := credit.People{Actor: string(who.ID), Reason: r.reason, At: s.cfg.Clock.Now()}
	res, err := s.cfg.Book.Advance(ctx, d.Row.ID, func(d credit.Dossier) (credit.Decision, error) {
		dec, err := credit.Examined(d, people, r.guard, ev)
		if seen.Complete {
			dec.Anchor = seen.Newest
		}
		return dec, err
	})
	if err != nil {
		return nil, err
	}
	credit.Announce(ctx, s.cfg.Observer, []credit.RowChange{{After: res.Row, Entries: res.Entries}}, res.Opened, res.Closed)
	if r.act.Kind != CloseCredit {
		return ev, nil
	}
	switch m.Verdict {
	case credit.VerdictFound, credit.VerdictConflict:
		return ev, credit.Refuse("deal_found", "MT5 has a deal that is or may be this payment (%s): adopt it, or record that it is another one", dealList(m.Deals))
	case credit.VerdictAbsent, credit.VerdictNoAnswer:
	}
	return ev, nil
}

func dealList(deals []credit.Deal) string {
	text := ""
	for i, d := range deals {
		if i > 0 {
			text += "; "
		}
		text += dealText(d)
	}
	return text
}

// readAgain reads the body of an event anew that nobody could read, or knew the type of; nil for every other event.
func (s *Service) readAgain(ctx context.Context, id credit.EventID) (*credit.Event, error) {
	e, err := s.cfg.Book.Event(ctx, id)
	if err != nil {
		return nil, err
	}
	if e.Facts.Effect != credit.EffectUnreadable && e.Facts.Effect != credit.EffectUnknown {
		return nil, nil
	}
	body, err := s.cfg.Book.EventBody(ctx, id)
	if err != nil {
		return nil, err
	}
	again := e
	again.MessageKey, again.Variant, again.Rows, again.Body = credit.ReplayKey(e), "", nil, body
	facts, err := s.cfg.Reader.Read(e.Provider, e.Headers, body)
	if err != nil {
		return nil, credit.Refuse("unreadable", "event %d still cannot be read: %s", id, err)
	}
	again.Facts = facts
	return &again, nil
}

// manual reads the deposit of an act with the digits of its account.
func (s *Service) manual(ctx context.Context, r request) (*credit.Manual, error) {
	act := r.act
	for name, value := range r.drawn {
		act = act.with(name, value)
	}
	shape, err := manualOf(act, credit.MaxExponent)
	if err != nil {
		return nil, err
	}
	if _, ok := s.cfg.Rules.Identities[shape.Server]; !ok {
		return nil, unknownServer(shape.Server, s.cfg.Rules)
	}
	account, err := s.cfg.Book.Account(ctx, shape.Server, shape.Login)
	if errors.Is(err, credit.ErrNotFound) {
		return nil, credit.Refuse("unknown_account", "login %d is not registered on %s; your own server registers it (PUT /v1/servers/%[2]s/accounts/%[1]d), creditonce accounts list shows what is", shape.Login, shape.Server)
	}
	if err != nil {
		return nil, err
	}
	m, err := manualOf(act, account.Digits)
	return &m, err
}

// Candidates asks MT5 now which balance deals of the row's login could be the payment: those over its amount that no
// other row has and that no people have passed over.
func (s *Service) Candidates(ctx context.Context, a Actor, id credit.ID) ([]credit.Deal, *credit.LookEvidence, error) {
	if _, err := s.Who(ctx, a); err != nil {
		return nil, nil, err
	}
	d, err := s.cfg.Book.Dossier(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	if d.Row.Login == 0 {
		return nil, nil, credit.Refuse("no_login", "credit %d has no deposit record, so there is no login to look at", id)
	}
	seen, _, ev, err := s.look(ctx, d)
	if err != nil {
		return nil, nil, err
	}
	if !seen.Complete {
		return nil, ev, &NoAnswerError{d.Row.Server, seen.Reason}
	}
	var tickets []uint64
	for _, deal := range seen.Deals {
		tickets = append(tickets, deal.Ticket)
	}
	held, err := s.cfg.Book.Holders(ctx, d.Row.Identity, tickets)
	if err != nil {
		return nil, nil, err
	}
	var out []credit.Deal
	for _, deal := range seen.Deals {
		holder, taken := held[deal.Ticket]
		if deal.Amount.Equal(d.Row.DealAmount()) && (!taken || holder == id) && !slices.Contains(d.Row.NotDeals, deal.Ticket) {
			out = append(out, deal)
		}
	}
	return out, ev, nil
}
