package desk

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"creditonce/credit"
)

// permitLasts is how long after its confirmation a permit can be used: long enough to begin, too short to be forgotten.
const permitLasts = time.Hour

// Permit lets the MT5 probe touch one login outside the test groups, once. It is made by the confirmation of a
// proposal to probe, and stands on that proposal.
type Permit struct {
	Server    string    `json:"server"`   // label
	Identity  string    `json:"identity"` // the name that the server calls itself
	Login     uint64    `json:"login,string"`
	ExpiresAt time.Time `json:"expires_at"` // UTC
	UsedAt    time.Time `json:"used_at,omitzero"`
	UsedBy    string    `json:"used_by,omitempty"` // person, else account
	VoidedAt  time.Time `json:"voided_at,omitzero"`
	Void      string    `json:"void,omitempty"` // why it counts no more
}

// Unused tells that the permit was neither used nor voided; it may have expired.
func (p *Permit) Unused() bool { return p != nil && p.UsedAt.IsZero() && p.VoidedAt.IsZero() }

// PermitClaim is what a probe is about to touch.
type PermitClaim struct {
	Server   string // label
	Identity string // the name that the server there calls itself
	Login    uint64
}

// PermitBook is what using a permit needs of the store.
type PermitBook interface {
	Act(ctx context.Context, q Query, decide Decide) (Receipt, error)
}

// UsePermit marks the permit of a confirmed proposal as used, for exactly the claim, and returns the proposal. When it
// returns nil the probe may begin; the same permit is refused from then on, whatever becomes of the probe.
func (s *Service) UsePermit(ctx context.Context, who Actor, id ProposalID, c PermitClaim) (Proposal, error) {
	return usePermit(ctx, s.cfg.Book, s.request(who, "").use(c, false), id, s.cfg.Clock.Now())
}

// UsePermitAlone is [Service.UsePermit] on a store that no service has open: whoever can write the file itself need not
// be a person of the store. The account stands in the audit log.
func UsePermitAlone(ctx context.Context, book PermitBook, now time.Time, who Actor, id ProposalID, c PermitClaim) (Proposal, error) {
	return usePermit(ctx, book, request{actor: who, at: now}.use(c, true), id, now)
}

func usePermit(ctx context.Context, book PermitBook, decide Decide, id ProposalID, now time.Time) (Proposal, error) {
	receipt, err := book.Act(ctx, Query{Proposal: id, Now: now}, decide)
	switch {
	case errors.Is(err, credit.ErrNotFound):
		return Proposal{}, Missing(err, proposalSubject(id))
	case err != nil:
		return Proposal{}, fmt.Errorf("use the permit of proposal %d: %w", id, err)
	}
	return *receipt.Proposal, nil
}

// use decides whether a probe may begin. It is pure.
func (r request) use(c PermitClaim, alone bool) Decide {
	return func(f Found) (Changes, error) {
		who, err := r.prober(f.People, alone)
		if err != nil {
			return Changes{}, err
		}
		p := *f.Proposal
		if err := p.permits(c, r.at, f.People); err != nil {
			return Changes{}, err
		}
		if err := p.ofThisStore(f.Settings); err != nil {
			return Changes{}, err
		}
		if err := nobodysAccount(f.Account); err != nil {
			return Changes{}, err
		}
		used := *p.Permit
		used.UsedAt, used.UsedBy = cut(r.at), string(who.ID)
		if used.UsedBy == "" {
			used.UsedBy = r.actor.User
		}
		p.Permit, r.act = &used, p.Act
		d := deed{request: r, found: f, who: who, out: Changes{Proposal: &p}}
		d.record(Used, p.ID)
		return d.out, nil
	}
}

// prober finds who begins the probe. alone tells that the store's file itself was opened.
func (r request) prober(people []Person, alone bool) (Person, error) {
	who, err := whois(r.actor, people)
	var refused *credit.RefusedError
	switch {
	case alone && errors.As(err, &refused) && refused.Code == "nobody":
		return Person{}, nil
	case err != nil:
		return Person{}, err
	case !alone && !who.May(Operator, Maker, Checker):
		return Person{}, credit.Refuse("role", "%s may not begin a probe: it takes the role %s", who.ID, roleList([]Role{Operator, Maker, Checker}))
	}
	return who, nil
}

const proposeAgain = "; propose it again: creditonce mt5 permit"

// permits refuses every claim but the one that two people agreed on, who may both still do so, in time and once.
func (p Proposal) permits(c PermitClaim, now time.Time, people []Person) error {
	line, err := lineOf(p.Act.Kind)
	if err != nil || p.Act.Kind != Probe {
		return credit.Refuse("no_permit", "proposal %d is about %s, not about a probe", p.ID, p.Act.Kind)
	}
	if err := p.confirmedPermit(now); err != nil {
		return err
	}
	maker, checker := person(p.By, people), person(p.EndedBy, people)
	switch {
	case maker == nil || !maker.May(line.May...):
		return credit.Refuse("proposer_gone", "%s, who proposed the probe, is disabled or may not propose it any more", p.By)
	case checker == nil || !checker.May(line.Confirm...):
		return credit.Refuse("confirmer_gone", "%s, who confirmed the probe, is disabled or may not confirm it any more", p.EndedBy)
	case !p.Whole() || p.By == p.EndedBy || p.Act.Params["login"] != strconv.FormatUint(p.Permit.Login, 10) || p.Act.about() != p.Permit.Server:
		return credit.Refuse("changed", "proposal %d is not what two people agreed on", p.ID)
	case p.Permit.Server != c.Server || p.Permit.Identity != c.Identity:
		return credit.Refuse("other_server", "proposal %d permits the server %s that calls itself %q; this is %s, %q", p.ID, p.Permit.Server, p.Permit.Identity, c.Server, c.Identity)
	case p.Permit.Login != c.Login:
		return credit.Refuse("other_login", "proposal %d permits login %d, not login %d", p.ID, p.Permit.Login, c.Login)
	}
	return nil
}

// ofThisStore refuses a permit of an older file: where the store was restored since, or may have to be, nobody knows
// whether it was used.
func (p Proposal) ofThisStore(s credit.Settings) error {
	switch {
	case s.Doubt != nil:
		return credit.Refuse("doubt", "this may not be the newest store (%s), so the permit of proposal %d may have been used; restore or take over first", s.Doubt.Reason, p.ID)
	case s.Restore != nil && !p.EndedAt.After(s.Restore.At):
		return credit.Refuse("expired", "proposal %d was confirmed before the %s of %s, and its permit may have been used"+proposeAgain,
			p.ID, s.Restore.Kind, s.Restore.At.Format(time.RFC3339))
	}
	return nil
}

// confirmedPermit refuses a proposal without a permit that counts at now. A clock before the confirmation proves nothing
// about how old it is.
func (p Proposal) confirmedPermit(now time.Time) error {
	switch {
	case p.StateAt(now) == ProposalOpen:
		return credit.Refuse("not_confirmed", "proposal %d waits for a second person; creditonce proposals confirm %d", p.ID, p.ID)
	case p.State != ProposalConfirmed:
		return credit.Refuse("not_confirmed", "proposal %d is %s"+proposeAgain, p.ID, p.StateAt(now))
	case p.Permit == nil:
		return credit.Refuse("no_permit", "proposal %d was confirmed without a permit"+proposeAgain, p.ID)
	case !p.Permit.UsedAt.IsZero():
		return credit.Refuse("used", "the permit of proposal %d was used at %s by %s, and counts once"+proposeAgain, p.ID, p.Permit.UsedAt.Format(time.RFC3339), p.Permit.UsedBy)
	case !p.Permit.Unused():
		return credit.Refuse("void", "the permit of proposal %d counts no more: %s"+proposeAgain, p.ID, p.Permit.Void)
	case !now.Before(p.Permit.ExpiresAt) || now.Before(p.EndedAt):
		return credit.Refuse("expired", "the permit of proposal %d counts from %s to %s"+proposeAgain, p.ID,
			p.EndedAt.Format(time.RFC3339), p.Permit.ExpiresAt.Format(time.RFC3339))
	}
	return nil
}

// runProbe makes the permit, once the act is confirmed.
func (d *deed) runProbe() error {
	identity, ok := d.rules.Identities[d.act.about()]
	if !ok {
		return unknownServer(d.act.about(), d.rules)
	}
	text := d.act.Params["login"]
	login, err := strconv.ParseUint(text, 10, 64)
	if err != nil || login == 0 || strconv.FormatUint(login, 10) != text {
		return fmt.Errorf("%s: %q is no login: %w", d.act.Kind, text, credit.ErrInvalid)
	}
	if err := nobodysAccount(d.found.Account); err != nil {
		return err
	}
	d.permit = &Permit{Server: d.act.about(), Identity: identity, Login: login, ExpiresAt: cut(d.at.Add(permitLasts))}
	return nil
}

// nobodysAccount refuses the account of a client: the probe books on it.
func nobodysAccount(a *credit.Account) error {
	if a == nil {
		return nil
	}
	return credit.Refuse("client_account", "login %d on %s is the account of client %s: the portal registered it (creditonce accounts list), and the probe would book on it; name a login of your own that no client has",
		a.Login, a.Server, clipped(a.Client))
}
