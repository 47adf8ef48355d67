package recon

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

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
	for i := range g.rows {
		m.balances.row(&g.rows[i])
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
	m.balances.line(l)
	if at := l.Moment(); l.Type == LineRounding && !at.Before(m.rules.From) && m.counted(at) {
		m.rest(l.Provider.Label, moneyOf(l.Net))
	}
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
