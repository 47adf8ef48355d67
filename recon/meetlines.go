package recon

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"creditonce/credit"
)

// group is one payment: what the provider's statements say of it, and the rows.
type group struct {
	kind, account, payment string
	lines                  []Line
	rows                   []paired

	used []string // entities of this payment's items, per class
}

// meetLines joins the lines and the rows by payment. What only a code can tie is put aside for meetCodes.
func (m *matcher) meetLines() (err error) {
	lines := newCursor(ahead(m.in.lines, (*unpacker).line))
	defer lines.stop()
	rows := newCursor(ahead(m.payments, (*unpacker).paired))
	defer rows.stop()
	g := &group{}
	for lines.ok || rows.ok {
		g.begin(lowerPayment(lines, rows))
		if g.rows, err = rows.take(g.rows[:0], func(p paired) bool { return g.has(p.Row.Unit) }, g.name); err != nil {
			return err
		}
		if g.payment == "" && len(g.rows) == 0 {
			g.lines = append(g.lines[:0], lines.head)
			lines.advance()
		} else if g.lines, err = lines.take(g.lines[:0], func(l Line) bool { return g.of(&l) }, g.name); err != nil {
			return err
		}
		if err := m.meetPayment(g); err != nil {
			return err
		}
	}
	return firstError(lines.err, rows.err)
}

func (g *group) begin(kind, account, payment string) {
	g.kind, g.account, g.payment, g.used = kind, account, payment, g.used[:0]
}

func (g *group) has(u credit.Unit) bool {
	return u.ProviderKind == g.kind && u.Account == g.account && u.Payment == g.payment
}

func (g *group) of(l *Line) bool {
	return l.Payment == g.payment && l.Provider.Kind == g.kind && l.Provider.Account == g.account && g.payment != ""
}

func (g *group) name() string {
	return fmt.Sprintf("payment %q of %s %s", g.payment, g.kind, g.account)
}

func lowerPayment(lines *cursor[Line], rows *cursor[paired]) (kind, account, payment string) {
	l, u := &lines.head, &rows.head.Row.Unit
	switch {
	case !lines.ok:
		return u.ProviderKind, u.Account, u.Payment
	case !rows.ok:
		return l.Provider.Kind, l.Provider.Account, l.Payment
	}
	if cmp.Or(strings.Compare(u.ProviderKind, l.Provider.Kind), strings.Compare(u.Account, l.Provider.Account), strings.Compare(u.Payment, l.Payment)) <= 0 {
		return u.ProviderKind, u.Account, u.Payment
	}
	return l.Provider.Kind, l.Provider.Account, l.Payment
}

// meetPayment counts the lines and decides the payment, or puts it aside where another half may exist under the same code.
func (m *matcher) meetPayment(g *group) error {
	sortLines(g.lines)
	slices.SortFunc(g.rows, func(a, b paired) int { return cmp.Compare(a.Row.ID, b.Row.ID) })
	for i := range g.lines {
		if err := m.countLine(&g.lines[i]); err != nil {
			return err
		}
	}
	if code := g.code(m); code != "" {
		return m.putAside(g, code)
	}
	return m.decide(g)
}

func (m *matcher) countLine(l *Line) error {
	m.out.Lines++
	if l.Type == LineUnknown {
		return nil
	}
	m.rolls.cost(l)
	return m.batches.add(l)
}

// code is the code under which the other half of a payment may be found; empty where there is nothing to look for.
func (g *group) code(m *matcher) string {
	switch {
	case len(g.rows) == 0:
		for i := range g.lines {
			if l := &g.lines[i]; l.Code != "" && moves(l.Type) {
				return l.Code
			}
		}
	case !slices.ContainsFunc(g.lines, func(l Line) bool { return moves(l.Type) }):
		for i := range g.rows {
			if r := &g.rows[i].Row; r.Code != "" && m.in.codes.may(codeHash(g.kind, g.account, r.Code)) {
				return r.Code
			}
		}
	}
	return ""
}

// moves tells that lines of the type move a client's money.
func moves(t LineType) bool {
	switch t {
	case LinePayment, LineRefund, LineRefundReversal, LineChargeback, LineChargebackReversal:
		return true
	case LineFee, LineConversion, LineReserve, LineAdjustment, LinePayout, LineRounding, LineUnknown:
		return false
	default:
		return false
	}
}

// lineBucket is the movement that a line is.
func lineBucket(t LineType) bucket {
	switch t {
	case LineRefund, LineRefundReversal:
		return refunded
	case LineChargeback, LineChargebackReversal:
		return chargedBack
	case LinePayment, LineFee, LineConversion, LineReserve, LineAdjustment, LinePayout, LineRounding, LineUnknown:
		return credited
	default:
		return credited
	}
}

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
	delay, listed := m.rules.Delay[g.label(rows)]
	if !listed {
		return cells
	}
	oldest := first.PaidAt
	for _, r := range rows[1:] {
		if r.Row.PaidAt.Before(oldest) {
			oldest = r.Row.PaidAt
		}
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
