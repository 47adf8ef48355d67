package recon

import (
	"cmp"
	"fmt"
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
		if len(deals) == 0 && len(rows) == 1 && !m.suspectLogin(r) && !m.ticketThere(r) {
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

// ticketThere tells that a deal with the ticket that the row has recorded may be in the list.
func (m *matcher) ticketThere(r *Row) bool {
	return r.Ticket != 0 && m.in.tickets.may(ticketHash(r.Identity, r.Ticket))
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
