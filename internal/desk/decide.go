package desk

import (
	"errors"
	"fmt"
	"time"

	"creditonce/credit"
)

// request is an act on its way through the transaction, with everything that the store does not hold.
type request struct {
	actor  Actor
	act    Act
	reason string
	guard  credit.Guard
	rules  credit.DepositRules // Now and Schedule set
	at     time.Time           // UTC
	lasts  time.Duration       // of a proposal

	digest     string         // of the proposal, as the confirmer saw it
	deal       *credit.Deal   // read from MT5 just now
	newest     *credit.Anchor // that MT5 shows on the login of a deal that is gone
	again      *credit.Event
	drawn      map[string]string // random ids for what an act makes
	configured []Key
	scopes     []string
	place      *credit.Place // where this process has the store
	warning    *string       // what a proposal still waits for
}

// deed is a decision under way: who may, what of it, what is written.
type deed struct {
	request
	found  Found
	who    Person
	people credit.People
	permit *Permit // that a confirmed probe leads to
	out    Changes
}

// submit does an act that one person may do, or proposes one that takes two. It is pure.
func (r request) submit(f Found) (Changes, error) {
	who, err := whois(r.actor, f.People)
	if err != nil {
		return Changes{}, err
	}
	r.act = r.act.ofState(f)
	line, err := r.act.allowed(who, r.reason)
	if err != nil {
		return Changes{}, err
	}
	if err := r.act.checked(line, true); err != nil {
		return Changes{}, err
	}
	d := deed{request: r, found: f, who: who, people: credit.People{Actor: string(who.ID), Reason: r.reason, At: r.at}}
	if line.Two {
		return d.propose()
	}
	if err := d.run(); err != nil {
		return Changes{}, err
	}
	d.record(Did, 0)
	return d.out, nil
}

// ofState turns a retry into the one that the row's state asks for: of an unknown row it takes two people.
func (a Act) ofState(f Found) Act {
	if a.Kind == RetryFailed && f.Dossier != nil && f.Dossier.Row.State == credit.Unknown {
		a.Kind = RetryUnknown
	}
	return a
}

// allowed finds the act's line and refuses a person who may not do or propose it.
func (a Act) allowed(who Person, reason string) (Line, error) {
	line, err := lineOf(a.Kind)
	if err != nil {
		return Line{}, err
	}
	if !who.May(line.May...) {
		return Line{}, credit.Refuse("role", "%s may not %s %s: it takes the role %s", who.ID, verb(line), a.Kind, roleList(line.May))
	}
	if line.Reason && reason == "" {
		return Line{}, fmt.Errorf("%s decides something, so it needs a reason: %w", a.Kind, credit.ErrInvalid)
	}
	if len(reason) > longestParam {
		return Line{}, fmt.Errorf("a reason has at most %d bytes: %w", longestParam, credit.ErrInvalid)
	}
	return line, nil
}

func verb(l Line) string {
	if l.Two {
		return "propose"
	}
	return "do"
}

func roleList(roles []Role) string {
	text := ""
	for i, r := range roles {
		if i > 0 {
			text += " or "
		}
		text += string(r)
	}
	return text
}

// propose keeps the act for a second person. It is run first, as if it were confirmed now: what would be refused is
// refused here, save what passes with time and further looks.
func (d *deed) propose() (Changes, error) {
	var err error
	if d.act, err = d.frozen(); err != nil {
		return Changes{}, err
	}
	trial := *d
	trial.people.Proposal = uint64(d.found.NextProposal)
	var refused *credit.RefusedError
	switch err := trial.run(); {
	case errors.As(err, &refused) && credit.Waits(refused.Code):
		*d.warning = refused.Detail
	case err != nil:
		return Changes{}, err
	}
	p := Proposal{
		ID: d.found.NextProposal, Act: d.act, By: d.who.ID, Reason: d.reason, Basis: basisOf(d.act, d.found),
		At: cut(d.at), ExpiresAt: cut(d.at.Add(d.lasts)), State: ProposalOpen,
	}
	p = p.Sealed()
	d.out = Changes{Proposal: &p}
	d.record(Proposed, p.ID)
	return d.out, nil
}

// confirm does what another person proposed. It is pure.
func (r request) confirm(f Found) (Changes, error) {
	who, err := whois(r.actor, f.People)
	if err != nil {
		return Changes{}, err
	}
	p := *f.Proposal
	r.act = p.Act
	line, err := p.confirmable(who, r.digest, r.at, f)
	if err != nil {
		return Changes{}, err
	}
	if err := r.act.checked(line, false); err != nil {
		return Changes{}, err
	}
	reason := p.Reason
	if r.reason != "" {
		reason += "; " + r.reason
	}
	d := deed{request: r, found: f, who: who, people: credit.People{
		Actor: fmt.Sprintf("%s, confirmed by %s", p.By, who.ID), Proposal: uint64(p.ID), Reason: reason, At: r.at,
	}}
	if err := d.run(); err != nil {
		return Changes{}, err
	}
	p.State, p.EndedBy, p.EndedAt, p.Answer = ProposalConfirmed, who.ID, cut(r.at), r.reason
	p.Permit = d.permit
	d.out.Proposal = &p
	d.record(Confirmed, p.ID)
	return d.out, nil
}

// confirmable holds every rule of two people (invariant I-W1).
func (p Proposal) confirmable(who Person, digest string, now time.Time, f Found) (Line, error) {
	line, err := lineOf(p.Act.Kind)
	if err != nil {
		return Line{}, err
	}
	maker := person(p.By, f.People)
	switch {
	case p.State == ProposalVoided:
		return line, credit.Refuse("proposer_gone", "proposal %d counts no more: its proposer %s at %s; propose it again", p.ID, p.Answer, p.EndedAt.Format(time.RFC3339))
	case p.State != ProposalOpen:
		return line, credit.Refuse("used", "proposal %d was %s by %s", p.ID, p.State, p.EndedBy)
	case p.StateAt(now) == ProposalExpired:
		return line, credit.Refuse("expired", "proposal %d expired at %s; propose it again", p.ID, p.ExpiresAt.Format(time.RFC3339))
	case who.ID == p.By:
		return line, credit.Refuse("own_proposal", "%s proposed it; another person must confirm it, whatever account is used", who.ID)
	case !who.May(line.Confirm...):
		return line, credit.Refuse("role", "%s may not confirm %s: it takes the role %s", who.ID, p.Act.Kind, roleList(line.Confirm))
	case maker == nil || !maker.May(line.May...):
		return line, credit.Refuse("proposer_gone", "%s, who proposed it, is disabled or may not propose it any more; propose it again", p.By)
	case !p.Whole() || digest != p.Digest:
		return line, credit.Refuse("changed", "proposal %d is not what you were shown; look at it again", p.ID)
	case p.Basis != basisOf(p.Act, f):
		return line, credit.Refuse("moved", "what proposal %d is about has moved on since it was made; look at it, reject the proposal (creditonce proposals reject %d) and propose again", p.ID, p.ID)
	}
	return line, nil
}

// reject ends a proposal: by somebody who could confirm it, or by who made it. It is pure.
func (r request) reject(f Found) (Changes, error) {
	who, err := whois(r.actor, f.People)
	if err != nil {
		return Changes{}, err
	}
	p := *f.Proposal
	line, err := lineOf(p.Act.Kind)
	switch {
	case err != nil:
		return Changes{}, err
	case p.State != ProposalOpen:
		return Changes{}, credit.Refuse("used", "proposal %d was %s by %s", p.ID, p.State, p.EndedBy)
	case who.ID != p.By && !who.May(line.Confirm...):
		return Changes{}, credit.Refuse("role", "%s may not reject %s: it takes the role %s", who.ID, p.Act.Kind, roleList(line.Confirm))
	case r.reason == "":
		return Changes{}, fmt.Errorf("rejecting decides something, so it needs a reason: %w", credit.ErrInvalid)
	}
	r.act = p.Act
	p.State, p.EndedBy, p.EndedAt, p.Answer = ProposalRejected, who.ID, cut(r.at), r.reason
	d := deed{request: r, found: f, who: who, out: Changes{Proposal: &p}}
	d.record(Rejected, p.ID)
	return d.out, nil
}

// bootstrap lets root name the first two people. It is pure.
func (r request) bootstrap(people []Person, f Found) (Changes, error) {
	switch {
	case len(f.People) > 0:
		return Changes{}, credit.Refuse("not_first", "this store knows people already; two admins change them")
	case !r.actor.root():
		return Changes{}, credit.Refuse("root_needed", "only root names the first two people")
	case r.reason == "":
		return Changes{}, fmt.Errorf("naming people decides something, so it needs a reason: %w", credit.ErrInvalid)
	case len(people) != 2:
		return Changes{}, fmt.Errorf("root names two people, not %d: %w", len(people), credit.ErrInvalid)
	case people[0].ID == people[1].ID:
		return Changes{}, fmt.Errorf("both people have the id %q; give each an id of their own: %w", people[0].ID, credit.ErrInvalid)
	}
	act := Act{Kind: Bootstrap, Subject: "people"}
	for i, p := range people {
		p.CreatedAt, p.UpdatedAt = cut(r.at), cut(r.at)
		if err := checkPerson(p, people); err != nil {
			return Changes{}, err
		}
		if !p.May(Admin) {
			return Changes{}, credit.Refuse("two_admins", "%s is no admin; the first two people must be, to add others", p.ID)
		}
		act = act.with(fmt.Sprintf("person %d", i+1), fmt.Sprintf("%s %v %v", p.ID, p.Users, p.Roles))
		people[i] = p
	}
	r.act = act
	d := deed{request: r, found: f, out: Changes{People: people}}
	d.record(Did, 0)
	return d.out, nil
}

// record writes the audit record of the deed.
func (d *deed) record(deed Deed, p ProposalID) {
	rec := Record{
		Seq: d.found.NextRecord, At: cut(d.at), Person: d.who.ID, User: d.actor.User, Deed: deed, Act: d.act, Reason: d.reason,
		Proposal: p, Settings: d.out.Settings, Previous: d.found.Previous,
	}
	if d.out.Proposal != nil {
		rec.Digest = d.out.Proposal.Digest
	}
	for _, p := range d.out.Voided {
		rec.Voided = append(rec.Voided, p.ID)
	}
	for _, row := range d.out.Credit.Rows {
		rec.Rows = append(rec.Rows, row.After.ID)
	}
	if d.out.Credit.Event != nil {
		rec.Event = d.out.Credit.Event.ID
	}
	d.out.Record = rec
}

// cut is the precision of every stored time.
func cut(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Microsecond)
}
