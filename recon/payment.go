package recon

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"creditonce/credit"
)

// cell is what belongs together of a payment, on the provider's side, with its verdict.
type cell struct {
	finding
	entity string
	lines  []Line
	rows   []*paired
	at     time.Time
	ours   []*paired // rows that count
	mine   []Line    // lines that count
}

// parts are the lines and rows of a payment by what they do.
type parts struct {
	payments []Line
	reversal map[LineType][]Line
	credited []*paired // deposits whose client has the money
	open     []*paired // other deposits
	reversed map[credit.Kind][]*paired
	waiting  map[credit.Kind][]*paired // rows of reversals that are not done
}

func (g *group) sort() parts {
	p := parts{}
	for _, l := range g.lines {
		switch {
		case l.Type == LinePayment:
			p.payments = append(p.payments, l)
		case moves(l.Type):
			if p.reversal == nil {
				p.reversal = map[LineType][]Line{}
			}
			p.reversal[l.Type] = append(p.reversal[l.Type], l)
		}
	}
	for i := range g.rows {
		r := &g.rows[i]
		switch kind := r.Row.Kind; {
		case kind == credit.KindDeposit && r.given:
			p.credited = append(p.credited, r)
		case kind == credit.KindDeposit:
			p.open = append(p.open, r)
		case kind == credit.KindWithdrawal || kind == credit.KindWithdrawalReturn: // no statement of a provider settles them
		case r.given:
			if p.reversed == nil {
				p.reversed = map[credit.Kind][]*paired{}
			}
			p.reversed[kind] = append(p.reversed[kind], r)
		default:
			if p.waiting == nil {
				p.waiting = map[credit.Kind][]*paired{}
			}
			p.waiting[kind] = append(p.waiting[kind], r)
		}
	}
	return p
}

// decide gives the items of a payment.
func (m *matcher) decide(g *group) error {
	p := g.sort()
	var cells []cell
	covers := len(p.credited) == 0 && len(p.reversed) == 0 // nothing was credited: what goes back covers what came
	switch {
	case len(p.payments) > 0 && len(p.credited) > 0:
		cells = m.settled(g, p)
	case len(p.payments) > 0 && covers:
		cells = []cell{m.uncredited(g, p, p.allReversals())}
	case len(p.payments) > 0:
		cells = []cell{m.uncredited(g, p, nil)}
	case len(p.credited) > 0:
		cells = m.unsettled(cells, g, p.credited)
	case len(p.open) > 0 && len(p.reversal) > 0 && covers:
		cells = []cell{m.neverCredited(g, p)}
	default:
		covers = false
	}
	if !covers {
		cells = append(cells, m.reversals(g, p)...)
	}
	return m.tellPayment(g, cells)
}

func (p parts) allReversals() []Line {
	var out []Line
	for _, t := range []LineType{LineRefund, LineRefundReversal, LineChargeback, LineChargebackReversal} {
		out = append(out, p.reversal[t]...)
	}
	return out
}

// settled compares what was settled of a payment with what was credited.
func (m *matcher) settled(g *group, p parts) []cell {
	c := cell{lines: p.payments, rows: p.credited, mine: p.payments, ours: p.credited, at: momentOf(p.payments)}
	theirs, ours := gross(p.payments), paid(p.credited)
	c.entity = g.rowOrPayment(p.credited)
	off := difference(theirs, ours)
	switch {
	case !sameCurrencies(theirs, ours):
		c.note(WrongCurrency, "the statement settles %s, credited was %s", theirs, ours)
	case off.all(func(v money) bool { return v.sign() == 0 }):
		c.note(Matched, agreed)
	case off.all(func(v money) bool { return v.within(m.tolerance[v.currency]) }):
		c.note(MatchedWithin, "the statement settles %s, credited was %s, which is within the tolerance", theirs, ours)
	case off.all(func(v money) bool { return v.sign() <= 0 }):
		if cells, ok := m.partly(g, p); ok {
			return cells
		}
		c.note(WrongAmount, "the statement settles %s, credited was %s", theirs, ours)
	default:
		m.moreSettled(g, p, &c, theirs, ours)
	}
	return []cell{c}
}

// moreSettled is a payment of which more was settled than credited: of a part whose row is not done, or an amount that is wrong.
func (m *matcher) moreSettled(g *group, p parts, c *cell, theirs, ours sums) {
	rest := difference(theirs, slices.Concat(ours, nil).with(paid(p.open)))
	if len(p.open) > 0 && rest.all(func(v money) bool { return v.within(m.tolerance[v.currency]) }) {
		c.rows = slices.Concat(p.credited, p.open)
		c.entity = g.rowOrPayment(p.open)
		c.note(openClass(p.open), "the statement settles %s, credited was %s; %s", theirs, ours, states(p.open))
		return
	}
	c.note(WrongAmount, "the statement settles %s, credited was %s", theirs, ours)
}

// partly finds the parts of a payment that are settled when others are not yet: every line must be that of a row.
func (m *matcher) partly(g *group, p parts) ([]cell, bool) {
	lines, rows, pairs := tie(p.payments, p.credited, nil)
	if len(lines) > 0 || len(rows) == 0 {
		return nil, false
	}
	c := cell{finding: finding{class: Matched, why: []string{agreed}}, entity: g.rowOrPayment(p.credited)}
	for _, pair := range pairs {
		if !pair.equal() {
			return nil, false
		}
		c.lines, c.rows = append(c.lines, pair.line), append(c.rows, pair.row)
	}
	c.mine, c.ours, c.at = c.lines, c.rows, momentOf(c.lines)
	return m.unsettled([]cell{c}, g, rows), true
}

// unsettled is a payment, or the rest of one, that is credited and in no statement yet.
func (m *matcher) unsettled(cells []cell, g *group, rows []*paired) []cell {
	first := &rows[0].Row
	label, oldest := g.label(rows), first.PaidAt
	for _, r := range rows[1:] {
		if r.Row.PaidAt.Before(oldest) {
			oldest = r.Row.PaidAt
		}
	}
	delay, listed := m.rules.Delay[label]
	if !listed {
		return cells
	}
	if from, ok := m.rules.LinesFrom[label]; ok && oldest.Before(from) {
		m.unasked.count(label, &m.rules, rows)
		return cells
	}
	c := cell{entity: rowEntity(first.ID), rows: rows, ours: rows, at: first.Moment()}
	age := m.rules.Read.Sub(oldest)
	if oldest.Add(delay).Before(m.rules.Read) {
		c.note(Late, "credited, paid %s, and in no statement after %s; usual is %s", paid(rows), days(age), days(delay))
	} else {
		c.note(Waiting, "credited, paid %s, and in no statement yet after %s; usual is %s", paid(rows), days(age), days(delay))
	}
	return append(cells, c)
}

// uncredited is a payment that was settled, and no row has credited it. What went back to the client covers it.
func (m *matcher) uncredited(g *group, p parts, back []Line) cell {
	lines := slices.Concat(p.payments, back)
	c := cell{lines: lines, mine: lines, rows: p.open, at: momentOf(lines), entity: g.rowOrPayment(p.open)}
	if m.flowBefore(p) { // it counts on neither side, and nothing is compared: it has no class
		c.mine = nil
		return c
	}
	net, came := gross(lines), gross(p.payments)
	switch {
	case net.all(func(v money) bool { return v.sign() == 0 }):
		c.note(Matched, agreed)
	case len(back) > 0 && net.all(func(v money) bool { return v.within(m.tolerance[v.currency]) }):
		c.note(MatchedWithin, "%s was settled and went back but for %s, which is within the tolerance; nothing was credited", came, net)
	case net.all(func(v money) bool { return v.sign() <= 0 }):
		c.note(WrongAmount, "more went back than came: %s was settled, %s is the rest; nothing was credited", came, net)
	case len(p.open) > 0:
		c.note(openClass(p.open), "%s was settled and %s of it is left, and nothing was credited: %s", came, net, states(p.open))
	default:
		c.note(SettledWithoutCredit, "%s was settled and %s of it is left, and no credit row has the payment", came, net)
	}
	return c
}

// flowBefore tells that a payment is the flow's of before: it was made before the cut-over, or all its rows are held as such.
func (m *matcher) flowBefore(p parts) bool {
	held := len(p.open) > 0
	for _, r := range p.open {
		held = held && r.Row.Before
	}
	early := len(p.payments) > 0
	for i := range p.payments {
		early = early && p.payments[i].At.Before(m.rules.PaysSince)
	}
	return held || early
}

// neverCredited is a payment that was given back before it was credited or settled: nothing is left to do.
func (m *matcher) neverCredited(g *group, p parts) cell {
	lines := p.allReversals()
	return cell{
		finding: finding{class: Matched, why: []string{agreed}}, lines: lines, rows: p.open, at: momentOf(lines), entity: g.rowOrPayment(p.open),
	}
}

// openClass is what a settled payment is whose rows have credited nothing.
func openClass(rows []*paired) Class {
	for _, r := range rows {
		if r.Row.State != credit.Cancelled {
			return SettledWithoutCredit
		}
	}
	return CancelledNotRefunded
}

func states(rows []*paired) string {
	var out []string
	for _, r := range rows {
		out = append(out, fmt.Sprintf("credit %d is %s", r.Row.ID, r.Row.State))
	}
	return strings.Join(out, ", ")
}

// label is the provider's name in the config: that of its statements, which is the newer one, else of the rows.
func (g *group) label(rows []*paired) string {
	for i := range g.lines {
		if l := &g.lines[i]; moves(l.Type) {
			return l.Provider.Label
		}
	}
	if len(rows) > 0 {
		return rows[0].Row.Provider
	}
	return ""
}

// rowOrPayment is the entity of an item of the payment: its first row, where it has one.
func (g *group) rowOrPayment(rows []*paired) string {
	if len(rows) > 0 {
		return rowEntity(rows[0].Row.ID)
	}
	return g.entity()
}

func (g *group) entity() string {
	if g.payment == "" && len(g.lines) > 0 {
		l := &g.lines[0]
		return fmt.Sprintf("line/%s/%d", escape.Replace(l.Digest), l.Row)
	}
	return paymentEntity(g.kind, g.account, g.payment)
}

func momentOf(lines []Line) time.Time {
	var out time.Time
	for i := range lines {
		out = latest(out, lines[i].Moment())
	}
	return out
}

func gross(lines []Line) (out sums) {
	for i := range lines {
		out.add(moneyOf(lines[i].Gross))
	}
	return out
}

// paid is what the rows say that moved, signed as in a statement.
func paid(rows []*paired) (out sums) {
	for _, r := range rows {
		out.add(moneyOf(r.Row.Kind.Signed(r.Row.Paid)))
	}
	return out
}

func (s sums) all(is func(money) bool) bool {
	for _, v := range s {
		if !is(v) {
			return false
		}
	}
	return true
}

func (s sums) with(more sums) sums {
	for _, v := range more {
		s.add(v)
	}
	return s
}

func sameCurrencies(a, b sums) bool {
	in := func(x, y sums) bool { return x.all(func(v money) bool { return y.of(v.currency).set }) }
	return in(a, b) && in(b, a)
}

// days writes an age in days or hours.
func days(d time.Duration) string {
	if d < 48*time.Hour {
		return fmt.Sprintf("%d hours", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}
