package recon

import (
	"encoding/binary"
	"slices"
)

// half is one half of a payment that has no other half under its payment id: its lines, or its rows.
type half struct {
	kind, account, payment, code string
	lines                        []Line
	rows                         []paired
}

// putAside keeps a half until all payments have been met. Rows of an account without any line need no second look.
func (m *matcher) putAside(g *group, code string) error {
	m.key = appendKey(appendKey(appendKey(appendKey(m.key[:0], g.kind), g.account), code), g.payment)
	if len(g.lines) > 0 { // lines without a payment are apart by where they stand
		m.key = binary.BigEndian.AppendUint64(appendKey(m.key, g.lines[0].Digest), uint64(g.lines[0].Row))
	}
	p := m.codedPacker
	p.buf = p.buf[:0]
	for _, s := range []string{g.kind, g.account} {
		p.word(s)
	}
	p.text(g.payment)
	p.text(code)
	p.number(uint64(len(g.lines)))
	for i := range g.lines {
		p.line(&g.lines[i])
	}
	p.number(uint64(len(g.rows)))
	for i := range g.rows {
		p.paired(&g.rows[i])
	}
	return m.coded.put(m.key, p.buf)
}

func (u *unpacker) half() half {
	h := half{kind: u.word(), account: u.word(), payment: u.text(), code: u.text()}
	for range u.count() {
		h.lines = append(h.lines, u.line())
	}
	for range u.count() {
		h.rows = append(h.rows, u.paired())
	}
	return h
}

// meetCodes ties lines and rows by deposit code, and decides what stays alone.
func (m *matcher) meetCodes() error {
	c := newCursor(ahead(m.coded, (*unpacker).half))
	defer c.stop()
	var some []half
	var err error
	for c.ok {
		first := c.head
		same := func(h half) bool { return h.kind == first.kind && h.account == first.account && h.code == first.code }
		if some, err = c.take(some[:0], same, func() string { return "deposit code " + first.code }); err != nil {
			return err
		}
		for _, g := range couple(some) {
			if err := m.decide(g); err != nil {
				return err
			}
		}
	}
	return c.err
}

// couple makes payments of halves with one code. A payment's lines go to the rows of equal amount, else to the first rows that are free; a
// later movement whose line has an id of its own goes to the first rows.
func couple(halves []half) []*group {
	var rows, lines, later []*group
	for i := range halves {
		h := &halves[i]
		g := &group{kind: h.kind, account: h.account, payment: h.payment, lines: h.lines, rows: h.rows}
		switch {
		case len(h.lines) == 0 || len(h.rows) > 0:
			rows = append(rows, g)
		case slices.ContainsFunc(h.lines, func(l Line) bool { return l.Type == LinePayment }):
			lines = append(lines, g)
		default:
			later = append(later, g)
		}
	}
	taken := make([]bool, len(rows))
	for _, equal := range []bool{true, false} {
		lines = slices.DeleteFunc(lines, func(g *group) bool {
			for i, r := range rows {
				if !taken[i] && (!equal || equalAmounts(g, r)) {
					taken[i] = true
					r.lines = append(r.lines, g.lines...)
					return true
				}
			}
			return false
		})
	}
	out := slices.Concat(rows, lines)
	for _, g := range later {
		if len(rows) == 0 {
			out = append(out, g)
			continue
		}
		rows[0].lines = append(rows[0].lines, g.lines...)
	}
	for _, g := range out {
		sortLines(g.lines)
	}
	return out
}

func equalAmounts(lines, rows *group) bool {
	var came, went sums
	for i := range lines.lines {
		if l := &lines.lines[i]; l.Type == LinePayment {
			came.add(moneyOf(l.Gross))
		}
	}
	for i := range rows.rows {
		went.add(moneyOf(rows.rows[i].Row.Kind.Signed(rows.rows[i].Row.Paid)))
	}
	return sameCurrencies(came, went) && difference(came, went).all(func(v money) bool { return v.sign() == 0 })
}
