package recon

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"creditonce/credit"
)

// meetDeals joins rows and deals. Nearly all are one row and one deal with the same reference and ticket; only what is not so goes the long
// way: by ticket, then by reference, then by login for damaged references.
func (m *matcher) meetDeals() (err error) {
	odd := newOddments(m)
	rows := newCursor(ahead(m.in.rows, (*unpacker).row))
	defer rows.stop()
	deals := newCursor(ahead(m.in.deals, (*unpacker).marked))
	defer deals.stop()
	var someRows []Row
	var someDeals []marked
	for rows.ok || deals.ok {
		identity, reference := lower(rows, deals)
		same := func(i string, r credit.Reference) bool { return i == identity && r == reference }
		name := func() string { return fmt.Sprintf("reference %q on %s", reference, identity) }
		if someRows, err = m.takeRows(rows, someRows[:0], same, name); err != nil {
			return err
		}
		if reference == "" { // each stands for itself, however many there are
			if err := m.withoutReference(odd, someRows, deals, same); err != nil {
				return err
			}
			continue
		}
		someDeals, err = deals.take(someDeals[:0], func(d marked) bool { return same(d.Identity, d.reference) }, name)
		if err != nil {
			return err
		}
		m.out.Deals += len(someDeals)
		for i := range someDeals {
			m.out.Actions[someDeals[i].Action]++
		}
		if err := m.meet(odd, someRows, someDeals); err != nil {
			return err
		}
	}
	if rows.err != nil || deals.err != nil {
		return firstError(rows.err, deals.err)
	}
	return odd.settle()
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// lower is the smaller key of both heads: parts of keys sort as the texts do.
func lower(rows *cursor[Row], deals *cursor[marked]) (string, credit.Reference) {
	switch {
	case !deals.ok:
		return rows.head.Identity, rows.head.Reference
	case !rows.ok:
		return deals.head.Identity, deals.head.reference
	}
	if cmp.Or(strings.Compare(rows.head.Identity, deals.head.Identity), strings.Compare(string(rows.head.Reference), string(deals.head.reference))) <= 0 {
		return rows.head.Identity, rows.head.Reference
	}
	return deals.head.Identity, deals.head.reference
}

// takeRows takes the rows with the key; of those without a reference one, since they do not belong together. A row that comes twice is a
// list that was read twice.
func (m *matcher) takeRows(rows *cursor[Row], into []Row, same func(string, credit.Reference) bool, name func() string) ([]Row, error) {
	one := false
	out, err := rows.take(into, func(r Row) bool {
		again := !one && same(r.Identity, r.Reference)
		one = r.Reference == ""
		return again
	}, name)
	if err != nil {
		return nil, err
	}
	for i := 1; i < len(out); i++ {
		if out[i].ID == out[i-1].ID {
			return nil, fmt.Errorf("compare the lists: credit %d is in the list of rows twice: %w", out[i].ID, credit.ErrInvalid)
		}
	}
	m.out.Rows += len(out)
	return out, nil
}

// withoutReference handles one row, or all deals of a server, that have no reference.
func (m *matcher) withoutReference(odd *oddments, rows []Row, deals *cursor[marked], same func(string, credit.Reference) bool) error {
	for _, r := range rows {
		if err := m.keep(m.judge(r, sighting{})); err != nil {
			return err
		}
	}
	for len(rows) == 0 && deals.ok && same(deals.head.Identity, deals.head.reference) {
		d := deals.head.Deal
		m.out.Deals++
		m.out.Actions[d.Action]++
		if err := odd.deal(&d); err != nil {
			return err
		}
		deals.advance()
	}
	return deals.err
}

// meet handles the rows and deals of one reference.
func (m *matcher) meet(odd *oddments, rows []Row, deals []marked) error {
	if len(rows) == 1 && len(deals) == 1 && rows[0].Ticket == deals[0].Ticket {
		if m.suspectLogin(&rows[0]) {
			if err := odd.bystander(&rows[0]); err != nil {
				return err
			}
		}
		return m.keep(m.judge(rows[0], sighting{own: []Deal{deals[0].Deal}}))
	}
	for i := range deals {
		if err := odd.deal(&deals[i].Deal); err != nil {
			return err
		}
	}
	for i := range rows {
		r := &rows[i]
		if len(deals) == 0 && len(rows) == 1 && !m.suspectLogin(r) && !(r.Ticket != 0 && m.in.tickets.may(ticketHash(r.Identity, r.Ticket))) {
			if err := m.keep(m.judge(*r, sighting{})); err != nil {
				return err
			}
			continue
		}
		if err := odd.row(r); err != nil {
			return err
		}
	}
	return nil
}

func (m *matcher) suspectLogin(r *Row) bool { return m.in.suspect.may(ticketHash(r.Identity, r.Login)) }

// keep puts a row with its verdict where the lines of its payment meet it.
func (m *matcher) keep(p paired) error {
	u := &p.Row.Unit
	m.key = appendKeyNumber(appendKey(appendKey(appendKey(m.key[:0], u.ProviderKind), u.Account), u.Payment), uint64(p.Row.ID))
	m.paymentPacker.buf = m.paymentPacker.buf[:0]
	m.paymentPacker.paired(&p)
	return m.payments.put(m.key, m.paymentPacker.buf)
}

// tell keeps what is to be told of deals beside the rows.
func (m *matcher) tell(p paired) error {
	if !m.counted(p.at) {
		return nil
	}
	m.key = appendKeyNumber(appendKey(m.key[:0], p.Deals[0].Identity), p.Deals[0].Ticket)
	m.dealtPacker.buf = m.dealtPacker.buf[:0]
	m.dealtPacker.paired(&p)
	return m.dealt.put(m.key, m.dealtPacker.buf)
}

// tellDeals emits what was kept by tell.
func (m *matcher) tellDeals() error {
	for p, err := range ahead(m.dealt, (*unpacker).paired) {
		if err != nil {
			return err
		}
		item := Item{Key: Key{Class: p.class, Entity: dealEntity(&p.Deals[0])}, Side: SideMT5, Deals: p.Deals, At: p.at, Why: p.why}
		if p.Row.ID != 0 {
			item.Key.Entity, item.Provider, item.Rows = rowEntity(p.Row.ID), p.Row.Provider, []Row{p.Row}
		}
		if err := m.emit(item, p.off); err != nil {
			return err
		}
	}
	return nil
}

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
			if i == 0 && len(deals) > 0 {
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
		case len(rows) == 0:
			return o.toReference(&oddment{kind: entryDeal, deal: d}, d.Identity, reference)
		case reference != "" && reference != rows[0].Reference:
			return o.toReference(&oddment{kind: entryTaken, deal: d, by: rows[0].ID}, d.Identity, reference)
		}
		return nil
	})
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
