package recon

import (
	"fmt"
	"slices"

	"creditonce/credit"
)

// tied is a line with the row that is about the same movement.
type tied struct {
	line Line
	row  *paired
}

func (t tied) equal() bool {
	return moneyOf(t.line.Gross).same(moneyOf(t.row.Row.Kind.Signed(t.row.Row.Paid)))
}

// tie pairs lines and rows: by the provider's id of the movement, else by equal amount, else by an amount within the tolerance. What is
// left of both comes back. Each pairing takes the earliest that fits.
func tie(lines []Line, rows []*paired, tolerance map[string]money) (restLines []Line, restRows []*paired, pairs []tied) {
	restLines, restRows = slices.Clone(lines), slices.Clone(rows)
	for _, fit := range []func(*Line, *Row) bool{
		func(l *Line, r *Row) bool { return l.Movement != "" && l.Movement == r.Unit.Part },
		func(l *Line, r *Row) bool { return moneyOf(l.Gross).same(moneyOf(r.Kind.Signed(r.Paid))) },
		func(l *Line, r *Row) bool {
			a, b := moneyOf(l.Gross), moneyOf(r.Kind.Signed(r.Paid))
			return a.set && b.set && a.currency == b.currency && tolerance[a.currency].set && a.minus(b).within(tolerance[a.currency])
		},
	} {
		restLines = slices.DeleteFunc(restLines, func(l Line) bool {
			i := slices.IndexFunc(restRows, func(r *paired) bool { return fit(&l, &r.Row) })
			if i < 0 {
				return false
			}
			pairs = append(pairs, tied{l, restRows[i]})
			restRows = slices.Delete(restRows, i, i+1)
			return true
		})
	}
	return restLines, restRows, pairs
}

// reversals compares refunds and disputes, and what undid them, with the rows that took the money back from the login.
func (m *matcher) reversals(g *group, p parts) []cell {
	if len(p.reversal) == 0 && len(p.reversed) == 0 {
		return nil
	}
	var cells []cell
	rest := map[LineType][]Line{}
	var unmet []*paired
	for _, pair := range []struct {
		line LineType
		kind credit.Kind
	}{
		{LineRefund, credit.KindRefund}, {LineRefundReversal, ""}, {LineChargeback, credit.KindChargeback},
		{LineChargebackReversal, credit.KindChargebackReversal},
	} {
		lines, rows, pairs := tie(p.reversal[pair.line], p.reversed[pair.kind], m.tolerance)
		rest[pair.line], unmet = lines, append(unmet, rows...)
		for _, t := range pairs {
			cells = append(cells, m.reversed(g, t))
		}
	}
	for _, undo := range [][2]LineType{{LineRefund, LineRefundReversal}, {LineChargeback, LineChargebackReversal}} {
		out, back, undone := cancelOut(rest[undo[0]], rest[undo[1]])
		for _, both := range undone {
			lines := both[:]
			cells = append(cells, cell{
				finding: finding{class: Matched, why: []string{agreed}}, lines: lines, mine: lines, at: momentOf(lines), entity: g.movementEntity(Matched, &both[0]),
			})
		}
		for _, l := range slices.Concat(out, back) {
			cells = append(cells, m.missing(g, p, l))
		}
	}
	for _, r := range unmet {
		cells = m.unsettled(cells, g, []*paired{r})
	}
	return cells
}

// reversed is a movement that has its row.
func (m *matcher) reversed(g *group, t tied) cell {
	c := cell{lines: []Line{t.line}, rows: []*paired{t.row}, mine: []Line{t.line}, ours: []*paired{t.row}, at: t.line.Moment(), entity: rowEntity(t.row.Row.ID)}
	theirs, ours := moneyOf(t.line.Gross), moneyOf(t.row.Row.Kind.Signed(t.row.Row.Paid))
	switch {
	case !theirs.set || !ours.set || theirs.currency != ours.currency:
		c.note(WrongCurrency, "the statement has %s for the %s, credit %d has %s", theirs, t.line.Type, t.row.Row.ID, ours)
	case theirs.same(ours):
		c.note(Matched, agreed)
	case theirs.minus(ours).within(m.tolerance[theirs.currency]):
		c.note(MatchedWithin, "the statement has %s for the %s, credit %d has %s, which is within the tolerance", theirs, t.line.Type, t.row.Row.ID, ours)
	default:
		c.note(WrongAmount, "the statement has %s for the %s, credit %d has %s", theirs, t.line.Type, t.row.Row.ID, ours)
	}
	return c
}

// cancelOut pairs movements out with movements back of the same amount.
func cancelOut(out, back []Line) (restOut, restBack []Line, undone [][2]Line) {
	restOut = slices.Clone(out)
	for _, b := range back {
		i := slices.IndexFunc(restOut, func(o Line) bool { return moneyOf(o.Gross).neg().same(moneyOf(b.Gross)) })
		if i < 0 {
			restBack = append(restBack, b)
			continue
		}
		undone = append(undone, [2]Line{restOut[i], b})
		restOut = slices.Delete(restOut, i, i+1)
	}
	return restOut, restBack, undone
}

// missing is a movement that no row has answered.
func (m *matcher) missing(g *group, p parts, l Line) cell {
	c := cell{lines: []Line{l}, mine: []Line{l}, at: l.Moment(), entity: g.movementEntity(ReversalMissing, &l)}
	kind, back := credit.KindRefund, l.Type == LineRefundReversal
	switch l.Type {
	case LineChargeback:
		kind = credit.KindChargeback
	case LineChargebackReversal:
		kind = credit.KindChargebackReversal
	default:
	}
	what := fmt.Sprintf("the statement has a %s of %s, and no row took it back from the login", l.Type, l.Gross)
	if back || l.Type == LineChargebackReversal {
		what = fmt.Sprintf("the statement has a %s of %s, and no row gave it back to the login", l.Type, l.Gross)
	}
	switch waiting := p.waiting[kind]; {
	case len(waiting) > 0 && !back:
		c.rows = waiting
		what += ": " + states(waiting)
	case len(p.credited)+len(p.open) == 0 && len(p.payments) == 0:
		what += "; no credit row has the payment"
	}
	c.rows = append(slices.Clip(c.rows), p.credited...)
	c.note(ReversalMissing, "%s", what)
	return c
}

// movementEntity names a movement of the payment. Two with one id, or without any, are counted.
func (g *group) movementEntity(class Class, l *Line) string {
	id := l.Movement
	if id == "" {
		id = string(l.Type)
	}
	return g.once(class, g.entity()+"/"+escape.Replace(id))
}

// once is the entity of an item, numbered where items of the class about the payment have it already.
func (g *group) once(class Class, entity string) string {
	name := string(class) + " " + entity
	n := 1
	for _, u := range g.used {
		if u == name {
			n++
		}
	}
	g.used = append(g.used, name)
	if n > 1 {
		return fmt.Sprintf("%s/%d", entity, n)
	}
	return entity
}
