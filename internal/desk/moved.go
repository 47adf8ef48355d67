package desk

import (
	"context"
	"errors"

	"creditonce/credit"
)

// standing reads proposals and shows those as moved that are open and could not be confirmed any more, whoever confirmed:
// what they are about has moved on. It reads one record after the other; a confirmation decides anew in its transaction.
func (s *Service) standing(ctx context.Context, read func(context.Context, ProposalQuery) ([]Proposal, error), q ProposalQuery) ([]Proposal, error) {
	list, err := read(ctx, q)
	if err != nil {
		return nil, err
	}
	now := s.cfg.Clock.Now()
	var f *Found
	for i, p := range list {
		if p.StateAt(now) != ProposalOpen {
			continue
		}
		if f == nil {
			if f, err = s.common(ctx); err != nil {
				return nil, err
			}
		}
		moved, err := s.moved(ctx, p, *f)
		if err != nil {
			return nil, err
		}
		if moved {
			list[i].State = ProposalMoved
		}
	}
	return list, nil
}

// common is what every proposal rests on.
func (s *Service) common(ctx context.Context) (*Found, error) {
	var f Found
	var errs [3]error
	f.Settings, errs[0] = s.cfg.Book.Settings(ctx)
	f.People, errs[1] = s.cfg.Book.People(ctx)
	f.Keys, errs[2] = s.cfg.Book.Keys(ctx)
	return &f, errors.Join(errs[:]...)
}

// moved tells whether an open proposal can only be rejected.
func (s *Service) moved(ctx context.Context, p Proposal, f Found) (bool, error) {
	if id := p.Act.Credit(); id != 0 {
		d, err := s.cfg.Book.Dossier(ctx, id)
		if err != nil {
			return errors.Is(err, credit.ErrNotFound), ignoreMissing(err)
		}
		f.Dossier = &d
	}
	if p.Basis != basisOf(p.Act, f) {
		return true, nil
	}
	switch p.Act.Kind {
	case Adopt:
		held, err := s.cfg.Book.Holders(ctx, f.Dossier.Row.Identity, []uint64{p.Act.Ticket()})
		holder, taken := held[p.Act.Ticket()]
		return taken && holder != p.Act.Credit(), err
	case ManualPay:
		bank := p.Act.Params["bank_reference"]
		known, err := s.cfg.Book.KnownWire(ctx, bank)
		return err == nil && known.Refusal(bank) != nil, err
	case Probe:
		server, login := p.Act.Probed()
		_, err := s.cfg.Book.Account(ctx, server, login)
		return err == nil, ignoreMissing(err)
	case AddPerson, ChangePerson, NewKey, RevokeKey: // these rest on people and keys alone, so they can be tried
		r := s.request(Actor{}, p.Reason)
		r.act = p.Act
		d := deed{request: r, found: f, people: credit.People{Actor: string(p.By), Proposal: uint64(p.ID), Reason: p.Reason, At: r.at}}
		return d.run() != nil, nil
	default:
		return false, nil
	}
}

func ignoreMissing(err error) error {
	if errors.Is(err, credit.ErrNotFound) {
		return nil
	}
	return err
}
