package recon

import (
	"fmt"
	"slices"

	"creditonce/credit"
)

// oddments are rows and deals that do not simply belong together.
type oddments struct {
	m                       *matcher
	tickets, refs, logins   *spool
	byTicket, byRef, byUser *packer
	key                     []byte
}

// The kinds of entries, in the order in which they are met.
const (
	entryRow = iota
	entryTaken
	entryDeal
	entryBystander // a row that has its deal, and whose login has a deal with a suspicious comment
)

// oddment is one entry: a row with the deal that its ticket names, or a deal.
type oddment struct {
	kind int
	row  Row
	deal Deal
	has  bool      // the row has its deal
	by   credit.ID // of a deal that is taken
}

func newOddments(m *matcher) *oddments {
	o := &oddments{m: m, tickets: m.in.spool(), refs: m.in.spool(), logins: m.in.spool()}
	o.byTicket, o.byRef, o.byUser = o.tickets.packer(), o.refs.packer(), o.logins.packer()
	return o
}

func (p *packer) oddment(o *oddment) {
	p.number(uint64(o.kind))
	p.number(uint64(o.by))
	has := uint64(0)
	if o.has {
		has = 1
	}
	p.number(has)
	if o.kind == entryRow || o.kind == entryBystander {
		p.row(&o.row)
	}
	if o.kind == entryDeal || o.kind == entryTaken || o.has {
		p.deal(&o.deal)
	}
}

func (u *unpacker) oddment() oddment {
	o := oddment{kind: int(u.number()), by: credit.ID(u.number()), has: u.number() == 1}
	if o.kind == entryRow || o.kind == entryBystander {
		o.row = u.row()
	}
	if o.kind == entryDeal || o.kind == entryTaken || o.has {
		o.deal = u.deal()
	}
	return o
}

func (o *oddments) put(s *spool, p *packer, e *oddment) error {
	o.key = append(o.key, byte(e.kind))
	id := uint64(e.row.ID)
	if e.kind == entryDeal || e.kind == entryTaken {
		id = e.deal.Ticket
	}
	o.key = appendKeyNumber(o.key, id)
	p.buf = p.buf[:0]
	p.oddment(e)
	return s.put(o.key, p.buf)
}

func (o *oddments) row(r *Row) error {
	if r.Ticket == 0 {
		return o.toReference(&oddment{kind: entryRow, row: *r}, r.Identity, r.Reference)
	}
	o.key = appendKeyNumber(appendKey(o.key[:0], r.Identity), r.Ticket)
	return o.put(o.tickets, o.byTicket, &oddment{kind: entryRow, row: *r})
}

func (o *oddments) deal(d *Deal) error {
	o.key = appendKeyNumber(appendKey(o.key[:0], d.Identity), d.Ticket)
	return o.put(o.tickets, o.byTicket, &oddment{kind: entryDeal, deal: *d})
}

func (o *oddments) bystander(r *Row) error {
	return o.toLogin(&oddment{kind: entryBystander, row: *r}, r.Identity, r.Login)
}

func (o *oddments) toReference(e *oddment, identity string, reference credit.Reference) error {
	o.key = appendKey(appendKey(o.key[:0], identity), string(reference))
	return o.put(o.refs, o.byRef, e)
}

func (o *oddments) toLogin(e *oddment, identity string, login uint64) error {
	o.key = appendKeyNumber(appendKey(o.key[:0], identity), login)
	return o.put(o.logins, o.byUser, e)
}

// settle takes everything the long way.
func (o *oddments) settle() error {
	for _, step := range []func() error{o.meetByTicket, o.meetByReference, o.meetByLogin} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// groups reads sorted entries in groups; key names what a group has in common.
func groups(s *spool, most int, key func(*oddment) string, each func([]oddment) error) error {
	c := newCursor(ahead(s, (*unpacker).oddment))
	defer c.stop()
	var group []oddment
	for c.ok {
		name := key(&c.head)
		var err error
		group, err = c.takeAtMost(most, group[:0], func(e oddment) bool { return key(&e) == name }, func() string { return name })
		if err != nil {
			return err
		}
		if err := each(group); err != nil {
			return err
		}
	}
	return c.err
}

// mostOfLogin is how many rows and deals of one login are compared for damaged references at once, in memory.
const mostOfLogin = 1 << 20

// identityOf is the server of an entry.
func (e *oddment) identityOf() string {
	if e.kind == entryRow || e.kind == entryBystander {
		return e.row.Identity
	}
	return e.deal.Identity
}

// meetByTicket gives each row the deal whose ticket it has recorded. A deal is one row's at most.
func (o *oddments) meetByTicket() error {
	return groups(o.tickets, mostTogether, func(e *oddment) string {
		ticket := e.deal.Ticket
		if e.kind == entryRow {
			ticket = e.row.Ticket
		}
		return fmt.Sprintf("ticket %d on %s", ticket, e.identityOf())
	}, func(group []oddment) error {
		rows, deals, err := split(group)
		if err != nil {
			return err
		}
		for i, r := range rows {
			e := oddment{kind: entryRow, row: r}
			if i == 0 && len(deals) > 0 && !anothers(&r, &deals[0]) {
				e.deal, e.has = deals[0], true
			}
			if err := o.toReference(&e, r.Identity, r.Reference); err != nil {
				return err
			}
		}
		if len(deals) == 0 {
			return nil
		}
		d := deals[0]
		switch reference := referenceOf(&d); {
		case len(rows) == 0 || anothers(&rows[0], &d):
			return o.toReference(&oddment{kind: entryDeal, deal: d}, d.Identity, reference)
		case reference != "" && reference != rows[0].Reference:
			return o.toReference(&oddment{kind: entryTaken, deal: d, by: rows[0].ID}, d.Identity, reference)
		}
		return nil
	})
}

// anothers tells that the deal is not the row's, although the row has recorded its ticket: it carries the whole reference of another payment,
// and is on another login or over another amount. A server that was put back to an older state gives tickets again.
func anothers(r *Row, d *Deal) bool {
	reference := referenceOf(d)
	return reference != "" && reference != r.Reference && (d.Login != r.Login || !d.Amount.Equal(r.Kind.Signed(r.Amount)))
}

// split tells rows and deals of one ticket apart. A deal that was read twice is one deal, if it is the same.
func split(group []oddment) (rows []Row, deals []Deal, err error) {
	for _, e := range group {
		if e.kind == entryRow {
			rows = append(rows, e.row)
			continue
		}
		if len(deals) > 0 && byTicket(deals[0], e.deal) == 0 {
			continue
		}
		if len(deals) > 0 {
			return nil, nil, fmt.Errorf("compare the lists: deal %d on %s is in the list of deals twice, and not alike: %w", e.deal.Ticket, e.deal.Identity, credit.ErrInvalid)
		}
		deals = append(deals, e.deal)
	}
	return rows, deals, nil
}

// meetByReference judges the rows, and the deals with a reference that no row has.
func (o *oddments) meetByReference() error {
	c := newCursor(ahead(o.refs, (*unpacker).oddment))
	defer c.stop()
	refOf := func(e *oddment) credit.Reference {
		if e.kind == entryRow {
			return e.row.Reference
		}
		return referenceOf(&e.deal)
	}
	var group []oddment
	for c.ok {
		identity, reference := c.head.identityOf(), refOf(&c.head)
		if reference == "" {
			if err := o.unmarked(&c.head.deal); err != nil {
				return err
			}
			c.advance()
			continue
		}
		var err error
		group, err = c.take(group[:0], func(e oddment) bool { return e.identityOf() == identity && refOf(&e) == reference },
			func() string { return fmt.Sprintf("reference %s on %s", reference, identity) })
		if err != nil {
			return err
		}
		if err := o.judge(group); err != nil {
			return err
		}
	}
	return c.err
}

// unmarked is a deal without a whole reference that no row has by its ticket.
func (o *oddments) unmarked(d *Deal) error {
	switch {
	case d.Action != credit.ActionBalance:
		return nil // credit, charge, correction, bonus: no balance operation, and none of ours
	case suspicious(d):
		return o.toLogin(&oddment{kind: entryDeal, deal: *d}, d.Identity, d.Login)
	}
	return o.m.tell(o.m.unmarked(d, ""))
}

// unmarked is the verdict on a deal that nothing of ours explains.
func (m *matcher) unmarked(d *Deal, beside string) paired {
	return m.alone(DealWithoutReference, []Deal{*d}, fmt.Sprintf("deal %d on login %d over %s with the comment %q is on no credit row and carries no reference%s",
		d.Ticket, d.Login, d.Amount, d.Comment, beside))
}

// judge judges what has one reference: of several rows with it, which a store does not make, the first has the deals.
func (o *oddments) judge(group []oddment) error {
	var rows []oddment
	var s sighting
	for _, e := range group {
		switch e.kind {
		case entryRow:
			rows = append(rows, e)
		case entryTaken:
			s.taken = append(s.taken, taken{e.deal, e.by})
		default:
			s.own = append(s.own, e.deal)
		}
	}
	if len(rows) == 0 {
		return o.rowless(s.own)
	}
	for i, e := range rows {
		mine := sighting{}
		if i == 0 {
			mine = s
		}
		if e.has {
			mine.own = append([]Deal{e.deal}, mine.own...)
		}
		slices.SortFunc(mine.own, byTicket)
		if err := o.seen(&e.row, mine); err != nil {
			return err
		}
	}
	return nil
}

// seen judges a row, unless a damaged reference on its login may still be its deal.
func (o *oddments) seen(r *Row, s sighting) error {
	if o.m.suspectLogin(r) {
		if len(s.own) == 0 && len(s.taken) == 0 {
			return o.toLogin(&oddment{kind: entryRow, row: *r}, r.Identity, r.Login)
		}
		if err := o.bystander(r); err != nil {
			return err
		}
	}
	return o.m.keep(o.m.judge(*r, s))
}

func (o *oddments) rowless(deals []Deal) error {
	switch len(deals) {
	case 0:
		return nil
	case 1:
		d := &deals[0]
		why := fmt.Sprintf("deal %d on login %d over %s carries the reference %s, which no credit row has", d.Ticket, d.Login, d.Amount, d.Comment)
		if d.Action != credit.ActionBalance {
			why += fmt.Sprintf("; its action is %d, which does not move the balance", d.Action)
		}
		return o.m.tell(o.m.alone(DealWithoutRow, deals, why))
	}
	slices.SortFunc(deals, byTicket)
	return o.m.tell(o.m.alone(DuplicateReference, deals, fmt.Sprintf("%d deals carry the reference %s, which no credit row has: %s", len(deals), deals[0].Comment,
		tickets(sighting{own: deals}))))
}

// meetByLogin looks for damaged references: a row takes the deals of its own login that may carry one of its reference. A row that misses
// its deal goes before one that has it, equal amounts before others, an older row before a younger one.
func (o *oddments) meetByLogin() error {
	return groups(o.logins, mostOfLogin, func(e *oddment) string {
		login := e.deal.Login
		if e.kind != entryDeal {
			login = e.row.Login
		}
		return fmt.Sprintf("login %d on %s", login, e.identityOf())
	}, func(group []oddment) error {
		var rows []paired
		var deals []Deal
		for _, e := range group {
			if e.kind == entryDeal {
				deals = append(deals, e.deal)
				continue
			}
			rows = append(rows, paired{Row: e.row, given: e.kind == entryBystander})
		}
		slices.SortFunc(deals, byTicket)
		return o.damaged(rows, deals)
	})
}

func (o *oddments) damaged(rows []paired, deals []Deal) error {
	known := newReferences(rows)
	for i := range deals {
		d := &deals[i]
		best := -1
		for _, n := range known.damagedBy(d) {
			if best < 0 || fits(&rows[n], d) > fits(&rows[best], d) {
				best = n
			}
		}
		if best < 0 {
			if err := o.m.tell(o.m.unmarked(d, "")); err != nil {
				return err
			}
			continue
		}
		rows[best].Deals = append(rows[best].Deals, *d)
	}
	for i := range rows {
		r := &rows[i]
		switch {
		case !r.given:
			if err := o.m.keep(o.m.judge(r.Row, sighting{damaged: r.Deals})); err != nil {
				return err
			}
		case len(r.Deals) > 0:
			if err := o.m.tell(o.m.besideItsDeal(r)); err != nil {
				return err
			}
		}
	}
	return nil
}

// fits ranks the rows that a damaged reference may mean.
func fits(p *paired, d *Deal) int {
	rank := 0
	if !p.given && len(p.Deals) == 0 {
		rank += 2
	}
	if d.Amount.Equal(p.Row.Kind.Signed(p.Row.Amount)) {
		rank++
	}
	return rank
}

// besideItsDeal is the verdict on damaged copies of the reference of a row that has its deal.
func (m *matcher) besideItsDeal(r *paired) paired {
	p := paired{Row: r.Row, Deals: r.Deals, class: DamagedReference}
	var f finding
	m.compare(&f, &r.Row, sighting{damaged: r.Deals})
	f.why = append(f.why, fmt.Sprintf("credit %d has its own deal beside it", r.Row.ID))
	p.why = f.sentence()
	for i := range r.Deals {
		p.at = latest(p.at, r.Deals[i].At)
	}
	for i := range r.Deals {
		v := moneyOf(r.Deals[i].Amount)
		p.off.add(v)
		m.rolls.add(move{SideMT5, r.Row.Provider, true, bucketOf(r.Row.Kind), v, p.at})
	}
	return p
}
